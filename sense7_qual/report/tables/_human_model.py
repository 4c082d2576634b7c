"""The use of a model as a coder: its agreement with people, apart from theirs among each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.agreement import HUMAN_MODEL
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._notes import (
    bootstrap_note,
    check_numbers,
    made_with,
    reason_notes,
    statements_of_models,
)
from sense7_qual.report._table import Table, left_then_right

__all__ = ["human_model"]


def human_model(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    models: Mapping[str, str] | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Return how models agree with people, beside how people agree with each other, for a report of AI use.

    For each code a row of the humans among each other and one for each model: texts, share of the decisions
    in which humans and the model apply the code, agreement, and the coefficient with its interval.

    Parameters
    ----------
    agreement : DataFrame
        The result of `agreement.human_model`. A missing number is printed as "–" and its reason in the foot.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    models : mapping of str to str, optional
        For each model what a reader needs to know of it, for the foot: name and version, prompt, settings,
        date, and whether coders saw its suggestions. The foot says where this is not stated.
    digits : int
        Decimals of the coefficients (1–6); percentages have one.
    cluster_name : str
        What the resampled clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a comparison of a code stands in several rows, or rows were computed with
        different levels or seeds.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    References
    ----------
    Wong, Paritosh & Aroyo (2021), Cross-replication reliability, ACL 2021: the cross-kappa.

    Examples
    --------
    >>> from sense7_qual import agreement
    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "gpt": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> table = human_model(agreement.human_model(decisions, models=["gpt"], seed=7))
    >>> table.rows[1][:6]
    ('interest', 'humans – gpt', '10', '20.0', '40.0', '60.0')
    """
    check_arguments(human_model, locals())
    rows = _rows(agreement, codebook)
    interval = _present.interval_name(rows, frame_name="agreement")
    seed = _present.seed(rows, frame_name="agreement")
    named = list(dict.fromkeys(str(row["model"]) for row in rows if not pd.isna(row["model"])))
    humans = _present.count_range(row["n_humans"] for row in rows)
    return Table(
        title="Agreement of humans and models by code",
        headers=("Code", "Between", "n", "Humans (%)", "Model (%)", "Agreement (%)", "α or κ", interval),
        rows=tuple(_comparison_row(row, digits) for row in rows),
        notes=(
            f"n = texts with two humans, or with a human and the model (number of humans: {humans}). Humans, "
            "model (%) = share of their decisions in which the code is applied (– among humans: no model). "
            "Agreement = mean share of pairs that decided alike. Humans among each other: Krippendorff's "
            "alpha, nominal; humans with a model: cross-kappa (Wong et al., 2021). A high one is no "
            "permission to replace humans.",
            bootstrap_note(rows, interval, cluster_name, "the coefficient", seed),
            *reason_notes(rows, ("prevalence_humans", "percent", "estimate", "low", "high")),
            *statements_of_models(named, read_mapping(models)),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(2, 6),
    )


def _rows(agreement: pd.DataFrame, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows in the codebook's order, humans first, under the names that the notes expect."""
    check_numbers(agreement, HUMAN_MODEL)
    if agreement.duplicated(["code", "comparison", "model"]).any():
        raise TableError(
            "agreement: expected one row per code and comparison – found several – pass one result of "
            "agreement.human_model."
        )
    codes = pd.DataFrame({"code": agreement["code"].astype("string").unique()})
    labels = _present.rows(codes, frame_name="agreement", codebook=codebook)
    place = {str(row["code"]): (number, str(row["label"])) for number, row in enumerate(labels)}
    records = [{str(k): v for k, v in row.items()} for row in agreement.to_dict("records")]
    records.sort(key=lambda row: (place[str(row["code"])][0], not pd.isna(row["model"])))
    return [_named(row, place[str(row["code"])][1]) for row in records]


def _named(row: dict[str, Any], label: str) -> dict[str, Any]:
    between = "humans" if pd.isna(row["model"]) else f"humans – {row['model']}"
    own = {"label": label, "between": between, "row_label": f"{label}, {between}", "alpha_low": row["low"]}
    return row | own


def _comparison_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        row["between"],
        _present.count(row["n_units"]),
        _present.percent(row["prevalence_humans"]),
        _present.percent(row["prevalence_model"]),
        _present.percent(row["percent"]),
        _present.alpha(row["estimate"], digits),
        _present.interval(row["low"], row["high"], digits),
    )

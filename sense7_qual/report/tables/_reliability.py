"""Inter-coder agreement as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement import AGREEMENT, CROSS_CHECK
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._notes import bootstrap_note, made_with, reason_notes
from sense7_qual.report._table import Table

__all__ = ["reliability"]


def reliability(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    cross_check: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return inter-coder agreement as a table, one row per code.

    Parameters
    ----------
    agreement : DataFrame
        The result of `agreement.by_code`; where n_models says that models count as coders, so does the foot.
        A missing number is printed as "–" and its reason in the foot.
    codebook : Codebook, optional
        Gives the labels and the order of the codes; without it the ids are printed in the frame's order.
    digits : int
        Decimals of alpha and its interval (1–6); alpha has more where these would lift it to .667 or .800.
        Percentages have one.
    cluster_name : str
        What the resampled clusters are, as a plural, such as "participants".
    cross_check : DataFrame, optional
        The result of `agreement.diagnosis.cross_check` on the same decisions: the foot then states with which
        packages the agreement was recomputed, and the largest difference.
    notes : sequence of str
        Further lines for the foot, such as the round, or the share of the corpus coded twice.

    Raises
    ------
    TableError
        A column is missing, a code has several rows, rows were computed with different levels or seeds, or
        `cross_check` was computed from other decisions.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11: alpha, and
    the conventions .800 and .667, which the foot names and no number here depends on.

    Examples
    --------
    >>> from sense7_qual.agreement import AGREEMENT
    >>> result = AGREEMENT.example(
    ...     code="prosocial", n_units=120, n_coders=2, n_clusters=40, prevalence=0.254, percent=0.9123,
    ...     alpha=0.7681, alpha_low=0.6412, alpha_high=0.8666, n_boot=2000, confidence_level=0.95, seed=7)
    >>> reliability(result).rows
    (('prosocial', '120', '25.4', '91.2', '.77', '[.64, .87]'),)
    """
    check_arguments(reliability, locals())
    AGREEMENT.require(agreement)
    rows = _present.rows(agreement, frame_name="agreement", codebook=codebook)
    interval = _present.interval_name(rows, frame_name="agreement")
    return Table(
        title="Inter-coder agreement by code",
        headers=("Code", "n", "Prevalence (%)", "Agreement (%)", "α", interval),
        rows=tuple(_reliability_row(row, digits) for row in rows),
        notes=(
            _reliability_terms(rows),
            bootstrap_note(rows, interval, cluster_name, "α", _present.seed(rows, frame_name="agreement")),
            *reason_notes(rows, ("prevalence", "percent", "alpha", "alpha_low", "alpha_high")),
            "α ≥ .800, and α ≥ .667 for tentative conclusions, are Krippendorff's (2004) conventions, which "
            "are not verdicts.",
            *([] if cross_check is None else [_second_opinion(cross_check, rows)]),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=("left", "right", "right", "right", "right", "right"),
    )


def _reliability_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        _present.count(row["n_units"]),
        _present.percent(row["prevalence"]),
        _present.percent(row["percent"]),
        _present.alpha(row["alpha"], digits),
        _present.interval(row["alpha_low"], row["alpha_high"], digits),
    )


def _reliability_terms(rows: Sequence[Mapping[str, Any]]) -> str:
    coders = _present.count_range(row["n_coders"] for row in rows)
    n_models = [row.get("n_models", 0) for row in rows]
    models = f", models among them: {_present.count_range(n_models)}" if any(n_models) else ""
    return (
        "Unit of analysis: the text. n = texts that two or more coders finished (number of coders: "
        f"{coders}{models}). Prevalence = share of the decisions on these texts in which the code is "
        "applied. Agreement = mean share of coder pairs that decided alike. α = Krippendorff's alpha, "
        "nominal."
    )


def _second_opinion(cross_check: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> str:
    """State with what the agreement was recomputed, and the largest difference."""
    CROSS_CHECK.require(cross_check)
    labels = {str(row["code"]): str(row["label"]) for row in rows}
    checks = cross_check[cross_check["code"].astype("string").isin(list(labels))]
    _refuse_other_decisions(checks, rows)
    known = checks[checks["difference"].notna()]
    one_sided = checks[checks["reason"] == Reason.ONE_SIDE_UNDEFINED]
    undefined = [f"{labels[str(row.code)]}, {row.statistic}" for row in one_sided.itertuples()]
    caution = f" Defined on one side alone: {'; '.join(undefined)}." if undefined else ""
    if not len(known):
        return f"Second opinion: nothing could be recomputed.{caution}"
    packages = dict.fromkeys(f"{row.package} {row.version}" for row in known.itertuples())
    worst = known.sort_values("difference").iloc[-1]
    largest = float(worst["difference"])
    size = "below 1e-12" if largest < 1e-12 else f"{largest:.1e}"
    where = "" if largest < 1e-12 else f" ({labels[str(worst['code'])]}, {worst['statistic']})"
    names = ", ".join(dict.fromkeys(str(name) for name in known["statistic"]))
    return (
        f"Second opinion: {names} recomputed with {', '.join(packages)}; largest absolute difference "
        f"{size}{where}.{caution}"
    )


def _refuse_other_decisions(checks: pd.DataFrame, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a cross-check whose alphas are not those of the table."""
    alphas = checks[checks["statistic"] == "alpha"]
    checked = {str(code): ours for code, ours in zip(alphas["code"], alphas["ours"], strict=True)}
    wrong = [
        str(row["code"])
        for row in rows
        if not pd.isna(row["alpha"])
        and not abs(checked.get(str(row["code"]), float("nan")) - row["alpha"]) < 1e-9
    ]
    if wrong:
        raise TableError(
            f"cross_check: expected the alphas of the table – found others, or none, for "
            f"{first_three(wrong)} – pass the cross_check of the same decisions."
        )

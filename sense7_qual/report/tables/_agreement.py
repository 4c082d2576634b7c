"""Agreement: its size for each code, for a model, and compared between two rounds or groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual.agreement import AGREEMENT, CROSS_CHECK, DIFFERENCE, HUMAN_MODEL
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._table import (
    Table,
    basis_notes,
    bootstrap_note,
    check_numbers,
    left_then_right,
    made_with,
    reason_notes,
    statements_of_models,
    waiting_cells,
    waits,
)


def reliability(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    cross_check: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate inter-coder agreement, one row per code.

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
            *basis_notes(agreement),
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
    if waits(row):
        return row["label"], *waiting_cells(row, 5)
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
        "Unit of analysis: the text. n = texts of these with decisions of two or more coders (number of "
        f"coders: {coders}{models}). Prevalence = share of the decisions on these texts in which the code is "
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


def human_model(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    models: Mapping[str, str] | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the agreement of models with people, next to that of people with each other.

    For each code one row for people among each other and one for each model: texts, share of the decisions
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
        A column is missing, a comparison of a code has several rows, or rows were computed with different
        levels or seeds.
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
            *basis_notes(agreement),
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
    if waits(row):
        return row["label"], row["between"], *waiting_cells(row, 6)
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


def difference(
    difference: pd.DataFrame,
    *,
    names: tuple[str, str] = ("first", "second"),
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the difference of two alphas of each code, such as those of two rounds or teams.

    One row per code: texts that two or more coded in each, decisions that differ between the two, both
    alphas, and their difference with interval and p.

    Parameters
    ----------
    difference : DataFrame
        The result of `agreement.difference`. A missing number is printed as "–" and its reason in the foot.
    names : tuple of str
        What the first and the second decisions are called: ``("before", "after")``.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of alpha and of the difference (1–6).
    cluster_name : str
        What is left out in turn, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a code has several rows, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> from sense7_qual import agreement
    >>> first = pd.DataFrame(
    ...     [(f"m{i}", coder, "interest", i % 2 == 0 or (coder == "ben" and i < 4))
    ...      for i in range(8) for coder in ("ana", "ben")],
    ...     columns=["unit_id", "coder", "code", "applied"])
    >>> second = first.assign(applied=first["applied"] & (first["unit_id"] != "m1"))
    >>> difference(agreement.difference(first, second), names=("before", "after")).rows
    (('interest', '8', '8', '1', '.50', '.76', '.26', '[−.52, 1.04]', '.403'),)
    """
    check_arguments(globals()["difference"], locals())
    check_numbers(difference, DIFFERENCE)
    rows = _present.rows(difference, frame_name="difference", codebook=codebook)
    interval = _present.interval_name(rows, frame_name="difference")
    first, second = names
    clusters = _present.count_range(row["n_clusters"] for row in rows)
    others = [f"{row['label']} with {row['other']}" for row in rows if row["other"] != row["code"]]
    return Table(
        title=f"Agreement: {first} and {second}",
        headers=(
            "Code",
            f"n {first}",
            f"n {second}",
            "Changed",
            f"α {first}",
            f"α {second}",
            "Difference",
            interval,
            "p",
        ),
        rows=tuple(_difference_row(row, digits) for row in rows),
        notes=(
            *basis_notes(difference),
            "n = texts with decisions of two or more coders; changed = decisions of one coder on one text "
            "that differ between the two. α = Krippendorff's alpha, nominal.",
            *([f"Compared: {'; '.join(others)}."] if others else []),
            f"{interval} and p of the difference from leaving out each of the {cluster_name} (number: "
            f"{clusters}) of both, Student's t.",
            *reason_notes(rows, ("first", "second", "difference", "low", "high")),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(1, 8),
    )


def _difference_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        *(_present.count(row[name]) for name in ("n_first", "n_second", "n_changed")),
        *(_present.alpha(row[name], digits) for name in ("first", "second")),
        _present.number(row["difference"], digits)
        if abs(row["difference"]) >= 1
        else _present.coefficient(row["difference"], digits),
        _present.interval(row["low"], row["high"], digits),
        _present.p_value(row["p"]),
    )

"""All codes in one model of a rating, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.links import JOINT
from sense7_qual.report._notes import caution_notes, family_note, made_with, reason_notes
from sense7_qual.report._table import Alignment, Table

__all__ = ["joint"]


_LEFT: Final[tuple[Alignment, ...]] = ("left",)
_RIGHT: Final[tuple[Alignment, ...]] = ("right",)


def joint(
    joint: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Return the model of a rating by all codes together as a table, one row per code.

    Parameters
    ----------
    joint : DataFrame
        The result of `links.joint`. Its comparisons of conditions, if it has any, stand under the codes, one
        row per code and condition: there the odds ratio is that in the condition over that in the first one.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the odds ratio, its interval and the variance inflation (1–6); p has three.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a code has several rows for one effect and condition, or rows were computed for
        several sources or with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    See Also
    --------
    sense7_qual.links.joint : the model, and what its numbers mean.

    Examples
    --------
    >>> from sense7_qual.links import JOINT
    >>> result = JOINT.example(
    ...     code="prosocial", source="majority", effect="code", n=300, n_with=61, n_clusters=40,
    ...     odds_ratio=1.5214, odds_ratio_low=0.97, odds_ratio_high=2.384, p=0.068, p_adjusted=0.068,
    ...     family="codes of majority", variance_inflation=1.04, confidence_level=0.95)
    >>> joint(result).rows
    (('prosocial', '61', '1.52', '[0.97, 2.38]', '.068', '.068', '1.04'),)
    """
    check_arguments(globals()["joint"], locals())  # a parameter has its name
    JOINT.require(joint)
    rows = _rows(joint, codebook)
    interval = _present.interval_name(rows, frame_name="joint")
    compared = any(row["effect"] == "interaction" for row in rows)
    heads = ("Code", *(["Condition"] if compared else []), "n with", "Odds ratio", interval)
    return Table(
        title=f"{rating or 'The rating'} by all codes in one model",
        headers=(*heads, "p", "Adjusted p", "VIF"),
        rows=tuple(_row(row, digits, compared) for row in rows),
        notes=(
            _terms(rows, cluster_name),
            *([_conditions(rows)] if compared else []),
            f"p: two-sided, of an odds ratio of 1. {family_note(rows)}",
            *reason_notes(rows, ("odds_ratio",)),
            *caution_notes(rows),
            "These are associations: they do not show that what a code describes raised or lowered a rating.",
            *notes,
            made_with(codebook, rows),
        ),
        alignments=_LEFT * (2 if compared else 1) + _RIGHT * 6,
    )


def _rows(joint: pd.DataFrame, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows of the codes, then those of each condition, in the order of the codebook."""
    sources = [str(source) for source in joint["source"].unique()]
    if len(sources) > 1:
        raise TableError(
            f"joint: expected the rows of one source – found {first_three(sources)} – pass one at a time."
        )
    rows = []
    for level in dict.fromkeys([None, *joint["level"].dropna()]):
        part = joint[joint["level"].isna() if level is None else joint["level"] == level]
        for row in _present.rows(part, frame_name="joint", codebook=codebook):
            rows.append(row if level is None else row | {"row_label": f"{row['label']} / {level}"})
    return rows


def _row(row: Mapping[str, Any], digits: int, compared: bool) -> tuple[str, ...]:
    condition = "all" if row["effect"] == "code" else f"{row['level']} over {row['reference']}"
    inflation = row["variance_inflation"]
    return (
        str(row["label"]),
        *([condition] if compared else []),
        _present.count(row["n_with"]),
        _present.number(row["odds_ratio"], digits),
        _present.number_interval(row["odds_ratio_low"], row["odds_ratio_high"], digits),
        _present.p_value(row["p"]),
        _present.p_value(row["p_adjusted"]),
        "∞" if inflation == float("inf") else _present.number(inflation, digits) if _is_code(row) else "",
    )


def _is_code(row: Mapping[str, Any]) -> bool:
    return bool(row["effect"] == "code")


def _terms(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    main = [row for row in rows if _is_code(row)]
    source = str(main[0]["source"]) if main else "none"
    return (
        f"Decisions: {source}. Cumulative-link mixed model with random intercepts ("
        f"{_present.count_range(row['n'] for row in main)} texts of "
        f"{_present.count_range(row['n_clusters'] for row in main)} {cluster_name}). Odds ratio = odds of a "
        "higher rating with the code over those without it, the other codes being equal. VIF = variance "
        "inflation: its square root says by how much the standard error grows because codes occur together."
    )


def _conditions(rows: Sequence[Mapping[str, Any]]) -> str:
    tests = {
        str(row["label"]): _present.p_value(row["joint_p"])
        for row in rows
        if not _is_code(row) and not pd.isna(row["joint_p"])
    }
    equal = "; ".join(f"{label} {'p ' if p[0] in '<>' else 'p = '}{p}" for label, p in tests.items())
    return (
        "Condition: the odds ratio in the first condition named over that in the second; a model per code. "
        f"Equal odds ratios in all conditions (Wald's F): {equal or 'not tested'}."
    )

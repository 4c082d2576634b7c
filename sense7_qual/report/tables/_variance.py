"""Tables of ratings: where their variance lies, what follows a poor turn, what predicts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.codebook import Codebook
from sense7_qual.links import DISRUPTION, VARIANCE_SHARES
from sense7_qual.report._notes import made_with, reason_notes, undefined_note
from sense7_qual.report._table import Alignment, Table

__all__ = ["disruption", "variance"]


def variance(
    shares: pd.DataFrame,
    *,
    names: Mapping[str, str] | None = None,
    digits: int = 2,
    rating: str | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return how the variance of ratings is shared between participants, conversations and turns as a table.

    Parameters
    ----------
    shares : DataFrame
        The result of `links.variance_shares`, one row per level.
    names : mapping of str to str, optional
        What the levels are called in print: {"case_id": "Participant", "document_id": "Conversation"}.
    digits : int
        Decimals of the variance (1–6); percentages have one.
    rating : str, optional
        What was rated, for the title.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> from sense7_qual import links
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "case_id": ["p"] * 4 + ["q"] * 4,
    ...     "document_id": ["1", "1", "2", "2", "3", "3", "4", "4"], "empathy": [1, 2, 2, 3, 5, 6, 6, 7]})
    >>> shares = links.variance_shares(units, rating="empathy", levels=["case_id", "document_id"])
    >>> variance(shares, names={"case_id": "Participant"}).rows[0]
    ('Participant', '2', '7.75', '91.2', '–')
    """
    check_arguments(variance, locals())
    VARIANCE_SHARES.require(shares)
    level_names = {"remainder": "Remainder (turn, and error)"} | read_mapping(names)
    rows: list[dict[str, Any]] = [
        {str(k): v for k, v in row.items()} | {"label": level_names.get(str(row["level"]), str(row["level"]))}
        for row in shares.to_dict("records")
    ]
    interval = _present.interval_name(rows, frame_name="shares")
    return Table(
        title=f"Variance of {rating or 'the rating'} by level",
        headers=("Level", "Groups", "Variance", "Share (%)", interval),
        rows=tuple(_share_row(row, digits) for row in rows),
        notes=(
            "Nested analysis of variance; share = part of the sum of the components. "
            f"{interval}: from leaving out each group of the outermost level, on the log odds of the share, "
            f"Student's t{_resampled(rows)}.",
            *reason_notes(rows, ("variance", "share", "low")),
            *notes,
            made_with(None),
        ),
        alignments=("left", "right", "right", "right", "right"),
    )


def _share_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    ends = f"[{_present.percent(row['low'])}, {_present.percent(row['high'])}]"
    return (
        str(row["label"]),
        _present.count(row["n_groups"]),
        _present.number(row["variance"], digits),
        _present.percent(row["share"]),
        _present.MISSING if pd.isna(row["low"]) else ends,
    )


def _resampled(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name the rows whose interval is of resamples."""
    names = [str(row["label"]) for row in rows if not pd.isna(row.get("n_boot", float("nan")))]
    seed = _present.seed(rows, frame_name="shares")
    return f"; of resampled groups: {', '.join(names)} ({seed})" if names else ""


_SIDES: Final[tuple[Alignment, ...]] = ("left", "left", *(("right",) * 9))


def disruption(
    disruption: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Return what goes with a conversation's first poor turn as a table, one row per contrast and code.

    Parameters
    ----------
    disruption : DataFrame
        The result of `links.disruption`.
    codebook : Codebook, optional
        Gives the labels of the codes.
    digits : int
        Decimals of means, differences and Cohen's d (1–6); p has three.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot, such as the threshold.

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels or seeds.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    See Also
    --------
    sense7_qual.links.disruption : the contrasts, and what each of them leaves open.

    Examples
    --------
    >>> from sense7_qual import links
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "document_id": list("11112222"),
    ...     "position": [1, 2, 3, 4] * 2, "empathy": [4, 2, 3, 2, 5, 4, 4, 5]})
    >>> contrasts = links.disruption(units, rating="empathy", document_id="document_id", position="position")
    >>> disruption(contrasts).rows[0][:6]
    ('later turns', 'all', '1', '4', '2.50', '4.04')
    """
    check_arguments(globals()["disruption"], locals())  # a parameter has its name
    DISRUPTION.require(disruption)
    rows = [_labelled(row, codebook) for row in disruption.to_dict("records")]
    interval = _present.interval_name(rows, frame_name="disruption")
    return Table(
        title="What goes with the first poor turn of a conversation",
        headers=(*_DISRUPTION_HEADS, "Difference", interval, "Cohen's d", interval, "p"),
        rows=tuple(_disruption_row(row, digits) for row in rows),
        notes=(
            _DISRUPTION_TERMS,
            _disruption_note(rows, interval, cluster_name),
            *reason_notes([row for row in rows if not row["untested"]], (*_NUMBERS, "p")),
            *reason_notes([row for row in rows if row["untested"]], _NUMBERS),
            "Nobody assigned the poor turns: none of this shows what they cause.",
            *notes,
            made_with(codebook),
        ),
        alignments=_SIDES,
    )


def _labelled(row: Mapping[Any, Any], codebook: Codebook | None) -> dict[str, Any]:
    contrast = _CONTRASTS.get(str(row["contrast"]), str(row["contrast"]))
    code = "all" if pd.isna(row["code"]) else _present.label(str(row["code"]), codebook)
    untested = str(row["contrast"]) == "later_turns"  # any difference between conversations makes it
    named = {"label": contrast, "whose": code, "row_label": f"{contrast} / {code}", "untested": untested}
    return {str(name): value for name, value in row.items()} | named


_NUMBERS: Final = ("mean_difference", "difference_low", "cohens_d")

_DISRUPTION_HEADS: Final = (
    "Contrast", "Code of the turn", "n with", "n without", "Mean with", "Mean without",
)  # fmt: skip

_DISRUPTION_TERMS: Final = (
    "Negative = lower where a turn was poor. Code of the turn: only first poor turns whose explanation has "
    "the code count as poor. Later turns: turns after a poor turn against those after a turn that was not, "
    "as long as no earlier one was poor (poorer conversations make this difference too, so it has no p); "
    "adjusted: for the rating of the turn itself, the mean of the earlier turns and the place; within "
    "conversation: mean after minus mean before the first poor turn, less what any order of the same "
    "ratings gives (better first turns or lasting moods make this difference too)."
)

_CONTRASTS: Final[Mapping[str, str]] = {
    "later_turns": "later turns",
    "later_turns_adjusted": "later turns, adjusted",
    "within_document": "within conversation",
}


def _disruption_note(rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str) -> str:
    clusters = _present.count_range(row["n_clusters"] for row in rows)
    resamples = _present.count_range(row["n_boot"] for row in rows)
    seed = _present.seed(rows, frame_name="disruption")
    return (
        f"{interval}: bootstrap over whole {cluster_name} (number: {clusters}; B = {resamples} resamples; "
        f"{seed}). {undefined_note(rows, 'd')} p: two-sided, of no difference, from leaving out each of the "
        f"{cluster_name}; not adjusted."
    )


def _disruption_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        str(row["label"]),
        str(row["whose"]),
        _present.count(row["n_with"]),
        _present.count(row["n_without"]),
        *(_present.number(row[name], digits) for name in ("mean_with", "mean_without", "mean_difference")),
        _present.number_interval(row["difference_low"], row["difference_high"], digits),
        _present.number(row["cohens_d"], digits),
        _present.number_interval(row["d_low"], row["d_high"], digits),
        _present.p_value(row["p"]),
    )

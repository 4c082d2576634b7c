"""How individual the judgements are, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.links import VARIANCE_SHARES
from sense7_qual.report._notes import made_with, reason_notes
from sense7_qual.report._table import Table

__all__ = ["variance"]


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

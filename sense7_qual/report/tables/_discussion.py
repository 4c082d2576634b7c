"""Agreement before and after coders discussed, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.agreement import BEFORE_AFTER
from sense7_qual.codebook import Codebook
from sense7_qual.report._notes import check_numbers, made_with, reason_notes, undefined_note
from sense7_qual.report._table import Table, left_then_right

__all__ = ["discussion"]


def discussion(
    before_after: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Return each code's agreement before and after a discussion (negotiated agreement) as a table.

    One row per code: texts that two or more coded, of these those discussed, decisions that were changed,
    α before and after, and the difference with its interval.

    Parameters
    ----------
    before_after : DataFrame
        The result of `agreement.before_after`. A missing number is printed as "–" and its reason in the foot.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of alpha and of the difference (1–6).
    cluster_name : str
        What the resampled clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a code has several rows, or rows were computed with different levels or seeds.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    References
    ----------
    Campbell, Quincy, Osserman & Pedersen (2013), Coding in-depth semistructured interviews, Sociological
    Methods & Research 42, 294–320: what a report of negotiated agreement states.

    Examples
    --------
    >>> from sense7_qual import agreement
    >>> before = pd.DataFrame(
    ...     [(f"m{i}", coder, "interest", i % 2 == 0 or (coder == "ben" and i < 4))
    ...      for i in range(8) for coder in ("ana", "ben")],
    ...     columns=["unit_id", "coder", "code", "applied"])
    >>> discussed = before[before["unit_id"].isin(["m1"])].assign(applied=False)
    >>> discussion(agreement.before_after(before, discussed)).rows
    (('interest', '8', '1', '1', '.50', '.76', '.26', '–'),)
    """
    check_arguments(discussion, locals())
    check_numbers(before_after, BEFORE_AFTER)
    rows = _present.rows(before_after, frame_name="before_after", codebook=codebook)
    interval = _present.interval_name(rows, frame_name="before_after")
    seed = _present.seed(rows, frame_name="before_after")
    coders = _present.count_range(row["n_coders"] for row in rows)
    return Table(
        title="Agreement before and after discussion",
        headers=("Code", "n", "Discussed", "Changed", "α before", "α after", "Difference", interval),
        rows=tuple(_discussion_row(row, digits) for row in rows),
        notes=(
            f"n = texts that two or more coders finished (number of coders: {coders}); discussed = those of "
            "them that a coder decided on in the discussion; changed = decisions changed there. α = "
            "Krippendorff's alpha, nominal.",
            "After a discussion decisions are no longer independent: α before is the reliability of the "
            "coding, α after is not.",
            *_interval_notes(rows, interval, cluster_name, seed),
            *reason_notes(rows, ("before", "after", "difference", "low", "high")),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(1, 7),
    )


def _discussion_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        *(_present.count(row[name]) for name in ("n_units", "n_discussed", "n_revised")),
        _present.alpha(row["before"], digits),
        _present.alpha(row["after"], digits),
        _present.number(row["difference"], digits)
        if abs(row["difference"]) >= 1
        else _present.coefficient(row["difference"], digits),
        _present.interval(row["low"], row["high"], digits),
    )


def _interval_notes(
    rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str, seed: str
) -> list[str]:
    """Return how the intervals of the difference were computed, in which rows how."""
    resampled = [row for row in rows if not pd.isna(row["n_boot"])]
    left_out = [row["label"] for row in rows if pd.isna(row["n_boot"]) and not pd.isna(row["low"])]
    told = []
    if resampled:
        clusters = _present.count_range(row["n_clusters"] for row in resampled)
        resamples = _present.count_range(row["n_boot"] for row in resampled)
        told.append(
            f"{interval}: of the difference, bootstrap over whole {cluster_name} (number: {clusters}; B = "
            f"{resamples} resamples; {seed}). {undefined_note(resampled, 'the difference')}"
        )
    if left_out:
        told.append(
            f"{interval} from leaving out each of the {cluster_name}, Student's t: {', '.join(left_out)}."
        )
    return told

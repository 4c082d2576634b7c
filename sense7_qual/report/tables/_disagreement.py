"""Disagreements by code and by the reason that their ruling gives, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.acts import REASONS
from sense7_qual.adjudication import QUEUE
from sense7_qual.agreement import BEFORE_AFTER
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._notes import check_numbers, made_with, reason_notes, undefined_note
from sense7_qual.report._table import Table, left_then_right

__all__ = ["disagreement", "discussion"]

_HEADS: Final = {
    "slip": "Slip",
    "unclear_rule": "Unclear rule",
    "ambiguous_text": "Ambiguous text",
    "missing_code": "Missing code",
    "different_reading": "Different reading",
}


def disagreement(
    disagreements: pd.DataFrame, *, codebook: Codebook | None = None, notes: Sequence[str] = ()
) -> Table:
    """Return how many disagreements each code has, how many are settled, and why coders disagreed.

    One row per code, and one for all of them: texts on which coders disagreed about the code, those that are
    not ruled on, and of the others how many were ruled on with each reason. A reason that no ruling gives has
    no column.

    Parameters
    ----------
    disagreements : DataFrame
        The result of `adjudication.queue` in the order "split": unit_id, code, settled, reason.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a disagreement stands in several rows, as in the other orders, or a reason is
        none of `acts.REASONS`.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> from sense7_qual import acts, adjudication
    >>> decisions = pd.DataFrame({"unit_id": ["m1", "m1", "m2", "m2"], "coder": ["ana", "ben"] * 2,
    ...                           "code": "interest", "applied": [True, False] * 2})
    >>> ruling = acts.rule(coder="lead", unit_id="m1", code="interest", applied=True, reason="slip",
    ...                    codebook=Codebook.read("sense7"))
    >>> table = disagreement(adjudication.queue(decisions, rulings=[ruling]))
    >>> table.headers, table.rows[0]
    (('Code', 'Disagreements', 'Open', 'Slip', 'No reason given'), ('interest', '2', '1', '1', '0'))
    """
    check_arguments(disagreement, locals())
    QUEUE.require(disagreements)
    twice = int(disagreements.duplicated(["unit_id", "code"]).sum())
    if twice:
        raise TableError(
            f"disagreements: expected one row per text and code – found {twice} more – pass "
            "adjudication.queue(…, by='split')."
        )
    unknown = int((disagreements["reason"].notna() & ~disagreements["reason"].isin(list(_HEADS))).sum())
    if unknown:
        raise TableError(
            f"disagreements: expected reasons out of {', '.join(_HEADS)} – found {unknown} others – pass "
            "adjudication.queue(…, rulings=store.rulings())."
        )
    codes = pd.DataFrame({"code": disagreements["code"].astype("string").unique()})
    rows = _present.rows(codes, frame_name="disagreements", codebook=codebook)
    of_code = {str(code): some for code, some in disagreements.groupby("code", sort=False)}
    given = [name for name in _HEADS if (_settled(disagreements) == name).any()]
    shown = [(str(row["label"]), *_counts(of_code[str(row["code"])], given)) for row in rows]
    return Table(
        title="Disagreements by code and reason",
        headers=("Code", "Disagreements", "Open", *(_HEADS[name] for name in given), "No reason given"),
        rows=(*shown, ("All codes", *_counts(disagreements, given))),
        notes=(
            "Disagreements = texts on which coders decided differently about the code; open = not ruled on. "
            f"{_reasons(given)}",
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(1, 3 + len(given)),
    )


def _settled(disagreements: pd.DataFrame) -> pd.Series:
    """Return the reasons of those that are ruled on; missing where a ruling gives none."""
    return disagreements.loc[disagreements["settled"].notna(), "reason"].astype("string")


def _reasons(given: Sequence[str]) -> str:
    named = (f"{_HEADS[name]} = {REASONS[name][0].lower()}{REASONS[name][1:]}" for name in given)
    others = [head.lower() for name, head in _HEADS.items() if name not in given]
    told = f"Reasons, as the rulings give them: {'; '.join(named)}." if given else ""
    none = f"No ruling gives as its reason: {', '.join(others)}." if others else ""
    return f"{told} {none}".strip()


def _counts(disagreements: pd.DataFrame, given: Sequence[str]) -> tuple[str, ...]:
    reasons = _settled(disagreements)
    counts = [len(disagreements), len(disagreements) - len(reasons)]
    counts += [int((reasons == name).sum()) for name in given]
    return tuple(_present.count(n) for n in [*counts, int(reasons.isna().sum())])


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

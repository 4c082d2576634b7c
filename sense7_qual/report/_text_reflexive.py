"""Sentences on work without agreement: memos, positionality, and how the analysis moved."""

from __future__ import annotations

from collections.abc import Iterator

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError
from sense7_qual.report._sentences import named, plural, sentence
from sense7_qual.report._text import Sentence
from sense7_qual.report._text_material import memos
from sense7_qual.report._text_record import Record

__all__ = ["positionality_memo", "reflexivity"]


def reflexivity(record: Record) -> Iterator[Sentence]:
    """Yield what of the researchers' own part in the analysis is on record."""
    yield from memos(record)
    proposed = record.store.proposals()
    by_people = proposed.query("origin.isna()", engine="python")
    by_models = proposed.query("origin.notna()", engine="python")
    if len(by_people.value):
        yield sentence(
            "In the course of reading, {n} proposed, each with the words that showed it.",
            n=plural(by_people.shape[0], "code was", "codes were"),
        )
    if len(by_models.value):
        yield sentence(
            "From themes that a topic model had found, {n} proposed, each with texts that show it.",
            n=plural(by_models.shape[0], "code was", "codes were"),
        )


def positionality_memo(record: Record, memo_id: str) -> Sentence:
    """Return a memo on the study in its own words."""
    written = record.store.memos()
    known = written.value.loc[written.value["target_kind"] == "study", "memo_id"].tolist()
    if memo_id not in known:
        hint = did_you_mean(memo_id, known) if known else "write one with acts.memo(…) that names no text."
        raise ArgumentError(
            f"methods: expected positionality to be the memo_id of a memo on the study – found {memo_id!r} – "
            f"{hint}"
        )
    return sentence("{words}", words=named(written.set_index("memo_id").loc[memo_id, "text"]))

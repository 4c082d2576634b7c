"""The tray of proposals: what waits for an answer, sending one back, telling what became of those taken."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import pandas as pd

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._codebook_draft import State
from sense7_qual.widgets._codebook_sight import Sight, answer_to
from sense7_qual.widgets._new_code import alike

__all__ = ["answers", "reason_of", "rows"]

_SHOWN = ("proposal_id", "coder", "at", "label", "definition", "unit_id")


def rows(sight: Sight, state: State) -> list[dict[str, Any]]:
    """Return the proposals that wait, each with its words, codes like it, and what the draft made of it."""
    return [
        {
            **{name: row[name] for name in _SHOWN},
            "round": None if pd.isna(row["round"]) else row["round"],
            "words": sight.words_of(row),
            "taken": state.taken.get(row["proposal_id"]),
            "alike": alike(state.codebook, row["label"], row["definition"])["codes"],
        }
        for row in sight.open_proposals()
    ]


def reason_of(why: str) -> str:
    """Return the reason for which a proposal is sent back; refuse none."""
    if not why.strip():
        raise ActError(
            "proposal: expected the reason why it is sent back – found none – say it in a sentence."
        )
    return why.strip()


def answers(taken: Mapping[str, str], sight: Sight, book: Codebook, *, coder: str) -> list[Act]:
    """Return the memos that tell under each proposal that was taken what became of it."""
    memos = []
    for proposal, code in taken.items():
        asked = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{proposal} {book.fingerprint}"))
        words = f"Taken: the code “{book[code].label}”." if code in book else "Taken."
        memos.append(answer_to(sight.proposal(proposal), words, coder, book, asked))
    return memos

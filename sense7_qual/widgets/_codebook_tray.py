"""The tray of proposals: what waits for an answer, taking one, sending it back, telling what became of it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import themes as models
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._codebook_draft import State, Step
from sense7_qual.widgets._codebook_sight import InUse, answer_to
from sense7_qual.widgets._new_code import alike

__all__ = ["answers", "links", "reason_of", "rows", "with_origin"]

_SHOWN = ("proposal_id", "coder", "at", "label", "definition", "unit_id")


def rows(use: InUse, state: State) -> list[dict[str, Any]]:
    """Return the proposals that wait, each with its words, codes like it, and what the draft made of it."""
    return [
        {
            **{name: row[name] for name in _SHOWN},
            "round": None if pd.isna(row["round"]) else row["round"],
            "words": use.words_of(row),
            "origin": "" if pd.isna(row["origin"]) else row["origin"],
            "examples": use.further_examples(row["proposal_id"]),
            "taken": state.taken.get(row["proposal_id"]),
            "alike": alike(state.codebook, row["label"], row["definition"])["codes"],
        }
        for row in use.open_proposals()
    ]


def with_origin(step: Step, use: InUse) -> Step:
    """Return a step that takes a proposal with what the code gets of it: a model as its origin, and examples.

    The words that show it become examples where the step says so (`with_examples`).
    """
    row = next((one for one in use.open_proposals() if one["proposal_id"] == step.get("proposal")), None)
    whole = {name: value for name, value in step.items() if name != "with_examples"}
    if row is None or "into" in step or "values" in step:
        return whole
    values: dict[str, Any] = {}
    if not pd.isna(row["origin"]):
        values |= {"origin": "model", "source": f"{row['origin']}; accepted by a person"}
    if step.get("with_examples") is True:
        words = [use.words_of(row), *use.further_examples(row["proposal_id"])]
        values["examples"] = list(dict.fromkeys(words))
    return {**whole, "values": values} if values else whole


def reason_of(why: str) -> str:
    """Return the reason for which a proposal is sent back; refuse none."""
    if not why.strip():
        raise ActError(
            "proposal: expected the reason why it is sent back – found none – say it in a sentence."
        )
    return why.strip()


def answers(taken: Mapping[str, str], use: InUse, book: Codebook, *, coder: str) -> list[Act]:
    """Return the memos that tell under each proposal that was taken what became of it.

    One that was taken back or answered meanwhile gets none.
    """
    waiting = {row["proposal_id"]: row for row in use.open_proposals()}
    memos = []
    for proposal, code in taken.items():
        asked = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{proposal} {book.fingerprint}"))
        words = f"Taken: the code “{book[code].label}”." if code in book else "Taken."
        if proposal in waiting:
            memos.append(answer_to(waiting[proposal], words, coder, book, asked))
    return memos


def links(taken: Mapping[str, str], use: InUse, study: Any, *, coder: str) -> list[Act]:
    """Return the acts that link the themes whose proposals were taken to the codes that they went into.

    A theme that is gone meanwhile, or has its code already, gets none.
    """
    made: list[Act] = []
    for proposal, code in taken.items():
        said = use.seen.proposed.get(proposal)
        if said is not None and said.theme is not None and code in study.codebook:
            made += _link(said.theme, code, study, made, coder=coder)
    return made


def _link(theme: int, code: str, study: Any, made: Sequence[Act], *, coder: str) -> list[Act]:
    acts = [*study.acts(), *made]
    try:
        rows = models.recorded(acts, study.units).summary
        if not ((rows["theme"] == theme) & rows["code"].isna()).any():
            return []
        return [models.edit(theme, acts, study.units, coder=coder, codebook=study.codebook, code=code)]
    except QualError:  # the codebook is saved: the theme only stays without its code
        return []

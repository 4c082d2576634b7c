"""Saving a draft: put together with what others changed meanwhile, and which reviews result from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sense7_qual.codebook import Codebook
from sense7_qual.revisions import Revision
from sense7_qual.widgets._codebook_conflict import combined, conflicts
from sense7_qual.widgets._codebook_draft import State
from sense7_qual.widgets._codebook_shown import shown_conflict
from sense7_qual.widgets._codebook_sight import Sight

__all__ = ["Undecided", "put_together", "queues", "revised"]

_CELL: Final = (
    "qual.widgets.CodingWidget(store, coder={0!r}{1}, review=qual.codings.stale("
    "store.codings(coder={0!r}), store.coverage(coder={0!r}), store.codebook, "
    "revisions=store.revisions()))"
)

#: What two people changed differently, as a page shows it.
Undecided = dict[str, Any]


def put_together(
    state: State, theirs: Codebook, choices: Mapping[str, str], revisions: list[Revision]
) -> Codebook | Undecided:
    """Return the draft with what others changed since it was begun, or what must be chosen first."""
    if theirs == state.base:
        return state.codebook
    found = conflicts(state.base, state.codebook, theirs)
    if any(choices.get(one.name) not in one.choices for one in found):
        return shown_conflict(found, state.base, theirs, revisions)
    return combined(state.base, state.codebook, theirs, choices)


def revised(study: Any, wished: Codebook, state: State, *, why: str, coder: str) -> None:
    """Save the codebook as a revision; not where only proposals went into codes that are there."""
    theirs = study.codebook
    if wished == theirs and state.taken:
        return
    gone = {code.id for code in theirs.codable} - {code.id for code in wished.codable}
    study.revise(
        wished, why=why, coder=coder,
        merged={code: into for code, into in state.merged.items() if code in gone},
        split={code: into for code, into in state.split.items() if code in gone},
    )  # fmt: skip


def queues(sight: Sight) -> list[dict[str, Any]]:
    """Return for each coder how many texts wait for a review, and how the coder opens them."""
    return [
        {"coder": coder, "n": n, "cell": _CELL.format(coder, f", round={round!r}" if round else "")}
        for coder, round, n in sight.waiting()
    ]

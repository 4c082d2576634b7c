"""Saving a draft: put together with what others changed meanwhile, and which reviews result from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError
from sense7_qual.revisions import Revision
from sense7_qual.widgets._codebook_conflict import combined, conflicts
from sense7_qual.widgets._codebook_draft import Draft, State, Step
from sense7_qual.widgets._codebook_shown import shown_conflict
from sense7_qual.widgets._codebook_sight import Sight
from sense7_qual.widgets._coding import COMMANDS

__all__ = [
    "Undecided",
    "as_kept",
    "from_file",
    "left_unsaved",
    "new_draft",
    "put_together",
    "queues",
    "resumed",
    "revised",
    "still_typed",
]

_CELL: Final = (
    "qual.widgets.CodingWidget(store, coder={0!r}{1}, review=qual.codings.stale("
    "store.codings(coder={0!r}), store.coverage(coder={0!r}), store.codebook, "
    "revisions=store.revisions))"
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


def new_draft(base: Codebook, versions: Mapping[str, Codebook]) -> Draft:
    """Return a draft without steps."""
    reserved = {key: name for name, key in COMMANDS.items()}
    return Draft(base, versions=versions.values(), reserved=reserved)


def resumed(
    base: str, steps: Sequence[Step], undone: Sequence[Step], versions: Mapping[str, Codebook]
) -> Draft:
    """Return the draft of these steps on the version that `base` names."""
    book = versions.get(base)
    if book is None:
        raise CodebookError(
            "draft: expected the steps of a draft of this study – found those of another – discard them."
        )
    draft = new_draft(book, versions)
    draft.restore(steps, undone)
    return draft


def as_kept(draft: Draft, typed: Mapping[str, str]) -> dict[str, Any]:
    """Return what is kept of a draft and of what is typed beside it; empty where nothing is begun."""
    steps = {"steps": draft.steps, "undone": draft.undone} if draft.steps or draft.undone else {}
    base = {"base": draft.state.base.fingerprint} if steps else {}
    return {**base, **steps, **({"typed": dict(typed)} if typed else {})}


def left_unsaved(kept: Mapping[str, Any], versions: Mapping[str, Codebook]) -> tuple[Draft | None, int]:
    """Return the draft that was kept, and how many of its steps cannot be taken any more.

    These are steps out of which a withdrawal took what they need, say.
    """
    base, steps = versions.get(str(kept.get("base"))), kept.get("steps") or []
    undone = kept.get("undone") or []
    if base is None or not (steps or undone):
        return None, len(steps)
    draft, n_lost = new_draft(base, versions), 0
    try:
        draft.restore(steps, undone)
    except CodebookError:
        for step in steps:
            try:
                draft.do(step)
            except CodebookError:
                n_lost += 1
    return draft, n_lost


def still_typed(typed: Mapping[str, str], step: Step) -> dict[str, str]:
    """Return what is typed and not in this step: the page's names of fields say where it is typed."""
    code = step.get("code")
    match step.get("do"):
        case "edit":
            in_step = [f"field {code} {name}" for name in step.get("values") or {}]
        case "split":
            in_step = [f"split {code} "]
        case "add":
            in_step = ["add "]
        case "take":
            in_step = [f"proposal {step.get('proposal')} "]
        case _:
            in_step = []
    return {name: text for name, text in typed.items() if not name.startswith(tuple(in_step))}


def from_file(draft: Codebook, base: Codebook) -> Step:
    """Return the step to the codebook of a file; of a CSV, which holds the codes alone, with what the base
    says of itself."""
    if draft.title == draft.name and not any((draft.version, draft.description, draft.source, draft.licence)):
        names = ("name", "title", "version", "description", "source", "licence")
        draft = replace(draft, **{name: getattr(base, name) for name in names})
    return {"do": "load", "yaml": draft.to_yaml().decode()}

"""With what a draft begins: the current version, what was left unsaved, the steps of a page, or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._codebook_draft import Draft, Step
from sense7_qual.widgets._coding import COMMANDS

__all__ = ["UNSAVED", "from_file", "left_unsaved", "new_draft", "resumed"]

#: The draft of each study and lead, for a page that is loaded anew.
UNSAVED: Final[dict[str, Draft]] = {}


def new_draft(base: Codebook, versions: Mapping[str, Codebook]) -> Draft:
    """Return a draft without steps."""
    reserved = {key: name for name, key in COMMANDS.items()}
    return Draft(base, versions=versions.values(), reserved=reserved)


def resumed(
    base: str, steps: Sequence[Step], undone: Sequence[Step], versions: Mapping[str, Codebook]
) -> Draft:
    """Return the draft of these steps on the version that `base` names.

    Raises
    ------
    CodebookError
        The study has no such version, or a step cannot be taken.
    """
    book = versions.get(base)
    if book is None:
        raise CodebookError(
            "draft: expected the steps of a draft of this study – found those of another – discard them."
        )
    draft = new_draft(book, versions)
    draft.restore(steps, undone)
    return draft


def left_unsaved(work: str, versions: Mapping[str, Codebook]) -> Draft | None:
    """Return the draft that the widget before left unsaved in this kernel; None where it left none."""
    left = UNSAVED.get(work)
    if left is None or left.state.base.fingerprint not in versions:
        return None
    return resumed(left.state.base.fingerprint, left.steps, left.undone, versions)


def from_file(draft: Codebook, base: Codebook) -> Step:
    """Return the step to the codebook of a file; of a CSV, which holds the codes alone, with what the base
    says of itself."""
    if draft.title == draft.name and not any((draft.version, draft.description, draft.source, draft.licence)):
        names = ("name", "title", "version", "description", "source", "licence")
        draft = replace(draft, **{name: getattr(base, name) for name in names})
    return {"do": "load", "yaml": draft.to_yaml().decode()}

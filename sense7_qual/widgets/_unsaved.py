"""What is begun and not saved outlives its widget: the study keeps it, else the kernel does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sense7_qual.errors import ActError, QualError
from sense7_qual.widgets._study import desk_of

__all__ = ["Unsaved"]

#: Of studies that keep no drafts, for a page that is loaded anew.
IN_KERNEL: Final[dict[str, dict[str, Any]]] = {}


class Unsaved:
    """What one person has begun of one work.

    Attributes
    ----------
    study : Store
        A study with ``draft`` and ``keep_draft`` keeps it, so that it outlives the kernel too.
    work : str
        What it is a draft of.
    coder : str
        Whose it is.
    name : str
        Names study, work and person for the kernel.
    """

    def __init__(self, study: Any, work: str, *, coder: str, name: str) -> None:
        self._study, self._work, self._coder, self._name = study, work, coder, name

    def __repr__(self) -> str:
        return f"Unsaved({self._work!r}, {self._coder!r})"

    def read(self) -> dict[str, Any]:
        """Return what was begun; empty where nothing was, or where it cannot be read any more."""
        if self._name in IN_KERNEL or not hasattr(desk_of(self._study), "draft"):
            return IN_KERNEL.get(self._name, {})
        try:
            draft: dict[str, Any] = desk_of(self._study).draft(self._work, coder=self._coder) or {}
        except QualError:  # the next one takes its place; `Store.verify` says so of it
            return {}
        return draft

    def keep(self, draft: Mapping[str, Any]) -> None:
        """Keep a draft in the place of the one before; an empty one: nothing is begun any more.

        Where the study cannot keep it, it raises, and the kernel does, but where it has words of who
        withdrew.
        """
        IN_KERNEL.pop(self._name, None)
        try:
            keep = getattr(desk_of(self._study), "keep_draft", None)
            if keep is not None and keep(self._work, draft, coder=self._coder):
                return
        except ActError:
            raise
        except QualError:
            IN_KERNEL[self._name] = dict(draft)
            raise
        if draft:
            IN_KERNEL[self._name] = dict(draft)

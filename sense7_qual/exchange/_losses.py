"""What a file of another format cannot hold, or did not give back: counted, and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

import pandas as pd

from sense7_qual._messages import first_three
from sense7_qual.exchange._archive import local
from sense7_qual.exchange._tree import Tree, plain_guid

__all__ = ["Loss", "LossReport", "has_place", "losses_of", "put_in_place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that a file does not hold as the study does, or that was not read as the file has it.

    Parameters
    ----------
    what : str
        The thing, and what became of it, in a sentence.
    n : int
        How many of them there are.
    where : str
        The first three ids, where there are ids.
    """

    what: str
    n: int
    where: str = ""

    def __str__(self) -> str:
        return f"{self.n:,} × {self.what}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """Everything that was lost or changed on the way into a file, or out of it; empty where nothing was.

    Parameters
    ----------
    losses : tuple of Loss
        In the order in which they were met.
    """

    losses: tuple[Loss, ...] = ()

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    def __str__(self) -> str:
        return "\n".join(map(str, self.losses)) or "nothing was lost"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per loss: what, n, where."""
        rows = [(loss.what, loss.n, loss.where) for loss in self.losses]
        return pd.DataFrame(rows, columns=["what", "n", "where"]).astype({"n": "int64"})


def losses_of(counted: Iterable[tuple[str, Iterable[object] | int]]) -> LossReport:
    """Return the report of what is not zero: of each sentence the ids that it is about, or their number."""
    losses = []
    for what, those in counted:
        ids = [] if isinstance(those, int) else list(those)
        named = dict.fromkeys(filter(None, ids))
        n = those if isinstance(those, int) else len(ids)
        if n:
            losses.append(Loss(what=what, n=n, where=first_three(named) if named else ""))
    return LossReport(losses=tuple(losses))


_PLACES = ("TextRange", "TextSelection", "PlainTextSelection")


def put_in_place(tree: Tree) -> list[str]:
    """Put each such coding under a new selection of its text; return the names of the texts.

    A coding whose place, text or code the file does not say stays where it is, and is counted as not read.
    """
    sources = {plain_guid(each.get("guid")): each for each in _sources(tree.root)}
    names = []
    for coding, source in _misplaced(tree.root):
        for place in (each for each in list(coding) if local(each) in _PLACES):
            named = place.get("sourceGUID") or coding.get("codingSourceGUID") or coding.get("sourceGUID")
            text = sources.get(plain_guid(named)) if named else source
            if text is not None:
                tree.of(coding, local(place))
                _select(tree, text, coding, place)
                names.append(text.get("name") or "")
    return names


def has_place(coding: Element) -> bool:
    """Return True if a coding says itself which words it is on."""
    return any(local(each) in _PLACES for each in coding)


def _select(tree: Tree, text: Element, coding: Element, place: Element) -> None:
    tag = str(text.tag).removesuffix("TextSource")
    if coding.get("codeGUID") and tree.first(coding, "CodeRef") is None:
        SubElement(coding, f"{tag}CodeRef", {"targetGUID": coding.get("codeGUID", "")})
    start, end = (place.get(name) or place.get(f"{name}Position") or "" for name in ("start", "end"))
    span = {"guid": coding.get("guid", ""), "startPosition": start, "endPosition": end}
    SubElement(text, f"{tag}PlainTextSelection", span).append(coding)


def _sources(root: Element) -> Iterator[Element]:
    return (each for one in root if local(one) == "Sources" for each in one if local(each) == "TextSource")


def _misplaced(root: Element) -> list[tuple[Element, Element | None]]:
    """Return the codings at the top, and those in a text that have a place of their own."""
    at_top: list[tuple[Element, Element | None]] = [
        (each, None)
        for one in root
        for each in (one if local(one) == "Codings" else [one])
        if local(each) == "Coding"
    ]
    return at_top + [
        (each, source)
        for source in _sources(root)
        for each in source
        if local(each) == "Coding" and has_place(each)
    ]

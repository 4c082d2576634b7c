"""Codings that stand where the standard has none, put under selections of their texts.

Some programs write codings at the top of the project, in `Codings` or bare, and their places as children:

- older QualCanvas exports: `Coding[@codeGUID]` with `TextSelection[@sourceGUID @startPosition @endPosition]`;
- others: `Coding[@codeGUID @codingSourceGUID]` with `PlainTextSelection[@startPosition @endPosition]`, or
  `Coding` with `CodeRef` and `TextRange[@sourceGUID @start @end]`, also in its `TextSource`.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from sense7_qual.exchange._archive import local
from sense7_qual.exchange._tree import Tree, plain_guid

__all__ = ["has_place", "put_in_place"]

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

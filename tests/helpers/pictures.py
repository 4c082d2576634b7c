"""What a drawing holds: its marks with their places, and its words."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from sense7_qual import figures


def parsed(figure: figures.Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg())  # noqa: S314 – our own drawing


def marks(figure: figures.Figure, kind: str) -> list[tuple[float, float, ElementTree.Element]]:
    """Return x, y and element of every drawn point, rule, text or other mark."""
    found = []
    for element in parsed(figure).iter():
        at = re.match(r"translate\(([-0-9.e]+),([-0-9.e]+)\)", element.get("transform", ""))
        if at and element.get("aria-roledescription") == kind:
            found.append((float(at[1]), float(at[2]), element))
    return found


def texts(figure: figures.Figure) -> list[str]:
    return [element.text or "" for element in parsed(figure).iter() if element.tag.endswith("text")]


def size(figure: figures.Figure) -> tuple[float, float]:
    root = parsed(figure)
    return float(root.get("width", 0)), float(root.get("height", 0))


def boxes(figure: figures.Figure, kind: str) -> list[tuple[float, float, float, ElementTree.Element]]:
    """Return left, top, width and element of every drawn rectangle or tick."""
    found = []
    for element in parsed(figure).iter():
        if element.get("aria-roledescription") == kind:
            left, top, width = (float(n) for n in re.findall(r"-?[0-9.]+", element.get("d", ""))[:3])
            found.append((left, top, width, element))
    return found

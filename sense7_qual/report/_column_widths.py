"""How wide the columns of a printed table are, reckoned from what stands in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Column", "columns", "folded", "pieces", "shared"]

_LONGEST: Final = 24  # characters that stay together
_PROSE: Final = 24.0  # ems of a line from which a column holds prose
_NARROWEST: Final = 0.5
_COMFORTABLE: Final = 14.0  # ems of a column of prose below which it is a narrow strip
_SPACE: Final = re.compile(r"[ \n]+")
_WIDE: Final = "\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff01-\uff60"
_BETWEEN_IDEOGRAPHS: Final = re.compile(f"[{_WIDE}]|[^{_WIDE}]+")
_PARTS: Final = re.compile(rf"\w{{1,{_LONGEST}}}\W*|\W+")

# The widest of Computer Modern (TFM), Times and Times bold (AFM, URW), in thousandths of an em, rounded up.
_WIDTHS: Final = {
    letter: width
    for width, letters in {
        300: ",.il|", 350: " !'-:;[]`fj\xa0", 400: "()Ist", 450: "cerz", 500: "$*/0123456789?\\_ago{}–•",
        550: "Jvxy~", 600: '"S^bdhknpqu', 700: "EFLPZ", 750: "ABCNRTUVXYw", 800: "+<=>DGHKOQ−≤≥",
        850: "#&m", 950: "@M", 1000: "%—…", 1050: "W",
    }.items()
    for letter in letters
}  # fmt: skip
_OTHER: Final = 800


@dataclass(frozen=True, slots=True)
class Column:
    """What a column needs, in ems of its type size.

    least: its longest piece that is not broken; comfortable: the same, but for a column of prose the width
    below which it is a narrow strip; natural: its longest line; weight: how much it holds.
    """

    least: float
    comfortable: float
    natural: float
    weight: float


def columns(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], *, spare: float
) -> list[Column]:
    """Return what each column needs; the cells of those in `right` are never broken, their heads may be.

    `spare` is how much wider than those of `_WIDTHS` the letters of the font may be.
    """
    return [
        _column(head, [row[place] for row in rows], fixed, spare)
        for place, (head, fixed) in enumerate(zip(headers, right, strict=True))
    ]


def shared(columns: Sequence[Column], line: float) -> list[float]:
    """Return the width of each column on a line of `line` ems.

    As wide as its longest line where all fit; otherwise every column gets what it needs at least, and columns
    of words share the rest by how much they hold. Columns that do not fit are narrowed alike.
    """
    if sum(column.natural for column in columns) <= line:
        return [column.natural for column in columns]
    least = sum(column.least for column in columns)
    if least >= line:
        return [column.least * line / least for column in columns]
    low, high = 0.0, max(column.natural / column.weight for column in columns)
    for _ in range(100):
        middle = (low + high) / 2
        if sum(_width(column, middle) for column in columns) > line:
            high = middle
        else:
            low = middle
    return [_width(column, low) for column in columns]


def folded(text: str, width: float, *, spare: float) -> int:
    """Return over how many lines a text goes in a column of `width` ems.

    >>> folded("one two three", 4.0, spare=1.0)
    2
    """
    n_lines = 0
    for line in text.split("\n"):
        n_lines, used = n_lines + 1, 0.0
        for piece in _pieces(line):
            ems = spare * _ems(piece)
            if used and used + ems > width:
                n_lines, used = n_lines + 1, 0.0
            used += ems + spare * _WIDTHS[" "] / 1000
    return n_lines


def pieces(word: str) -> list[str]:
    """Return the parts of a word between which a line may break: the whole word, but for a very long one.

    >>> pieces("Appropriateness")
    ['Appropriateness']
    >>> pieces("https://example.org/supplement/codebook")
    ['https://', 'example.', 'org/', 'supplement/', 'codebook']
    """
    return _PARTS.findall(word) if len(word) > _LONGEST else [word]


def _column(head: str, cells: Sequence[str], fixed: bool, spare: float) -> Column:
    lines = [line for cell in cells for line in cell.split("\n")]
    unbroken = [*_pieces(head), *(lines if fixed else (piece for line in lines for piece in _pieces(line)))]
    least = max([_NARROWEST, *map(_ems, unbroken)])
    natural = max([_NARROWEST, *map(_ems, [head, *lines])])
    total = sum(map(_ems, lines)) + _ems(head)
    return Column(
        least=spare * least,
        comfortable=spare * (max(least, _COMFORTABLE) if natural > _PROSE else least),
        natural=spare * natural,
        weight=max(total, 1.0) ** 0.5 * (0.001 if fixed else 1),  # a head of numbers may well be broken
    )


def _pieces(text: str) -> Iterator[str]:
    for word in _SPACE.split(text):
        for piece in pieces(word):
            yield from _BETWEEN_IDEOGRAPHS.findall(piece)


def _width(column: Column, scale: float) -> float:
    return max(min(scale * column.weight, column.natural), column.least)


def _ems(text: str) -> float:
    return sum(_WIDTHS.get(letter) or _other(letter) for letter in text) / 1000


def _other(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1050
    base = unicodedata.normalize("NFD", letter)[0]
    return 0 if unicodedata.category(letter) in ("Mn", "Cf") else _WIDTHS.get(base, _OTHER)

"""What becomes of a table that is wider than its page: first its intervals stand below what they are of.

Where it is still too wide it is a list: each row an entry under its first cell, with the column's head before
each other cell. So a codebook, with its cells of prose, is read on any page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Final

from sense7_qual._present import MISSING
from sense7_qual.report._escape import clean, escape_html, escape_markdown, one_line

BULLET = "• "
_INTERVAL: Final = re.compile(r"(?:[\d.]+% )?CI")  # as `_present.interval_name` has it


@dataclass(frozen=True, slots=True)
class Part:
    """What shares a line of an entry, (head, text), and the lines below: a bullet or a text."""

    beside: tuple[tuple[str, str], ...]
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: its first cell (what it is called, and what is said of that), and its other cells."""

    name: str
    remarks: tuple[str, ...]
    parts: tuple[Part, ...]


def entries(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> tuple[Entry, ...]:
    """Return the rows as entries; numbers share a line, and so do empty cells.

    >>> entries(["Code", "Rule", "n"], [["warm", "• a\\n• b", "3"]], [False, False, True])[0].parts
    (Part(beside=(('Rule', ''),), below=('• a', '• b')), Part(beside=(('n', '3'),), below=()))
    """
    return tuple(_entry(headers, row, right) for row in rows)


def _entry(headers: Sequence[str], row: Sequence[str], right: Sequence[bool]) -> Entry:
    name, *remarks = clean(row[0]).split("\n")
    cells = [
        (" ".join(clean(head).split("\n")), clean(cell), fixed)
        for head, cell, fixed in zip(headers[1:], row[1:], right[1:], strict=True)
    ]
    parts: list[Part] = []
    for kind, some in groupby(cells, key=lambda cell: _kind(cell[1], cell[2])):
        group = [(head, text) for head, text, _ in some]
        if kind == "missing":
            parts.append(Part(((", ".join(head for head, _ in group), MISSING),)))
        elif kind == "number":
            parts.append(Part(tuple((head, " ".join(text.split("\n"))) for head, text in group)))
        else:
            parts += [_part(head, text) for head, text in group]
    return Entry(name, tuple(remarks), tuple(parts))


def _kind(cell: str, fixed: bool) -> str:
    if fixed:
        return "number"
    return "missing" if cell == MISSING else "text"


def _part(head: str, text: str) -> Part:
    first, *rest = text.split("\n")
    if first.startswith(BULLET):
        return Part(((head, ""),), (first, *rest))
    return Part(((head, first),), tuple(rest))


def markdown_list(title: str, listed: Sequence[Entry], notes: Sequence[str]) -> str:
    """Return entries as Markdown: their names in bold, heads in italics, bullets as lists."""
    blocks = [f"**{one_line(title, escape_markdown)}**"]
    for entry in listed:
        remarks = "".join(f" {escape_markdown(remark)}" for remark in entry.remarks)
        blocks.append(f"**{escape_markdown(entry.name)}**{remarks}")
        for part in entry.parts:
            beside = "; ".join(
                f"*{escape_markdown(head)}:* {escape_markdown(text)}" for head, text in part.beside
            )
            blocks.append(beside.strip())
            blocks += _markdown_below(part.below)
    return "\n\n".join([*blocks, *notes]) + "\n"


def _markdown_below(lines: Sequence[str]) -> list[str]:
    """Return each run of bullets as one block, which Markdown reads as one list."""
    blocks = []
    for bulleted, some in groupby(lines, key=lambda line: line.startswith(BULLET)):
        shown = [escape_markdown(line.removeprefix(BULLET) if bulleted else line) for line in some]
        blocks += ["\n".join(f"- {line}" for line in shown)] if bulleted else shown
    return blocks


def html_list(title: str, listed: Sequence[Entry], notes: Sequence[str]) -> str:
    """Return entries as an HTML definition list in a figure; no script."""
    shown = "".join(_html_entry(entry) for entry in listed)
    paragraphs = "".join(f"<p>{note}</p>" for note in notes)
    foot = f"<footer>{paragraphs}</footer>\n" if notes else ""
    return (
        f'<figure class="qual-list">\n<figcaption>{escape_html(title)}</figcaption>\n<dl>\n{shown}</dl>\n'
        f"{foot}</figure>\n"
    )


def _html_entry(entry: Entry) -> str:
    remarks = "".join(f" <span>{escape_html(remark)}</span>" for remark in entry.remarks)
    name = f'<dt dir="auto"><strong>{escape_html(entry.name)}</strong>{remarks}</dt>\n'
    return name + "".join(f'<dd dir="auto">{_html_part(part)}</dd>\n' for part in entry.parts)


def _html_part(part: Part) -> str:
    shown = "; ".join(f"<em>{escape_html(head)}:</em> {escape_html(text)}" for head, text in part.beside)
    for bulleted, some in groupby(part.below, key=lambda line: line.startswith(BULLET)):
        lines = [escape_html(line.removeprefix(BULLET)) for line in some]
        if bulleted:
            items = "".join(f'<li dir="auto">{line}</li>' for line in lines)
            shown += f"<ul>{items}</ul>"
        else:
            shown += "".join(f"<br>{line}" for line in lines)
    return shown


@dataclass(frozen=True, slots=True, repr=False)
class Printed:
    """A table's texts; `right` says which columns are aligned so, `as_list` whether its rows are a list."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    right: tuple[bool, ...]
    as_list: bool


def intervals_below(table: Printed) -> Printed:
    """Return the table with each interval below the number to its left, in a cell with it.

    >>> heads, right = ("Code", "r", "95% CI"), (False, True, True)
    >>> table = Printed("Links", heads, (("warm", ".21", "[.01, .41]"),), (), right, as_list=False)
    >>> intervals_below(table).headers, intervals_below(table).rows
    (('Code', 'r, 95% CI'), (('warm', '.21\\n[.01, .41]'),))
    """
    below = [
        right and _INTERVAL.fullmatch(head) is not None
        for head, right in zip(table.headers, table.right, strict=True)
    ]
    starts = [place for place, is_below in enumerate(below) if not is_below or place == 0]
    groups = [slice(*ends) for ends in pairwise([*starts, len(below)])]
    return replace(
        table,
        headers=tuple(", ".join(table.headers[group]) for group in groups),
        rows=tuple(tuple("\n".join(row[group]) for group in groups) for row in table.rows),
        right=tuple(table.right[group.start] for group in groups),
    )

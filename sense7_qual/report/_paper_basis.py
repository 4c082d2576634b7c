"""`basis.md` of a paper: which table, figure and text rests on which decisions, and what changed since."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from sense7_qual import _atomic
from sense7_qual.report._escape import escape_markdown, one_line
from sense7_qual.report._paper_parts import Part, Sources

NAME: Final = "basis.md"
_HEAD: Final = "| part | rests on |"
_UNTIL: Final = re.compile(r" · until \d{4}-\d\d-\d\d \d\d:\d\d UTC")


@dataclass(frozen=True, slots=True)
class BasisOfPaper:
    """Which part of a paper rests on which decisions, and what an earlier paper in the folder had.

    Attributes
    ----------
    lines
        For each part that rests on decisions the line of each purpose, as printed.
    changed
        One row per part that an earlier paper had on another basis: part, before, now.
    """

    lines: Mapping[str, str]
    changed: pd.DataFrame

    def __repr__(self) -> str:
        return f"BasisOfPaper({len(self.lines)} parts, {len(self.changed)} changed)"

    def write(self, path: Path, *, overwrite: bool) -> None:
        """Write it as Markdown."""
        rows = [f"| `{name}` | {line} |" for name, line in self.lines.items()]
        blocks = [
            "# What each part of this paper rests on",
            "Which decisions are in each number, and which were left out. Parts that are not listed rest on "
            "no decisions.",
            "\n".join([_HEAD, "|---|---|", *rows]),
        ]
        if len(self.changed):
            told = [
                f"| `{part}` | {before} | {now} |"
                for part, before, now in self.changed.itertuples(index=False)
            ]
            head = ["| part | before | now |", "|---|---|---|"]
            blocks += ["## Changed since the earlier paper in this folder", "\n".join([*head, *told])]
        _atomic.write(path, ("\n\n".join(blocks) + "\n").encode(), overwrite=overwrite)


def basis_of(sources: Sources, parts: Sequence[Part], folder: Path) -> BasisOfPaper:
    """Return what each part rests on, compared with what an earlier paper in the folder says of itself."""
    lines = {
        part.name: "; ".join(
            f"{purpose}: {one_line(sources.basis(purpose), escape_markdown)}" for purpose in part.rests_on
        )
        for part in parts
        if part.rests_on
    }
    earlier = _earlier(folder)
    rows = [
        (name, earlier[name], line)
        for name, line in lines.items()
        if name in earlier and _without_time(earlier[name]) != _without_time(line)
    ]
    changed = pd.DataFrame(rows, columns=["part", "before", "now"]).astype("string")
    return BasisOfPaper(lines, changed)


def _earlier(folder: Path) -> dict[str, str]:
    """Return what each part of an earlier paper rests on; nothing where no paper is there."""
    try:
        text = (folder / NAME).read_text("utf-8")
    except (OSError, ValueError):
        return {}
    listed = text.partition(f"{_HEAD}\n")[2].partition("\n\n")[0]
    return dict(_row(line) for line in listed.splitlines() if line.startswith("| `"))


def _row(line: str) -> tuple[str, str]:
    name, _, rest = line.removeprefix("| `").partition("` | ")
    return name, rest.removesuffix(" |")


def _without_time(line: str) -> str:
    """Return the line without the times of the last acts, which say nothing of what is in."""
    return _UNTIL.sub("", line)

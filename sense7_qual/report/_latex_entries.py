"""A table in LaTeX as a list of its rows, in any number of columns and over as many pages as it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sense7_qual.report._entries import BULLET, Entry, Part
from sense7_qual.report._escape import escape_latex

__all__ = ["latex_list"]

# Not a float, so that it goes on over columns and pages; the caption is that of a table all the same.
_BEGIN: Final = (
    "\\par\\bigskip\n\\begingroup\\small\\raggedright\\setlength{\\parindent}{0pt}\n"
    "\\makeatletter\\ifdefined\\captionsetup\\captionsetup{type=table}\\else\\def\\@captype{table}\\fi\\makeatother\n"
)
_RULE: Final = "\\par\\rule{\\linewidth}{0.08em}\\par\n"
_END: Final = "\\par\\endgroup\\bigskip\n"
_INDENT: Final = "1.5em"


def latex_list(listed: Sequence[Entry], *, caption: str, notes: str) -> str:
    """Return entries: names in bold, heads in italics, bullets that hang, the rules of a table around it."""
    shown = "".join(map(_entry, listed))
    return f"{_BEGIN}{caption}\n\\nopagebreak{_RULE}{shown}\\nopagebreak{_RULE}{notes}{_END}"


def _entry(entry: Entry) -> str:
    remarks = "".join(f" {escape_latex(remark)}" for remark in entry.remarks)
    name = f"\\textbf{{{escape_latex(entry.name)}}}{remarks}\\par\\nopagebreak\n"
    parts = "".join(map(_part, entry.parts))
    return f"\\par\\addvspace{{\\medskipamount}}{name}{{\\leftskip={_INDENT}\n{parts}}}\n"


def _part(part: Part) -> str:
    beside = "; ".join(
        f"\\emph{{{escape_latex(head)}:}} {escape_latex(text)}".strip() for head, text in part.beside
    )
    after = "\\nopagebreak\n" if part.below else ""
    return f"{beside}\\par\n{after}{''.join(map(_below, part.below))}"


def _below(line: str) -> str:
    if not line.startswith(BULLET):
        return f"{escape_latex(line)}\\par\n"
    return f"\\hangindent=1em\\hangafter=1 {{\\textbullet}}~{escape_latex(line.removeprefix(BULLET))}\\par\n"

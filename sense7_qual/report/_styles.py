"""How the caption of a table looks in the styles that journals ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["Page", "Paper", "Style", "caption_setup"]

Style = Literal["plain", "acm", "apa"]
Paper = Literal["a4", "letter"]


@dataclass(frozen=True, slots=True)
class Page:
    """What a paper's files are laid out for: style of captions, columns of text, and size of the paper."""

    style: Style
    columns: Literal[1, 2]
    size: Paper


# APA 7, section 7.10–7.12: the number in bold, the title in italics on a line below, both at the left.
_APA: Final = (
    "\\captionsetup{labelfont=bf,textfont=it,labelsep=newline,justification=raggedright,"
    "singlelinecheck=false}\n"
)
# As acmart sets it in proceedings; where that is the class, its own caption for each of ACM's formats.
_ACM: Final = (
    "\\ifcsname ver@acmart.cls\\endcsname\\else\\captionsetup{labelfont=bf,textfont=bf,labelsep=colon}\\fi\n"
)


def caption_setup(style: Style) -> str:
    """Return what stands before a LaTeX caption: nothing for plain, which leaves it to the class."""
    return {"plain": "", "acm": _ACM, "apa": _APA}[style]

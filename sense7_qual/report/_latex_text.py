"""A text in LaTeX: paragraphs under headings, and questions below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sense7_qual.report._escape import LATEX_MACROS, beyond_engines, escape_latex, one_line

__all__ = ["latex_text"]

_NEEDS: Final = "% Needs a UTF-8 document.\n"


def latex_text(title: str, blocks: Sequence[tuple[str, str]], asked: str, questions: Sequence[str]) -> str:
    """Return headings without numbers, each with its paragraph, and the questions as a list."""
    parts = [f"\\section*{{{one_line(title, escape_latex)}}}\n"]
    parts += [_block(heading, text) for heading, text in blocks]
    if questions:
        items = "".join(f"\\item {{}}{one_line(one, escape_latex)}\n" for one in questions)
        parts.append(_block(asked, "") + f"\\begin{{itemize}}\n{items}\\end{{itemize}}\n")
    body = "\n".join(parts)
    texts = [title, *(text for block in blocks for text in block), *questions]
    return _NEEDS + _macros(body, texts) + body


def _block(heading: str, text: str) -> str:
    """Return a paragraph under its heading, its lines as loose as names of characters need."""
    heading = f"\\subsection*{{{one_line(heading, escape_latex)}}}\n"
    words = one_line(text, escape_latex)
    return heading + (f"\\begin{{sloppypar}}\n{words}\n\\end{{sloppypar}}\n" if words else "")


def _macros(body: str, texts: Sequence[str]) -> str:
    """Return what prints characters that not every engine has, where there are any."""
    if "\\latintext" not in body and "\\unicode" not in body:
        return ""
    listed = "".join(f"%   {name}\n" for name in beyond_engines(texts)[:30])
    return f"% Characters that not every engine or font prints:\n{listed}{LATEX_MACROS}"

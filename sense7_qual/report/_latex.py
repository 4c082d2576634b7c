"""A table in LaTeX: columns as wide as what is in them, and on a page in landscape where it needs one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Final, NamedTuple

from sense7_qual.report._column_widths import Column, columns, shared
from sense7_qual.report._escape import LATEX_MACROS, escape_latex, one_line, spelled_out

__all__ = ["latex_table"]


class _Page(NamedTuple):
    """How a table is set: how many ems its line has at least in the standard classes, at any size of type."""

    line: float
    gap: float  # between two columns
    setting: str
    landscape: bool = False


_UPRIGHT: Final = _Page(32.5, 1.2, "")
_SMALL: Final = _Page(40.5, 1.0, "\\fontsize{8}{9.5}\\selectfont\\setlength{\\tabcolsep}{4pt}")
_TURNED: Final = _Page(64.5, 1.0, _SMALL.setting, landscape=True)
_TIGHT: Final = _Page(
    64.5, 0.5, "\\fontsize{8}{9.5}\\selectfont\\setlength{\\tabcolsep}{2pt}", landscape=True
)
_SPARE: Final = 1.05  # how much wider than in Computer Modern the letters may be
_LEFT: Final = "\\raggedright\\hspace{0pt}"  # so that TeX may hyphenate the first word too
_RIGHT: Final = "\\raggedleft"
_MOST_LINES: Final = 30  # of a table that is on one page


def latex_table(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    right: Sequence[bool],
    label: str | None,
) -> str:
    """Return the table: a float where it is short and narrow, otherwise a longtable over as many pages."""
    needed = columns(*_printed(headers, rows), right, spare=_SPARE)
    page = _page(needed)
    widths = shared(needed, page.line - _gaps(needed, page))
    head = _row(one_line(cell, escape_latex) for cell in headers)
    lines = "".join(_row(_cell(cell, fixed) for cell, fixed in zip(row, right, strict=True)) for row in rows)
    parts = (_caption(title, label), _sides(needed, widths, rows, right), head, lines, _notes(notes))
    body = _float(page, *parts) if _is_short(needed, widths, page, rows) else _longtable(page, *parts)
    packages = f"array,booktabs,longtable{',pdflscape' if 'begin{landscape}' in body else ''}"
    needs = f"% Needs \\usepackage{{{packages}}} and a UTF-8 document.\n"
    macros = LATEX_MACROS if any(name in body for name in ("\\latintext", "\\unicode")) else ""
    return needs + macros + body


def _printed(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    heads = [one_line(head, spelled_out) for head in headers]
    return heads, [[spelled_out(cell) for cell in row] for row in rows]


def _gaps(needed: Sequence[Column], page: _Page) -> float:
    return page.gap * (len(needed) - 1)


def _page(needed: Sequence[Column]) -> _Page:
    """Return the first page on which no column is a narrow strip, or else the widest."""
    comfortable = sum(column.comfortable for column in needed)
    least = sum(column.least for column in needed)
    for page in (_UPRIGHT, _SMALL, _TURNED):
        if comfortable + _gaps(needed, page) <= page.line:
            return page
    return _TURNED if least + _gaps(needed, _TURNED) <= _TURNED.line else _TIGHT


def _caption(title: str, label: str | None) -> str:
    text, plain = one_line(title, escape_latex), one_line(spelled_out(title), escape_latex)
    short = "" if text == plain else f"[{{{plain}}}]"  # for the list of tables, which is set before the table
    return f"\\caption{short}{{{text}}}" + (f"\\label{{{label}}}" if label else "")


def _is_short(
    needed: Sequence[Column], widths: Sequence[float], page: _Page, rows: Sequence[Sequence[str]]
) -> bool:
    """Return True if the table is on one page in portrait, however its cells are broken."""
    folds = max(ceil(column.natural / width) for column, width in zip(needed, widths, strict=True))
    n_lines = sum(max(folds, *(1 + cell.count("\n") for cell in row)) for row in rows)
    return not page.landscape and n_lines <= _MOST_LINES


def _float(page: _Page, caption: str, sides: str, head: str, lines: str, notes: str) -> str:
    return (
        f"\\begin{{table}}\n\\centering\n{caption}\n{page.setting}\n\\begin{{tabular}}{{@{{}}{sides}@{{}}}}\n"
        f"\\toprule\n{head}\\midrule\n{lines}\\bottomrule\n\\end{{tabular}}\n{notes}\\end{{table}}\n"
    )


def _longtable(page: _Page, caption: str, sides: str, head: str, lines: str, notes: str) -> str:
    begin, end = ("\\begin{landscape}\n", "\\end{landscape}\n") if page.landscape else ("", "")
    head = f"\\toprule\n{head}\\midrule\n"
    return (
        f"{begin}{{{page.setting}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n"
        f"\\begin{{longtable}}{{@{{}}{sides}@{{}}}}\n{caption}\\\\\n{head}\\endfirsthead\n{head}\\endhead\n"
        f"\\midrule\n\\endfoot\n\\bottomrule\n\\endlastfoot\n{lines}\\end{{longtable}}\n}}{notes}{end}"
    )


def _sides(
    needed: Sequence[Column], widths: Sequence[float], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> str:
    """Return the kinds of the columns: as wide as their lines where all fit, otherwise shares of the line."""
    fit = all(width >= column.natural for width, column in zip(widths, needed, strict=True))
    if fit and not any("\n" in cell for row in rows for cell in row):
        return "".join("r" if fixed else "l" for fixed in right)
    line = f"\\dimexpr\\linewidth-{2 * (len(needed) - 1)}\\tabcolsep\\relax"
    return "".join(
        f">{{{_RIGHT if fixed else _LEFT}\\arraybackslash}}"
        f"p{{\\dimexpr{width / sum(widths):.4f}{line}\\relax}}"
        for fixed, width in zip(right, widths, strict=True)
    )


def _row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"


def _cell(cell: str, fixed: bool) -> str:
    """Return a cell; a number in it is never broken over lines, and every line of it ends at the right."""
    if not fixed:
        return escape_latex(cell)
    return escape_latex(cell.replace(" ", "\xa0")).replace("\\newline ", "\\linebreak ")


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    paragraphs = "\\par\n".join(one_line(note, escape_latex) for note in notes)
    return f"\\par\\smallskip\n{{\\footnotesize\\raggedright\\noindent\n\\emph{{Note.}} {paragraphs}\\par}}\n"

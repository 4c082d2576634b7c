"""A table in LaTeX: columns as wide as what is in them, and on a page in landscape where it needs one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Final, NamedTuple

from sense7_qual.report._entries import BULLET, Entry, Part, Printed, entries, intervals_below
from sense7_qual.report._escape import (
    LATEX_MACROS,
    Column,
    Style,
    beyond_engines,
    caption_setup,
    columns,
    escape_latex,
    folded,
    one_line,
    shared,
    spelled_out,
)


class _Page(NamedTuple):
    """How a table is set: how many ems its line has at least in the standard classes, at any size of type."""

    line: float
    gap: float  # between two columns
    setting: str
    landscape: bool = False


_SMALL_TYPE: Final = "\\fontsize{8}{9.5}\\selectfont\\setlength{\\tabcolsep}{4pt}"
_TIGHT_TYPE: Final = "\\fontsize{8}{9.5}\\selectfont\\setlength{\\tabcolsep}{2pt}"
_UPRIGHT: Final = _Page(32.5, 1.2, "")
_SMALL: Final = _Page(40.5, 1.0, _SMALL_TYPE)
_TURNED: Final = _Page(64.5, 1.0, _SMALL_TYPE, landscape=True)
_TIGHT: Final = _Page(64.5, 0.5, _TIGHT_TYPE, landscape=True)
# On pages of two columns: in one of them, or across both.
_IN_COLUMN: Final = _Page(27.0, 1.0, _SMALL_TYPE)
_ACROSS: Final = _Page(56.0, 1.0, _SMALL_TYPE)
_TIGHT_ACROSS: Final = _Page(56.0, 0.5, _TIGHT_TYPE)
_SPARE: Final = 1.05  # how much wider than in Computer Modern the letters may be
_LEFT: Final = "\\raggedright\\hspace{0pt}"  # so that TeX may hyphenate the first word too
_RIGHT: Final = "\\raggedleft"
_MOST_LINES: Final = 30  # of a table that is on one page
_MOST_LINES_ACROSS: Final = 50  # of a float on pages of two columns, notes and all
_MOST_NAMES: Final = 30  # of characters in a comment


def latex_table(table: Printed, *, label: str | None, style: Style, page_columns: int) -> str:
    """Return the table as a float, a longtable, floats over several pages, or a list of its rows.

    Where it is too wide, its intervals stand below their numbers before it becomes a list.
    """
    caption = caption_setup(style) + _caption(table.title, label)
    notes = _notes(table.notes)
    shapes = () if table.as_list else (table, intervals_below(table))
    grids = (_on_its_page(shape, caption, notes, page_columns) for shape in shapes)
    body = next(filter(None, grids), "")
    if not body:
        listed = entries(table.headers, table.rows, table.right)
        body = latex_list(listed, caption=caption, notes=notes)
    return _needs(table, body) + body


def _on_its_page(table: Printed, caption: str, notes: str, page_columns: int) -> str:
    """Return the table in rows and columns on the first page that holds it; nothing where none does."""
    needed = columns(*_printed(table.headers, table.rows), table.right, spare=_SPARE)
    pages = _pages(needed) if page_columns == 1 else _pages_of_two(needed)
    grids = (_grid(table, needed, page, caption, notes, page_columns) for page in pages)
    return next(filter(None, grids), "")


def _grid(
    table: Printed, needed: Sequence[Column], page: _Page, caption: str, notes: str, page_columns: int
) -> str:
    """Return the table in rows and columns; nothing where a row is longer than a page of two columns."""
    widths = shared(needed, page.line - _gaps(needed, page))
    head = _row(one_line(cell, escape_latex) for cell in table.headers)
    lines = [
        _row(_cell(cell, fixed) for cell, fixed in zip(row, table.right, strict=True)) for row in table.rows
    ]
    sides = _sides(needed, widths, table.rows, table.right)
    if page_columns == 2:
        heights = [_height(row, widths) for row in table.rows]
        places = _over_pages(heights, _note_height(table, page))
        return "".join(_floats(page, caption, sides, head, lines, notes, places))
    if _is_short(needed, widths, page, table.rows):
        return _float("table", page, caption, _tabular(sides, head, "".join(lines)), notes)
    return _longtable(page, caption, sides, head, "".join(lines), notes)


def _needs(table: Printed, body: str) -> str:
    """Return what the document needs, and the names of the characters that not every engine prints."""
    packages = ["array", "booktabs", "longtable"] if "begin{tab" in body or "begin{long" in body else []
    packages += ["caption"] if "captionsetup{labelfont" in body else []
    packages += ["pdflscape"] if "begin{landscape}" in body else []
    loaded = f"\\usepackage{{{','.join(packages)}}} and " if packages else ""
    needs = f"% Needs {loaded}a UTF-8 document.\n"
    if "\\latintext" not in body and "\\unicode" not in body:
        return needs
    names = beyond_engines(
        [table.title, *table.headers, *(cell for row in table.rows for cell in row), *table.notes]
    )
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    listed = "".join(f"%   {name}\n" for name in names[:_MOST_NAMES])
    return f"{needs}% Characters that not every engine or font prints{more}:\n{listed}{LATEX_MACROS}"


def _printed(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    heads = [one_line(head, spelled_out) for head in headers]
    return heads, [[spelled_out(cell) for cell in row] for row in rows]


def _gaps(needed: Sequence[Column], page: _Page) -> float:
    return page.gap * (len(needed) - 1)


def _pages(needed: Sequence[Column]) -> list[_Page]:
    """Return the first page on which no column is a narrow strip, or else the widest, if any is."""
    comfortable = sum(column.comfortable for column in needed)
    least = sum(column.least for column in needed)
    pages = [page for page in (_UPRIGHT, _SMALL, _TURNED) if comfortable + _gaps(needed, page) <= page.line]
    pages += [page for page in (_TURNED, _TIGHT) if least + _gaps(needed, page) <= page.line]
    return pages[:1]


def _pages_of_two(needed: Sequence[Column]) -> list[_Page]:
    """Return one column or both of a page of two, where no column of the table is a narrow strip there."""
    comfortable = sum(column.comfortable for column in needed)
    pages = (_IN_COLUMN, _ACROSS, _TIGHT_ACROSS)
    return [page for page in pages if comfortable + _gaps(needed, page) <= page.line]


def _height(row: Sequence[str], widths: Sequence[float]) -> int:
    """Return over how many lines a row goes."""
    return max(
        folded(spelled_out(cell), width, spare=_SPARE) for cell, width in zip(row, widths, strict=True)
    )


def _note_height(table: Printed, page: _Page) -> int:
    """Return the number of lines of the caption, the head and the notes."""
    line = page.line * 0.9  # notes may be set larger
    return 5 + sum(folded(spelled_out(note), line, spare=_SPARE) for note in (table.title, *table.notes))


def _over_pages(heights: Sequence[int], rest: int) -> list[slice]:
    """Return the rows of each page, the notes below the last; nothing if a row is too long."""
    room = max(_MOST_LINES_ACROSS - rest, 0)
    if max(heights, default=0) > room:
        return []
    places, first, used = [], 0, 0
    for place, height in enumerate(heights):
        if used + height > _MOST_LINES_ACROSS - 5:
            places.append(slice(first, place))
            first, used = place, 0
        used += height
    while used > room:  # the notes would push some off the page: half of them stand on one more
        halves = (n for n in range(first + 1, len(heights) - 1) if 2 * sum(heights[first:n]) >= used)
        last = next(halves, len(heights) - 1)
        places.append(slice(first, last))
        first = last
        used = sum(heights[first:])
    return [*places, slice(first, len(heights))]


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


def _floats(
    page: _Page,
    caption: str,
    sides: str,
    head: str,
    lines: Sequence[str],
    notes: str,
    places: Sequence[slice],
) -> Iterator[str]:
    """Yield the parts of a table on pages of two columns: each has the head, the last the notes."""
    kind = "table" if page is _IN_COLUMN else "table*"
    for part, rows in enumerate(places):
        tabular = _tabular(sides, head, "".join(lines[rows]))
        shown = "\\tablename~\\thetable{} (continued)\\par\\smallskip" if part else caption
        yield _float(kind, page, shown, tabular, notes if rows is places[-1] else "")


def _tabular(sides: str, head: str, lines: str) -> str:
    return (
        f"\\begin{{tabular}}{{@{{}}{sides}@{{}}}}\n\\toprule\n{head}\\midrule\n{lines}\\bottomrule\n"
        "\\end{tabular}\n"
    )


def _float(kind: str, page: _Page, caption: str, tabular: str, notes: str) -> str:
    return f"\\begin{{{kind}}}\n\\centering\n{caption}\n{page.setting}\n{tabular}{notes}\\end{{{kind}}}\n"


def _longtable(page: _Page, caption: str, sides: str, head: str, lines: str, notes: str) -> str:
    begin, end = ("\\begin{landscape}\n", "\\end{landscape}\n") if page.landscape else ("", "")
    head = f"\\toprule\n{head}\\midrule\n"
    setup, name, title = caption.rpartition("\\caption")
    return (
        f"{begin}{{{page.setting}\\setlength{{\\LTcapwidth}}{{\\linewidth}}\n{setup}"
        f"\\begin{{longtable}}{{@{{}}{sides}@{{}}}}\n{name}{title}\\\\\n{head}\\endfirsthead\n{head}\\endhead\n"
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

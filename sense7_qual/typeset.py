"""A finished table, and how it is written as Markdown, LaTeX, HTML and Word.

`Table` holds text only. Each format has one function that escapes any text for it, so that what a
participant or a coder typed is printed as typed and never becomes mark-up: no pipe splits a row, no
``\\input`` runs, no tag opens. Line breaks inside a cell are kept, control characters are shown as U+FFFD.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from sense7_qual import word
from sense7_qual.errors import QualError, TableError, did_you_mean
from sense7_qual.saving import save

__all__ = ["Table", "escape_html", "escape_latex", "escape_markdown"]

Alignment = Literal["left", "right"]

_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# Characters with a meaning in HTML, in mathematics (Jupyter) or to the table parser become entities, which
# are never read as structure; the rest of Markdown's punctuation takes a backslash and stays readable. (Not
# the closing bracket: `\[ … \]` is mathematics to some readers.)
_MARKDOWN_ENTITIES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "\\": "&#92;", "$": "&#36;", "@": "&#64;"}
)
_MARKDOWN_SIGNS = re.compile(r"([*_`\[~^{}]|(?<==)=|=(?==)|(?<=\+)\+|\+(?=\+))")
_MARKDOWN_BLOCK_START = re.compile(r"^([-+#=:])|^(\d{1,9})(?=[.)](?:\s|$))")
_MARKDOWN_LINKS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)

# `[` and `*` are in braces because a row that begins with one would be read as an argument of the `\\`
# before it; `"` is a command in several languages of babel.
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "#": r"\#",
        "$": r"\$",
        "%": r"\%",
        "&": r"\&",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\ensuremath{|}",
        '"': r"{\symbol{34}}",
        "`": r"\`{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "\xa0": "~",
        "−": r"\ensuremath{-}",
        "≤": r"\ensuremath{\leq}",
        "≥": r"\ensuremath{\geq}",
        "∞": r"\ensuremath{\infty}",
        "←": r"\ensuremath{\leftarrow}",
        "→": r"\ensuremath{\rightarrow}",
    }
)
_LATEX_LIGATURES = re.compile(r"([-,'])(?=\1)")
_LATEX_GREEK: Final = {"α": r"\ensuremath{\alpha}", "ρ": r"\ensuremath{\rho}"}
_LATEX_STATISTIC = re.compile(r"(?<!\w)[αρ](?![\w\u0300-\u036f])")  # not a letter of a Greek word
_MOST_USUAL: Final = 8  # columns that fit on a line in the usual size
_LABEL = re.compile(r"[A-Za-z0-9:._-]+")

_STYLE: Final = (
    "<style>table.qual-table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid}"
    "table.qual-table caption{caption-side:top;font-weight:bold;padding:.3em 0}"
    "table.qual-table thead{border-bottom:1px solid}table.qual-table tfoot{border-top:1px solid}"
    "table.qual-table tbody th{font-weight:normal}"
    "table.qual-table th,table.qual-table td{padding:.25em .6em;vertical-align:top}"
    "table.qual-table tfoot p{margin:.2em 0;max-width:60em}</style>\n"
)
# Inline, because a notebook aligns the cells of tables itself and takes style sheets out of what it does not
# trust. A number is never broken over lines, its head may be.
_HTML_LEFT: Final = 'style="text-align: left"'
_HTML_HEADS: Final[Mapping[Alignment, str]] = {"left": _HTML_LEFT, "right": 'style="text-align: right"'}
_HTML_CELLS: Final[Mapping[Alignment, str]] = {
    "left": _HTML_LEFT,
    "right": 'style="text-align: right; white-space: nowrap"',
}


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A table of finished text: a title, column heads, rows, and notes under it.

    Parameters
    ----------
    title : str
        The caption.
    headers : tuple of str
        One head per column.
    rows : tuple of tuple of str
        One cell per column, already rounded and formatted; a line break starts a new line in the cell.
    notes : tuple of str
        The notes under the table, one paragraph each.
    alignments : tuple of {"left", "right"}
        One per column.
    widths : tuple of float
        Share of the line for each column, for a table of long texts (in LaTeX a `longtable`, which breaks
        over pages); empty for a table of numbers.

    Raises
    ------
    TableError
        A row, the alignments or the widths do not fit the columns.

    Notes
    -----
    The texts are in `rows`, and so in what a notebook shows and saves of the table; ``repr`` has counts
    only.

    Examples
    --------
    >>> table = Table("Codes", ("Code", "n"), (("a|b", "12"),), alignments=("left", "right"))
    >>> print(table.markdown())
    **Codes**
    <BLANKLINE>
    | Code | n |
    |:--|--:|
    | a&#124;b | 12 |
    <BLANKLINE>
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    alignments: tuple[Alignment, ...] = ()
    widths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.alignments:
            object.__setattr__(self, "alignments", ("left",) * len(self.headers))
        wrong = [number for number, row in enumerate(self.rows) if len(row) != len(self.headers)]
        if (
            wrong
            or len(self.alignments) != len(self.headers)
            or len(self.widths) not in (0, len(self.headers))
        ):
            raise TableError(
                f"table: expected {len(self.headers)} cells in every row and as many alignments and widths – "
                f"found {len(self.alignments)} alignments, {len(self.widths)} widths and {len(wrong)} rows "
                f"of another length (first: row {wrong[0] if wrong else 'none'}) – give each column its own."
            )

    def __repr__(self) -> str:
        return f"Table({self.title!r}, {len(self.rows)} rows, {len(self.headers)} columns)"

    def markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown (also read by Jupyter, Quarto and pandoc)."""
        rules = ["--:" if side == "right" else ":--" for side in self.alignments]
        lines = [_markdown_row(map(escape_markdown, self.headers)), f"|{'|'.join(rules)}|"]
        lines += [_markdown_row(map(escape_markdown, row)) for row in self.rows]
        parts = [f"**{_one_line(self.title, escape_markdown)}**", "\n".join(lines)]
        notes = [_one_line(note, escape_markdown) for note in self.notes]
        return "\n\n".join([*parts, *_after_note(notes, "*Note.*")]) + "\n"

    def latex(self, *, label: str | None = None) -> str:
        r"""Return the table as LaTeX with booktabs rules.

        Needs the packages array, booktabs and longtable, and a UTF-8 document; scripts other than Latin
        need LuaLaTeX or XeLaTeX with a font that has them. For Word, give the Markdown or the HTML to the
        converter: pandoc's reader of LaTeX leaves out straight quotation marks.

        Parameters
        ----------
        label : str, optional
            For ``\ref``: letters, digits and ``: . _ -``.

        Raises
        ------
        QualError
            The label has other characters.
        """
        if label is not None and not _LABEL.fullmatch(label):
            raise QualError(
                f"table: expected a LaTeX label of letters, digits and ': . _ -' – found {label!r} – "
                "choose one like 'tab:reliability'."
            )
        caption = f"\\caption{{{_one_line(self.title, escape_latex)}}}"
        caption += f"\\label{{{label}}}" if label else ""
        needs = "% Needs \\usepackage{array,booktabs,longtable} and a UTF-8 document.\n"
        return needs + (self._longtable(caption) if self.widths else self._tabular(caption))

    def _tabular(self, caption: str) -> str:
        columns = "".join("r" if side == "right" else "l" for side in self.alignments)
        rows = "".join(_latex_row(_one_line(cell, escape_latex) for cell in row) for row in self.rows)
        return (
            f"\\begin{{table}}\n\\centering\n{caption}\n\\begin{{tabular}}{{@{{}}{columns}@{{}}}}\n\\toprule\n"
            f"{self._latex_head()}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
            f"{self._latex_notes()}\\end{{table}}\n"
        )

    def _longtable(self, caption: str) -> str:
        # The space between columns is 12 pt each, at most 3.5 % of a line of the standard classes; 4 pt where
        # columns are many, which are set small.
        many = len(self.widths) > _MOST_USUAL
        share = (1 - (0.012 if many else 0.035) * len(self.widths)) / sum(self.widths)
        columns = "".join(
            f">{{\\{'raggedleft' if side == 'right' else 'raggedright'}\\arraybackslash\\hspace{{0pt}}}}"
            f"p{{{width * share:.3f}\\linewidth}}"
            for side, width in zip(self.alignments, self.widths, strict=True)
        )
        head = f"\\toprule\n{self._latex_head()}\\midrule\n"
        rows = "".join(_latex_row(map(_latex_cell, row, self.alignments)) for row in self.rows)
        begin, end = ("{\\footnotesize\\setlength{\\tabcolsep}{2pt}\n", "}\n") if many else ("", "")
        return (
            f"{begin}\\begin{{longtable}}{{{columns}}}\n{caption}\\\\\n{head}\\endfirsthead\n{head}\\endhead\n"
            f"\\midrule\n\\endfoot\n\\bottomrule\n\\endlastfoot{{}}\n{rows}"
            f"\\end{{longtable}}\n{end}{self._latex_notes()}"
        )

    def _latex_head(self) -> str:
        return _latex_row(_one_line(head, escape_latex) for head in self.headers)

    def _latex_notes(self) -> str:
        notes = _after_note([_one_line(note, escape_latex) for note in self.notes], "\\emph{Note.}")
        if not notes:
            return ""
        paragraphs = "\\par\n".join(notes)
        return f"\\par\\smallskip\n{{\\footnotesize\\raggedright\\noindent\n{paragraphs}\\par}}\n"

    def html(self) -> str:
        """Return the table as an HTML element with caption, scoped heads and foot; no script.

        Its cells say how they are aligned; the rest of its looks is left to the page.
        """
        heads = "".join(
            f'<th scope="col" {_HTML_HEADS[side]}>{escape_html(head)}</th>'
            for head, side in zip(self.headers, self.alignments, strict=True)
        )
        rows = "".join(f"<tr>{_html_cells(row, self.alignments)}</tr>\n" for row in self.rows)
        notes = _after_note([escape_html(note) for note in self.notes], "<em>Note.</em>")
        paragraphs = "".join(f"<p>{note}</p>" for note in notes)
        span = f'colspan="{len(self.headers)}" {_HTML_LEFT}'
        foot = f"<tfoot><tr><td {span}>{paragraphs}</td></tr></tfoot>\n" if notes else ""
        return (
            f'<table class="qual-table">\n<caption {_HTML_LEFT}>{escape_html(self.title)}</caption>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n{foot}</table>\n"
        )

    def _repr_html_(self) -> str:
        return _STYLE + self.html()

    def docx(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the table to `path` as a Word document: a real table, its head repeated on every page.

        The title is its caption (style Caption), the notes stand below. A table of more than eight columns
        is on a page in landscape. The file is written whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where, ending in .docx.
        overwrite : bool
            Whether to replace a file that is there: what somebody wrote into it would be lost.

        Raises
        ------
        QualError
            The path ends otherwise, or there is a file and `overwrite` is false; nothing was written.
        """
        path = Path(path)
        if path.suffix.lower() != ".docx":
            raise QualError(f"table: expected a path that ends in .docx – found {path.name!r} – use `write`.")
        save(path, self._word(), overwrite=overwrite)

    def _word(self) -> bytes:
        return word.document(
            " ".join(_clean(self.title).split("\n")),
            [_clean(head) for head in self.headers],
            [[_clean(cell) for cell in row] for row in self.rows],
            [_clean(note) for note in self.notes],
            right=[side == "right" for side in self.alignments],
            widths=self.widths,
        )

    def write(self, path: str | Path) -> None:
        """Write the table to `path` in the format of its suffix: .md, .tex, .html (a whole page) or .docx.

        A file of the same name is replaced, but for a Word document, which people write into: see `docx`.

        Raises
        ------
        QualError
            The suffix is another one, or the Word document exists; nothing was written.
        """
        path = Path(path)
        formats: dict[str, Callable[[], str]] = {
            ".md": self.markdown,
            ".tex": self.latex,
            ".html": self._html_page,
        }
        suffix, known = path.suffix.lower(), [*formats, ".docx"]
        if suffix == ".docx":
            self.docx(path)
        elif suffix in formats:
            save(path, formats[suffix]().encode(), overwrite=True)
        else:
            raise QualError(
                f"table: expected a path that ends in {', '.join(known)} – found {path.name!r} – "
                f"{did_you_mean(path.suffix, known)}"
            )

    def _html_page(self) -> str:
        head = f'<meta charset="utf-8">\n<title>{_one_line(self.title, escape_html)}</title>\n{_STYLE}'
        body = f"<body>\n{self.html()}</body>\n"
        return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}</head>\n{body}</html>\n'


def escape_html(text: str) -> str:
    """Return `text` for the content of an HTML element; line breaks become ``<br>``.

    >>> escape_html('<b onclick="x">')
    '&lt;b onclick=&quot;x&quot;&gt;'
    """
    return html.escape(_clean(text)).replace("\n", "<br>")


def escape_markdown(text: str) -> str:
    """Return `text` for a paragraph or a table cell of Markdown; line breaks become ``<br>``.

    >>> print(escape_markdown("# a|b *c*"))
    \\# a&#124;b \\*c\\*
    """
    text = _MARKDOWN_SIGNS.sub(r"\\\1", _clean(text).translate(_MARKDOWN_ENTITIES))
    text = _MARKDOWN_LINKS.sub(lambda sign: f"&#{ord(sign.group())};", text)
    text = _MARKDOWN_BLOCK_START.sub(lambda at: f"\\{at[1]}" if at[1] else f"{at[2]}\\", text)
    # The space keeps words apart where a converter drops HTML (pandoc, on the way to Word).
    return text.replace("\n", "<br> ")


def escape_latex(text: str) -> str:
    r"""Return `text` for the text of a LaTeX document; line breaks become ``\newline``.

    >>> print(escape_latex("50% of R&D_"))
    50\% of R\&D\_
    """
    text = _LATEX_LIGATURES.sub(r"\1{\\kern0pt}", _clean(text).translate(_LATEX))
    text = _LATEX_STATISTIC.sub(lambda sign: _LATEX_GREEK[sign.group()], text)
    return text.replace("\n", "\\newline ")


def _clean(text: str) -> str:
    """Return `text` with every kind of line break as one and no character that breaks a file or a page."""
    return _UNPRINTABLE.sub("\ufffd", _BREAKS.sub("\n", text).replace("\t", " ")).strip()


def _one_line(text: str, escape: Callable[[str], str]) -> str:
    return escape(" ".join(_clean(text).split("\n")))


def _after_note(notes: Sequence[str], lead: str) -> list[str]:
    return [f"{lead} {notes[0]}", *notes[1:]] if notes else []


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex_row(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\\n"


def _latex_cell(cell: str, side: Alignment) -> str:
    """Return a cell of a paragraph column; a number in it is never broken over lines."""
    return escape_latex(cell.replace(" ", "\xa0") if side == "right" else cell)


def _html_cells(row: Sequence[str], sides: Sequence[Alignment]) -> str:
    """Return one row's cells; the first is its head, and texts find their own direction (Arabic, Hebrew)."""
    first = f'<th scope="row" dir="auto" {_HTML_CELLS[sides[0]]}>{escape_html(row[0])}</th>'
    rest = [
        f'<td dir="auto" {_HTML_CELLS[side]}>{escape_html(cell)}</td>'
        for cell, side in zip(row[1:], sides[1:], strict=True)
    ]
    return "".join([first, *rest])

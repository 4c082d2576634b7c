r"""A finished table, and how it is written as Markdown, LaTeX, HTML, Word and CSV.

`Table` holds text only. Each format has one function that escapes any text for it, so that what a
participant or a coder typed is printed as typed and never becomes mark-up: no pipe splits a row, no
``\input`` runs, no tag opens. Line breaks inside a cell are kept, control characters are shown as U+FFFD.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import _present, _reasons
from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import write_by_suffix
from sense7_qual._basis import COLUMN, NOT_STATED, to_be_reviewed
from sense7_qual._contract import Contract
from sense7_qual._present import MISSING
from sense7_qual._reasons import Reason
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.report._docx import word_document
from sense7_qual.report._entries import Entry, Printed, entries, html_list, markdown_list
from sense7_qual.report._escape import Paper, Style, clean, escape_html, escape_markdown, no_formula, one_line
from sense7_qual.report._latex import latex_table

Alignment = Literal["left", "right"]
Layout = Literal["grid", "list"]

_LABEL = re.compile(r"[A-Za-z0-9:._-]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")

# Inline, because a notebook aligns the cells of tables itself and takes style sheets out of what it does not
# trust. A number is never broken over lines, its head may be.
_HTML_LEFT: Final = 'style="text-align: left"'
_HTML_DATE: Final = 'style="text-align: left; white-space: nowrap"'
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
    layout : {"grid", "list"}
        In rows and columns, or as a list: each row under its first cell, with the column's head before each
        other cell, which reads better where cells are prose.

    Raises
    ------
    TableError
        A row or the alignments do not fit the columns.

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
    layout: Layout = "grid"

    def __post_init__(self) -> None:
        if not self.alignments:
            object.__setattr__(self, "alignments", ("left",) * len(self.headers))
        wrong = [number for number, row in enumerate(self.rows) if len(row) != len(self.headers)]
        if wrong or len(self.alignments) != len(self.headers):
            raise TableError(
                f"table: expected {len(self.headers)} cells in every row and as many alignments – found "
                f"{len(self.alignments)} alignments and {len(wrong)} rows of another length (first: row "
                f"{wrong[0] if wrong else 'none'}) – give each column its own."
            )

    def __repr__(self) -> str:
        return f"Table({self.title!r}, {len(self.rows)} rows, {len(self.headers)} columns)"

    @property
    def frame(self) -> pd.DataFrame:
        """The printed cells as a DataFrame of strings, for a layout of your own; notes are in `notes`."""
        return pd.DataFrame(list(self.rows), columns=list(self.headers), dtype="string")

    def markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown (also read by Jupyter, Quarto and pandoc)."""
        notes = _after_note([one_line(note, escape_markdown) for note in self.notes], "*Note.*")
        if self.layout == "list":
            return markdown_list(self.title, self._entries(), notes)
        rules = ["--:" if side == "right" else ":--" for side in self.alignments]
        lines = [_markdown_row(map(escape_markdown, self.headers)), f"|{'|'.join(rules)}|"]
        lines += [_markdown_row(map(escape_markdown, row)) for row in self.rows]
        parts = [f"**{one_line(self.title, escape_markdown)}**", "\n".join(lines)]
        return "\n\n".join([*parts, *notes]) + "\n"

    def latex(
        self, *, label: str | None = None, style: Style = "plain", page_columns: Literal[1, 2] = 1
    ) -> str:
        r"""Return the table as LaTeX with booktabs rules.

        A table that is short and narrow is a float, another one a `longtable` over as many pages as it needs,
        in columns as wide as what is in them; a wide one gets a page in landscape. On pages of two
        columns it is a float in one of them or across both, and a long one goes on in further floats that
        repeat its head. What is wider than any page is written as a list of its rows. A comment names the
        packages that the document needs (array, booktabs, longtable; caption for a style; in landscape
        pdflscape). It compiles with pdfLaTeX, XeLaTeX and LuaLaTeX: where the engine or the font lacks a
        character (an emoji, another script), its name or its number is printed in brackets, and a comment
        lists which those may be. For Word, write a .docx: pandoc's reader of LaTeX leaves out straight
        quotation marks.

        Parameters
        ----------
        label : str, optional
            For ``\ref``: letters, digits and ``: . _ -``.
        style : {"plain", "acm", "apa"}
            How the caption looks: as the document's class has it; in bold after the number and a colon (in
            acmart, that class's own); or the number in bold above the title in italics (APA 7, section 7.10).
        page_columns : {1, 2}
            Columns of text on the document's pages.

        Raises
        ------
        ArgumentError
            The label has other characters, or there is no such style or number of columns.
        """
        check_arguments(Table.latex, locals())
        if label is not None and not _LABEL.fullmatch(label):
            raise ArgumentError(
                f"table: expected a LaTeX label of letters, digits and ': . _ -' – found {label!r} – "
                "choose one like 'tab:reliability'."
            )
        return latex_table(self._printed(), label=label, style=style, page_columns=page_columns)

    def _printed(self) -> Printed:
        right = tuple(side == "right" for side in self.alignments)
        return Printed(self.title, self.headers, self.rows, self.notes, right, self.layout == "list")

    def _entries(self) -> tuple[Entry, ...]:
        return entries(self.headers, self.rows, [side == "right" for side in self.alignments])

    def html(self) -> str:
        """Return the table as an HTML element with caption, scoped heads and foot; no script.

        Its cells say how they are aligned; the rest of its looks is left to the page. A list is a figure with
        a definition list.
        """
        notes = _after_note([escape_html(note) for note in self.notes], "<em>Note.</em>")
        if self.layout == "list":
            return html_list(self.title, self._entries(), notes)
        heads = "".join(
            f'<th scope="col" {_HTML_HEADS[side]}>{escape_html(head)}</th>'
            for head, side in zip(self.headers, self.alignments, strict=True)
        )
        rows = "".join(f"<tr>{_html_cells(row, self.alignments)}</tr>\n" for row in self.rows)
        paragraphs = "".join(f"<p>{note}</p>" for note in notes)
        span = f'colspan="{len(self.headers)}" {_HTML_LEFT}'
        foot = f"<tfoot><tr><td {span}>{paragraphs}</td></tr></tfoot>\n" if notes else ""
        return (
            f'<table class="qual-table">\n<caption {_HTML_LEFT}>{escape_html(self.title)}</caption>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n{foot}</table>\n"
        )

    def _repr_html_(self) -> str:
        return STYLE + self.html()

    def _word(self, style: Style = "plain", paper: Paper = "a4") -> bytes:
        printed = Printed(
            " ".join(clean(self.title).split("\n")),
            tuple(clean(head) for head in self.headers),
            tuple(tuple(clean(cell) for cell in row) for row in self.rows),
            tuple(clean(note) for note in self.notes),
            tuple(side == "right" for side in self.alignments),
            self.layout == "list",
        )
        return word_document(printed, style=style, paper=paper)

    def csv(self) -> str:
        """Return the printed cells as CSV, the heads first; title and notes are left out.

        A cell that a spreadsheet would take for a formula has an apostrophe before it.
        """
        lines = io.StringIO()
        rows = [[no_formula(clean(cell)) for cell in row] for row in (self.headers, *self.rows)]
        csv.writer(lines, lineterminator="\n").writerows(rows)
        return lines.getvalue()

    def write(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        style: Style = "plain",
        page_columns: Literal[1, 2] = 1,
        paper_size: Paper = "a4",
    ) -> None:
        """Write the table to `path` in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where, ending in .md, .tex, .html (a whole page), .docx or .csv (UTF-8 with a mark that Excel
            reads). A Word document has a real table, its head repeated on every page, in columns as wide as
            what is in them; a table that needs more than a page in portrait is on one in landscape, and what
            is wider than that is a list of its rows.
        overwrite : bool
            Whether to replace an existing file: what somebody wrote into it would be lost.
        style : {"plain", "acm", "apa"}
            How the caption looks in LaTeX (see `latex`) and Word, where "acm" and "apa" number the table.
        page_columns : {1, 2}
            Columns of text on the pages of a LaTeX document.
        paper_size : {"a4", "letter"}
            The page of a Word document.

        Raises
        ------
        ArgumentError
            The suffix, style, number of columns or paper size is another one; nothing was written.
        TableError
            The table has no rows: nothing was written.
        StoreError
            There is a file and `overwrite` is false; it is unchanged.
        """
        check_arguments(Table.write, locals())
        if not self.rows:
            raise TableError(
                f"table {self.title!r}: expected rows to write – found none – write the table "
                "once there are results (a study needs texts that a coder has finished)."
            )
        formats: dict[str, Callable[[], bytes]] = {
            ".md": lambda: self.markdown().encode(),
            ".tex": lambda: self.latex(style=style, page_columns=page_columns).encode(),
            ".html": lambda: html_page(self.title, self.html()).encode(),
            ".docx": lambda: self._word(style, paper_size),
            ".csv": lambda: self.csv().encode("utf-8-sig"),
        }
        write_by_suffix(path, formats, what="table", overwrite=overwrite)


def left_then_right(n_left: int, n_right: int) -> tuple[Alignment, ...]:
    """Return alignments: words at the left, then numbers at the right."""
    left: Alignment = "left"
    right: Alignment = "right"
    return (*[left] * n_left, *[right] * n_right)


def _after_note(notes: Sequence[str], lead: str) -> list[str]:
    return [f"{lead} {notes[0]}", *notes[1:]] if notes else []


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _html_cells(row: Sequence[str], sides: Sequence[Alignment]) -> str:
    """Return one row's cells; the first is its head, and texts find their own direction (Arabic, Hebrew)."""
    first = f'<th scope="row" dir="auto" {_html_side(row[0], sides[0])}>{escape_html(row[0])}</th>'
    rest = [
        f'<td dir="auto" {_html_side(cell, side)}>{escape_html(cell)}</td>'
        for cell, side in zip(row[1:], sides[1:], strict=True)
    ]
    return "".join([first, *rest])


def _html_side(cell: str, side: Alignment) -> str:
    """Return how a cell is aligned; a date is not broken over lines, as a number is not."""
    return _HTML_DATE if side == "left" and _DATE.fullmatch(cell) else _HTML_CELLS[side]


STYLE: Final = (
    "<style>table.qual-table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid}"
    "table.qual-table caption{caption-side:top;font-weight:bold;padding:.3em 0}"
    "table.qual-table thead{border-bottom:1px solid}table.qual-table tfoot{border-top:1px solid}"
    "table.qual-table tbody th{font-weight:normal}"
    "table.qual-table th,table.qual-table td{padding:.25em .6em;vertical-align:top}"
    "table.qual-table tfoot p,figure.qual-list footer p{margin:.2em 0;max-width:60em}"
    "figure.qual-list{margin:1em 0;max-width:48em}"
    "figure.qual-list figcaption{font-weight:bold;padding:.3em 0}"
    "figure.qual-list dl{border-top:2px solid;border-bottom:2px solid;margin:0;padding:.3em 0}"
    "figure.qual-list dt{margin-top:.8em}figure.qual-list dd{margin:.2em 0 .2em 1.5em}"
    "figure.qual-list ul{margin:0;padding-left:1.2em}"
    "section.qual-text{max-width:42em;line-height:1.45}</style>\n"
)


def html_page(title: str, body: str) -> str:
    """Return a whole page with `body`, which is HTML already."""
    head = f'<meta charset="utf-8">\n<title>{one_line(title, escape_html)}</title>\n{STYLE}'
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}</head>\n<body>\n{body}</body>\n</html>\n'


def check_numbers(frame: pd.DataFrame, contract: Contract) -> None:
    """Raise `TableError`, which shows no value, where a column is missing, or one of numbers holds others."""
    contract.require(frame)
    for name in (name for name in contract.printed if contract.columns[name].is_number):
        known = frame[name].notna()
        wrong = int((known & pd.to_numeric(frame[name], errors="coerce").isna()).sum())
        if wrong:
            raise TableError(
                f"{contract.name}: expected numbers in the column {name!r} – found {wrong} other values – "
                "pass the result as it was computed."
            )


def basis_notes(result: pd.DataFrame) -> list[str]:
    """Return which decisions the numbers rest on: a note for each line, with its sources where they differ.

    The first notes of every table of numbers; what was computed elsewhere says "not stated".
    """
    if COLUMN not in result.columns or not len(result):
        return [f"Basis: {NOT_STATED}"] if len(result) else []
    lines = result[COLUMN].astype("object").where(result[COLUMN].notna(), NOT_STATED).astype(str)
    if len(lines.unique()) == 1 or "source" not in result.columns:
        return [f"Basis: {line}" for line in lines.unique()]
    sources = {line: result["source"][lines == line].astype(str).unique() for line in lines.unique()}
    return [f"Basis ({', '.join(of)}): {line}" for line, of in sources.items()]


def waits(row: Mapping[str, Any]) -> bool:
    """Return True for the row of a code that has no figure until its texts are reviewed."""
    reason = row.get("reason")
    return not pd.isna(reason) and reason == Reason.WAITING_FOR_REVIEW


def waiting_cells(row: Mapping[str, Any], n: int) -> tuple[str, ...]:
    """Return the `n` cells of such a row: how much of it is to be reviewed, and nothing else."""
    return (to_be_reviewed(row.get(COLUMN), str(row["code"])), *[""] * (n - 1))


def row_label(row: Mapping[str, Any]) -> str:
    """Return a row's name in a note: its label, with its source where there are several."""
    return str(row.get("row_label", row["label"]))


def bootstrap_note(
    rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str, name: str, seed: str
) -> str:
    """Return the note on the resampling of the intervals of `name`, and on rows without."""
    resampled = [row for row in rows if not pd.isna(row["n_boot"])]
    limits = _not_resampled(rows, cluster_name)
    if not resampled:
        return f"{interval}:{limits}" if limits else f"{interval}: none, because nothing was resampled."
    clusters = _present.count_range(row["n_clusters"] for row in resampled)
    resamples = _present.count_range(row["n_boot"] for row in resampled)
    alone = ", one text each" if all(row["n_clusters"] == row.get("n_units") for row in resampled) else ""
    return (
        f"{interval}: bootstrap over whole {cluster_name} (number: {clusters}{alone}; B = {resamples} "
        f"resamples; {seed}). {undefined_note(rows, name)}{limits}"
    )


def undefined_note(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return the note on resamples in which `name` was not defined."""
    undefined = [
        f"{row_label(row)} {_present.count(row['n_undefined'])}"
        for row in rows
        if not pd.isna(row["n_undefined"]) and row["n_undefined"] > 0
    ]
    return f"Resamples in which {name} was not defined: {', '.join(undefined) or 'none'}."


def _not_resampled(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    """Name the rows whose interval is not from resamples (see `agreement.coefficients.estimate`)."""
    labels = [row_label(row) for row in rows if pd.isna(row["n_boot"]) and not pd.isna(row.get("alpha_low"))]
    if not labels:
        return ""
    return (
        f" Not resampled: {', '.join(labels)} (from leaving out each of the {cluster_name}, Student's t; a "
        "binomial limit where coders never disagreed)."
    )


def reason_notes(
    rows: Sequence[Mapping[str, Any]], numbers: Iterable[str], *, column: str = "reason", of: str = ""
) -> list[str]:
    """Spell out, grouped by reason, why a value is missing, or with what caution a present one is read.

    `of` names the value, as in "for the odds ratio", where a table has reasons of several kinds.
    """
    groups: dict[str, list[str]] = {}
    names, whose = list(numbers), f" {of}" if of else ""
    for row in rows:
        missing = any(pd.isna(row[name]) for name in names)
        if missing and str(row[column]) == Reason.WAITING_FOR_REVIEW:
            groups.setdefault(f"No figure: {_reasons.reason_words(row[column])}", []).append(row_label(row))
        elif missing or not pd.isna(row[column]):
            lead = f"{MISSING}{whose} = not computable" if missing else "To be read with caution"
            groups.setdefault(f"{lead}: {_reasons.reason_words(row[column])}", []).append(row_label(row))
    return grouped(groups)


def caution_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Spell out, grouped by caution, what to know of rows that have numbers."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for words in _reasons.caution_words(row["caution"]):
            groups.setdefault(f"To be read with caution: {words}", []).append(row_label(row))
    return grouped(groups)


def grouped(groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note per group, with the rows it is about, each named once."""
    return [f"{words} ({', '.join(dict.fromkeys(names))})." for words, names in groups.items()]


def family_note(rows: Sequence[Mapping[str, Any]], p: str = "p_adjusted") -> str:
    """Name the families over which p was adjusted, with the number of tests in each."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[str(row["family"])] = sizes.get(str(row["family"]), 0) + (not pd.isna(row[p]))
    families = ", ".join(f"{family} ({n})" for family, n in sizes.items())
    return f"Adjusted p: Benjamini–Hochberg within each family (number of tests): {families or 'none'}."


def made_with(codebook: Codebook | None, rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """Name the codebook by its fingerprint, its codes that have no row, and the software."""
    software = f"Made with sense7_qual {version('sense7_qual')}."
    if codebook is None:
        return software
    number = f", version {codebook.version}" if codebook.version else ""
    used = None if rows is None else {str(row["code"]) for row in rows}
    absent = [] if used is None else [code.label for code in codebook.codable if code.id not in used]
    without = f" Codes without a result: {', '.join(absent)}." if absent else ""
    name = codebook.title or codebook.name
    return f"Codebook: {name}{number}, fingerprint {codebook.fingerprint}.{without} {software}"


def statements_of_models(named: Sequence[str], models: Mapping[str, str]) -> list[str]:
    """Return the statement on each model, and the models without one."""
    known = [f"{name}: {models[name].rstrip('.')}." for name in named if models.get(name)]
    silent = [name for name in named if not models.get(name)]
    missing = "Not stated here: version, prompt and settings of"
    return [*known, *([f"{missing} {', '.join(silent)}."] if silent else [])]

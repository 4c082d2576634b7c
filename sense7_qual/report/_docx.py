"""A table as a Word document: a real table with caption, a head that is repeated on every page, and notes.

A text as one: paragraphs under headings.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sense7_qual._atomic import undated
from sense7_qual.report._entries import BULLET, Entry, Printed, entries, intervals_below
from sense7_qual.report._escape import Column, Paper, Style, columns, shared

_LONGEST: Final = 255  # characters of a property of the document
_FONT: Final = "Times New Roman"
_CAPTION: Final = 10
_LIST_SIZE: Final = 10
_TEXT_SIZE: Final = 11
_MARGIN: Final = 20  # millimetres
_GAP: Final = 3  # points on either side of a column
_SPARE: Final = 1.4  # LibreOffice takes a font that is so much wider where it lacks Times New Roman
_POINTS: Final = 72 / 25.4  # in a millimetre


_PAPERS: Final[Mapping[Paper, tuple[float, float]]] = {"a4": (210, 297), "letter": (215.9, 279.4)}
_PAGES: Final = ((9, False), (9, True), (8, True))
_INDENT: Final = 14  # points, of what stands below a name in a list
_HANGING: Final = 8


class _Page(NamedTuple):
    """A page, and the size of type in points."""

    size: int
    landscape: bool
    paper: Paper

    @property
    def sides(self) -> tuple[float, float]:
        """Width and height in millimetres."""
        short, long = _PAPERS[self.paper]
        return (long, short) if self.landscape else (short, long)

    def line(self, n_columns: int) -> float:
        """Return the ems of text on a line of that many columns."""
        return ((self.sides[0] - 2 * _MARGIN) * _POINTS - 2 * _GAP * n_columns) / self.size


class _Shape(NamedTuple):
    """A table in rows and columns, the page that it is on, and what its columns need."""

    printed: Printed
    page: _Page
    needed: Sequence[Column]


def word_document(table: Printed, *, style: Style, paper: Paper) -> bytes:
    """Return a Word document (.docx) of one table.

    Texts must hold no character that XML forbids; a line break starts a new line in its cell. The columns are
    as wide as what is in them, and the page is turned, and the type made smaller, where that leaves no room
    for words; where none is left even so, it is a list of its rows.
    """
    from docx import Document

    shape = None if table.as_list else _laid_out(table, paper)
    made = Document()
    made.core_properties.title, made.core_properties.author = table.title[:_LONGEST], "sense7_qual"
    made.core_properties.comments = ""
    shown = shape.page if shape else _Page(_LIST_SIZE, landscape=False, paper=paper)
    _turn(made, shown)
    _caption(made, table.title, style)
    if shape is None:
        for entry in entries(table.headers, table.rows, table.right):
            _entry(made, entry)
    else:
        _grid(made, shape)
    for number, note in enumerate(table.notes):
        paragraph = made.add_paragraph()
        if number == 0:
            _write(paragraph, "Note. ", size=shown.size, italic=True)
        _write(paragraph, note, size=shown.size)
    packed = io.BytesIO()
    made.save(packed)
    return undated(packed.getvalue())


def word_text(
    title: str, blocks: Sequence[tuple[str, str]], asked: str, questions: Sequence[str], *, paper: Paper
) -> bytes:
    """Return a Word document (.docx) of a text: paragraphs under headings, and questions as a list below."""
    from docx import Document
    from docx.shared import Pt

    made = Document()
    made.core_properties.title, made.core_properties.author = title[:_LONGEST], "sense7_qual"
    made.core_properties.comments = ""
    _turn(made, _Page(_TEXT_SIZE, landscape=False, paper=paper))
    headed = [(1, title, ""), *((2, heading, text) for heading, text in blocks)]
    for level, heading, text in [*headed, *([(2, asked, "")] if questions else [])]:
        line = made.add_paragraph(style=f"Heading {level}")
        _write(line, heading, size=_TEXT_SIZE + 4 - 2 * level, bold=True)
        line.paragraph_format.space_before = Pt(8)
        if text:
            _write(made.add_paragraph(), text, size=_TEXT_SIZE)
    for question in questions:
        _write(made.add_paragraph(style="List Bullet"), question, size=_TEXT_SIZE)
    packed = io.BytesIO()
    made.save(packed)
    return undated(packed.getvalue())


def _caption(made: Any, title: str, style: Style) -> None:
    """Write the caption: the title in bold, after its number (ACM), or in italics below it (APA)."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    caption = made.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = True
    if style == "plain":
        _write(caption, title, size=_CAPTION, bold=True)
        return
    _write(caption, "Table ", size=_CAPTION, bold=True)
    _number(caption)
    if style == "acm":
        caption.alignment = WD_ALIGN_PARAGRAPH.CENTER
        _write(caption, f": {title}", size=_CAPTION, bold=True)
        return
    below = made.add_paragraph()
    below.paragraph_format.keep_with_next = True
    _write(below, title, size=_CAPTION, italic=True)


def _number(caption: Any) -> None:
    """Add the number of the table as a field, which Word counts on when the table is put into a paper."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    _write(caption, "1", size=_CAPTION, bold=True)
    run = caption.runs[-1]._r
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "SEQ Table \\* ARABIC")
    run.addprevious(field)
    field.append(run)


def _entry(made: Any, entry: Entry) -> None:
    """Write an entry of a list: its name, and below it its parts, the heads in italics."""
    name = made.add_paragraph()
    _write(name, entry.name, size=_LIST_SIZE, bold=True)
    for remark in entry.remarks:
        _write(name, f" {remark}", size=_LIST_SIZE)
    _place(name, before=8, left=0, with_next=True)
    for part in entry.parts:
        line = made.add_paragraph()
        for place, (head, text) in enumerate(part.beside):
            _write(line, f"{'; ' if place else ''}{head}:", size=_LIST_SIZE, italic=True)
            _write(line, f" {text}", size=_LIST_SIZE)
        _place(line, before=1, left=_INDENT, with_next=bool(part.below))
        for text in part.below:
            bulleted = text.startswith(BULLET)
            line = made.add_paragraph()
            _write(line, text, size=_LIST_SIZE)
            _place(line, before=0, left=_INDENT + _HANGING * bulleted, hanging=_HANGING * bulleted)


def _place(paragraph: Any, *, before: int, left: int, hanging: int = 0, with_next: bool = False) -> None:
    from docx.shared import Pt

    form = paragraph.paragraph_format
    form.space_before, form.space_after, form.left_indent = Pt(before), Pt(1), Pt(left)
    form.first_line_indent, form.keep_with_next = Pt(-hanging), with_next


def _laid_out(table: Printed, paper: Paper) -> _Shape | None:
    """Return the table on the first page that holds it, its intervals below if need be; None if none does."""
    for printed in (table, intervals_below(table)):
        needed = columns(printed.headers, printed.rows, printed.right, spare=_SPARE)
        page = _page(needed, paper)
        if page is not None:
            return _Shape(printed, page, needed)
    return None


def _grid(made: Any, shape: _Shape) -> None:
    """Write the table in rows and columns, the cells of those at the right never broken over lines."""
    printed, page, needed = shape
    headers, rows = printed.headers, printed.rows
    table = made.add_table(rows=1 + len(rows), cols=len(headers))
    _widths(table, [width * page.size + 2 * _GAP for width in shared(needed, page.line(len(headers)))])
    for number, (row, texts) in enumerate(zip(table.rows, [headers, *rows], strict=True)):
        _properties(row, head=number == 0)
        for cell, text, fixed in zip(row.cells, texts, printed.right, strict=True):
            # In a head the words may break, in a column of numbers nothing does.
            unbroken = text.replace(" ", "\xa0") if number and fixed else text
            _write(cell.paragraphs[0], unbroken, size=page.size, bold=number == 0, right=fixed)
    _borders(table)


def _page(needed: Sequence[Column], paper: Paper) -> _Page | None:
    """Return the first page on which no column is a narrow strip, or else the widest; None if none is."""
    comfortable = sum(column.comfortable for column in needed)
    least = sum(column.least for column in needed)
    pages = [_Page(size, landscape, paper) for size, landscape in _PAGES]
    fitting = (page for page in pages if comfortable <= page.line(len(needed)))
    return next(fitting, pages[-1] if least <= pages[-1].line(len(needed)) else None)


def _turn(made: Any, page: _Page) -> None:
    from docx.enum.section import WD_ORIENT
    from docx.shared import Mm

    section = made.sections[0]
    section.orientation = WD_ORIENT.LANDSCAPE if page.landscape else WD_ORIENT.PORTRAIT
    section.page_width, section.page_height = map(Mm, page.sides)
    for margin in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
        setattr(section, margin, Mm(_MARGIN))


def _widths(table: Any, widths: Sequence[float]) -> None:
    """Give the columns their widths in points, in the grid and in every cell: programs read either."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Pt

    table.autofit = False
    margins = OxmlElement("w:tblCellMar")
    for side in ("left", "right"):
        margin = OxmlElement(f"w:{side}")
        margin.set(qn("w:w"), str(20 * _GAP))
        margin.set(qn("w:type"), "dxa")
        margins.append(margin)
    table._tbl.tblPr.insert_element_before(margins, "w:tblLook", "w:tblCaption", "w:tblDescription")
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width)
    for row in table.rows:
        for cell, width in zip(row.cells, widths, strict=True):
            cell.width = Pt(width)


def _write(
    paragraph: Any, text: str, *, size: int, bold: bool = False, italic: bool = False, right: bool = False
) -> None:
    """Add `text` to a paragraph, which runs from the right where its first letter does (Arabic, Hebrew)."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import OxmlElement
    from docx.shared import Pt, RGBColor

    begins = not paragraph.runs
    paragraph.paragraph_format.space_before = paragraph.paragraph_format.space_after = Pt(2)
    if right:
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    run = paragraph.add_run(text)
    run.font.name = _FONT
    run.font.size, run.font.bold, run.font.italic = Pt(size), bold, italic
    run.font.color.rgb = RGBColor(0, 0, 0)
    sides = (unicodedata.bidirectional(letter) for letter in text)
    if next((side for side in sides if side in ("L", "R", "AL")), "L") != "L":
        run.font.rtl = True
        if begins:
            paragraph._p.get_or_add_pPr().insert_element_before(
                OxmlElement("w:bidi"), "w:spacing", "w:ind", "w:jc", "w:rPr"
            )


def _properties(row: Any, *, head: bool) -> None:
    """Keep a row on one page, and repeat the head on every page."""
    from docx.oxml import OxmlElement

    properties = row._tr.get_or_add_trPr()
    properties.append(OxmlElement("w:cantSplit"))
    if head:
        properties.append(OxmlElement("w:tblHeader"))


def _borders(table: Any) -> None:
    """Draw the rules of a printed table: above, below, and under the head."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    def rules(parent: Any, sides: Sequence[str], kind: str) -> Any:
        element = OxmlElement(kind)
        for side in sides:
            rule = OxmlElement(f"w:{side}")
            for name, value in (("val", "single"), ("sz", "8"), ("space", "0"), ("color", "000000")):
                rule.set(qn(f"w:{name}"), value)
            element.append(rule)
        return element

    table._tbl.tblPr.insert_element_before(
        rules(table, ("top", "bottom"), "w:tblBorders"),
        "w:shd",
        "w:tblLayout",
        "w:tblCellMar",
        "w:tblLook",
        "w:tblCaption",
        "w:tblDescription",
    )
    for cell in table.rows[0].cells:
        cell._tc.get_or_add_tcPr().insert_element_before(
            rules(cell, ("bottom",), "w:tcBorders"), "w:shd", "w:noWrap", "w:tcMar", "w:vAlign"
        )

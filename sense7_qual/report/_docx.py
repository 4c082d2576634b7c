"""A table as a Word document: a real table with caption, a head that is repeated on every page, and notes."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sense7_qual.report._column_widths import Column, columns, shared

__all__ = ["word_table"]

_LONGEST: Final = 255  # characters of a property of the document
_FONT: Final = "Times New Roman"
_CAPTION: Final = 10
_MARGIN: Final = 20  # millimetres
_GAP: Final = 3  # points on either side of a column
_SPARE: Final = 1.4  # LibreOffice takes a font that is so much wider where it lacks Times New Roman
_POINTS: Final = 72 / 25.4  # in a millimetre


class _Page(NamedTuple):
    """A page of A4, and the size of type in points."""

    size: int
    landscape: bool

    @property
    def sides(self) -> tuple[int, int]:
        """Width and height in millimetres."""
        return (297, 210) if self.landscape else (210, 297)

    def line(self, n_columns: int) -> float:
        """Return how many ems of text stand beside each other in that many columns."""
        return ((self.sides[0] - 2 * _MARGIN) * _POINTS - 2 * _GAP * n_columns) / self.size


_PAGES: Final = (_Page(9, landscape=False), _Page(9, landscape=True), _Page(8, landscape=True))


def word_table(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    right: Sequence[bool],
) -> bytes:
    """Return a Word document (.docx) of one table.

    Texts must hold no character that XML forbids; a line break starts a new line in its cell. `right` says
    which columns are aligned so; their cells are never broken over lines. The columns are as wide as what is
    in them, and the page is turned, and the type made smaller, where that leaves no room for words.
    """
    from docx import Document

    needed = columns(headers, rows, right, spare=_SPARE)
    page = _page(needed)
    made = Document()
    made.core_properties.title, made.core_properties.author = title[:_LONGEST], "sense7_qual"
    made.core_properties.comments = ""
    _turn(made, page)
    caption = made.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = True
    _write(caption, title, size=_CAPTION, bold=True)
    table = made.add_table(rows=1 + len(rows), cols=len(headers))
    _widths(table, [width * page.size + 2 * _GAP for width in shared(needed, page.line(len(headers)))])
    for number, (row, texts) in enumerate(zip(table.rows, [headers, *rows], strict=True)):
        _properties(row, head=number == 0)
        for cell, text, fixed in zip(row.cells, texts, right, strict=True):
            # In a head the words may break, in a column of numbers nothing does.
            unbroken = text.replace(" ", "\xa0") if number and fixed else text
            _write(cell.paragraphs[0], unbroken, size=page.size, bold=number == 0, right=fixed)
    _borders(table)
    for number, note in enumerate(notes):
        paragraph = made.add_paragraph()
        if number == 0:
            _write(paragraph, "Note. ", size=page.size, italic=True)
        _write(paragraph, note, size=page.size)
    packed = io.BytesIO()
    made.save(packed)
    return packed.getvalue()


def _page(needed: Sequence[Column]) -> _Page:
    """Return the first page on which no column is a narrow strip, or else the widest."""
    comfortable = sum(column.comfortable for column in needed)
    return next((page for page in _PAGES if comfortable <= page.line(len(needed))), _PAGES[-1])


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

    paragraph.paragraph_format.space_before = paragraph.paragraph_format.space_after = Pt(2)
    if right:
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    run = paragraph.add_run(text)
    run.font.name = _FONT
    run.font.size, run.font.bold, run.font.italic = Pt(size), bold, italic
    run.font.color.rgb = RGBColor(0, 0, 0)
    sides = (unicodedata.bidirectional(letter) for letter in text)
    if next((side for side in sides if side in ("L", "R", "AL")), "L") != "L":
        paragraph._p.get_or_add_pPr().insert_element_before(
            OxmlElement("w:bidi"), "w:spacing", "w:ind", "w:jc", "w:rPr"
        )
        run.font.rtl = True


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
        "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook", "w:tblCaption", "w:tblDescription",
    )  # fmt: skip
    for cell in table.rows[0].cells:
        cell._tc.get_or_add_tcPr().insert_element_before(
            rules(cell, ("bottom",), "w:tcBorders"), "w:shd", "w:noWrap", "w:tcMar", "w:vAlign"
        )

"""A table as a Word document: a real table with caption, a head that is repeated on every page, and notes."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

__all__ = ["document"]

_MOST_UPRIGHT: Final = 8  # columns of a table that fit on a page in portrait
_LONGEST: Final = 255  # characters of a property of the document
_SMALL: Final = 8
_USUAL: Final = 9


def document(
    title: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    notes: Sequence[str],
    *,
    right: Sequence[bool],
    widths: Sequence[float],
) -> bytes:
    """Return a Word document (.docx) of one table.

    Texts must hold no character that XML forbids; a line break starts a new line in its cell. `right` says
    which columns are aligned so; their cells are never broken over lines. `widths` are shares of the line, or
    empty for columns as wide as what is in them. A table of many columns stands on a page in landscape.
    """
    from docx import Document

    made = Document()
    made.core_properties.title, made.core_properties.author = title[:_LONGEST], "sense7_qual"
    made.core_properties.comments = ""
    size = _USUAL if len(headers) <= _MOST_UPRIGHT else _SMALL
    line = _page(made, landscape=len(headers) > _MOST_UPRIGHT)
    caption = made.add_paragraph(style="Caption")
    caption.paragraph_format.keep_with_next = True
    _write(caption, title, size=_USUAL + 1, bold=True)
    table = made.add_table(rows=1 + len(rows), cols=len(headers))
    table.autofit = not widths
    for number, (row, texts) in enumerate(zip(table.rows, [headers, *rows], strict=True)):
        _properties(row, head=number == 0)
        for place, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
            if widths:
                cell.width = round(line * widths[place] / sum(widths))
            # In a head the words may break, in a column of numbers nothing does.
            fixed = text.replace(" ", "\xa0") if number and right[place] else text
            _write(cell.paragraphs[0], fixed, size=size, bold=number == 0, right=right[place])
    _borders(table)
    for number, note in enumerate(notes):
        paragraph = made.add_paragraph()
        if number == 0:
            _write(paragraph, "Note. ", size=size, italic=True)
        _write(paragraph, note, size=size)
    packed = io.BytesIO()
    made.save(packed)
    return packed.getvalue()


def _page(made: Any, *, landscape: bool) -> int:
    """Turn the page where needed, and return how long a line is."""
    from docx.enum.section import WD_ORIENT
    from docx.shared import Mm

    section = made.sections[0]
    sides = (Mm(297), Mm(210)) if landscape else (Mm(210), Mm(297))
    section.orientation = WD_ORIENT.LANDSCAPE if landscape else WD_ORIENT.PORTRAIT
    section.page_width, section.page_height = sides
    for margin in ("left_margin", "right_margin", "top_margin", "bottom_margin"):
        setattr(section, margin, Mm(20))
    return int(sides[0] - 2 * Mm(20))


def _write(
    paragraph: Any, text: str, *, size: int, bold: bool = False, italic: bool = False, right: bool = False
) -> None:
    """Add `text` to a paragraph, which runs from the right where its first letter does (Arabic, Hebrew)."""
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import OxmlElement
    from docx.shared import Pt, RGBColor

    paragraph.paragraph_format.space_after = Pt(2)
    if right:
        paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    run = paragraph.add_run(text)
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
        found = OxmlElement(kind)
        for side in sides:
            rule = OxmlElement(f"w:{side}")
            for name, value in (("val", "single"), ("sz", "8"), ("space", "0"), ("color", "000000")):
                rule.set(qn(f"w:{name}"), value)
            found.append(rule)
        return found

    table._tbl.tblPr.insert_element_before(
        rules(table, ("top", "bottom"), "w:tblBorders"),
        "w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook", "w:tblCaption", "w:tblDescription",
    )  # fmt: skip
    for cell in table.rows[0].cells:
        cell._tc.get_or_add_tcPr().insert_element_before(
            rules(cell, ("bottom",), "w:tcBorders"), "w:shd", "w:noWrap", "w:tcMar", "w:vAlign"
        )

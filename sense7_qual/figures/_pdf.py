"""PDFs: letters that are pictures in their font, and the same bytes for the same drawing.

The library numbers and lists fonts in an order of chance, and fails at a font that holds pictures alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Final

__all__ = ["in_order", "without_pictures_in_fonts"]

_TEXT: Final = re.compile(r"<text\b([^>]*>(?:[^<]|<(?!/text))*</text>)")
_VIEW_BOX: Final = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_DOTS: Final = 600 / 72  # of a picture of letters, in a point

_START: Final = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_TABLE: Final = re.compile(
    rb"xref\n0 (\d+)\n((?:\d{10} \d{5} [nf][ \r]\n)+)(trailer\n.*?)startxref", re.DOTALL
)
_OBJECT: Final = re.compile(rb"(\d+) 0 obj\n")
_REFERENCE: Final = re.compile(rb"\b(\d+) 0 R\b")
_NAMED: Final = re.compile(rb"^(?: +/[A-Za-z]+\d+ \d+ 0 R\n){2,}", re.MULTILINE)
_STREAM: Final = b"\nstream\n"


def without_pictures_in_fonts(svg: str) -> str:
    """Return a drawing with a picture in place of each line of letters that a PDF cannot hold.

    Its width and height are in points. A font of emoji in colour holds pictures, and no outlines.
    """
    pictured = {at[0] for at in _TEXT.finditer(svg) if not at[0].isascii() and not _embeds(at[0])}
    if not pictured:
        return svg

    def with_those(change: Callable[[re.Match[str]], str]) -> str:
        return _TEXT.sub(lambda at: change(at) if at[0] in pictured else at[0], svg)

    import vl_convert

    letters = with_those(lambda at: f'<text visibility="visible"{at[1]}')
    letters = letters.replace("<svg ", '<svg visibility="hidden" ', 1)
    picture = base64.b64encode(vl_convert.svg_to_png(letters, scale=_DOTS, ppi=72)).decode("ascii")
    box = _VIEW_BOX.search(svg)
    size = f'width="{box[1]}" height="{box[2]}"' if box else 'width="100%" height="100%"'
    image = f'<image {size} xlink:href="data:image/png;base64,{picture}"/>'
    return with_those(lambda _: "").replace("</svg>", f"{image}</svg>")


def _embeds(text: str) -> bool:
    """Return True if a PDF can hold the letters of an SVG's text."""
    import vl_convert

    try:
        vl_convert.svg_to_pdf(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{text}</svg>')
    except RuntimeError:
        return False
    return True


def in_order(pdf: bytes) -> bytes:
    """Return a PDF with its objects in the order in which the page comes to them, and names sorted.

    What is not built as the library builds it, a plain table of objects, is returned as it is.
    """
    start = _START.search(pdf)
    table = _TABLE.match(pdf, int(start[1])) if start else None
    if table is None:
        return pdf
    places = sorted(int(line[:10]) for line in table[2].splitlines() if line[17:18] == b"n")
    bodies: dict[bytes, tuple[bytes, bytes]] = {}
    for begin, end in zip(places, [*places[1:], table.start()], strict=True):
        heading = _OBJECT.match(pdf, begin)
        if heading is None:
            return pdf
        head, mark, stream = pdf[heading.end() : end].partition(_STREAM)
        names = _NAMED.sub(lambda at: b"".join(sorted(at[0].splitlines(keepends=True))), head)
        bodies[heading[1]] = names, mark + stream  # a stream is never looked into
    order = _reached(table[3], bodies)
    return _written(pdf[: places[0]], table[3], bodies, order) if len(order) == len(bodies) else pdf


def _reached(trailer: bytes, bodies: dict[bytes, tuple[bytes, bytes]]) -> dict[bytes, int]:
    """Return the new number of each object, by the old one."""
    order: dict[bytes, int] = {}
    to_do = _REFERENCE.findall(trailer)[::-1]
    while to_do:
        number = to_do.pop()
        if number in bodies and number not in order:
            order[number] = len(order) + 1
            to_do += _REFERENCE.findall(bodies[number][0])[::-1]
    return order


def _written(
    begin: bytes, trailer: bytes, bodies: dict[bytes, tuple[bytes, bytes]], order: dict[bytes, int]
) -> bytes:
    def renumbered(text: bytes) -> bytes:
        return _REFERENCE.sub(lambda at: b"%d 0 R" % order[at[1]], text)

    parts, places, at = [begin], [], len(begin)
    for old, new in order.items():
        head, rest = bodies[old]
        parts.append(b"%d 0 obj\n%s%s" % (new, renumbered(head), rest))
        places.append(at)
        at += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(order) + 1)
    end = b"startxref\n%d\n%%%%EOF" % at
    return b"".join([*parts, head, table, renumbered(trailer), end])

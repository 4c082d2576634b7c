"""The letters of a drawing: how wide they are, where a line breaks, and which of them no font here has.

The renderer is asked, not a list of fonts: what it draws is what a paper prints.
"""

from __future__ import annotations

import base64
import html
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final

from sense7_qual._messages import UNPRINTABLE, first_three
from sense7_qual._present import divides

FONT: Final = "Arial, Helvetica, Liberation Sans, DejaVu Sans, sans-serif"
SIZE: Final = 8 * 96 / 72
"""CSS pixels of the letters of labels and titles."""

_SPACE: Final = 0.28  # of the size
_ANYWHERE: Final = re.compile(
    "[ -~\u00a0-\u017fΑ-ΡΣ-Ωα-ω–—‘’“”…←→·−†]*"
)  # the renderer brings a font for these
# Of a line's room: for the sake of one letter the renderer draws a line in another font, which may be wider.
_SHARES: Final = (1.0, 0.85, 0.7, 0.55)
_NOWHERE: Final = "\u0378"  # a character that does not exist: always a box
_FLAG: Final = "\U0001f1e6\U0001f1e7\U0001f1ff"
_BREAKS: Final = re.compile(r"[ \t\n\r\f\v]+")
_SCRIPT: Final = re.compile(r"(.*?) (?:CAPITAL|SMALL|LETTER|SYLLABLE|UNIFIED|VOWEL|SIGN|DIGIT|IDEOGRAPH)\b")


def widths(texts: Sequence[str], *, bold: bool = False, size: float = SIZE) -> list[float]:
    """Measure the drawn width of each text in CSS pixels."""
    import vl_convert

    letters = {"fontSize": size, "font": FONT, "fontWeight": "bold" if bold else "normal"}
    drawn = {"text": {"field": "text"}, **{name: {"value": value} for name, value in letters.items()}}
    size_of = {"width": {"signal": "datum.bounds.x2 - datum.bounds.x1"}}
    specification = {
        "$schema": "https://vega.github.io/schema/vega/v5.json",
        "data": [{"name": "texts", "values": [{"text": text} for text in texts]}],
        "marks": [
            {"name": "drawn", "type": "text", "from": {"data": "texts"}, "encode": {"enter": drawn}},
            {"type": "rect", "from": {"data": "drawn"}, "encode": {"enter": size_of}},
        ],
    }
    root = vl_convert.vega_to_scenegraph(specification)["scenegraph"]["items"][0]
    return [float(item.get("width", 0)) for item in root["items"][1]["items"]]


def wrapped(
    texts: Sequence[str], room: float, *, most: int | None = None, bold: bool = False
) -> list[list[str]]:
    """Break each text into lines no wider than `room` pixels; of more than `most` the last ends in "…".

    A letter that no font here has is replaced by its name in brackets, and a warning names it.
    """
    atoms = [_atoms(text) for text in with_names(texts)]
    known = dict.fromkeys(atom for of_text in atoms for atom in of_text)
    wide = dict(zip(known, widths(list(known), bold=bold), strict=True))
    broken = (atom for atom, width in wide.items() if width > _SHARES[-1] * room)
    letters = dict.fromkeys(letter for atom in broken for letter in _letters(atom))
    wide |= zip(letters, widths(list(letters), bold=bold), strict=True)
    for share in _SHARES:
        lines = [_lines(of_text, wide, share * room, most) for of_text in atoms]
        drawn = widths([line for block in lines for line in block], bold=bold)
        if max(drawn, default=0.0) <= room:
            break
    return lines


def _atoms(text: str) -> list[str]:
    """Return the words between which a line may break; a no-break space does not part them."""
    return _BREAKS.split(text.strip()) or [text]


def _letters(text: str) -> list[str]:
    """Split a text into the units that are drawn as one letter."""
    starts = [at for at in range(len(text)) if not divides(text, at)]
    return [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _lines(atoms: Sequence[str], wide: Mapping[str, float], room: float, most: int | None) -> list[str]:
    """Put words into lines, and letters of a word that is wider than a line."""
    lines, used = [""], 0.0
    for word in atoms:
        gap = _SPACE * SIZE if lines[-1] else 0.0
        for place, piece in enumerate([word] if wide[word] <= room else _letters(word)):
            between = gap if place == 0 else 0.0
            if lines[-1] and used + between + wide[piece] > room:
                lines, used, between = [*lines, ""], 0.0, 0.0
            lines[-1] += (" " if between else "") + piece
            used += between + wide[piece]
    lines = [line.replace("\u00a0", " ") for line in lines]
    if most is None or len(lines) <= most:
        return lines
    last = _letters(lines[most - 1])
    kept = int(
        len(last) * min(1.0, max(0.0, room - SIZE) / max(sum(wide.get(one, 0.5 * SIZE) for one in last), 1))
    )
    return [*lines[: most - 1], f"{''.join(last[:kept]).rstrip()}…"]


def with_names(texts: Sequence[str]) -> list[str]:
    """Return texts with the name in brackets of each letter that no font here has, and warn of them."""
    named: list[str] = []
    missing: dict[str, None] = {}
    for text in (UNPRINTABLE.sub("\ufffd", text) for text in texts):
        parts, end = [], 0
        for start, stop in _boxes(text):
            missing |= dict.fromkeys(letter for letter in text[start:stop] if _is_drawn(letter))
            parts += [text[end:start], _name(text[start:stop])]
            end = stop
        named.append("".join([*parts, text[end:]]))
    if missing:
        letters = (
            f"U+{ord(letter):04X} {unicodedata.name(letter, '').lower()}".strip() for letter in missing
        )
        warnings.warn(
            f"figure: no font on this machine has {first_three(letters)} – names in brackets are drawn in "
            "their place – install a font that has them, such as one of Noto, and draw it again.",
            stacklevel=4,
        )
    return named


@lru_cache(maxsize=4_096)
def _boxes(text: str) -> tuple[tuple[int, int], ...]:
    """Find the ranges of letters that the renderer draws as a missing-character box."""
    if _ANYWHERE.fullmatch(text):
        return ()
    drawn, at, goes_on = _picture(text), 0, False
    runs: list[tuple[int, int]] = []
    for letter in _letters(text):
        start, at = at, at + len(letter)
        if any(_picture(text[:start] + other + text[at:]) == drawn for other in _boxed(letter)):
            runs = [*runs[:-1], (runs[-1][0], at)] if goes_on else [*runs, (start, at)]
            goes_on = True
        elif letter != " ":  # boxes go on after a space
            goes_on = False
    return tuple(runs)


def _boxed(letter: str) -> Iterator[str]:
    """Yield a letter with all, and with each, of its characters as a box."""
    if _ANYWHERE.fullmatch(letter):
        return
    seen = [place for place, character in enumerate(letter) if _is_drawn(character)]
    for places in dict.fromkeys([tuple(seen), *((place,) for place in seen)]):
        if places:
            yield "".join(_other(one) if place in places else one for place, one in enumerate(letter))


def _other(character: str) -> str:
    """Return a character that looks otherwise unless both are boxes: halves of flags stay in pairs."""
    if _FLAG[0] <= character <= _FLAG[-1]:
        return _FLAG[character == _FLAG[0]]
    return _NOWHERE


def _is_drawn(character: str) -> bool:
    name = unicodedata.name(character, "")
    return unicodedata.category(character) not in ("Cf", "Zs") and not name.startswith("VARIATION SELECTOR")


def _picture(text: str) -> bytes:
    import vl_convert

    drawn = f'<text x="2" y="9" font-family="{FONT}" font-size="8">{html.escape(text)}</text>'
    box = f'width="{12 * len(text) + 8}" height="12"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{drawn}</svg>'
    return bytes(vl_convert.svg_to_png(svg, scale=1, ppi=72))


def _name(run: str) -> str:
    """Describe letters that cannot be drawn: their number and script, or the name of the sign.

    >>> _name("漢字"), _name("👍🏽")
    ('[2 CJK letters]', '[thumbs up sign]')
    """
    parts: list[str] = []
    for script, some in groupby(filter(_is_drawn, run), key=_script):
        found = list(some)
        if script is None:
            signs = [one for one in found if unicodedata.category(one) != "Sk"] or found
            parts += [unicodedata.name(one, "").lower() or f"U+{ord(one):04X}" for one in signs]
        else:
            parts.append(f"{len(found)} {script} letter{'s' if len(found) > 1 else ''}")
    return f"[{', '.join(parts)}]"


def _script(character: str) -> str | None:
    """Return the script of a letter, mark or digit; None of a sign."""
    if unicodedata.category(character)[0] not in "LMN":
        return None
    name = _SCRIPT.match(unicodedata.name(character, ""))
    script = name[1] if name else unicodedata.name(character, "unknown").partition(" ")[0]
    return script if script == "CJK" else script.title()


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
    """Replace each line of letters that a PDF cannot hold by a picture.

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

"""What the package writes, as text that a person can review: what differs from run to run is masked.

A Word document is its paragraphs and rows, a workbook the rows of its sheets, a database its dump, XML one
element a line, and long prose one sentence a line, so that a diff shows the sentence or the number that
changed. How documents and workbooks look is left to a hash.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import html
import io
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, tostring

import openpyxl
from defusedxml import ElementTree

LEFT_OUT: Final = (".pdf", ".png", ".jpeg", ".sav", ".dta", ".parquet", "requirements.txt")
"""What no two machines share: pictures (compared elsewhere by their text and data), and what is installed."""
WRITTEN: Final = datetime(2026, 11, 25, tzinfo=UTC)
"""The day on which the two studies were written."""
STARTED: Final = datetime.now(UTC)
_MASKS: Final = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), "<id>"),
    # Not the decimals of a number, which are digits too.
    (re.compile(r"(?<!\w)(?<!\d\.)[0-9a-f]{12,64}(?!\w)"), "<hash>"),
    (re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
    (re.compile(r"0x[0-9a-f]+"), "<address>"),
    # How well a file packs depends on the library that packs it.
    (re.compile(r'("(?:contentSize|bytes)": )"?\d+"?'), r"\1<size>"),
)
_UNROUNDED: Final = re.compile(r"(?<!\w)-?\d+(\.\d{7,}(e[-+]?\d+)?|(\.\d+)?e-\d+)")
_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PROSE: Final = (".md", ".tex", ".html", ".printed", "")
_LONG_LINE: Final = 160
_LONG_PART: Final = 300
"""Characters; what is shorter is printed again where it is the same."""


class Part(NamedTuple):
    """A part of an output: a member of an archive, a sheet; without a title, all of it."""

    title: str
    text: str


def readable(folder: Path, temporary: Path) -> dict[str, str]:
    """Return the text of every file of a folder, by its name.

    Where a long part has been there before, it says where.
    """
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    for path in sorted((each for each in folder.rglob("*") if each.is_file()), key=_originals_first):
        if path.name.endswith(LEFT_OUT):
            continue
        name = _unused(_file_name(path.relative_to(folder).as_posix()), texts)
        shown = []
        for title, raw in parts(path):
            text = mask(raw.replace(str(temporary), "<folder>"))
            place = places.setdefault(text, f"{name}, {title}" if title else name)
            if place.partition(", ")[0] != name and len(text) > _LONG_PART:
                text = f"the same as {place}"
            shown.append((f"──── {mask(title)}\n" if title else "") + text.rstrip("\n") + "\n")
        texts[name] = "".join(shown)
    return dict(sorted(texts.items()))


def _originals_first(path: Path) -> tuple[bool, str]:
    """Sort copies of tables and of the record behind what they are copies of."""
    copies = {"bundle", "backup"} & set(path.parts) or path.name == "archive.zip"
    return bool(copies), path.as_posix()


def _file_name(name: str) -> str:
    return re.sub("<(id|hash)>", lambda found: found[1].upper(), mask(name)) + ".txt"


def _unused(name: str, names: dict[str, str]) -> str:
    """Number the files whose names differ in a hash alone."""
    number = 1
    numbered = name
    while numbered in names:
        number += 1
        numbered = name.replace("HASH", f"HASH-{number}")
    return numbered


def mask(text: str) -> str:
    """Leave out what no two runs share, and the digits of a number in which processors differ."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "␍")
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    for day in (STARTED, datetime.now(UTC), WRITTEN):
        for written in (f"{day:%Y-%m-%d}", f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}"):
            text = text.replace(written, "<day>")
    return _UNROUNDED.sub(lambda found: f"{float(found[0]):.6g}", text)


def parts(path: Path) -> Iterator[Part]:
    """Yield the text of a file: of an archive each member, of a workbook each sheet."""
    if path.suffix == ".docx":
        yield from _document(path)
    elif path.suffix == ".xlsx":
        yield from _workbook(path)
    elif path.suffix in (".qdpx", ".zip"):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if not name.endswith(LEFT_OUT):
                    yield Part(name, _lines(Path(name).suffix, archive.read(name).decode()))
    elif path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as database:
            yield Part("", "\n".join(database.iterdump()))
    else:
        text = path.read_bytes().decode()
        form = ["byte order mark"] * text.startswith("\ufeff") + ["lines end in CR LF"] * ("\r\n" in text)
        yield Part(" and ".join(form), _lines(path.suffix, text))


def _lines(suffix: str, text: str) -> str:
    """Break elements, and the sentences of prose, into lines; rows of data stay as they are."""
    if suffix in (".qde", ".xml"):
        return text.replace("><", ">\n<")
    if suffix == ".html":
        text = re.sub(r"(</(?:t[dhr]|li|p|d[dt])>)(?=.)", r"\1\n", text)
    return sentences(text) if suffix in _PROSE else text


def words_of_html(text: str) -> str:
    """Return the words of a page, with a line for each row of a table and each paragraph."""
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", "", text, flags=re.DOTALL)
    text = re.sub(r"</t[dh]>(?!\s*</tr>)", " | ", re.sub(r"\s+", " ", text))
    text = re.sub(r"</(tr|p|li|d[dt]|h\d|caption|figcaption|div)>|<br ?/?>", "\n", text)
    lines = (line.strip() for line in html.unescape(re.sub(r"<[^>]*>", "", text)).split("\n"))
    return "\n".join(line for line in lines if line)


def sentences(text: str) -> str:
    """Begin a line with each sentence of a long line; those that go on are indented."""
    return "\n".join(
        re.sub(r"(?<=[.!?)]) (?=[A-Z“(])", "\n  ", line) if len(line) > _LONG_LINE else line
        for line in text.split("\n")
    )


def _document(path: Path) -> Iterator[Part]:
    """Yield the title, paragraphs and rows of a Word document, and hashes of how it looks."""
    properties: set[bytes] = set()
    rest = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            content = archive.read(name)
            if b"<w:t>" in content or b"<w:t " in content:
                root = ElementTree.fromstring(content)
                properties |= {tostring(each) for each in root.iter() if each.tag.endswith("Pr")}
                yield Part(name, sentences("\n".join(_blocks(root))))
            elif name == "docProps/core.xml":
                fields = ElementTree.fromstring(content)
                said = (
                    f"{each.tag.partition('}')[2]}: {each.text}"
                    for each in fields
                    if (each.text or "").strip()
                )
                yield Part("properties", "\n".join(said))
            elif not name.endswith(LEFT_OUT):
                rest.update(name.encode() + b"\0" + mask(content.decode()).encode())
    formatting = hashlib.sha256(b"\n".join(sorted(properties))).hexdigest()[:8]
    yield Part("looks", f"formatting {formatting}, template {rest.hexdigest()[:8]}")


def _blocks(element: Element) -> Iterator[str]:
    """Yield a line for each paragraph and each row of a table."""
    if element.tag == f"{_WORD}p":
        style = element.find(f"{_WORD}pPr/{_WORD}pStyle")
        yield (f"[{style.get(f'{_WORD}val')}] " if style is not None else "") + _runs(element)
    elif element.tag == f"{_WORD}tr":
        cells = (
            " / ".join(_runs(each) for each in cell.iter(f"{_WORD}p")) for cell in element.iter(f"{_WORD}tc")
        )
        yield "| " + " | ".join(cells) + " |"
    else:
        for child in element:
            yield from _blocks(child)


_MARKS: Final = {"b": "**", "i": "*", "vertAlign": "^"}


def _runs(paragraph: Element) -> str:
    """Return the words of a paragraph: **bold**, *italics*, ^raised or lowered^."""
    words = ""
    for run in paragraph.iter(f"{_WORD}r"):
        text = "".join(_characters(each) for each in run)
        found = ((run.find(f"{_WORD}rPr/{_WORD}{tag}"), mark) for tag, mark in _MARKS.items())
        around = "".join(
            mark for each, mark in found if each is not None and each.get(f"{_WORD}val") not in ("0", "false")
        )
        words += f"{around}{text}{around[::-1]}" if text.strip() else text
    return words


def _characters(element: Element) -> str:
    tag = element.tag.removeprefix(_WORD)
    return element.text or "" if tag == "t" else {"br": "⏎", "tab": "\t"}.get(tag, "")


def _workbook(path: Path) -> Iterator[Part]:
    """Yield the rows of each sheet of a workbook, and a hash of how it looks."""
    workbook = openpyxl.load_workbook(path)
    for sheet in workbook.worksheets:
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows(sheet.iter_rows(values_only=True))
        yield Part(f"sheet {sheet.title}", rows.getvalue())
    looks = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            looks.update(name.encode() + b"\0" + _form_of_sheet(mask(archive.read(name).decode())).encode())
    yield Part("looks", f"formatting {looks.hexdigest()[:8]}")


def _form_of_sheet(xml: str) -> str:
    """Leave of a sheet's XML what does not change with its values: widths, panes, the kinds of cells."""
    kinds = sorted(set(re.findall(r'<c r="[A-Z]+\d+"( [^>]*)>', xml)))
    without = re.sub(r"<sheetData>.*</sheetData>", "".join(kinds), xml, flags=re.DOTALL)
    return re.sub(r'"[A-Z]+\d+(:[A-Z]+\d+)?"', '""', without)

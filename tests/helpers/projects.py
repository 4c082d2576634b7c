"""REFI-QDA projects as other programs write them, and whether they are valid."""

from __future__ import annotations

import zipfile
from pathlib import Path

from lxml import etree

from tests.helpers.places import SHARED

SCHEMA = SHARED / "data" / "refi-qda" / "Project.xsd"
SAMPLE = SHARED / "data" / "refi-qda" / "atlasti-sample.qdpx"


def valid(path: Path) -> None:
    """Check a project against the standard's schema, where that is at hand."""
    if SCHEMA.exists():
        content = zipfile.ZipFile(path).read("project.qde")
        schema = etree.XMLSchema(etree.parse(SCHEMA))
        schema.assertValid(etree.fromstring(content))


def changed(
    path: Path, *changes: tuple[str, str], names: dict[str, str] | None = None, ours: bool = False
) -> Path:
    """The project as another program would write it: other words in its XML, other names of its files."""
    source = zipfile.ZipFile(path)
    content = source.read("project.qde").decode()
    for old, new in changes if ours else (('origin="sense7_qual code-points"', 'origin="Other 1"'), *changes):
        assert old in content, old
        content = content.replace(old, new)
    other = path.with_name("other.qdpx")
    with zipfile.ZipFile(other, "w") as archive:
        for member in source.namelist():
            name = (names or {}).get(member, member)
            if name:
                archive.writestr(name, content if member == "project.qde" else source.read(member))
    return other

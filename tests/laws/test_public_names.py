"""What a stranger sees is small, and nothing else is needed to follow a page or a notebook."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

import sense7_qual as qual
from scripts.measure_house import circles, fronts, listed, public_modules
from tests.helpers.places import ROOT

CIRCLES = circles()
HOUSE = sorted(name for name, (circle, _) in CIRCLES.items() if circle == "house")
FOR_BUILDERS = {"architecture.md", "reference.md"}
PAGES = [
    ROOT / "README.md",
    *(path for path in ROOT.glob("docs/*.md") if path.name not in FOR_BUILDERS),
    *ROOT.glob("notebooks/*.ipynb"),
    *ROOT.glob("sense7_qual/_commands/**/*.ipynb"),
    ROOT / "sense7_qual/store/_bundle/rerun.py",
]


def test_no_front_is_long() -> None:
    assert max(fronts().values()) <= 12
    # `corpus.hand_sample` is one of them: whoever draws texts looks for it next to `assign` and `inclusion`.
    assert sum(fronts().values()) <= 168


@pytest.mark.parametrize("module", [*public_modules(), qual], ids=lambda module: module.__name__)
def test_what_dir_shows_is_what_is_public(module: object) -> None:
    shown = [name for name in dir(module) if name not in ("__version__", "__all__")]
    assert shown == sorted(module.__all__)  # type: ignore[attr-defined]


def words(path: Path) -> str:
    """Return a page, or the cells of a notebook."""
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    return text


def of_the_house(text: str) -> list[str]:
    """Return the names of the house circle that a text calls or imports."""
    called = [name for name in HOUSE if re.search(rf"(?<![\w./]){re.escape(name)}\b(?!=)", text)]
    called += [name for name in HOUSE if f"qual.{name}" in text and name not in called]
    for module, names in re.findall(r"from sense7_qual\.([\w.]+) import ([\w, ]+)", text):
        called += [
            f"{module}.{name.strip()}" for name in names.split(",") if f"{module}.{name.strip()}" in HOUSE
        ]
    return called


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.name not in FOR_BUILDERS], ids=lambda path: path.name
)
def test_pages_and_notebooks_use_fronts_and_rooms_alone(path: Path) -> None:
    assert of_the_house(words(path)) == []


def test_the_reader_of_pages_sees_what_is_of_the_house() -> None:
    assert of_the_house("`qual.codings.tally(decisions)`") == ["codings.tally"]
    assert of_the_house(">>> from sense7_qual.codings import decisions, tally\n") == ["codings.tally"]
    assert of_the_house("qual.codings.decisions(codings, coverage, codebook)") == []


def test_every_listed_name_stands_in_one_place() -> None:
    """A class may be returned by several packages, but it is listed once."""
    places: dict[int, list[str]] = {}
    for module in public_modules():
        for name in listed(module):
            value = getattr(importlib.import_module(module.__name__), name)
            if callable(value):
                places.setdefault(id(value), []).append(f"{module.__name__}.{name}")
    assert [where for where in places.values() if len(where) > 1] == []

"""The documentation site builds without a warning, loads nothing from elsewhere, and has no dead links."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.helpers.places import ROOT

pytestmark = [pytest.mark.nightly, pytest.mark.documents]

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class Page(HTMLParser):
    """What a page loads, what it links to, and where in it one can link to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if LOADS.get(tag) in given:
            self.loads.append(given[LOADS[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; the notebooks, which tests/slow/test_notebooks.py runs, as they are."""
    if importlib.util.find_spec("furo") is None:
        if os.environ.get("CI"):
            pytest.fail("expected the extra docs – found it not installed – `make setup` installs it")
        pytest.skip("the extra docs is not installed (`make setup` installs it)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "scripts" / "make_docs.py", folder, "--as-they-are"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def local(address: str, page: Path) -> Path | None:
    """The file that an address on a page means; None where it is on another computer."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    return (page.parent / unquote(parts.path)).resolve() if parts.path else page


def test_every_guide_module_notebook_and_release_has_its_page(site: Path) -> None:
    wanted = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    elsewhere = {"reference", "index"}
    wanted |= {f"guides/{path.stem}" for path in (ROOT / "docs").glob("*.md") if path.stem not in elsewhere}
    listed = (ROOT / "docs" / "reference.md").read_text("utf-8")
    wanted |= {f"reference/{name}" for name in re.findall(r"^## `(\w+)`$", listed, flags=re.MULTILINE)}
    versions = re.findall(r"^## \[?([\w.]+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)
    wanted |= {f"releases/{version.lower()}" for version in versions}
    assert {name for name in wanted if not (site / f"{name}.html").is_file()} == set()
    assert "krippendorff_alpha" in (site / "reference" / "agreement.html").read_text("utf-8")


def test_no_page_loads_anything_from_another_place(pages: dict[Path, Page]) -> None:
    assert len(pages) > 30
    for path, page in pages.items():
        for address in page.loads:
            if not address.startswith("data:"):
                file = local(address, path)
                assert file is not None, f"{path.name} loads {address}"
                assert file.is_file(), f"{path.name} loads {address}"


def test_no_style_or_script_loads_anything_from_another_place(site: Path) -> None:
    for style in site.rglob("*.css"):
        text = style.read_text("utf-8")
        assert "@import" not in text
        for address in re.findall(r"url\(\s*[\"']?([^\"')]+)", text):
            assert address.startswith(("data:", "#")) or (style.parent / urlsplit(address).path).is_file()
    calls = r"(?:fetch|importScripts|import|Worker|EventSource)\(|\.src\s*="
    code = rf"(?:{calls})\s*[\"'](?:https?:)?//"
    for script in site.rglob("*.js"):
        assert not re.search(code, script.read_text("utf-8")), script.name


def broken(pages: dict[Path, Page]) -> Iterator[str]:
    for path, page in pages.items():
        for address in page.links:
            file = local(address, path)
            if file is None:
                continue
            place = unquote(urlsplit(address).fragment)
            if not file.is_file() or (place and file in pages and place not in pages[file].places):
                yield f"{path.name}: {address}"


def test_every_link_within_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    assert list(broken({path.resolve(): page for path, page in pages.items()})) == []

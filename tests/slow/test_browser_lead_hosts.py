"""The lead's widgets on one page of marimo, of Voilà and of Notebook 7: each works, and no text is left."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page

from sense7_qual.store import Store
from tests.helpers import lab as labs
from tests.helpers.adjudicator import TEXTS, UNITS, disagree
from tests.helpers.axe import AXE
from tests.helpers.hosts import free_port, hosted
from tests.helpers.revised_codebooks import BASE

pytestmark = pytest.mark.browser

WIDGETS = ("CodebookWidget", "AdjudicationWidget", "OverviewWidget")
CELL = "qual.widgets.{}(store, coder='lead')"
FIRST = "import sense7_qual as qual\nstore = qual.Store({!r})"
MARIMO = """\
import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import sense7_qual as qual

    store = qual.Store({study!r})
    mo.vstack([mo.ui.anywidget(one) for one in ({widgets})])
    return
"""
READY = ".s7-tree-figures, .s7-case .s7-disputed, .s7-door"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.create(tmp_path / "study", units=UNITS, codebook=BASE)
    disagree(made)
    return made


def work(page: Page, store: Store) -> None:
    """Do by keys what each widget is for: a step of a draft, a ruling, a number that opens."""
    for selector in READY.split(", "):
        page.wait_for_selector(selector)
    page.locator(".s7-tree").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-label-field:focus")
    page.locator(".s7-label-field").fill("Warmth of it")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".s7-steps li")
    desk = page.locator(".s7:has(.s7-adjudication)")
    desk.focus()
    before = desk.bounding_box()
    page.keyboard.press("a")
    page.keyboard.press("F")
    page.wait_for_timeout(200)
    size = page.viewport_size
    assert size is not None
    assert desk.bounding_box() == {"x": 0, "y": 0, **size}
    page.keyboard.press("F")
    page.wait_for_timeout(200)
    after = desk.bounding_box()
    assert before is not None
    assert after is not None
    assert (after["width"], after["height"]) == (before["width"], before["height"])
    page.keyboard.press("1")  # of the verdict that was given before
    page.locator(".s7-numbers", has_text="1 settled").wait_for()
    page.locator(".s7-door").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-opened")
    if AXE.is_file():
        page.add_script_tag(path=str(AXE))
        broken = page.evaluate(
            "() => axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
            ".then(r => r.violations.flatMap(v => v.nodes.map(n => [v.id, n.html]))"
            ".filter(([_, html]) => html.includes('s7-')))"
        )
        assert broken == []
    study = Store(store.path)
    assert len(study.acts(kind="rule")) == 1
    assert study.verify()["ok"].all()


def test_in_marimo_each_in_a_shadow_root(lab: labs.Lab, store: Store, tmp_path: Path) -> None:
    pytest.importorskip("marimo")
    app, widgets = tmp_path / "app.py", ", ".join(CELL.format(name) for name in WIDGETS)
    app.write_text(MARIMO.format(study=str(store.path), widgets=widgets), encoding="utf-8")
    words = ["-m", "marimo", "run", str(app), "--headless", "--host", "127.0.0.1", f"--port={free_port()}"]
    words += [f"--token-password={secrets.token_hex(16)}"]
    until = r"http://\S+access_token=\w+"
    with hosted(tmp_path, sys.executable, *words, until=until, sentinel=TEXTS["m5"]) as host:
        with host.page(lab.browser, READY) as page:
            inside = (
                "[...document.querySelectorAll('*')].filter(e => e.shadowRoot?.querySelector('.s7')).length"
            )
            page.wait_for_function(f"() => {inside} === 3")
            work(page, store)
        assert host.files_with_texts() == []


@pytest.mark.nightly
def test_in_voila(lab: labs.Lab, store: Store, tmp_path: Path) -> None:
    pytest.importorskip("voila")
    cells = [FIRST.format(str(store.path)), *(CELL.format(name) for name in WIDGETS)]
    path = labs.notebook(tmp_path / "page.ipynb", *cells)
    words = ["-m", "voila", str(path), "--no-browser", f"--port={free_port()}", "--Voila.ip=127.0.0.1"]
    until = r"http://(localhost|127\.0\.0\.1):\d+/\S*"
    with hosted(tmp_path, sys.executable, *words, until=until, sentinel=TEXTS["m5"]) as host:
        with host.page(lab.browser, READY) as page:
            work(page, store)
            assert all("fontawesome" in one for one in host.strangers)  # Voilà itself asks for its icons
            host.strangers.clear()
        assert host.files_with_texts() == []


@pytest.mark.nightly
@pytest.mark.usefixtures("nothing_went_wrong")
def test_in_notebook_7(lab: labs.Lab, store: Store) -> None:
    cells = [FIRST.format(str(store.path)), *(CELL.format(name) for name in WIDGETS)]
    path = labs.notebook(lab.root / "lead.ipynb", *cells)
    with lab.page(width=1300) as page:
        lab.open(page, "lead.ipynb", host="notebooks")
        lab.errors.clear()  # what the host says of itself while it loads
        work(page, store)
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = nbformat.read(path, as_version=4)
    assert len(saved.cells) == len(cells)
    assert [text for text in TEXTS.values() if text in path.read_text("utf-8")] == []

"""The coding widget as a coder meets it: a real JupyterLab, a real Chromium, a real study folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual.widgets._coding import COMMANDS
from tests.helpers import lab as labs
from tests.helpers.coding_page import SENTINEL, TEXTS, cell, enter, leave, press, saved, shows, spans, study
from tests.helpers.nightly import nightly_but
from tests.helpers.places import ROOT
from tests.helpers.small_study import facet

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture
def folder(tmp_path) -> Path:
    return study(tmp_path / "study")


def test_a_span_and_a_whole_unit_by_keyboard_survive_reload_and_restart(lab, folder):
    labs.notebook(lab.root / "keyboard.ipynb", cell(folder))
    with lab.page(new=True) as page:
        enter(lab, page, "keyboard.ipynb")
        press(page, "w", "Shift+ArrowRight", "Shift+ArrowRight", "7", "v", "Escape", "3", "u")
        expected = [("t0/1", "relational", "It remembered what"), ("t0/1", "response", None)]
        assert sorted(spans(folder)) == sorted(expected)
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")

        page.reload()
        page.wait_for_selector(".s7-coding >> nth=1")
        assert page.locator(".s7-coding strong").all_inner_texts() == [
            "Response",
            "Relational",
        ]

        page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        lab.wait_idle(page)
        lab.run_all(page)
        page.wait_for_selector(".s7-coding >> nth=1")
        assert page.locator(".s7-coding em").all_inner_texts() == ["unsure", "met"]
        assert sorted(spans(folder)) == sorted(expected)

        page.locator(".s7").focus()
        press(page, "z", "z", "z", "z")
        assert spans(folder) == []
        press(page, "y", "y")
        assert spans(folder) == [("t0/1", "relational", "It remembered what")]
        assert page.locator(".s7-active-bar .s7-facet[aria-pressed=true]").all_inner_texts() == ["met"]


def test_pressing_a_code_again_removes_it_and_finishing_goes_on(lab, folder):
    labs.notebook(lab.root / "finish.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "finish.ipynb")
        press(page, "1", "2", "1", "Enter")
        shows(page, "t1/1")
        for place in (2, 3, 4):
            press(page, "Enter")
            shows(page, f"t{place}/1")
        press(page, "Enter")
        page.wait_for_selector(".s7-all-done")
        page.locator(".s7-goto input").fill("1")
        page.keyboard.press("Enter")
        shows(page, "t0/1")
    store = qual.Store(folder)
    assert spans(folder) == [("t0/1", "cognitive", None)]
    assert len(store.coverage()) == len(TEXTS)


SEEN = """() => {
  const met = one => {
    const {left, top, width, height} = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  };
  const both = ['.s7-coding.s7-active button', '.s7-active-bar strong'];
  return both.every(name => met(document.querySelector(name)));
}"""


def test_the_coding_that_the_next_key_acts_on_is_in_sight(lab, folder):
    labs.notebook(lab.root / "in_sight.ipynb", cell(folder))
    with lab.page(new=True) as page:
        labs.resized(page, 900, 720)
        enter(lab, page, "in_sight.ipynb")
        for key in "1234567":
            press(page, key)
            page.wait_for_function(SEEN)
        for _ in range(7):
            press(page, "ArrowUp")
            page.wait_for_function(SEEN)


# Every key of the widget, and those by which a notebook deletes, converts, runs, moves or inserts cells.
HOSTILE = [
    *COMMANDS.values(),
    *(f"Alt+{digit}" for digit in "17"),
    *"1234567xddabyzmvc00iikjhlopq",
    *("Escape", "Shift+Enter", "Control+Enter", "Alt+Enter", "Control+Shift+Minus"),
    *(f"Shift+{letter}" for letter in "MJKVLOWS"),
    *("Control+z", "Control+Shift+z", "Control+y", "Control+b", "Control+a", "Control+x", "Control+v"),
    *("Home", "End", "Space", "Shift+Space", "Shift+ArrowRight", "Shift+ArrowDown", "Backspace"),
]
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets.map(
  cell => [cell.model.type, cell.model.sharedModel.getSource(), cell.model.executionCount])"""
THEMES = ("JupyterLab Light", "JupyterLab Dark")
COMPOSED = """() => document.querySelector('.s7').dispatchEvent(
  new KeyboardEvent('keydown', {key: '1', isComposing: true, bubbles: true}))"""


@pytest.mark.parametrize("host", nightly_but(["lab/tree", "notebooks"], here=["lab/tree"]))
def test_no_key_reaches_the_notebook_but_saving_and_leaving_do(lab, folder, host):
    labs.notebook(lab.root / "hostile.ipynb", cell(folder), "1 + 1", "2 + 2")
    with lab.page() as page:
        enter(lab, page, "hostile.ipynb", host=host)
        lab.errors.clear()  # what the host says of itself while it loads
        before = page.evaluate(CELLS)
        for target in (".s7", ".s7-code >> nth=0", ".s7-memo textarea"):
            for key in HOSTILE:
                if key != "Escape":
                    page.locator(target).focus()
                page.keyboard.press(key)
            saved(page)
            assert page.evaluate(CELLS) == before, target
        assert page.locator(".s7-text").is_visible()
        page.wait_for_timeout(1100)  # after presses that were not taken, the widget waits for a pause of 1 s
        page.locator(".s7-goto input").fill("5")
        page.keyboard.press("Enter")
        shows(page, "t4/1")
        page.locator(".s7").focus()
        press(page, "2", "x", "d", "d", "m", "Escape", "Shift+Enter")
        assert ("t4/1", "cognitive", None) in spans(folder)
        assert page.evaluate(CELLS) == before

        page.locator(".s7").focus()
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        for _ in range(8):  # first the help, a message and the selection go; then each is one too many
            page.keyboard.press("Escape")
        # What is said a second time has a space that does not break behind it, so that it is read out again.
        assert page.locator(".s7-status").inner_text().strip() == "Press Esc again to return to the notebook"
        press(page, "x", "d", "d", "b")
        saved(page)
        assert page.evaluate(CELLS) == before
        leave(page)
        assert page.evaluate("() => !document.activeElement.closest('.s7')")
        # Back in the notebook its own keys work again: b inserts a cell below.
        page.keyboard.press("b")
        page.wait_for_function(
            f"() => window.jupyterapp.shell.currentWidget.content.widgets.length === {len(before) + 1}"
        )


def test_tab_moves_on_and_text_fields_keep_their_keys(lab, folder):
    labs.notebook(lab.root / "fields.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "fields.ipynb")
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.matches('.s7 *')")
        page.locator(".s7").focus()
        page.keyboard.press("m")
        page.keyboard.type("1 dd z, a thought 👍🏽")
        page.keyboard.press("Control+Enter")
        saved(page)
        # While an input method composes, a digit is no code.
        page.evaluate(COMPOSED)
        press(page, "ArrowRight")
        shows(page, "t1/1")
        press(page, "ArrowLeft")
        shows(page, "t0/1")
        assert page.locator(".s7-memo textarea").input_value() == "1 dd z, a thought 👍🏽"
    store = qual.Store(folder)
    assert store.memos()["text"].tolist() == ["1 dd z, a thought 👍🏽"]
    assert spans(folder) == []


def test_right_to_left_words_are_coded_by_keyboard(lab, folder):
    labs.notebook(lab.root / "rtl.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "rtl.ipynb")
        for place in (1, 2, 3):
            press(page, "ArrowRight")
            shows(page, f"t{place}/1")
        press(page, "w", "w", "4")
    assert spans(folder) == [("t3/1", "prosocial", TEXTS[3].split()[1])]


def test_what_cannot_be_saved_says_so_and_is_sent_again(lab, folder):
    broken = """import pathlib
flag = pathlib.Path('broken')
flag.touch()
def append(acts):
    if flag.exists():
        raise OSError(28, 'No space left on device')
    return store.append(acts)
"""
    source = (
        cell(folder).replace("widget = ", broken + "widget = ").replace("save=store.append", "save=append")
    )
    labs.notebook(lab.root / "broken.ipynb", source)
    with lab.page() as page:
        enter(lab, page, "broken.ipynb")
        page.keyboard.press("1")
        page.keyboard.press("2")
        page.wait_for_selector(".s7-unsaved")
        assert "Not saved · 2 kept here" in page.locator(".s7-unsaved").text_content()
        assert "No space left on device" in page.locator(".s7-message").inner_text()
        assert page.locator(".s7-coding.s7-pending").count() == 2
        assert spans(folder) == []
        (lab.root / "broken").unlink()
        saved(page)
        assert page.locator(".s7-coding.s7-pending").count() == 0
        assert page.locator(".s7-message").count() == 0
    assert sorted(code for _, code, _ in spans(folder)) == ["affective", "cognitive"]
    assert len(qual.Store(folder).acts()) == 2


def test_deeds_done_while_the_kernel_is_away_are_recorded_when_it_is_back(lab, folder):
    labs.notebook(lab.root / "away.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "away.ipynb")
        press(page, "1")
        page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
        lab.wait_idle(page)
        page.locator(".s7").focus()
        page.keyboard.press("2")
        page.wait_for_selector(".s7-unsaved", timeout=15_000)
        lab.run_all(page)
        page.wait_for_selector(".s7-coding:not(.s7-pending) >> nth=1")
        saved(page)
    assert sorted(code for _, code, _ in spans(folder)) == ["affective", "cognitive"]


def test_a_second_browser_on_the_same_kernel_is_told_of_changes(lab, folder):
    labs.notebook(lab.root / "two.ipynb", cell(folder))
    with lab.page() as first, lab.page() as second:
        enter(lab, first, "two.ipynb")
        first.keyboard.press("Control+s")
        first.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        lab.open(second, "two.ipynb", run=False)
        second.wait_for_selector(".s7-text")
        press(first, "1")
        second.wait_for_selector(".s7-coding", timeout=15_000)
        second.locator(".s7").focus()
        press(second, "2", "z")
        first.wait_for_function("() => document.querySelectorAll('.s7-coding').length === 1")
    assert [code for _, code, _ in spans(folder)] == ["affective"]


@pytest.mark.parametrize("theme", nightly_but(THEMES, here=["JupyterLab Dark"]))
def test_accessibility_in_both_themes(lab, folder, theme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    parts = "store.units, store.codebook, coder='ana', acts=store.acts(coder='ana'), save=store.append"
    revising = (
        "from dataclasses import replace\n"
        "store.revise(replace(store.codebook, title='Another'), why='So.', coder='lead')\nwidget"
    )
    source = cell(folder, show_rating=True).replace(parts, "store, coder='ana'").removesuffix("widget")
    labs.notebook(lab.root / "axe.ipynb", source + revising)
    with lab.page() as page:
        enter(lab, page, "axe.ipynb")
        page.wait_for_selector(".s7-inbox-button b")
        press(page, "I")
        page.wait_for_selector(".s7-item")
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        page.locator(".s7").focus()
        press(page, "w", "1", "v", "3", "u", "s", "2")
        page.keyboard.press("?")
        page.add_script_tag(path=str(AXE))
        for width in (1400, 900):
            labs.resized(page, width, 950)
            assert violations(page) == []


@pytest.mark.parametrize("theme", nightly_but(THEMES, here=["JupyterLab Light"]))
def test_facets_by_a_second_key_are_accessible_and_recorded(lab, tmp_path, theme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    heat = facet("intensity", low="l", middle="i", high="h", codes=("affective", "interest"))
    facets = (replace(facet("valence", met="m", unmet="u", mixed="x"), label="Valence"), heat)
    folder = study(tmp_path / "faceted", codebook=replace(qual.Codebook.read("sense7"), facets=facets))
    labs.notebook(lab.root / "facets.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "facets.ipynb")
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        page.locator(".s7").focus()
        press(page, "2", "v", "u", "w", "Shift+ArrowRight", "Shift+ArrowRight", "1", "v", "x", "v", "h")
        page.keyboard.press("v")
        assert page.locator(".s7-strip-name").all_inner_texts() == ["Valence", "intensity"]
        page.add_script_tag(path=str(AXE))
        for width in (1400, 900):
            labs.resized(page, width, 950)
            assert violations(page) == []
    codings = qual.Store(folder).codings().set_index("code")[["valence", "intensity"]].fillna("")
    assert codings.loc["cognitive"].tolist() == ["unmet", ""]
    assert codings.loc["affective"].tolist() == ["mixed", "high"]


def violations(page):
    """What axe finds in the widget, of WCAG 2.1 A and AA."""
    return page.evaluate(
        "() => axe.run('.s7', {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
        ".then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html + n.failureSummary)]))"
    )


def test_saving_the_notebook_with_widget_state_leaks_no_text(lab, folder):
    labs.notebook(lab.root / "leak.ipynb", cell(folder), "repr(widget), store")
    with lab.page() as page:
        enter(lab, page, "leak.ipynb")
        press(page, "ArrowRight")
        shows(page, "t1/1")
        page.keyboard.press("m")
        page.keyboard.type(f"memo {SENTINEL}")
        page.keyboard.press("Escape")
        press(page, "s", "1")
        page.evaluate(
            "() => window.jupyterapp.commands.execute('@jupyter-widgets/jupyterlab-manager:saveWidgetState')"
        )
        page.locator(".s7").focus()
        page.keyboard.press("Control+s")
        page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        deadline = time.monotonic() + labs.SECONDS
        while "application/vnd.jupyter.widget-state+json" not in (lab.root / "leak.ipynb").read_text():
            assert time.monotonic() < deadline, "the notebook was saved without widget state"
            page.keyboard.press("Control+s")
            page.wait_for_timeout(300)
    content = (lab.root / "leak.ipynb").read_text()
    assert re.search(r'"n_units":\s*5', content), "the widget's state must be in the notebook"
    _refuse_texts(content)
    assert SENTINEL not in (lab.root.parent / "server.log").read_text()


@pytest.mark.nightly
def test_executing_without_a_browser_leaks_no_text(lab, folder, tmp_path):
    import nbformat

    source = labs.notebook(tmp_path / "run.ipynb", cell(folder), "repr(widget), store")
    env = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    jupyter = [sys.executable, "-m", "jupyter"]
    runs = [
        [*jupyter, "execute", str(source), f"--output={tmp_path / 'executed.ipynb'}"],
        [*jupyter, "nbconvert", "--execute", "--to=html", str(source), "--output=page.html"],
        [sys.executable, "-m", "papermill", str(source), str(tmp_path / "papermill.ipynb")],
    ]
    for command in runs:
        subprocess.run(command, check=True, capture_output=True, env=env, cwd=tmp_path)
    for name in ("executed.ipynb", "page.html", "papermill.ipynb"):
        content = (tmp_path / name).read_text()
        if name.endswith(".ipynb"):
            assert nbformat.reads(content, as_version=4)["metadata"]["widgets"]
        _refuse_texts(content)


def _refuse_texts(content: str) -> None:
    for text in (SENTINEL, "lectured me", "sister had reacted", TEXTS[3], json.dumps(TEXTS[3])[1:-1]):
        assert text not in content

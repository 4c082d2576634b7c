"""Revising a codebook in a real JupyterLab: by keys, with a killed kernel, another lead, hostile words."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, SHOWN, show_in, sound
from tests.helpers.coding_page import TEXTS, study
from tests.helpers.hostile_words import drawn
from tests.helpers.revised_codebooks import edited
from tests.helpers.small_themes import to_record

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import os, pathlib
import sense7_qual as qual
pathlib.Path("pid").write_text(str(os.getpid()))
store = qual.Store({folder!r})
qual.widgets.CodebookWidget(store, coder="lead")
"""
STRANGE = """() => [
  window.ran ?? null,
  [...document.querySelectorAll('.s7 :is(script, img, iframe, object, embed, math, style, base, form, i, a)')]
    .map(each => each.outerHTML),
  [...document.querySelectorAll('.s7 *')].flatMap(each => each.getAttributeNames())
    .filter(name => name.startsWith('on') || name === 'href'),
]"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study that ana and the lead coded in a round that is unblinded."""
    store = qual.Store(study(tmp_path / "study"))
    book, ids = store.codebook, store.units["unit_id"].tolist()
    store.append([rounds.open_round("one", units=ids, coders=["ana", "lead"], coder="chair", codebook=book)])
    store.append([rounds.unblind("one", coder="chair", codebook=book)])
    for coder in ("ana", "lead"):
        for unit_id in ids[:3]:
            mine = {"coder": coder, "unit_id": unit_id, "codebook": book, "round": "one"}
            store.append([acts.apply(code="cognitive", **mine), acts.finish(**mine)])
    start = TEXTS[0].index("lectured")
    named = {"coder": "ana", "unit_id": ids[0], "codebook": book, "round": "one"}
    store.append([acts.propose(label="Lectured", start=start, end=start + 8, **named)])
    return Path(store.path)


def enter(lab: labs.Lab, page: Page, folder: Path, name: str) -> None:
    labs.notebook(lab.root / name, CELL.format(folder=str(folder)))
    lab.open(page, name)
    page.wait_for_selector(".s7-tree-figures")
    page.locator(".s7-tree").focus()


def steps(page: Page, n: int) -> None:
    """Wait until the draft has this many steps."""
    page.wait_for_function("n => document.querySelectorAll('.s7-steps li').length === n", arg=n)


def labels(page: Page) -> list[str]:
    return page.locator(".s7-tree-label").all_inner_texts()


def write(page: Page, field: str, text: str) -> None:
    page.locator(field).fill(text)
    page.keyboard.press("Control+Enter")


def save(page: Page, why: str = "Clearer.") -> None:
    page.locator(".s7-tree").focus()
    page.keyboard.press("w")
    page.wait_for_selector(".s7-why:focus")
    page.keyboard.type(why)
    page.keyboard.press("Control+Enter")


def test_a_codebook_is_edited_merged_foretold_and_saved_by_keys_alone(lab: labs.Lab, folder: Path) -> None:
    with lab.page() as page:
        enter(lab, page, folder, "revise.ipynb")
        before = labels(page)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector(".s7-label-field:focus")
        write(page, ".s7-definition-field", "It follows what I think.")
        steps(page, 1)
        assert page.evaluate("() => document.activeElement.matches('.s7-tree')")
        page.wait_for_function("() => document.querySelectorAll('.s7-stale tbody tr').length === 2")
        rows = page.locator(".s7-stale tbody tr").all_inner_texts()
        assert [row.split("\t")[-3:] for row in rows] == [["ana", "3", "unknown"], ["lead", "3", "unknown"]]
        page.keyboard.press("Alt+ArrowDown")  # down, then under the one above it
        page.keyboard.press("Alt+ArrowRight")
        steps(page, 3)
        page.keyboard.press("z")
        steps(page, 2)
        assert labels(page)[:3] == [before[0], before[2], before[1]]
        page.keyboard.press("End")
        page.keyboard.press("m")
        page.wait_for_selector(".s7-merge-form select:focus")
        page.locator(".s7-merge-form select").select_option("prosocial")
        page.keyboard.press("Enter")
        steps(page, 3)
        page.keyboard.press("+")
        page.wait_for_selector(".s7-add-form input:focus")
        page.keyboard.type("Being lectured")
        page.keyboard.press("Enter")
        steps(page, 4)
        page.keyboard.press("Alt+2")
        page.locator(".s7-take").click()
        page.wait_for_selector(".s7-proposal .s7-hint")
        page.keyboard.press("Alt+1")
        steps(page, 5)
        save(page)
        page.wait_for_selector(".s7-saved-note")
        assert "ana: 3 texts" in page.locator(".s7-saved-note").inner_text()
        page.keyboard.press("Alt+4")
        page.wait_for_selector(".s7-comparison tbody tr")
        assert "It follows what I think." in page.locator(".s7-comparison").inner_text()
    store = qual.Store(folder)
    assert store.codebook["cognitive"].definition == "It follows what I think."
    (revision,) = store.revisions
    kinds = {(one.kind, one.code) for one in revision.changes}
    assert kinds == {
        ("add", "being_lectured"),
        ("add", "lectured"),
        ("redefine", "cognitive"),
        ("merge", "relational"),
    }
    assert store.memos()["text"].tolist() == ["It became the code ‘Lectured’."]
    assert store.verify()["ok"].all()


@pytest.mark.nightly
def test_a_split_code_is_sorted_by_theme_and_text_by_text(lab: labs.Lab, folder: Path) -> None:
    themes = to_record({"t0/1": 0, "t1/1": 1, "t2/1": 1})
    qual.Store(folder).record_themes(themes, coder="lead")
    waiting = """n => document.querySelector(n ? '.s7-sorting h4' : '.s7-middle')?.innerText
        .match(n ? `of ${n}` : 'Nothing')"""
    with lab.page() as page:
        enter(lab, page, folder, "split.ipynb")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("s")
        page.wait_for_selector(".s7-split-form input:focus")
        page.keyboard.type("Follows")
        page.locator(".s7-split-form input >> nth=1").fill("Remembers")
        page.keyboard.press("Enter")
        steps(page, 1)
        save(page, "Two things.")
        page.wait_for_selector(".s7-saved-note")
        away = folder.rename(folder.with_name("away"))  # as a drive that is not connected
        page.keyboard.press("Alt+3")
        page.wait_for_selector(".s7-sorting:focus .s7-read-again")
        away.rename(folder)
        page.keyboard.press("Enter")
        page.wait_for_selector(".s7-sorting:focus .s7-sorted-text")
        away = folder.rename(folder.with_name("away"))
        for key in ("Alt+1", "Alt+3"):
            page.keyboard.press(key)
        page.wait_for_selector(".s7-sorting:focus .s7-read-again")
        assert not page.locator(".s7-sorted-text").count(), "it may be another one by now"
        away.rename(folder)
        page.locator(".s7-read-again").click()
        page.wait_for_selector(".s7-sorting:focus .s7-sorted-text")
        for key in ("1", "Shift+Enter"):  # neither a theme nor a search: not of everything
            page.keyboard.press(key)
        page.wait_for_function(waiting, arg=3)
        page.keyboard.press("1")
        page.keyboard.press("t")
        page.wait_for_function(waiting, arg=2)
        for key in ("2", "Shift+Enter"):
            page.keyboard.press(key)
        page.wait_for_function("() => document.querySelector('.s7-sorting').innerText.includes('are sorted')")
        page.keyboard.press("z")
        page.wait_for_function(waiting, arg=2)
        page.keyboard.press("Shift+T")
        page.wait_for_function(waiting, arg=3)
        for keys, left in ((["1", "Enter"], 2), (["1", "2", "Enter"], 1), (["0"], 0)):
            for key in keys:
                page.keyboard.press(key)
            page.wait_for_function(waiting, arg=left)
    store = qual.Store(folder)
    decided = store.decisions(settled_by="rulings").set_index(["unit_id", "code"])["applied"]
    parts = [[bool(decided[f"t{n}/1", part]) for part in ("follows", "remembers")] for n in range(3)]
    assert parts == [[True, False], [True, True], [False, False]]
    own = store.codings(coder="lead").query("code == 'follows'")["unit_id"]
    assert sorted(own) == ["t0/1", "t1/1"]
    assert not (store.codings(coder="ana")["code"] == "follows").any()
    assert store.verify()["ok"].all()


@pytest.mark.nightly
def test_a_draft_outlives_its_kernel(lab: labs.Lab, folder: Path) -> None:
    with lab.page() as page:
        enter(lab, page, folder, "killed.ipynb")
        page.keyboard.press("Enter")
        write(page, ".s7-label-field", "Feels with me")
        steps(page, 1)
        os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
        page.locator(".s7-definition-field").fill("In mid-sentence")
        lab.begin_again(page)
        lab.run_all(page)
        steps(page, 2)
        assert labels(page)[0] == "Feels with me"
        assert page.locator(".s7-definition-field").input_value() == "In mid-sentence"
        page.wait_for_selector(".s7-tree-figures")
        save(page)
        page.wait_for_selector(".s7-saved-note")
    code = qual.Store(folder).codebook.codes[0]
    assert (code.label, code.definition) == ("Feels with me", "In mid-sentence")


@pytest.mark.nightly
def test_what_another_lead_changed_too_is_chosen_and_the_draft_is_kept(lab: labs.Lab, folder: Path) -> None:
    with lab.page() as page:
        enter(lab, page, folder, "conflict.ipynb")
        page.keyboard.press("Enter")
        write(page, ".s7-label-field", "Mine")
        steps(page, 1)
        other = qual.Store(folder)
        book = edited(edited(other.codebook, "affective", label="Theirs"), "interest", label="Asks")
        other.revise(book, why="Theirs.", coder="chair")
        save(page)
        page.wait_for_selector(".s7-choice")
        assert page.locator(".s7-save-button").is_disabled()
        assert page.locator(".s7-choice button").all_inner_texts() == ["Mine\nMine", "Theirs\nTheirs"]
        steps(page, 1)
        page.locator(".s7-choice button >> nth=0").click()
        page.locator(".s7-save-button").click()
        page.wait_for_selector(".s7-saved-note")
    now = qual.Store(folder).codebook
    assert (now["affective"].label, now["interest"].label) == ("Mine", "Asks")


@pytest.mark.nightly
def test_hostile_words_in_a_draft_are_words(lab: labs.Lab, folder: Path) -> None:
    words, kept = drawn(0), {}
    with lab.page() as page:
        enter(lab, page, folder, "hostile.ipynb")
        n = 0
        for word in words:
            page.locator(".s7-tree").focus()
            page.keyboard.press("Home")
            page.keyboard.press("Enter")
            page.wait_for_selector(".s7-label-field:focus")
            page.locator(".s7-definition-field").fill(word)
            write(page, ".s7-label-field", f"{word} x")
            n += 2
            page.wait_for_function(
                "n => document.querySelectorAll('.s7-steps li').length === n"
                " || document.querySelector('.s7-message')",
                arg=n,
            )
            refused = page.locator(".s7-message button")
            if refused.count():  # a control character is refused as a label, in a sentence
                refused.click()
                n = page.locator(".s7-steps li").count()
            ran, elements, attributes = page.evaluate(STRANGE)
            assert (word, ran, elements, attributes) == (word, None, [], [])
            kept = {"label": page.locator(".s7-tree-label >> nth=0").text_content(), "definition": word}
        assert 3 * n > 5 * len(words)
        save(page, words[0])
        page.wait_for_selector(".s7-saved-note")
        page.keyboard.press("Alt+4")
        page.wait_for_selector(".s7-comparison tbody tr")
        assert page.evaluate(STRANGE) == [None, [], []]
    store = qual.Store(folder)
    code = store.codebook.codes[0]
    assert {"label": code.label, "definition": code.definition} == kept
    assert store.revisions[0].why == words[0]


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), SHOWN)
def test_axe_finds_nothing(lab: labs.Lab, folder: Path, width: int, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (`make frontend` installs it)")
    with lab.page(width=width) as page:
        enter(lab, page, folder, f"axe-{width}.ipynb")
        page.add_script_tag(path=str(AXE))
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        write(page, ".s7-definition-field", "Other.")
        steps(page, 1)
        page.wait_for_selector(".s7-stale tbody tr")
        show_in(page, theme)
        for tab in "1234":
            page.locator(".s7-tree").focus()
            page.keyboard.press(f"Alt+{tab}")
            page.wait_for_timeout(400)
            sound(page, tab)
        for key in ("+", "m", "s", "?"):
            page.locator(".s7-tree").focus()
            page.keyboard.press(key)
            page.wait_for_timeout(200)
            sound(page, key)
        page.keyboard.press("Escape")
        page.locator(".s7-tree").focus()
        page.keyboard.press("Escape")
        fits = "box => box.scrollWidth <= box.clientWidth"
        assert page.locator(".s7").evaluate(fits)
        grid = page.locator(".s7-revision")
        assert grid.evaluate("box => box.clientWidth >= box.parentElement.clientWidth - 4")


def drag(page: Page, label: str, to: tuple[float, float], *, let_go: bool = True) -> None:
    """Drag a code by its label to a point of the page, as a hand does."""
    row = page.locator(".s7-tree-row", has_text=label).first
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + box["height"] / 2 + 6, steps=3)
    for nudge in range(8):  # the browser tells of a drag where the mouse rests only now and then
        page.mouse.move(to[0] + nudge % 2, to[1])
        page.wait_for_timeout(25)
    if let_go:
        page.mouse.up()


def on_row(page: Page, label: str, share: float) -> tuple[float, float]:
    box = page.locator(".s7-tree-row", has_text=label).first.bounding_box()
    assert box is not None
    return box["x"] + 80, box["y"] + share * box["height"]


@pytest.mark.nightly
def test_a_code_is_dragged_under_before_and_after_others_and_nowhere_else(
    lab: labs.Lab, folder: Path
) -> None:
    with lab.page() as page:
        enter(lab, page, folder, "drag.ipynb")
        levels = """label => [...document.querySelectorAll('.s7-tree-row')]
            .find(row => row.innerText.includes(label)).getAttribute('aria-level')"""
        first = labels(page)
        last, top = first[-1], first[0]

        drag(page, last, on_row(page, top, 0.5), let_go=False)
        page.wait_for_selector(".s7-drop-into")
        page.mouse.up()
        steps(page, 1)
        assert labels(page) == [top, last, *first[1:-1]]
        assert page.evaluate(levels, last) == "2"
        assert page.locator(".s7-drop-into").count() == 0

        drag(page, top, on_row(page, last, 0.5))  # under what stands under it
        page.wait_for_selector(".s7-message")
        assert labels(page) == [top, last, *first[1:-1]]

        drag(page, last, on_row(page, first[2], 0.05), let_go=False)
        page.wait_for_selector(".s7-drop-before")
        page.mouse.up()
        steps(page, 2)
        assert labels(page) == [top, first[1], last, *first[2:-1]]
        assert page.evaluate(levels, last) == "1"

        drag(page, top, on_row(page, first[1], 0.95))
        steps(page, 3)
        assert labels(page) == [first[1], top, last, *first[2:-1]]

        before = page.locator(".jp-InputArea-editor").first.inner_text()
        editor = page.locator(".jp-InputArea-editor").first.bounding_box()
        assert editor is not None
        drag(page, top, (editor["x"] + 60, editor["y"] + editor["height"] - 12))  # over a cell
        drag(page, last, on_row(page, last, 0.6))  # and where it was
        page.wait_for_timeout(200)
        assert labels(page) == [first[1], top, last, *first[2:-1]]
        assert page.locator(".jp-InputArea-editor").first.inner_text() == before
        assert page.locator(".s7-steps li").count() == 3
    assert (
        qual.Store(folder).codebook.ids == qual.Codebook.read("sense7").ids
    )  # a draft is saved by nobody else


@pytest.mark.nightly
def test_a_drag_shows_where_the_code_will_stand_and_nothing_once_it_cannot(
    lab: labs.Lab, folder: Path
) -> None:
    mark = "() => document.querySelector('[class*=\"s7-drop-\"]') === null"
    with lab.page() as page:
        enter(lab, page, folder, "marked.ipynb")
        first, second, third, *_, last = labels(page)
        drag(page, third, on_row(page, first, 0.5))
        steps(page, 1)
        drag(page, last, on_row(page, first, 0.9), let_go=False)  # its codes are in sight: the first of them
        page.wait_for_selector(".s7-drop-after")
        page.mouse.up()
        steps(page, 2)
        assert labels(page)[:4] == [first, last, third, second]
        assert page.locator(".s7-tree-row >> nth=1").get_attribute("aria-level") == "2"
        drag(page, first, on_row(page, third, 0.5), let_go=False)  # below itself
        page.wait_for_function(mark)
        page.wait_for_selector(".s7-dragged")
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-dragged", state="detached")
        page.mouse.up()
        assert not page.locator(".s7-message").count()
        drag(page, last, on_row(page, second, 0.5), let_go=False)
        page.wait_for_selector(".s7-drop-into")
        cell = page.locator(".jp-InputArea-editor").first.bounding_box()
        assert cell is not None
        page.mouse.move(cell["x"] + 60, cell["y"] + 10, steps=4)  # out of the tree
        page.wait_for_function(mark)
        page.mouse.up()
        drag(page, third, on_row(page, last, 0.95))  # where it stands
        page.locator(".s7-tree-fold").first.click()
        page.wait_for_function("() => document.querySelectorAll('.s7-tree-row').length === 5")
        drag(page, second, on_row(page, first, 0.5))  # under one that is folded: it opens
        steps(page, 3)
        assert labels(page)[:4] == [first, last, third, second]

"""Settling disagreements in a real JupyterLab: by keys, by mouse, a killed kernel, hostile words, axe."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from tests.helpers import lab as labs
from tests.helpers.axe import AXE, SHOWN, show_in, sound
from tests.helpers.disputes import discussing, disputed, long_texts, ordinary, sentences
from tests.helpers.hostile_words import drawn
from tests.helpers.panes import in_adjudication
from tests.helpers.revised_codebooks import edited
from tests.helpers.simulation import SOAK

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

CELL = """
import os, pathlib
import sense7_qual as qual
pathlib.Path("pid").write_text(str(os.getpid()))
store = qual.Store({folder!r})
qual.widgets.AdjudicationWidget(store, coder={coder!r}{more})
"""
N_DISAGREEMENTS = 60 if SOAK else 12  # each way to settle one comes in every six
STRANGE = """() => [
  window.ran ?? null,
  [...document.querySelectorAll('.s7 :is(script, img, iframe, object, embed, math, style, base, form, a)')]
    .map(each => each.outerHTML),
  [...document.querySelectorAll('.s7 *')].flatMap(each => each.getAttributeNames())
    .filter(name => name.startsWith('on') || name === 'href'),
]"""


def enter(lab: labs.Lab, page: Page, folder: Path, name: str, more: str = "", coder: str = "lead") -> None:
    labs.notebook(lab.root / name, CELL.format(folder=str(folder), more=more, coder=coder))
    lab.open(page, name)
    page.wait_for_selector(".s7-case")
    page.locator(".s7").focus()


def shows(page: Page, unit_id: str) -> None:
    page.wait_for_function(
        "id => document.querySelector('.s7-case .s7-unit-id')?.innerText === id", arg=unit_id
    )


def settled(page: Page, n: int) -> None:
    """Wait until so many are settled, and all of it is in the record."""
    page.wait_for_function(
        "n => document.querySelector('.s7-numbers').innerText.startsWith(`${n} settled`)", arg=n
    )
    page.wait_for_selector(".s7-saved")


# Whether each thing is really seen: what lies at its middle, and at its four corners, is it or in it.
UNSEEN = """() => {
  const at = (one, x, y) => one.contains(document.elementFromPoint(x, y));
  const seen = one => {
    const {left, right, top, bottom} = one.getBoundingClientRect();
    const points = [[(left + right) / 2, (top + bottom) / 2]];
    for (const x of [left + 3, right - 3]) for (const y of [top + 3, bottom - 3]) points.push([x, y]);
    return points.every(([x, y]) => at(one, x, y));
  };
  const all = [
    ...document.querySelectorAll('.s7-reading-of, .s7-reading-said, .s7-ruling button'),
  ];
  const unseen = all.filter(one => !seen(one)).map(one => one.innerText);
  const ruling = document.querySelector('.s7-ruling').getBoundingClientRect();
  const isCut = one => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().bottom > ruling.bottom
    || one.getBoundingClientRect().top < ruling.top;
  const cut = [...document.querySelectorAll('.s7-ruling button')].filter(isCut);
  // The text is opened where its first coded words are; scrolled up, its first line is seen.
  const [pane, text] = ['.s7-scroll', '.s7-text'].map(one => document.querySelector(one));
  const coded = text.querySelector('.s7-mark')?.getClientRects()[0];
  if (coded && !at(text, coded.left + 3, coded.top + coded.height / 2)) unseen.push('the coded words');
  const before = pane.scrollTop;
  pane.scrollTop += text.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  const {left, top} = text.getBoundingClientRect();
  if (!at(text, left + 20, top + 20)) unseen.push('the first line of the text');
  pane.scrollTop = before;
  return [...unseen, ...cut.map(one => `cut: ${one.innerText}`)];
}"""
SIZE = """() => {
  const {offsetWidth, offsetHeight} = document.querySelector('.s7');
  return [offsetWidth, offsetHeight];
}"""
PLACES = """() => ({
  n: document.querySelectorAll('.s7-reading-of').length,
  readings: document.querySelector('.s7-readings').getBoundingClientRect().bottom,
  text: document.querySelector('.s7-scroll').getBoundingClientRect().top,
  room: document.querySelector('.s7-scroll').clientHeight,
  buttons: document.querySelector('.s7-verdict').getBoundingClientRect().top,
})"""


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "height"), [(900, 1000), (1280, 720)])
def test_what_each_coder_decided_is_in_sight_before_the_ruling(
    lab: labs.Lab, tmp_path: Path, width: int, height: int
) -> None:
    folder = Path(ordinary(tmp_path / "study").path)
    unseen, places = {}, []
    with lab.page(width=width, height=height) as page:
        enter(lab, page, folder, f"ordinary-{width}.ipynb")
        for at in range(24):
            if missing := page.evaluate(UNSEEN):
                unseen[at] = missing
            places.append(page.evaluate(PLACES))
            page.keyboard.press("a")  # what comes with the verdict, and a note, moves nothing
            page.wait_for_selector(".s7-verdict[aria-pressed=true]")
            page.keyboard.press("n")
            page.wait_for_selector(".s7-note-field:focus")
            if missing := page.evaluate(UNSEEN):
                unseen[at] = ["with a note", *missing]
            places.append({**page.evaluate(PLACES), "room": None})
            page.keyboard.press("Escape")
            page.keyboard.press("1")
            settled(page, at + 1)
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector(".s7-standing")
        assert page.evaluate(UNSEEN) == []
        places.append(page.evaluate(PLACES))
    assert unseen == {}
    assert Counter(place["n"] for place in places[:-1:2]) == {3: 6, 4: 6, 5: 6, 6: 6}
    assert all(place["readings"] <= place["text"] for place in places)
    assert len({place["buttons"] for place in places}) == 1
    assert min(place["room"] for place in places if place["room"]) >= 130


@pytest.mark.nightly
@pytest.mark.parametrize("n_coders", [3, 6])
@pytest.mark.parametrize(
    ("width", "height", "room"),
    [
        (1100, 590, {3: 314, 6: 224}),
        (716, 860, {3: 586, 6: 496}),
        (650, 700, {3: 380, 6: 290}),
    ],
)
def test_a_click_meets_every_reading_and_the_text_keeps_its_room(
    lab: labs.Lab, tmp_path: Path, width: int, height: int, room: dict[int, int], n_coders: int
) -> None:
    """The widget at two sizes in JupyterLab, over 30 disagreements on texts of 300 to 800 letters."""
    folder = Path(long_texts(tmp_path / "study", n_coders=n_coders).path)
    met, rooms, sizes = [], set(), set()
    with lab.page(width=1400, height=height + 130) as page:
        enter(lab, page, folder, f"long-{n_coders}-{width}.ipynb")
        page.evaluate("() => window.jupyterapp.shell.collapseLeft()")
        now = page.locator(".s7").bounding_box()
        page.set_viewport_size({"width": round(1400 + width - now["width"]), "height": height + 130})
        page.wait_for_function("width => document.querySelector('.s7').offsetWidth === width", arg=width)
        for _ in range(30):
            met.append(page.evaluate(UNSEEN))
            rooms.add(page.evaluate(PLACES)["room"])
            sizes.add(tuple(page.evaluate(SIZE)))
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(150)
            page.wait_for_selector(".s7-case")
    assert met == [[]] * 30
    assert sizes == {(width, height)}
    assert min(rooms) == max(rooms) >= room[n_coders]


def test_the_field_of_a_rule_that_is_written_in_is_above_what_becomes_stale(
    lab: labs.Lab, tmp_path: Path
) -> None:
    folder = Path(long_texts(tmp_path / "study", n_coders=3).path)
    with lab.page() as page:
        enter(lab, page, folder, "fields.ipynb")
        for size in ((1400, 900), (900, 1000), (1280, 720)):
            labs.resized(page, *size)
            page.locator(".s7").focus()
            page.keyboard.press("s")
            page.wait_for_selector(".s7-change .s7-first:focus")
            page.keyboard.type(" More.")
            page.wait_for_selector(".s7-stale-list")
            for at in range(4):
                field = page.locator(".s7-change-field textarea").nth(at)
                field.focus()
                end = page.locator(".s7-change-end").bounding_box()
                box = field.bounding_box()
                assert (size, at, box["y"] + box["height"] <= end["y"] + 1) == (size, at, True)
            page.keyboard.press("Escape")


def tab_to(page: Page, words: str) -> None:
    """Go by Tab to the button with these words."""
    for _ in range(60):
        if page.evaluate("() => document.activeElement?.innerText ?? ''").startswith(words):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no button {words!r} is reached by Tab")


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
@pytest.mark.parametrize(("width", "theme"), SHOWN)
def test_several_rulings_and_a_discussion_by_keys_alone_and_axe_finds_nothing(
    lab: labs.Lab, tmp_path: Path, width: int, theme: str
) -> None:
    store = discussing(tmp_path / "study")
    press, n = (lambda page, *keys: [page.keyboard.press(key) for key in keys]), 25
    with lab.page(width=width) as page:
        enter(lab, page, Path(store.path), f"keys-{width}.ipynb", coder="chair")
        page.add_script_tag(path=str(AXE))
        show_in(page, theme)
        press(page, "g")
        page.wait_for_selector(".s7-discussing li", state="attached")  # in one column, the room shows it
        press(page, "b")
        page.wait_for_selector(".s7-batch")
        press(page, "ArrowDown", " ", "d", "2", "n")
        page.wait_for_selector(".s7-batch-note:focus")
        page.keyboard.type("As the rule says.")
        sound(page, "rulings made together")
        press(page, "Enter")
        page.wait_for_function("() => !document.activeElement.matches('.s7-batch-note')")
        press(page, "Enter")
        settled(page, n - 1)

        press(page, "G")
        page.wait_for_selector(".s7-thread li")
        sound(page, "a discussion")
        tab_to(page, "Answer")
        press(page, "Enter")
        page.wait_for_selector(".s7-say:focus")
        page.keyboard.type("So it is coded.")
        press(page, "Control+Enter")
        page.wait_for_function("() => document.querySelectorAll('.s7-thread li').length === 3")
        sound(page, "an answer")
        tab_to(page, "Open with")
        press(page, "Enter")
        page.wait_for_selector(".s7-opening")
        sound(page, "a discussion that is blind")
        tab_to(page, "Let all read each other")
        press(page, "Enter")
        page.wait_for_selector(".s7-opening p[role=status]")
        tab_to(page, "Yes, show it")
        press(page, "Enter")
        said = page.locator(".s7-status", has_text="All who discuss can read each other now")
        said.wait_for()
        page.wait_for_selector(".s7-room .s7-case")
        press(page, "Escape")
        page.wait_for_selector(".s7-case .s7-verdict")
        assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")
    store = qual.Store(store.path)
    assert {(act.applied, act.reason, act.text) for act in store.rulings()} == {
        (False, "unclear_rule", "As the rule says.")
    }
    memos = store.memos().set_index("text")
    answered = memos.loc["So it is coded.", "answers"]
    assert memos.reset_index().set_index("memo_id").loc[answered, "coder"] == "benno"
    assert [(one.discusses, one.is_blind) for one in store.rounds[1:]] == [("one", False), ("one", False)]


SLOW = """() => {
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) { setTimeout(() => send.call(this, data), 200); };
}"""


@pytest.mark.nightly
def test_no_ruling_is_lost_however_fast_the_keys_come(lab: labs.Lab, tmp_path: Path) -> None:
    waits = [(0, False), (5, False), (15, False), (25, False), (40, False), (15, True)]
    n = 20
    folders = [Path(disputed(tmp_path / f"study-{at}", sentences(n)).path) for at in range(len(waits))]
    recorded = {}
    for (wait, slow), folder in zip(waits, folders, strict=True):
        with lab.page(new=slow) as page:
            enter(lab, page, folder, f"burst-{wait}-{slow}.ipynb")
            if slow:
                page.evaluate(SLOW)
            for at in range(n):
                page.keyboard.press("ad"[at % 2], delay=0)
                page.wait_for_timeout(wait)
                page.keyboard.press("1234"[at % 4], delay=0)
                page.wait_for_timeout(wait)
            settled(page, n)
        ruled = {act.unit_id: (act.applied, act.reason) for act in qual.Store(folder).rulings()}
        reasons = ["slip", "unclear_rule", "ambiguous_text", "missing_code"]
        recorded[wait, slow] = sum(ruled.get(f"t{at:02}") == (not at % 2, reasons[at % 4]) for at in range(n))
    assert recorded == dict.fromkeys(waits, n)


def test_many_disagreements_are_settled_by_two_keys_each(lab: labs.Lab, tmp_path: Path) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(N_DISAGREEMENTS)).path)
    keys, n_keys = [("a", "1"), ("d", "2"), ("a", "3"), ("d", "4"), ("f",), ("5",)], []
    with lab.page() as page:
        enter(lab, page, folder, "many.ipynb")
        for at in range(N_DISAGREEMENTS):
            shows(page, f"t{at:02}")
            for key in keys[at % 6]:
                page.keyboard.press(key)
            n_keys.append(len(keys[at % 6]))
        settled(page, N_DISAGREEMENTS)
        assert "All disagreements are settled" in page.locator(".s7-status").inner_text()
    assert (max(n_keys), sum(n_keys)) == (2, N_DISAGREEMENTS // 6 * 10)
    rulings = {act.unit_id: (act.applied, act.reason) for act in qual.Store(folder).rulings()}
    expected = [
        (True, "slip"),
        (False, "unclear_rule"),
        (True, "ambiguous_text"),
        (False, "missing_code"),
        (None, "different_reading"),
        (None, "different_reading"),
    ]
    assert rulings == {f"t{at:02}": expected[at % 6] for at in range(N_DISAGREEMENTS)}
    assert qual.Store(folder).verify()["ok"].all()


@pytest.mark.nightly
def test_a_note_undo_and_a_changed_code_by_keys_and_by_mouse(lab: labs.Lab, tmp_path: Path) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(6)).path)
    with lab.page() as page:
        enter(lab, page, folder, "keys.ipynb")
        shows(page, "t00")
        page.keyboard.press("n")
        page.wait_for_selector(".s7-note-field:focus")
        page.keyboard.type("As agreed: a1.")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.keyboard.press("1")
        shows(page, "t01")
        page.keyboard.press("d")
        page.keyboard.press("2")
        shows(page, "t02")
        page.keyboard.press("Control+z")
        shows(page, "t01")
        settled(page, 1)
        page.keyboard.press("y")
        settled(page, 2)
        page.get_by_role("button", name="Undo").click()
        settled(page, 1)
        page.get_by_role("button", name="Redo").click()
        settled(page, 2)
        page.keyboard.press("u")
        settled(page, 1)
        shows(page, "t01")
        # by mouse: decide, say why, go back in the list, take it back
        page.get_by_role("button", name="Does not apply").click()
        page.get_by_role("button", name="Rule unclear").click()
        settled(page, 2)
        page.locator(".s7-queue-row >> nth=0").click()
        shows(page, "t00")
        assert "As agreed: a1." in page.locator(".s7-standing").inner_text()
        page.get_by_role("button", name="Undo").click()
        settled(page, 1)
        shows(page, "t01")
        # its text as an example, once it is shown what becomes stale
        page.keyboard.press("e")
        page.wait_for_selector(".s7-change .s7-first:focus")
        page.wait_for_function(
            "() => document.querySelector('.s7-foretold')?.innerText.startsWith('Nothing becomes stale')"
        )
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".s7-change", state="detached")
        assert "It lis" in page.locator(".s7-detail").inner_text()
        # the rule: what becomes stale is said, and only then it can be saved
        page.get_by_role("button", name="Sharpen rule").click()
        page.wait_for_selector(".s7-change .s7-first:focus")
        assert page.locator(".s7-change .s7-primary").is_disabled()
        page.keyboard.type(" And no more.")
        page.wait_for_selector(".s7-stale-list")
        said = page.locator(".s7-stale-list").inner_text()
        assert "anabel 6 texts" in said
        assert "2 disagreements leave the queue" in said
        page.locator(".s7-change .s7-primary").click()
        page.wait_for_selector(".s7-change", state="detached")
        page.wait_for_function("() => document.querySelectorAll('.s7-queue-row').length === 4")
        settled(page, 1)
    store = qual.Store(folder)
    code = next(one for one in store.codebook if one.examples and one.examples[-1] == "It lis")
    assert code.definition.endswith(" And no more.")
    ruled = [act for act in store.acts(kind="rule") if act.kind == "rule"]
    assert [act.text for act in ruled] == ["As agreed: a1.", None, None]
    assert [one.why for one in store.revisions] == [
        "Coders disagreed on this text: the code applies.",
        "Coders disagreed: the rule was unclear.",
    ]


@pytest.mark.nightly
def test_rulings_outlive_a_killed_kernel(lab: labs.Lab, tmp_path: Path) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(5)).path)
    with lab.page() as page:
        enter(lab, page, folder, "killed.ipynb")
        shows(page, "t00")
        page.keyboard.press("a")
        page.keyboard.press("1")
        settled(page, 1)
        shows(page, "t01")
        os.kill(int((lab.root / "pid").read_text()), signal.SIGKILL)
        lab.begin_again(page)
        page.locator(".s7").focus()
        page.keyboard.press("d")
        page.keyboard.press("2")
        page.wait_for_selector(".s7-unsaved")
        assert "Cut off · 1 kept here" in page.locator(".s7-unsaved").text_content()
        lab.wait_idle(page)
        lab.run_all(page)
        page.wait_for_selector(".s7-case")
        settled(page, 2)
        page.locator(".s7").focus()
        page.keyboard.press("u")
        shows(page, "t01")
        settled(page, 1)
    assert [act.unit_id for act in qual.Store(folder).rulings()] == ["t00"]
    assert qual.Store(folder).verify()["ok"].all()


@pytest.mark.nightly
def test_with_letters_no_name_reaches_the_page(lab: labs.Lab, tmp_path: Path) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(4)).path)
    with lab.page() as page:
        frames: list[str] = []
        page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame)))
        )
        enter(lab, page, folder, "letters.ipynb", ", letters=True")
        page.keyboard.press("o")
        page.keyboard.press("o")
        page.keyboard.press("a")
        page.keyboard.press("1")
        settled(page, 1)
        shown = page.locator(".s7").inner_text()
        assert "anabel" not in shown + "".join(frames)
        assert "benno" not in shown + "".join(frames)
        assert set(page.locator(".s7-reading-who").all_inner_texts()) == {"A", "B"}
        page.keyboard.press("l")
        page.wait_for_function("() => document.querySelector('.s7-readings')?.innerText.includes('anabel')")


@pytest.mark.nightly
def test_hostile_words_are_words(lab: labs.Lab, tmp_path: Path) -> None:
    words = drawn(1)
    folder = Path(disputed(tmp_path / "study", [f"{word} x" for word in words]).path)
    with lab.page() as page:
        enter(lab, page, folder, "hostile.ipynb")
        for at, word in enumerate(words):
            shows(page, f"t{at:02}")
            shown = page.evaluate("() => document.querySelector('.s7-text').textContent")
            assert shown == f"{word} x"
            page.keyboard.press("n")
            page.wait_for_selector(".s7-note-field:focus")
            page.locator(".s7-note-field").fill(word)
            page.keyboard.press("Escape")
            page.keyboard.press("a")
            page.keyboard.press("3")
            assert page.evaluate(STRANGE) == [None, [], []]
        settled(page, len(words))
        page.keyboard.press("ArrowLeft")
        page.wait_for_selector(".s7-similar")
        assert page.evaluate(STRANGE) == [None, [], []]
    notes = {act.unit_id: act.text for act in qual.Store(folder).rulings()}
    assert notes == {f"t{at:02}": word.strip() for at, word in enumerate(words)}


@pytest.mark.nightly
@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed (`make frontend` installs it)")
@pytest.mark.parametrize(("width", "theme"), SHOWN)
def test_axe_finds_nothing(lab: labs.Lab, tmp_path: Path, width: int, theme: str) -> None:
    folder = Path(disputed(tmp_path / "study", sentences(12)).path)
    with lab.page(width=width) as page:
        enter(lab, page, folder, f"axe-{width}.ipynb")
        page.add_script_tag(path=str(AXE))
        show_in(page, theme)
        names = []
        for pane in in_adjudication(page):
            sound(page, pane)
            names.append(pane)
        assert len(names) == 7
        assert page.locator(".s7").evaluate("box => box.scrollWidth <= box.clientWidth")


@pytest.mark.nightly
def test_a_rule_that_another_lead_changed_too_stands_side_by_side(lab: labs.Lab, tmp_path: Path) -> None:
    store = disputed(tmp_path / "study", sentences(3))
    first = store.codebook.codable[0]
    with lab.page() as page:
        enter(lab, page, Path(store.path), "meanwhile.ipynb")
        page.keyboard.press("s")
        page.locator(".s7-change textarea >> nth=0").fill("Mine.")
        page.wait_for_selector(".s7-stale-list")
        store.revise(
            edited(edited(store.codebook, first.id, definition="Theirs."), first.id, use_when=("It asks.",)),
            why="It said too little.",
            coder="chair",
        )
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".s7-sides")
        shown = page.locator(".s7-change").inner_text()
        assert "chair changed the same" in shown
        assert page.locator(".s7-sides").count() == 1
        assert page.locator(".s7-sides button").all_inner_texts() == ["Mine\nMine.", "Theirs\nTheirs."]
        assert page.locator(".s7-change .s7-primary").is_disabled()
        if AXE.is_file():
            page.add_script_tag(path=str(AXE))
            sound(page, "both sides of a rule")
        page.locator(".s7-sides button >> nth=0").click()
        page.wait_for_selector(".s7-sides", state="detached")
        page.wait_for_selector(".s7-change .s7-primary:not([disabled])")
        page.locator(".s7-change .s7-primary").click()
        page.wait_for_selector(".s7-change", state="detached")
    now = qual.Store(store.path).codebook[first.id]
    assert (now.definition, now.use_when) == ("Mine.", ("It asks.",))

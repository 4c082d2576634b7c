"""The text in the coding widget: its height, what is in sight, whole words; in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.helpers import lab as labs
from tests.helpers.coding_page import cell, drag, ends, enter, press, shows, spans, study

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

SENTENCES = [
    f"In sentence {number} it asked how my sister had reacted, and I told it." for number in range(60)
]
LONG = " ".join(SENTENCES)
TEXTS = [LONG, "It listened well. Then it spoke.", "我喜欢学习语言。他也喜欢。", LONG]
# Where the pane stands, and by how much the notebook around it is scrolled.
PANE = """() => {
  const box = document.querySelector('.s7-scroll');
  let around = 0;
  for (let at = box.parentElement; at; at = at.parentElement) around += at.scrollTop;
  const {top, bottom} = box.getBoundingClientRect();
  return {top, bottom, scrolled: box.scrollTop, most: box.scrollHeight - box.clientHeight, around};
}"""
IN_SIGHT = """selector => {
  const box = document.querySelector('.s7-scroll').getBoundingClientRect();
  const parts = [...document.querySelectorAll(selector)].flatMap(one => [...one.getClientRects()]);
  return parts.length > 0 && parts.every(one => one.top >= box.top && one.bottom <= box.bottom);
}"""

# Where the blocks of the text on screen begin, the first of them left out.
CUTS = """() => {
  let at = 0;
  const blocks = [...document.querySelectorAll('.s7-text > div:not(.s7-end)')];
  return blocks.map(block => at += block.textContent.length).slice(0, -1);
}"""
# Scrolls the text so that this block begins in sight.
TO_CUT = """at => {
  const [box, text] = ['.s7-scroll', '.s7-text'].map(name => document.querySelector(name));
  box.scrollTop += text.children[at].getBoundingClientRect().top - box.getBoundingClientRect().top - 200;
}"""
# Whether each line begins with the same character as where the text is one paragraph with the same marks: a
# mark alone can move the last word of a line that is full to 1/64 px.
LOOKS_WHOLE = """() => {
  const box = document.querySelector('.s7-text');
  const plain = box.cloneNode(false), paragraph = document.createElement('div');
  const pieces = [...box.querySelectorAll(':scope > div:not(.s7-end)')];
  for (const span of pieces.flatMap(piece => [...piece.cloneNode(true).children])) {
    // What a cut parted is one again.
    const last = paragraph.lastElementChild;
    const same = name => last.getAttribute(name) === span.getAttribute(name);
    const alike = last && ['class', 'style', 'title'].every(same);
    if (alike && !span.dataset.tag) last.textContent += span.textContent;
    else paragraph.append(span);
  }
  plain.append(paragraph);
  plain.style.cssText = 'position: absolute; visibility: hidden; box-sizing: border-box';
  plain.style.width = `${box.getBoundingClientRect().width}px`;
  box.parentElement.append(plain);
  const tops = at => {
    const walker = document.createTreeWalker(at, NodeFilter.SHOW_TEXT);
    const range = document.createRange(), found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (let n = 0; n < node.length; n++) {
        range.setStart(node, n); range.setEnd(node, n + 1);
        found.push(range.getBoundingClientRect().top);
      }
    }
    return found.map(top => Math.round(top - found[0]));
  };
  const [cut, whole] = [tops(box), tops(plain)];
  plain.remove();
  const other = cut.findIndex((top, n) => Math.abs(top - whole[n]) > 1);
  const counted = cut.length === whole.length && new Set(cut).size > 40;
  return counted && other < 0 ? true : [other, cut.length, whole.length, box.clientWidth];
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study", TEXTS)


def test_a_long_text_takes_the_height_there_is_and_says_that_it_goes_on(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "long.ipynb", cell(folder))
    with lab.page(height=1000) as page:
        enter(lab, page, "long.ipynb")
        page.keyboard.press("c")  # the conversation is folded
        pane = page.evaluate(PANE)
        assert pane["bottom"] - pane["top"] > 450
        assert page.locator(".s7").bounding_box()["height"] < 1000 - 100
        assert page.locator(".s7-more").inner_text().endswith("more lines")
        assert "Text 1 of 4, 840 words, not finished" in page.locator(".s7-status").inner_text()

        page.keyboard.press("PageDown")
        after = page.evaluate(PANE)
        assert 0.7 * (pane["bottom"] - pane["top"]) < after["scrolled"] < pane["bottom"] - pane["top"]
        page.keyboard.press("PageUp")
        assert page.evaluate(PANE)["scrolled"] == 0
        page.locator(".s7-more").wait_for()
        page.keyboard.press("End")
        page.locator(".s7-more").wait_for(state="detached")
        assert page.evaluate(PANE)["scrolled"] == pytest.approx(after["most"], abs=2)
        page.keyboard.press("Home")  # its end has been on the screen
        page.wait_for_function("() => document.querySelector('.s7-below')")
        assert page.locator(".s7-more").count() == 0
        assert page.evaluate(PANE)["around"] == pane["around"]

        # The next text is shown from its beginning; finishing one whose end was never in sight is said.
        press(page, "End", "Enter")
        shows(page, "t1/1")
        assert "t0/1 finished. Text 2" in page.locator(".s7-status").inner_text()
        page.locator(".s7-goto input").fill("4")
        page.keyboard.press("Enter")
        shows(page, "t3/1")
        assert page.evaluate(PANE)["scrolled"] == 0
        page.locator(".s7").focus()
        page.locator(".s7-more").click()
        assert page.evaluate(PANE)["scrolled"] > 300
        press(page, "f")
        assert "you have not seen its end" in page.locator(".s7-status").inner_text()


def test_what_is_selected_or_marked_by_key_is_in_sight_and_the_notebook_stays(
    lab: labs.Lab, folder: Path
) -> None:
    labs.notebook(lab.root / "sight.ipynb", cell(folder), *["1 + 1"] * 20)
    with lab.page(height=700) as page:
        enter(lab, page, "sight.ipynb")
        around = page.evaluate(PANE)["around"]
        for number in range(len(SENTENCES)):
            page.keyboard.press("s")
            assert page.evaluate(IN_SIGHT, ".s7-selected"), number
        press(page, "1", "Escape")
        page.keyboard.press("s")  # goes round: the first sentence again
        assert page.evaluate(IN_SIGHT, ".s7-selected")
        for _ in range(20):
            page.keyboard.press("Shift+ArrowDown")
        last = "() => [...document.querySelectorAll('.s7-selected')].at(-1).textContent"
        assert page.evaluate(last).endswith(SENTENCES[20])
        assert page.evaluate(PANE)["scrolled"] > 0
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")  # marks the coding of the last sentence
        page.wait_for_selector(".s7-active.s7-mark")
        assert page.evaluate(IN_SIGHT, ".s7-active.s7-mark")
        assert page.evaluate(PANE)["around"] == around


def test_a_drag_takes_whole_words_and_with_alt_exactly_what_it_covered(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "words.ipynb", cell(folder))
    text = TEXTS[1]
    with lab.page() as page:
        enter(lab, page, "words.ipynb")
        press(page, "ArrowRight")
        shows(page, "t1/1")
        dragged = []
        for step, key in ((1, "1"), (-1, "2")):
            drag(page, *ends(page, text, "stened we")[::step])
            press(page, key)
            dragged += spans(folder)
            press(page, "z")  # else the next drag would grab an end of this coding
        assert dragged == [("t1/1", "affective", "listened well"), ("t1/1", "cognitive", "listened well")]
        page.keyboard.down("Alt")
        drag(page, *ends(page, text, "stened we"))
        page.keyboard.up("Alt")
        press(page, "3")
        begin, _ = ends(page, text, "spoke")
        page.mouse.click(begin[0] + 9, begin[1], click_count=3)
        press(page, "4")
        begin, _ = ends(page, text, "spoke")  # the list of codings has grown
        page.mouse.click(begin[0] + 9, begin[1], click_count=2)
        press(page, "5")
        press(page, "ArrowRight")
        shows(page, "t2/1")
        drag(page, *ends(page, TEXTS[2], "欢学"))
        press(page, "6")
    assert spans(folder) == [
        ("t1/1", "response", "stened we"),
        ("t1/1", "prosocial", "Then it spoke."),
        ("t1/1", "interest", "spoke"),
        ("t2/1", "contextual", "喜欢学习"),
    ]


def test_five_keys_select_any_words_in_sight(lab: labs.Lab, folder: Path) -> None:
    labs.notebook(lab.root / "letters.ipynb", cell(folder))
    with lab.page() as page:
        enter(lab, page, "letters.ipynb")
        page.keyboard.press("PageDown")
        page.keyboard.press("Space")
        page.wait_for_selector(".s7-letters b")
        words = _labelled(page)
        assert 40 < len(words) < 700
        # Each stands on its own word, within the pane.
        assert {word for _, word in words} <= {*LONG.replace(",", "").replace(".", "").split()}
        first, last = words[17], words[22]
        for letter in first[0] + last[0]:
            page.keyboard.press(letter)
        page.wait_for_selector(".s7-letters", state="detached")
        press(page, "7")
        begin = page.evaluate(PANE)["scrolled"]
        assert begin > 0
    ((unit_id, code, quote),) = spans(folder)
    assert (unit_id, code) == ("t0/1", "relational")
    assert quote is not None
    assert quote.replace(",", "").replace(".", "").split() == [word for _, word in words[17:23]]


def _labelled(page: Page) -> list[tuple[str, str]]:
    """Return each label with the word that stands where the label does."""
    found = page.evaluate(
        """() => [...document.querySelectorAll('.s7-letters b')].map(label => {
          const at = label.getBoundingClientRect();
          const under = label.classList.contains('s7-under');
          label.style.visibility = 'hidden';
          const caret = document.caretPositionFromPoint(at.left + 3, under ? at.top - 5 : at.bottom + 4);
          label.style.visibility = '';
          const text = caret.offsetNode.textContent;
          const begin = Math.max(text.lastIndexOf(' ', caret.offset - 1) + 1, 0);
          return [label.textContent, text.slice(begin).match(/^[A-Za-z0-9]+/)?.[0] ?? ''];
        })"""
    )
    return [(label, word) for label, word in found]


def test_a_long_paragraph_in_pieces_looks_and_is_selected_as_one(lab: labs.Lab, tmp_path: Path) -> None:
    words = "It{0} asked{0}{1} how{0} the{0} exam{0} was{0}."
    sentences = [words.format(n, " 👍🏽" * (n % 3)) for n in range(450)]
    text = " ".join(sentences)
    place = study(tmp_path / "study", [text, "Another one."])
    labs.notebook(lab.root / "paragraph.ipynb", cell(place))
    with lab.page(new=True) as page:  # a page that was narrower has another side bar
        enter(lab, page, "paragraph.ipynb")
        press(page, "w", "1", "Escape", "s", "s", "2", "Escape")
        page.wait_for_function(f"() => ({CUTS})().length > 5")
        assert page.evaluate(LOOKS_WHOLE) is True

        cuts = page.evaluate(CUTS)
        cut = cuts[2]
        before = len(text.encode("utf-16-le")[: 2 * cut].decode("utf-16-le"))
        begin, end = text.rindex(" ", 0, before - 1) + 1, text.index(" ", before)
        page.evaluate(TO_CUT, 3)
        drag(page, *ends(page, text, text[begin:end]))
        press(page, "3", "Escape")
        word, _ = ends(page, text, text[before:end])
        page.mouse.click(word[0] + 2, word[1], click_count=3)
        press(page, "4")

        # In another width the lines are others; text of 357 and 358 px, and of widths in parts of pixels.
        for width in (1100, 1103, 1101, 1127, 1352):
            page.set_viewport_size({"width": width, "height": 950})
            page.wait_for_function(
                f"cuts => ({CUTS})().length > 5 && `${{({CUTS})()}}` !== `${{cuts}}`", arg=cuts
            )
            cuts = page.evaluate(CUTS)
            assert page.evaluate(LOOKS_WHOLE) is True, width
        press(page, "ArrowRight")
        shows(page, "t1/1")
        press(page, "ArrowLeft")
        shows(page, "t0/1")
        page.wait_for_function(f"() => ({CUTS})().length > 5")
        assert page.evaluate(LOOKS_WHOLE) is True
    number = text[:before].count(". ")  # of the sentence with the first word behind the cut
    quotes = {quote for _, _, quote in spans(place)}
    assert {text[begin:end], sentences[number]} <= quotes

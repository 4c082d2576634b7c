"""The coding desk in one state after the other, and what must be the same in all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from playwright.sync_api import Page

from tests.helpers.coding_page import press

TEXT: Final = " ".join(
    f"In sentence {number} it asked how my sister had reacted, and it remembered the exam."
    for number in range(6)
)

MEASURED: Final = """() => {
  const find = selector => document.querySelector(`.s7 ${selector}`);
  const root = document.querySelector('.s7').getBoundingClientRect();
  const text = find('.s7-scroll').getBoundingClientRect();
  const finish = find('.s7-footer .s7-primary').getBoundingClientRect();
  return {
    still: [text.top - root.top, text.height, finish.top - root.top, root.height].map(Math.round),
    inside: root.top >= -1 && root.bottom <= innerHeight + 1,
    header: find('.s7-header').scrollWidth - find('.s7-header').clientWidth,
  };
}"""


def states(page: Page) -> Iterator[tuple[str, bool]]:
    """Bring the desk into one state after the other; say which, and whether all of it is in sight then."""
    yield "no code", True
    press(page, *"1234567")
    yield "seven codes on the whole text", True
    press(page, *"1234567")
    for key in "132465":
        press(page, "w", "w", "Shift+ArrowRight", "Shift+ArrowRight", key)
    page.keyboard.press("Escape")
    yield "six codes on words", True
    for _ in range(3):
        page.keyboard.press("ArrowUp")
        yield "another coding is marked", True
    page.keyboard.press("v")
    yield "its facets", True
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("co")
    yield "a code is looked for", True
    page.keyboard.press("Escape")
    page.keyboard.press("w")
    page.keyboard.press("m")
    yield "a memo on words", False
    page.keyboard.type("Why?")
    press(page, "Escape")
    page.keyboard.press("m")
    page.keyboard.press("Escape")
    page.keyboard.press("Space")
    yield "letters", True
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    for key, name in (("?", "the keys"), ("+", "a new code"), (",", "the texts"), ("<", "the history")):
        page.keyboard.press(key)
        yield name, False
        page.keyboard.press("Escape")
    page.keyboard.press("c")
    yield "the conversation folded", True
    press(page, "Enter")
    yield "the next text", True

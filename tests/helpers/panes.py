"""Every pane of the widgets, one after the other, in a study that has something for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers.coding_page import TEXTS, press, saved, shows, study


def unblinded(folder: Path) -> qual.Store:
    """Make a study whose round was coded by ana, ben and cleo, and unblinded."""
    store = qual.Store(study(folder))
    book, text = store.codebook, TEXTS[0]
    ids = store.units["unit_id"].tolist()
    store.append(
        [rounds.open_round("one", units=ids, coders=["ana", "ben", "cleo"], coder="lead", codebook=book)]
    )
    for coder, codings in {
        "ana": [("cognitive", "remembered what I said"), ("affective", "I felt unheard")],
        "ben": [("cognitive", "what I said 👍🏽 about my exam"), ("relational", "it lectured me")],
        "cleo": [("affective", "felt unheard"), ("interest", None)],
    }.items():
        mine = {"coder": coder, "unit_id": ids[0], "codebook": book, "round": "one"}
        for code, quote in codings:
            start = None if quote is None else text.index(quote)
            end = None if quote is None else text.index(quote) + len(quote)
            store.append([acts.apply(code=code, start=start, end=end, **mine)])
        store.append([acts.finish(**mine)])
    store.append([rounds.unblind("one", coder="lead", codebook=book)])
    return store


def looked_at(folder: Path) -> qual.Store:
    """Make a study whose round one is coded and unblinded, and whose round two is blind and begun by ana."""
    store = qual.Store(study(folder))
    book, ids = store.codebook, store.units["unit_id"].tolist()
    for name in ("one", "two"):
        named = {"units": ids, "coders": ["ana", "ben"], "coder": "chair", "codebook": book}
        store.append([rounds.open_round(name, **named)])
    for coder, codes in (("ana", ("cognitive", "affective")), ("ben", ("cognitive", "interest"))):
        for place, unit_id in enumerate(ids):
            mine = {"coder": coder, "unit_id": unit_id, "codebook": book, "round": "one"}
            store.append([acts.apply(code=codes[place % 2], **mine), acts.finish(**mine)])
    store.append([rounds.unblind("one", coder="chair", codebook=book)])
    store.append([acts.finish(coder="ana", unit_id=ids[0], codebook=book, round="two")])
    store.append([acts.propose(coder="ana", label="Hope", unit_id=ids[1], codebook=book, round="one")])
    return store


def in_training(folder: Path) -> qual.Store:
    """Make a study with a round of training: gold has affective and interest on each text."""
    store = qual.Store(study(folder))
    ids, codes = store.units["unit_id"].tolist(), [code.id for code in store.codebook.codable]
    rows = [(unit_id, code, code in ("affective", "interest")) for unit_id in ids for code in codes]
    gold = pd.DataFrame(rows, columns=["unit_id", "code", "applied"])
    named = {"units": ids, "coders": ["ana"], "coder": "lead", "codebook": store.codebook}
    store.append([rounds.open_round("training", gold=gold, **named)])
    return store


def in_round(page: Page, store: qual.Store) -> Iterator[str]:
    """Show each pane of a widget on `unblinded`, and say which one it is; in it codes are added at once."""
    page.keyboard.press("ArrowLeft")
    shows(page, "t0/1")
    page.keyboard.press("=")
    page.wait_for_selector(".s7-coders")
    yield "colleagues"
    page.keyboard.press("w")
    page.keyboard.press("m")
    page.keyboard.type("Why this word?")
    yield "form of a memo"
    press(page, "Escape", "2", "Delete")
    page.keyboard.press(":")
    page.wait_for_selector(".s7-rows .s7-row-quote")
    yield "memos"
    page.keyboard.press("<")
    page.wait_for_selector(".s7-act >> nth=2")
    page.keyboard.press("Delete")
    page.wait_for_selector(".s7-taken-back")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("b")
    page.wait_for_selector(".s7-go-back")
    yield "history"
    _to_text(page)
    page.keyboard.press("/")
    page.keyboard.type("co")
    page.wait_for_selector(".s7-codes[role=listbox] [role=option]")
    yield "picker"
    _to_text(page)
    page.keyboard.press("#")
    page.wait_for_selector(".s7-grid-row.s7-here")
    yield "colleagues in the grid"
    page.keyboard.press(":")
    page.wait_for_selector(".s7-side[aria-label=Memos] .s7-rows .s7-row-quote")
    yield "memos in the grid"
    page.keyboard.press("<")
    page.wait_for_selector(".s7-side[aria-label=History] .s7-act")
    yield "history in the grid"
    _to_text(page)
    page.locator(".s7-here .s7-add-code").click()
    page.wait_for_selector(".s7-row-codes")
    yield "codes in a row of the grid"
    _to_text(page)
    page.keyboard.press("#")
    page.wait_for_selector(".s7-text-pane")
    page.keyboard.press("ArrowRight")  # the text before it is finished
    shows(page, "t1/1")
    page.keyboard.press("+")
    page.wait_for_selector(".s7-new-label:focus")
    page.keyboard.type("Contextual understandin")
    page.wait_for_selector(".s7-alike button")
    yield "new code"
    page.locator(".s7-new-label").fill("Hope")
    page.locator(".s7-new-send").click()
    saved(page)
    page.wait_for_selector(".s7-inbox-button b")
    page.keyboard.press("I")
    page.wait_for_selector(".s7-item")
    yield "inbox"
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-again")
    shows(page, "t0/1")
    yield "texts to look at again"
    _to_text(page)
    newest = qual.Store(store.path)
    without = tuple(one for one in newest.codebook if one.id != "affective")
    newest.revise(replace(newest.codebook, codes=without), why="Too broad.", coder="lead")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("I")
    page.wait_for_selector(".s7-item")
    yield "a newer codebook"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector(".s7-help")
    yield "keys"


def in_the_overview(page: Page) -> Iterator[str]:
    """Show each pane of the overview of `looked_at`, and say which one it is."""
    page.locator(".s7").focus()
    page.locator(".s7-next summary").first.click()
    yield "overview"
    page.locator(".s7").focus()
    page.keyboard.press("?")
    page.wait_for_selector(".s7-help")
    yield "keys"
    page.keyboard.press("Escape")
    for number in ("Finished", "disagreements"):
        of = "finished" if number == "Finished" else "open"
        page.locator(f'.s7-door[data-door*="{of}"]').first.click()
        page.wait_for_selector(".s7-opened .s7-coders")
        yield f"texts behind {number}"
        page.keyboard.press("Escape")
        page.wait_for_selector(".s7-overview")


def in_a_round_of_training(page: Page) -> Iterator[str]:
    """Show what differs from gold on a widget on `in_training`, in the text and in the grid."""
    shows(page, "t0/1")
    press(page, "1", "7", "Enter")
    page.wait_for_selector(".s7-feedback")
    yield "feedback"
    page.keyboard.press("#")
    page.wait_for_selector(".s7-grid")
    yield "feedback in the grid"


def in_adjudication(page: Page) -> Iterator[str]:
    """Show each pane of the adjudication widget, and say which one it is."""
    page.locator(".s7").focus()
    yield "a text"
    page.keyboard.press("a")
    page.wait_for_selector(".s7-verdict[aria-pressed=true]")
    yield "why"
    page.keyboard.press("1")
    page.wait_for_selector(".s7-saved")
    page.keyboard.press("t")
    page.keyboard.press("w")
    is_narrow = not page.locator(".s7-queue").is_visible()
    if is_narrow:  # the queue is shown in the place of the rule, on request
        page.keyboard.press(",")
    page.locator(".s7-of-codes summary").click()
    page.wait_for_selector(".s7-of-codes table")
    yield "conversation, all codes"
    page.locator(".s7").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".s7-standing")
    page.keyboard.press("n")
    page.wait_for_selector(".s7-note-field:focus")
    yield "note on a settled text"
    page.keyboard.press("Escape")
    page.keyboard.press("o")
    page.wait_for_selector(".s7-queue-group")
    yield "queue in groups"
    page.keyboard.press("s")
    page.wait_for_selector(".s7-change .s7-first:focus")
    page.keyboard.type(" More.")
    page.wait_for_selector(".s7-stale-list")
    yield "a sharper rule"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector(".s7-help")
    yield "keys"
    page.keyboard.press("Escape")
    for key in "tw":
        page.keyboard.press(key)
    page.locator(".s7-of-codes summary").click()
    for _ in range(3):  # the order with which it began
        page.keyboard.press("o")
    page.wait_for_selector(".s7-queue-group", state="detached")
    page.locator(".s7").focus()
    if is_narrow:
        page.keyboard.press(",")
    page.keyboard.press("Enter")


def _to_text(page: Page) -> None:
    for _ in range(3):
        page.keyboard.press("Escape")
    page.locator(".s7").focus()
    grid = page.locator(".s7-grid")
    if grid.count():
        grid.focus()

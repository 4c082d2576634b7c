"""Take the pictures of the widgets in `docs/`, in a real JupyterLab.

python scripts/make_screenshots.py [FOLDER] [--all]     # default: docs/pictures/

Some steps are taken light and 1,400 pixels wide, others dark and 900 wide, some of the lead's day light and
narrow, or dark and wide; with `--all` each in both themes at both widths, to be looked at. `--only` takes
those of one widget. Needs Chromium (`make system`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers import lab as labs  # noqa: E402 – not installed with the package
from tests.helpers.coding_page import enter, press  # noqa: E402

CELL: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
from sense7_qual.widgets import CodingWidget
units, book = example_study.explanations(), qual.Codebook.read("sense7")
units["text"] = [" ".join(units["text"][at : at + (5, 2, 3)[at % 3]]) for at in range(len(units))]
store = qual.Store.create({study!r}, units=units, codebook=book, exist_ok=True)
store.set_options(new_codes="add", rating="finished", coder="lead")
plan = store.assign(coders=["ana", "ben"], overlap=0.25, seed=7, coder="lead")
CodingWidget(store, coder="ana", rating="EmpathyOverall")
"""

# A round that three coded, unblinded; and one of training, with gold.
ROUNDS: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import pandas as pd
import example_study
import sense7_qual as qual
from sense7_qual import acts, rounds
from sense7_qual.widgets import CodingWidget
units, book = example_study.explanations(), qual.Codebook.read("sense7")
units["text"] = [" ".join(units["text"][at : at + (5, 2, 3)[at % 3]]) for at in range(len(units))]
store = qual.Store.create({study!r}, units=units, codebook=book)
ids, codes = units["unit_id"].tolist()[:12], [code.id for code in book.codable]
opened = {{"coders": ["ana", "ben", "cleo"], "coder": "lead", "codebook": book}}
store.append([rounds.open_round("one", units=ids, **opened)])
for number, coder in enumerate(["ana", "ben", "cleo"]):
    for place, unit_id in enumerate(ids[: 12 if number else 3]):
        text = units["text"][place]
        words = [at for at, letter in enumerate(text) if letter == " "]
        named = {{"coder": coder, "unit_id": unit_id, "codebook": book, "round": "one"}}
        start, end = words[number % len(words)] + 1, words[min(number + 4, len(words) - 1)]
        store.append([acts.apply(code=codes[place % 7], **named),
                      acts.apply(code=codes[(place + number) % 3], start=start, end=end, **named)])
        store.append([acts.finish(**named)])
store.append([rounds.unblind("one", coder="lead", codebook=book)])
gold = pd.DataFrame(
    [(unit_id, code, at % 7 in (place % 7, (place + 3) % 7))
     for place, unit_id in enumerate(ids) for at, code in enumerate(codes)],
    columns=["unit_id", "code", "applied"])
store.append([rounds.open_round("training", units=ids, gold=gold, **opened)])
CodingWidget(store, coder="ana", round={round!r})
"""

# What waits for a coder: a code that was narrowed, one that was reworded, a round.
WAITING: Final = """
import sys
sys.path.insert(0, {notebooks!r})
from dataclasses import replace
import example_study
import sense7_qual as qual
from sense7_qual import acts, rounds
units, book = example_study.explanations(), qual.Codebook.read("sense7")
units["text"] = [" ".join(units["text"][at : at + (5, 2, 3)[at % 3]]) for at in range(len(units))]
store = qual.Store.create({study!r}, units=units, codebook=book)
plan = store.assign(coders=["ana", "ben"], overlap=1.0, seed=7, coder="lead")
ids, on = units["unit_id"].tolist(), {{"coder": "ana", "codebook": book}}
for place, unit_id in enumerate(ids[:40]):
    code = book.codable[place % 7].id
    store.append([acts.apply(code=code, unit_id=unit_id, **on), acts.finish(unit_id=unit_id, **on)])
words = {{"cognitive": " Not of feelings.", "interest": " Or it wanted to know more."}}
wished = [replace(one, definition=one.definition + words.get(one.id, "")) for one in book]
meaning = {{"cognitive": ("narrow", "As agreed."), "interest": ("reword", "The same in more words.")}}
store.revise(replace(book, codes=tuple(wished)), why="Clearer.", coder="lead", meaning=meaning)
store.append([rounds.open_round("calibration 2", units=ids[60:100], coders=["ana", "ben"], coder="lead",
                                codebook=store.codebook)])
qual.widgets.CodingWidget(store, coder="ana")
"""

LEAD: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
store = example_study.study({study!r})
themes = qual.themes.fit(store.units, embed=qual.models.embedder(), seed=7)
store.record_themes(themes, coder="lead")
named = {{"coder": "ana", "codebook": store.codebook}}
unit_id = store.units["unit_id"][7]
store.append([qual.acts.propose(label="Being lectured", unit_id=unit_id,
                                definition="The agent tells what to do without being asked.", **named)])
qual.widgets.CodebookWidget(store, coder="lead", without_round=True)
"""

SETTLE: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
store = example_study.study({study!r})
qual.widgets.AdjudicationWidget(store, coder="lead", without_round=True)
"""


QUOTE: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
store = example_study.study({study!r})
qual.widgets.QuotesWidget(store, coder="lead", rating="EmpathyOverall", per_participant=2,
                          names=["my dentist", "my sister", "my daughter"], without_round=True)
"""


# The same study with a blind round that ana and ben have begun; chi never applies one code.
STANDS: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import pandas as pd
import example_study
import sense7_qual as qual
store = example_study.study({study!r})
ids, book = store.units["unit_id"].tolist()[:60], store.codebook
opened = {{"units": ids, "coders": ["ana", "ben", "chi"], "coder": "lead", "codebook": book}}
store.append([qual.rounds.open_round("calibration 2", **opened)])
of_chi = store.codings(coder="chi")
spans = of_chi.loc[of_chi["code"] == "contextual", ["unit_id", "start", "end"]].astype(object)
spans = spans.where(spans.notna(), None)
gone = {{"coder": "chi", "code": "contextual", "codebook": book}}
store.append([qual.acts.remove(unit_id=unit_id, start=start, end=end, **gone)
              for unit_id, start, end in spans.itertuples(index=False)])
begun = pd.Timestamp("2026-03-02T09:00:00Z")
for coder, n, seconds in (("ana", 44, 40), ("ben", 60, 55), ("chi", 3, 70)):
    times = [begun + pd.Timedelta(seconds=seconds * place) for place in range(n)]
    store.append([
        qual.acts.finish(coder=coder, unit_id=unit_id, round="calibration 2", codebook=book,
                         at=at.isoformat().replace("+00:00", "Z"))
        for unit_id, at in zip(ids, times)])
qual.widgets.OverviewWidget(store, coder="lead", without_round=True)
"""

# The follow-up, coded by three, and its themes.
THEMES: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
store, embed = example_study.follow_up({study!r}), qual.models.embedder()
store.record_themes(qual.themes.fit(store.units, embed=embed, seed=7), coder="lead")
qual.widgets.ThemesWidget(store, coder="lead", embed=embed, without_round=True)
"""

# The example, and in the place of a language model a function that looks for words.
MODELS: Final = """
import json
import sys
sys.path.insert(0, {notebooks!r})
import example_study
import sense7_qual as qual
units = example_study.explanations().head(60)
store = qual.Store.create({study!r}, units=units, codebook=qual.Codebook.read("sense7"), lead="lead")
WORDS = {{"Affective": "feel", "Cognitive": "understood", "Response": "advice", "Prosocial": "help",
         "Interest": "asked", "Contextual": "situation", "Relational": "remember"}}
def model(messages):
    label = messages[0]["content"].partition("Code: ")[2].split()[0]
    said = json.loads(messages[1]["content"])[-1]["content"].split()
    found = [n for n, each in enumerate(said) if WORDS[label] in each.lower()]
    quote = " ".join(said[max(0, found[0] - 3) : found[0] + 4]) if found else ""
    long = "Says nothing of it." if len(said) < 30 else "Too much at once to tell."
    verdict = "yes" if found else "no" if len(said) < 30 else "unsure"
    why = "The writer says what the assistant did." if found else long
    return json.dumps({{"quote": quote, "verdict": verdict, "why": why}})
qual.widgets.ModelCoderWidget(store, coder="lead", chat=model, lead_codes=False)
"""

# The example of which ana coded a part, and a model that learned from that.
SUGGEST: Final = """
import sys
sys.path.insert(0, {notebooks!r})
import json
import example_study
import sense7_qual as qual
units, book = example_study.explanations(), qual.Codebook.read("sense7")
store = qual.Store.create({study!r}, units=units, codebook=book)
lines = (example_study.DATA / "example_acts.jsonl").read_text(encoding="utf-8").splitlines()
of_ana = [act for act in (qual.acts.Act(**json.loads(line)) for line in lines) if act.coder == "ana"]
coded = set(list(dict.fromkeys(act.unit_id for act in of_ana if act.kind == "finish"))[:150])
store.append([act for act in of_ana if act.unit_id in coded])
suggester = qual.suggestions.fit(units, store.decisions(coder="ana"), book, embed=qual.models.embedder(),
                                 codings=store.codings(coder="ana"), coder="ana")
qual.widgets.CodingWidget(store, coder="ana", suggest=suggester)
"""


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description="Take the pictures of the coder's guide.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--all", action="store_true", help="both themes at both widths")
    parser.add_argument("--only", choices=["coding", *WIDGETS], help="the pictures of one widget")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    for dark in (False, True):
        with tempfile.TemporaryDirectory() as place, labs.running(Path(place) / "lab", dark=dark) as server:
            for width in (1400, 900):
                take_all(server, Path(place), chosen, width=width, dark=dark)


def take_all(server: labs.Lab, place: Path, chosen: argparse.Namespace, *, width: int, dark: bool) -> None:
    """Take all pictures in one theme at one width."""
    one_theme = {(False, 1400): set(STEPS) - DARK, (True, 900): DARK, (True, 1400): {"whole-text"}}
    steps = set(STEPS) if chosen.all else one_theme.get((dark, width), set())
    if steps and chosen.only in (None, "coding"):
        take(server, place / f"study-{width}", chosen.folder, steps, width=width, dark=dark)
    for name, (open_it, acts, shown) in WIDGETS.items():
        steps = set(acts) if chosen.all else shown[dark, width]
        if steps and chosen.only in (None, name):
            open_it(server, place / f"{name}-{width}", chosen.folder, steps, width=width, dark=dark)


def take(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Do all steps, and take the pictures of `steps` in one theme at one width."""
    numbers = {step: number for number, step in enumerate(STEPS, start=1)}
    for cell, round, begins, ends in PARTS:
        if not steps & set(list(STEPS)[begins:ends]):
            continue
        name, place = f"{round or 'hour'}-{width}.ipynb", f"{study}-{round}"
        source = cell.format(notebooks=str(ROOT / "notebooks"), study=place, round=round)
        labs.notebook(server.root / name, source)
        with server.page(width=width, height=900, new=True) as page:
            enter(server, page, name)
            page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
            hide = "all => all.forEach(each => each.style.display = 'none')"
            page.locator(".jp-InputArea").evaluate_all(hide)
            page.locator(".s7").focus()
            for step, act in list(STEPS.items())[begins:ends]:
                act(page)
                page.wait_for_timeout(400)
                if step in steps:
                    theme = "dark" if dark else "light"
                    path = folder / f"{numbers[step]}-{step}-{theme}-{width}.png"
                    page.locator(".s7").screenshot(path=path)
        server.end_kernels()


def revise(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Revise the codebook of the example, which three coders have coded, and take the pictures of `steps`."""
    name, cell = "revision", LEAD.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-tree-figures", width=width) as page:
        _pictures(page, folder, name, REVISION, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def settle(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Settle disagreements of the example, and take the pictures of `steps`."""
    name, cell = "adjudication", SETTLE.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-case", width=width) as page:
        page.locator(".s7").focus()
        _pictures(page, folder, name, SETTLING, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def quote(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Choose quotes of the example, and take the pictures of `steps`."""
    name, cell = "quotes", QUOTE.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-passage .s7-text", width=width) as page:
        page.locator(".s7").focus()
        _pictures(page, folder, name, QUOTING, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def overlook(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Open the overview of the example, and take the pictures of `steps`."""
    name, cell = "overview", STANDS.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    height = 900 if dark else 1500 if width > 1000 else 1900
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-drift", width=width, height=height) as page:
        _pictures(page, folder, name, STANDING, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def read(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Open the themes of the follow-up, and take the pictures of `steps`."""
    name, cell = "themes", THEMES.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    height = 900 if width > 1000 else 1300
    with _widget(server, f"{name}-{width}.ipynb", cell, "canvas.s7-map", width=width, height=height) as page:
        page.wait_for_timeout(2_000)  # the map is drawn once the texts are placed
        page.locator(".s7-theme-rows").focus()
        _pictures(page, folder, name, READING, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def suggest(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Finish texts of the example with a model beside, and take the pictures of `steps`."""
    name, cell = "suggestions", SUGGEST.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-text", width=width) as page:
        page.locator(".s7").focus()
        _pictures(page, folder, name, SUGGESTED, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


def let_code(server: labs.Lab, study: Path, folder: Path, steps: Set[str], *, width: int, dark: bool) -> None:
    """Let a model code the example, and take the pictures of `steps`."""
    name, cell = "model", MODELS.format(notebooks=str(ROOT / "notebooks"), study=str(study))
    with _widget(server, f"{name}-{width}.ipynb", cell, ".s7-consent input:enabled", width=width) as page:
        page.locator(".s7").focus()
        _pictures(page, folder, name, LETTING, steps, f"{'dark' if dark else 'light'}-{width}")
    server.end_kernels()


@contextmanager
def _widget(
    server: labs.Lab, name: str, cell: str, selector: str, *, width: int, height: int = 900
) -> Iterator[Page]:
    """Show what a cell shows, alone, once there is what `selector` selects."""
    labs.notebook(server.root / name, cell)
    with server.page(width=width, height=height, new=True) as page:
        server.open(page, name)
        page.evaluate("() => window.jupyterapp.commands.execute('application:toggle-left-area')")
        page.locator(".jp-InputArea").evaluate_all("all => all.forEach(each => each.style.display = 'none')")
        page.wait_for_selector(selector, timeout=60_000)
        yield page


def _pictures(
    page: Page,
    folder: Path,
    name: str,
    acts: Mapping[str, Callable[[Page], None]],
    steps: Set[str],
    end: str,
) -> None:
    for number, (step, act) in enumerate(acts.items(), start=1):
        act(page)
        page.wait_for_timeout(400)
        if step in steps:
            page.locator(".s7").screenshot(path=folder / f"{name}-{number}-{step}-{end}.png")


def _tray(page: Page) -> None:
    """Open the proposals, and propose a theme that no code covers."""
    page.locator(".s7-tree").focus()
    page.keyboard.press("Alt+2")
    page.wait_for_selector(".s7-lacking-line", timeout=120_000)
    page.locator(".s7-lacking-line").first.click()
    page.locator(".s7-lacking-open .s7-propose:enabled").click()
    page.wait_for_selector(".s7-origin", timeout=60_000)
    page.locator(".s7-proposal").last.scroll_into_view_if_needed()


def _draft(page: Page) -> None:
    page.keyboard.press("Alt+1")
    page.locator(".s7-tree").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-label-field:focus")
    page.locator(".s7-definition-field").fill("The agent understands what I think, want or mean.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".s7-stale tbody tr")


def _sorting(page: Page) -> None:
    page.keyboard.press("s")
    page.wait_for_selector(".s7-split-form input:focus")
    for place, label in enumerate(("Grasps the situation", "Grasps the aim")):
        page.locator(".s7-split-form input").nth(place).fill(label)
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-steps li:nth-child(2)")
    page.keyboard.press("w")
    page.wait_for_selector(".s7-why:focus")
    page.keyboard.type("Two things were coded as one.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".s7-saved-note", timeout=60_000)
    page.keyboard.press("Alt+3")
    page.wait_for_selector(".s7-sorted-text", timeout=60_000)
    page.keyboard.press("t")
    page.wait_for_selector(".s7-sort-all")
    page.keyboard.press("1")


def _text(page: Page) -> None:
    """Settle some, and open one whose words a coder marked."""
    press(page, "a", "1", "d", "2", "a", "1")
    for _ in range(20):
        if page.locator(".s7-mark").count():
            break
        press(page, "f")
        page.wait_for_timeout(300)
    page.keyboard.press("a")
    page.wait_for_selector(".s7-similar li")


def _rule(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_selector(".s7-change .s7-first:focus")
    page.keyboard.type(" Also where the text says so of somebody else.")
    page.wait_for_selector(".s7-stale-list")


def _passages(page: Page) -> None:
    for key in ("a", "r", "a"):
        page.keyboard.press(key)
        page.wait_for_timeout(300)
        page.wait_for_selector(".s7-passage .s7-text")
    page.wait_for_selector(".s7-saved")


def _paraphrase(page: Page) -> None:
    page.locator(".s7-candidate:has(.s7-flag) >> nth=0").click()
    page.wait_for_selector(".s7-notes .s7-flag")
    page.keyboard.press("p")
    page.wait_for_selector(".s7-paraphrase:focus")
    page.keyboard.type("Felt asked about somebody close to them, as a friend would ask.")


def _texts(page: Page) -> None:
    page.locator('.s7-next .s7-door[data-door*="open"]').first.click()
    page.wait_for_selector(".s7-opened .s7-coders", timeout=60_000)


def _open(page: Page) -> None:
    """Finish texts until two codes are suggested for one."""
    for _ in range(60):
        press(page, "Enter")
        page.wait_for_timeout(400)
        if page.locator(".s7-suggestion-none").count() > 1:
            break


def _selected(page: Page) -> None:
    page.locator(".s7-theme-row").nth(2).click()
    page.locator("canvas.s7-map").scroll_into_view_if_needed()
    box = page.locator("canvas.s7-map").bounding_box()
    if box is None:
        raise RuntimeError("expected the map on the page – found none – take the pictures again.")
    at = [(0.3, 0.05), (0.65, 0.05), (0.65, 0.4), (0.3, 0.4)]
    for number, (across, down) in enumerate(at):
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=5)
        if not number:
            page.mouse.down()
    page.mouse.up()
    page.wait_for_selector(".s7-selected")


def _code(page: Page) -> None:
    page.locator(".s7-theme-row").nth(2).click()
    page.locator(".s7-theme-rows").focus()
    page.keyboard.press("c")
    page.wait_for_selector(".s7-code-form")
    page.evaluate("document.querySelector('.s7').style.maxHeight = '1000px'")


def _whole(page: Page) -> None:
    press(page, "1", "v", "v", "3", "v")  # unmet, met


def _letters(page: Page) -> None:
    press(page, "Enter", "2", "Enter")
    page.keyboard.press("Space")


def _span(page: Page) -> None:
    words = page.locator(".s7-letters b").all_inner_texts()
    for key in words[3].strip() + words[7].strip():
        page.keyboard.press(key)
    page.wait_for_selector(".s7-letters", state="detached")
    press(page, "7")


def _picker(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("co")


def _list(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    press(page, "Enter", "1", "Enter")
    page.keyboard.press(".")
    page.keyboard.type("advice", delay=60)


def _new_code(page: Page) -> None:
    page.keyboard.press("#")
    page.wait_for_selector(".s7-text")
    for key in ("w", "w", "Shift+ArrowRight", "Shift+ArrowRight", "+"):
        page.keyboard.press(key)


def _grid(page: Page) -> None:
    page.locator(".s7-find").fill("")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("#")
    page.wait_for_selector("[role=grid]")
    press(page, "4", "Enter", "5", "ArrowDown", "1", "6")


def _memos(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("m")
    page.keyboard.type("Asks for time, not for advice.")
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press(":")
    page.wait_for_timeout(800)


def _history(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press("<")
    page.wait_for_timeout(800)


def _colleagues(page: Page) -> None:
    press(page, "ArrowLeft")
    page.locator(".s7-goto input").fill("2")
    page.keyboard.press("Enter")
    page.locator(".s7").focus()
    page.keyboard.press("=")
    page.wait_for_selector(".s7-coders")


def _grid_memos(page: Page) -> None:
    page.keyboard.press("w")
    page.keyboard.press("m")
    page.keyboard.type("Said twice, in other words.")
    press(page, "Escape")
    page.keyboard.press("#")
    page.wait_for_selector(".s7-coders")
    page.keyboard.press(":")
    page.wait_for_selector(".s7-rows .s7-row-quote")


def _training(page: Page) -> None:
    press(page, "1", "3", "Enter")
    page.wait_for_selector(".s7-feedback")


def _answers(page: Page) -> None:
    press_and_wait = (("x", ".s7-consent input:checked"), ("a", "button.s7-primary:has-text('Record')"))
    for key, then in press_and_wait:
        page.keyboard.press(key)
        page.wait_for_selector(then)
    page.wait_for_selector(".s7-verdict-of .s7-strong")
    for _ in range(30):  # to a text with a quote
        if page.locator(".s7-text .s7-mark").count():
            break
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(300)


def _missing(page: Page) -> None:
    page.keyboard.press("m")
    page.wait_for_selector(".s7-reason")


def _inbox(page: Page) -> None:
    page.keyboard.press("I")
    page.wait_for_selector(".s7-item")
    page.locator(".s7-item").first.click()
    page.wait_for_selector(".s7-again")


def _hits(page: Page) -> None:
    for _ in range(3):
        page.keyboard.press("Escape")
    page.locator(".s7").focus()
    page.keyboard.press(".")
    page.keyboard.type("advice", delay=60)
    page.wait_for_selector(".s7-row mark, .s7-row .s7-hit, .s7-row b")
    page.keyboard.press("Enter")
    page.locator(".s7").focus()
    page.keyboard.press(")")
    page.wait_for_selector(".s7-text .s7-hit")


STEPS: Final[dict[str, Callable[[Page], None]]] = {
    "first-text": lambda page: None,
    "whole-text": _whole,
    "letters": _letters,
    "span": _span,
    "picker": _picker,
    "find": _list,
    "grid": _grid,
    "new-code": _new_code,
    "memos": _memos,
    "history": _history,
    "colleagues": _colleagues,
    "grid-memos": _grid_memos,
    "training": _training,
    "inbox": _inbox,
    "hits": _hits,
}
REVISION: Final[dict[str, Callable[[Page], None]]] = {"tray": _tray, "draft": _draft, "sorting": _sorting}
SETTLING: Final[dict[str, Callable[[Page], None]]] = {"text": _text, "rule": _rule}
STANDING: Final[dict[str, Callable[[Page], None]]] = {"page": lambda page: None, "texts": _texts}
QUOTING: Final[dict[str, Callable[[Page], None]]] = {"passages": _passages, "paraphrase": _paraphrase}
READING: Final[dict[str, Callable[[Page], None]]] = {"selected": _selected, "code": _code}
SUGGESTED: Final[dict[str, Callable[[Page], None]]] = {"open": _open}
LETTING: Final[dict[str, Callable[[Page], None]]] = {
    "prompt": lambda page: None,
    "answers": _answers,
    "missing": _missing,
}
DARK: Final = frozenset({"letters", "find", "new-code", "history", "training", "hits"})
PARTS: Final = (
    (CELL, None, 0, 10),
    (ROUNDS, "one", 10, 12),
    (ROUNDS, "training", 12, 13),
    (WAITING, "inbox", 13, 15),
)
"""The cell that shows each widget, its round, and which of the steps are taken in it."""

Pictured = tuple[Callable[..., None], dict[str, Callable[[Page], None]], dict[tuple[bool, int], set[str]]]
WIDGETS: Final[dict[str, Pictured]] = {
    "revision": (
        revise,
        REVISION,
        {
            (False, 1400): {"tray", "draft"},
            (True, 900): {"sorting"},
            (False, 900): {"sorting"},
            (True, 1400): set(),
        },
    ),
    "adjudication": (
        settle,
        SETTLING,
        {(False, 1400): {"text"}, (True, 900): {"rule"}, (False, 900): set(), (True, 1400): {"text"}},
    ),
    "quotes": (
        quote,
        QUOTING,
        {(False, 1400): {"passages"}, (True, 900): {"paraphrase"}, (False, 900): set(), (True, 1400): set()},
    ),
    "overview": (
        overlook,
        STANDING,
        {(False, 1400): {"page"}, (True, 900): {"texts"}, (False, 900): {"page"}, (True, 1400): set()},
    ),
    "suggestions": (
        suggest,
        SUGGESTED,
        {(False, 1400): {"open"}, (True, 900): set(), (False, 900): set(), (True, 1400): set()},
    ),
    "model": (
        let_code,
        LETTING,
        {(False, 1400): {"answers"}, (True, 900): {"missing"}, (False, 900): set(), (True, 1400): set()},
    ),
    "themes": (
        read,
        READING,
        {(False, 1400): {"selected"}, (True, 900): {"code"}, (False, 900): set(), (True, 1400): set()},
    ),
}
"""How each widget is opened, what is done in it, and which steps are taken dark or not, at which width."""


if __name__ == "__main__":
    main()

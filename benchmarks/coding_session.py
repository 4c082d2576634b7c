"""Fifty real texts coded in a browser, here and in two plain labelling widgets: presses, waits, what is kept.

The same texts get the same codes in every session, by a rule of words (`real_path.WORDS`): by the keys of
`CodingWidget`; by the buttons of pigeonXT's multi-label form; in molabel, which asks yes or no, in a pass for
each code. Then one span within a sentence of each text, which neither of the two
can do; and that span is made longer by a word, as by somebody who comes back to it. Every session's result is
compared with the rule. The same once more by the mouse alone. A press is a key, a click or a drag; Alt+2 is
one press.

    python -m benchmarks.coding_session [CHECKOUT …]

Other checkouts of the project are measured next to this one. Prints Markdown tables. Needs Chromium (`make
system`); `pip install pigeonxt-jupyter molabel` for the two others, which are left out where they are not
installed. Data: ../shared/data beside the project, or else the shipped synthetic texts.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1]))

import sense7_qual as qual
from benchmarks.real_path import DATA, WORDS, units as real_units
from tests.helpers import lab as labs
from tests.helpers.coding_page import drag, ends, enter, saved
from tests.helpers.places import ROOT

N = 50
SHIPPED = Path(__file__).parents[1] / "data" / "explanations.csv"
SHOWS = "id => document.querySelector('.s7-unit-id')?.innerText === id"
READS = "words => document.body.innerText.includes(words)"
# Where the words of a text begin and end, as the widget finds them.
WORDS_OF = """text => [...new Intl.Segmenter(undefined, {granularity: 'word'}).segment(text)]
  .filter(piece => piece.isWordLike).map(piece => [piece.index, piece.index + piece.segment.length])"""
OURS = """
import sys
sys.path.insert(0, {tree!r})
import sense7_qual as qual
from sense7_qual.widgets import CodingWidget
units = qual.corpus.read({texts!r}, text="text", unit_id="unit_id")
book = qual.Codebook(name="reactions", codes=tuple(
    qual.Code(id=name, label=name.capitalize(), key=str(n)) for n, name in enumerate({codes!r}, start=1)
))
store = qual.Store.create({study!r}, units=units, codebook=book)
CodingWidget(store, coder="ana")
"""
PIGEON = """
import pandas as pd
from pigeonXT import annotate
import json
texts = json.load(open({texts!r}))
kept = annotate(texts, task_type="multilabel-classification", options={codes!r})
"""
MOLABEL = """
import json
import pandas as pd
from molabel import SimpleLabel
texts = json.load(open({texts!r}))
widget = SimpleLabel([{{"text": text}} for text in texts], render=lambda one: one["text"], notes=False)
widget
"""
WRITE_PIGEON = "kept.to_json({result!r})"
WRITE_MOLABEL = "pd.DataFrame(widget.annotations)[['index', '_label']].to_json({result!r})"


@dataclass
class Session:
    """What one way of coding took: presses, and the milliseconds from the last press to the next text."""

    name: str
    presses: int = 0
    edges: int = 0
    """Presses that correct a span which was coded before."""
    waits: list[float] = field(default_factory=list)
    right: int = 0

    def row(self) -> str:
        """Return the session as a row of the table."""
        waits = np.array(self.waits)
        return (
            f"| {self.name} | {self.presses / N:.2f} | {self.edges / N:.2f} | {np.median(waits):.0f} | "
            f"{np.percentile(waits, 95):.0f} | {self.right} of {N} |"
        )


def texts() -> pd.DataFrame:
    """Return the texts to code, in their order."""
    if DATA.exists():
        return real_units(DATA).head(N)
    shipped = qual.corpus.read(SHIPPED, text="Comment", unit_id="MessageId", case_id="PID")
    return shipped[shipped["text"].notna()].head(N)


def whole(units: pd.DataFrame) -> list[list[str]]:
    """Return the codes that the rule gives each text."""
    return [
        [code for code, words in WORDS.items() if re.search(words, text.lower())] for text in units["text"]
    ]


def within(text: str, words: list[tuple[int, int]], rng: np.random.Generator) -> tuple[int, int]:
    """Return the places of the first and the last word of a span inside a sentence."""
    sentences = [one.span() for one in re.finditer(r"[^.!?]+", text)]
    starts = np.array([start for start, _ in words])
    inside = [np.flatnonzero((low <= starts) & (starts < high)) for low, high in sentences]
    inner = [places[1:-1] for places in inside if len(places) > 5]
    places = inner[rng.integers(len(inner))]
    n = min(int(rng.integers(3, 9)), len(places))
    first = int(rng.integers(len(places) - n + 1))
    return places[first], places[first + n - 1]


def _press(page: Page, session: Session, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        session.presses += 1


def _to(page: Page, session: Session, last: Callable[[], None], arrived: str, arg: object) -> None:
    """Do the last press of a text, and time until the next one is painted."""
    session.presses += 1
    begin = time.perf_counter()
    last()
    page.wait_for_function(arrived, arg=arg, polling="raf")
    session.waits.append(1000 * (time.perf_counter() - begin))


def _enter(page: Page, session: Session, ids: list[str], place: int) -> None:
    if place + 1 < len(ids):
        _to(page, session, lambda: page.keyboard.press("Enter"), SHOWS, ids[place + 1])
    else:
        _press(page, session, "Enter")


def _ours(server: labs.Lab, tree: Path, folder: Path, units: pd.DataFrame) -> str:
    """Write the notebook in which a checkout makes a study of the texts and shows it; return its name."""
    units[["unit_id", "text"]].to_csv(folder / "texts.csv", index=False)
    cell = OURS.format(
        tree=str(tree), texts=str(folder / "texts.csv"), codes=list(WORDS), study=str(folder / "study")
    )
    return labs.notebook(server.root / f"{folder.name}.ipynb", cell).name


def code_whole_texts(tree: Path, server: labs.Lab, folder: Path, units: pd.DataFrame) -> Session:
    """Code whole texts by the keys of our widget."""
    session = Session(f"this widget ({tree.name}), by keys")
    name = _ours(server, tree, folder, units)
    keys = {code: str(n) for n, code in enumerate(WORDS, start=1)}
    ids = units["unit_id"].tolist()
    with server.page(new=True) as page:
        enter(server, page, name)
        for place, codes in enumerate(whole(units)):
            _press(page, session, *(keys[code] for code in codes))
            _enter(page, session, ids, place)
        saved(page)
    server.end_kernels()
    session.right = _as_the_rule(qual.Store(folder / "study"), ids, whole(units))
    return session


def _as_the_rule(store: qual.Store, ids: list[str], codes: list[list[str]]) -> int:
    coded: dict[str, set[str]] = {unit_id: set() for unit_id in store.coverage()["unit_id"]}
    for unit_id, code in store.codings()[["unit_id", "code"]].itertuples(index=False):
        coded[unit_id].add(code)
    return sum(coded.get(unit_id) == set(wanted) for unit_id, wanted in zip(ids, codes, strict=True))


def _letters(page: Page, first: int, last: int, n_words: int) -> list[str]:
    """Put letters on the words; return those of the first and of the last word."""
    page.keyboard.press("Space")
    page.wait_for_function("n => document.querySelectorAll('.s7-letters b').length === n", arg=n_words)
    letters = page.locator(".s7-letters b").all_inner_texts()
    return [*letters[first].strip(), *letters[last].strip()]


def code_spans(tree: Path, server: labs.Lab, folder: Path, units: pd.DataFrame) -> Session:
    """Code one span of each text by letters on its words; then take one word more into it."""
    session = Session(f"this widget ({tree.name}), a span within a sentence")
    moves_edges = (tree / "frontend/src/coding/edges.ts").exists()
    name = _ours(server, tree, folder, units)
    ids, rng, wanted = units["unit_id"].tolist(), np.random.default_rng(0), []
    with server.page(new=True) as page:
        enter(server, page, name)
        for place, text in enumerate(units["text"]):
            words = [tuple(word) for word in page.evaluate(WORDS_OF, text)]
            first, last = within(text, words, rng)
            wanted.append((words[first][0], words[last + 1][1]))
            session.presses += 1
            _press(page, session, *_letters(page, first, last, len(words)), "1")
            page.keyboard.press("Escape")
            if moves_edges:
                edge = ["Shift+ArrowRight"]
            else:
                page.keyboard.press("Delete")
                edge = ["Delete", "Space", *_letters(page, first, last + 1, len(words)), "1"]
            for key in edge[0 if moves_edges else 2 :]:
                page.keyboard.press(key)
            session.edges += len(edge)
            _enter(page, session, ids, place)
        saved(page)
    server.end_kernels()
    codings = qual.Store(folder / "study").codings()
    session.right = sum(
        codings.loc[codings["unit_id"] == unit, ["start", "end"]].to_numpy().tolist() == [list(span)]
        for unit, span in zip(ids, wanted, strict=True)
    )
    return session


def by_mouse(tree: Path, server: labs.Lab, folder: Path, units: pd.DataFrame) -> Session:
    """By the mouse alone: the codes of each text, one span, and one word more of it, as `code_spans` does."""
    session = Session(f"this widget ({tree.name}), by the mouse, whole texts and a span")
    drags_edges = (tree / "frontend/src/coding/edges.ts").exists()
    name = _ours(server, tree, folder, units)
    ids, rng, wanted = units["unit_id"].tolist(), np.random.default_rng(0), []
    with server.page(new=True) as page:
        enter(server, page, name)
        for place, (text, codes) in enumerate(zip(units["text"], whole(units), strict=True)):
            for code in codes:
                _click(page, session, f".s7-code[data-code='{code}']")
            words = [tuple(word) for word in page.evaluate(WORDS_OF, text)]
            first, last = within(text, words, rng)
            wanted.append((words[first][0], words[last + 1][1]))
            span = f".s7-code[data-code='{next(iter(WORDS))}']"
            _drag(page, text, words[first][0], words[last][1])
            _click(page, session, span)
            session.presses += 1
            if drags_edges:
                page.keyboard.press("Escape")  # as somebody who comes back to it: nothing is selected
                _drag_handle(page, text, words[last + 1][1])
                session.edges += 1
            else:  # taken off by its button, and coded again
                page.locator(".s7-coding.s7-active .s7-remove, .s7-active .s7-remove").first.click()
                _drag(page, text, words[first][0], words[last + 1][1])
                page.locator(span).click()
                session.edges += 3
            arrived = page.locator(".s7-primary, .s7-next-finish").first.click
            if place + 1 < len(ids):
                _to(page, session, arrived, SHOWS, ids[place + 1])
            else:
                arrived()
                session.presses += 1
        saved(page)
    server.end_kernels()
    codings = qual.Store(folder / "study").codings()
    spans = codings.dropna(subset=["start"])
    session.right = sum(
        set(codings.loc[(codings["unit_id"] == unit) & codings["start"].isna(), "code"]) == set(codes)
        and spans.loc[spans["unit_id"] == unit, ["start", "end"]].to_numpy().tolist() == [list(span)]
        for unit, codes, span in zip(ids, whole(units), wanted, strict=True)
    )
    return session


def _click(page: Page, session: Session, selector: str) -> None:
    page.locator(selector).first.click()
    session.presses += 1


def _drag(page: Page, text: str, start: int, end: int) -> None:
    """Drag the mouse over these words."""
    begin, finish = ends(page, text, text[start:end], start)
    drag(page, begin, finish)


def _drag_handle(page: Page, text: str, end: int) -> None:
    """Drag the end of the marked coding to where a word ends."""
    box = page.locator(".s7-handle-end").bounding_box()
    assert box is not None
    _, finish = ends(page, text, text[end - 1 : end], end - 1)
    drag(page, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), finish)


def code_by_buttons(server: labs.Lab, folder: Path, units: pd.DataFrame) -> Session:
    """Code whole texts by the buttons of pigeonXT's multi-label form."""
    session = Session("pigeonXT 0.7.3, by buttons")
    given, result = folder / "texts.json", folder / "pigeon.json"
    given.write_text(json.dumps(units["text"].tolist()))
    cells = PIGEON.format(texts=str(given), codes=list(WORDS)), WRITE_PIGEON.format(result=str(result))
    path = labs.notebook(server.root / "pigeon.ipynb", *cells)
    with server.page() as page:
        server.open(page, path.name, run=False)
        _run(server, page, 0)
        for place, codes in enumerate(whole(units)):
            for code in codes:
                page.get_by_role("button", name=code, exact=True).click()
                session.presses += 1
            submit = page.get_by_role("button", name="submit", exact=True)
            _to(
                page,
                session,
                submit.click,
                READS,
                f"Position: {place + 2}" if place + 1 < len(units) else f"{N} of {N} Examples",
            )
            server.wait_idle(page)  # it takes its buttons back when the next text is there already
        _run(server, page, 1)
    server.end_kernels()
    kept = pd.read_json(result)
    session.right = sum(
        {code for code in WORDS if kept[code].iloc[place]} == set(codes)
        for place, codes in enumerate(whole(units))
    )
    return session


def code_by_passes(server: labs.Lab, folder: Path, units: pd.DataFrame) -> Session:
    """Code whole texts in molabel by its keys: a pass over all texts for each code."""
    session = Session("molabel 0.1.5, a pass for each code")
    given, answers = folder / "texts.json", [set() for _ in range(len(units))]
    given.write_text(json.dumps(units["text"].tolist()))
    for code in WORDS:
        result = folder / f"molabel-{code}.json"
        cells = MOLABEL.format(texts=str(given)), WRITE_MOLABEL.format(result=str(result))
        path = labs.notebook(server.root / f"molabel-{code}.ipynb", *cells)
        with server.page() as page:
            server.open(page, path.name, run=False)
            _run(server, page, 0)
            page.locator(".molabel-container").focus()
            for place, codes in enumerate(whole(units)):
                key = "Alt+2" if code in codes else "Alt+3"
                shown = f"Example {place + 2} of" if place + 1 < len(units) else "All examples annotated"
                press = partial(page.keyboard.press, key)
                _to(page, session, press, READS, shown)
            page.wait_for_timeout(500)
            _run(server, page, 1)
        server.end_kernels()
        for place, label in pd.read_json(result).itertuples(index=False):
            answers[place] |= {code} if label == "yes" else set()
    session.right = sum(got == set(codes) for got, codes in zip(answers, whole(units), strict=True))
    return session


def _run(server: labs.Lab, page: Page, cell: int) -> None:
    page.evaluate(
        """cell => {
          window.jupyterapp.shell.currentWidget.content.activeCellIndex = cell;
          window.jupyterapp.commands.execute('notebook:run-cell');
        }""",
        cell,
    )
    page.wait_for_timeout(1_500)
    server.wait_idle(page)


def main() -> None:
    """Code and print."""
    if labs.chromium() is None:
        print("skipped: no Chromium is installed (`make system` installs it)")
        return
    units = texts()
    trees = [*(Path(name).resolve() for name in sys.argv[1:]), ROOT]
    sessions = [partial(code, tree) for code in (code_whole_texts, code_spans, by_mouse) for tree in trees]
    sessions += [code_by_buttons] if importlib.util.find_spec("pigeonXT") else []
    sessions += [code_by_passes] if importlib.util.find_spec("molabel") else []
    n_codes = np.mean([len(codes) for codes in whole(units)])
    n_words = units["text"].str.split().str.len().median()
    print(f"{len(units)} texts of {n_words:.0f} words, {n_codes:.2f} codes a text\n")
    print("| session | presses a text | an edge, later | next text (ms) | p95 | as the rule |")
    print("|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as place, labs.running(Path(place) / "lab") as server:
        for n, session in enumerate(sessions):
            folder = Path(place) / f"session{n}"
            folder.mkdir()
            print(session(server, folder, units).row(), flush=True)


if __name__ == "__main__":
    main()

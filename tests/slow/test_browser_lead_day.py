"""A lead's day by keyboard: codes merged, one split over all its texts, disagreements settled
(60 in `make soak`), a table made.

With ``-s`` it prints how many keys a ruling took.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page

import sense7_qual as qual
from sense7_qual import acts
from tests.helpers import lab as labs
from tests.helpers.places import ROOT, SHARED
from tests.helpers.simulation import SOAK

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]

ESSAYS = SHARED / "data" / "empathic-reactions" / "messages.csv"
CODERS = ("ana", "ben", "chi")
N_SETTLED = 60 if SOAK else 24
PARTS = ["advises", "listens"]
REVISING = """
import sense7_qual as qual
store = qual.Store({folder!r})
qual.widgets.CodebookWidget(store, coder="lead", without_round=True)
"""
SETTLING = """
import sense7_qual as qual
store = qual.Store({folder!r})
qual.widgets.AdjudicationWidget(store, coder="lead", without_round=True)
"""
# What the three programs take a text for: words, in a codebook of another study than the example's.
WORDS = {
    "affective": ("feel", "sad", "heartbreaking", "upset"),
    "cognitive": ("think", "understand", "believe"),
    "response": ("should", "need", "must"),
    "prosocial": ("help", "hope", "wish"),
    "interest": ("wonder", "story", "article"),
    "contextual": ("people", "country", "world"),
    "relational": ("family", "children", "friend"),
}


def example(folder: Path) -> qual.Store:
    """Return the shipped example, with what its three coders did."""
    units = qual.corpus.read(
        ROOT / "data" / "explanations.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall"],
    )
    store = qual.Store.create(folder, units=units, codebook=qual.Codebook.read("sense7"))
    lines = (ROOT / "data" / "example_acts.jsonl").read_text("utf-8").splitlines()
    recorded = [acts.Act(**json.loads(line)) for line in lines]
    for coder in CODERS:
        store.append([act for act in recorded if act.coder == coder])
    return store


def essays(folder: Path) -> qual.Store:
    """Return 400 essays coded by three programs with habits of their own.

    Ana codes by words, Ben takes one code for another in a fifth of the texts, Chi overlooks a quarter.
    """
    rows = pd.read_csv(ESSAYS, dtype="string").head(400)
    units = pd.DataFrame(
        {
            "unit_id": "e" + rows.index.astype("string"),
            "text": rows["essay"],
            "document_id": rows["response_id"],
            "case_id": rows["response_id"],
            "position": range(len(rows)),
        }
    )
    store = qual.Store.create(folder, units=units, codebook=qual.Codebook.read("sense7"))
    rng = np.random.default_rng(14)
    swapped = {"cognitive": "affective", "affective": "cognitive", "interest": "contextual"}
    for coder in CODERS:
        steps: list[acts.Act] = []
        for unit_id, text in zip(store.units["unit_id"], store.units["text"].str.lower(), strict=True):
            mine: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": store.codebook}
            codes = {code for code, words in WORDS.items() if any(word in text for word in words)}
            if coder == "ben":
                codes = {swapped.get(code, code) if rng.random() < 0.2 else code for code in codes}
            if coder == "chi":
                codes = {code for code in codes if rng.random() < 0.75}
            steps += [*(acts.apply(code=code, **mine) for code in sorted(codes)), acts.finish(**mine)]
        store.append(steps)
    return store


@pytest.fixture(params=[example, essays], ids=["example", "essays"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> qual.Store:
    if request.param is essays and not ESSAYS.exists():
        pytest.skip("the essays are not here")
    if request.param is essays and not SOAK:
        pytest.skip("the day on the essays is part of `make soak`")
    made: qual.Store = request.param(tmp_path / "study")
    return made


def enter(lab: labs.Lab, page: Page, store: qual.Store, name: str, cell: str) -> None:
    labs.notebook(lab.root / name, cell.format(folder=str(store.path)))
    lab.open(page, name)


def revise(page: Page) -> None:
    """Merge Interest into Prosocial, split Response in two, and save."""
    page.wait_for_selector(".s7-tree-figures")
    page.locator(".s7-tree").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("m")
    page.wait_for_selector(".s7-merge-form select:focus")
    page.locator(".s7-merge-form select").select_option("prosocial")
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-steps li >> nth=0")
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.wait_for_selector(".s7-split-form input:focus")
    page.keyboard.type("Advises")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("Listens")
    page.keyboard.press("Enter")
    page.wait_for_selector(".s7-steps li >> nth=1")
    page.locator(".s7-tree").focus()
    page.keyboard.press("w")
    page.wait_for_selector(".s7-why:focus")
    page.keyboard.type("Coders took the two for one; responses are of two kinds.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".s7-saved-note")


def sort(page: Page) -> list[str]:
    """Say of every text of the split code to which part it belongs; return the parts, in their order."""
    page.locator(".s7-tree").focus()
    page.keyboard.press("Alt+3")
    page.wait_for_selector(".s7-sorting:focus")
    waiting = "() => Number(document.querySelector('.s7-sorting h4')?.innerText.split(' of ')[1] ?? 0)"
    said: list[str] = []
    while left := page.evaluate(waiting):
        part = 0 if len(said) % 3 else 1
        page.keyboard.press(str(part + 1))
        page.keyboard.press("Enter")
        page.wait_for_function(f"left => ({waiting})() === left - 1", arg=left)
        said.append(PARTS[part])
    return said


def settle(page: Page) -> tuple[dict[tuple[str, str], str], int]:
    """Settle disagreements by keys; return the ruling on each text and label, and the number of keys."""
    page.wait_for_selector(".s7-adjudication .s7-unit-id", state="attached")
    page.locator(".s7").first.focus()
    ruled: dict[tuple[str, str], str] = {}
    n_keys = 0
    shown = (
        "() => ['.s7-unit-id', '.s7-disputed'].map(e => document.querySelector(`.s7-case ${e}`).innerText)"
    )
    for n in range(N_SETTLED):
        page.wait_for_selector(".s7-case .s7-disputed")
        unit_id, label = page.evaluate(shown)
        keys = ["f"] if n % 10 == 9 else ["a" if n % 2 else "d", str(1 + n % 4)]
        for key in keys:
            page.keyboard.press(key)
        ruled[unit_id, label] = {"f": "differing", "a": "applied", "d": "absent"}[keys[0]]
        n_keys += len(keys)
        page.wait_for_function(
            "n => document.querySelector('.s7-numbers').innerText.startsWith(`${n} settled`)", arg=n + 1
        )
        page.wait_for_function(f"before => String(({shown})()) !== before", arg=f"{unit_id},{label}")
    assert len(ruled) == N_SETTLED
    return ruled, n_keys


def applied(decisions: pd.DataFrame) -> pd.Series:
    return decisions.set_index(["coder", "unit_id", "code"])["applied"].sort_index()


def test_a_day_of_the_lead(lab: labs.Lab, store: qual.Store, tmp_path: Path) -> None:
    before, decided = store.acts(), applied(store.decisions())
    reliability = qual.agreement.by_code(store.decisions(), n_boot=20).set_index("code")
    with lab.page() as page:
        enter(lab, page, store, "revising.ipynb", REVISING)
        revise(page)
        parts = sort(page)
    with lab.page() as page:
        enter(lab, page, store, "settling.ipynb", SETTLING)
        ruled, n_keys = settle(page)
    a_ruling = n_keys / N_SETTLED
    print(f"{N_SETTLED} disagreements settled with {a_ruling:.2f} keys a ruling, its reason among them")
    assert a_ruling <= 3

    study = qual.Store(store.path)
    assert study.verify()["ok"].all()
    of = {act.act_id: act for act in study.acts()}
    assert all(of[act.act_id] == act for act in before)
    assert applied(qual.codings.decisions(*_folded(before), store.codebook)).equals(decided)
    own = applied(study.decisions())
    _check_numbers(decided, own)
    _check_waiting(decided, study)
    now = qual.agreement.by_code(study.decisions(), n_boot=20).set_index("code")
    for code in ("affective", "cognitive", "contextual", "relational"):
        pd.testing.assert_series_equal(now.loc[code].drop("basis"), reliability.loc[code].drop("basis"))
    assert set(now.loc[PARTS, "reason"]) == {"waiting_for_review"}

    settled = applied(study.decisions(settled_by="rulings"))["consensus"]
    by_label = {code.label: code.id for code in study.codebook}
    for (unit_id, label), ruling in ruled.items():
        key = (unit_id, by_label[label])
        assert settled.get(key) == {"applied": True, "absent": False, "differing": None}[ruling]
    first = [of_act for of_act in study.rulings() if of_act.code in PARTS]
    response = decided.xs("response", level="code")
    assert {act.unit_id for act in first} == set(response[response].index.get_level_values("unit_id"))
    assert len({act.unit_id for act in first}) == len(parts)
    sorted_now = {part: int(settled.xs(part, level="code").sum()) for part in PARTS}
    assert sorted_now == {part: parts.count(part) for part in PARTS}
    _check_export(study, tmp_path)


def _folded(recorded: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    folded = acts.fold(recorded)
    return folded.codings, folded.coverage


def _check_numbers(decided: pd.Series, own: pd.Series) -> None:
    """Each coder's decisions: other codes as before, the merged one from both, none on the parts."""
    for coder in CODERS:
        before, now = decided[coder].unstack("code"), own[coder].unstack("code")
        for code in ("affective", "cognitive", "contextual", "relational"):
            pd.testing.assert_series_equal(now[code].astype(bool), before[code].astype(bool))
        either = before["interest"].astype(bool) | before["prosocial"].astype(bool)
        pd.testing.assert_series_equal(now["prosocial"].astype(bool), either, check_names=False)
        # Nothing counts on a part before it is reviewed: texts without the whole would all show it absent.
        assert not {"interest", "response", *PARTS} & set(now)


def _check_waiting(decided: pd.Series, study: qual.Store) -> None:
    """Each coder has the parts to review on exactly the texts where they applied the whole."""
    waiting = qual.codings.stale(
        study.codings(), study.coverage(), study.codebook, revisions=study.revisions
    ).set_index("code")
    response = decided.xs("response", level="code")
    for part in PARTS:
        pairs = waiting.loc[part, ["coder", "unit_id"]].itertuples(index=False, name=None)
        assert set(pairs) == set(response[response].index)


def _check_export(study: qual.Store, folder: Path) -> None:
    """What a paper needs is written, and says what was computed."""
    decisions = study.decisions()
    result = qual.agreement.by_code(decisions, units=study.units, cluster="case_id", n_boot=50)
    qual.report.tables.reliability(result, codebook=study.codebook).write(folder / "reliability.docx")
    overruled = qual.adjudication.overruled(decisions, rulings=study.rulings())
    pairs = {frozenset(pair) for pair in combinations(CODERS, 2)}
    assert len(overruled) >= N_SETTLED / 2
    assert set(overruled["coder"]) <= set().union(*pairs)
    study.codebook.write(folder / "codebook.qdc")
    assert qual.Codebook.read(folder / "codebook.qdc") == study.codebook
    assert (folder / "reliability.docx").stat().st_size > 1000

"""After the lead revised the codebook, the coder's widget finds the texts to be looked at again by itself:
its message counts them, its list chooses them, and `codings.stale` names the same ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, codings, corpus
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.browser import OfStudy, waiting

SENSE7 = Codebook.read("sense7")
N = 30


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a study in which ana finished 20 of 30 texts, 8 of them with a code on them."""
    lines = [f"It listened to me {n} times.,m{n}" for n in range(N)]
    (tmp_path / "comments.csv").write_text("\n".join(["comment,id", *lines]))
    units = corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")
    study = Store.create(tmp_path / "study", units=units, codebook=SENSE7)
    applied = [acts.apply(coder="ana", unit_id=f"m{n}", code="affective", codebook=SENSE7) for n in range(8)]
    finished = [acts.finish(coder="ana", unit_id=f"m{n}", codebook=SENSE7) for n in range(20)]
    study.append([*applied, *finished])
    return study


def defined(codebook: Codebook, *more: Code) -> Codebook:
    codes = [replace(one, definition="Another.") if one.id == "affective" else one for one in codebook]
    return replace(codebook, codes=(*codes, *more))


def listed(browser: OfStudy, **query: Any) -> dict[str, Any]:
    return browser.ask("list", state="review", here=None, with_order=False, **query)


def stale(store: Store) -> list[str]:
    rows = codings.stale(store.codings(), store.coverage(), store.codebook, revisions=store.revisions)
    return sorted(rows["unit_id"].unique())


@pytest.mark.long
def test_message_list_and_statistics_name_the_same_texts_until_each_is_finished_again(store: Store) -> None:
    store.revise(defined(SENSE7), why="Clearer.", coder="lead")
    browser = OfStudy(Store(store.path))
    welcome = browser.ask("hello")
    assert (welcome["n_review"], listed(browser)["n"], len(stale(store))) == (20, 20, 20)
    assert browser.widget.notice == (
        "20 texts need another look: the codebook was revised after you finished them."
    )
    assert welcome["unit"]["unit_id"] == "m0"
    assert [row["review"] for row in listed(browser)["rows"]] == [["affective"]] * 20
    done = browser.do("finish", "m0")
    assert (done["n_review"], listed(browser)["n"], len(stale(store))) == (19, 19, 19)
    undone = browser.do("undo", None)
    assert (undone["n_review"], listed(browser)["n"], len(stale(store))) == (20, 20, 20)


@pytest.mark.long
def test_texts_that_lack_new_codes_alone_are_asked_for_and_not_looked_at_again(store: Store) -> None:
    store.revise(defined(SENSE7), why="Clearer.", coder="lead")
    first = OfStudy(Store(store.path))
    for n in range(5):
        first.do("finish", f"m{n}")
    book = store.codebook
    hope = Code(id="hope", label="Hope", definition="Looks forward.")
    store.revise(replace(book, codes=(*book.codes, hope)), why="Missing.", coder="lead")
    browser = OfStudy(Store(store.path))
    assert browser.ask("hello")["n_review"] == 15
    assert waiting(browser) == (["hope"], [[place, ["hope"]] for place in range(5)])
    assert len(stale(store)) == 20


def test_a_version_that_is_taken_in_while_coding_brings_its_texts(store: Store) -> None:
    browser = OfStudy(Store(store.path))
    assert browser.ask("hello")["n_review"] == 0
    store.revise(defined(SENSE7), why="Clearer.", coder="lead")
    browser.ask("take_codebook", agreed=None)
    browser.ask("take_codebook", agreed=store.codebook.fingerprint)
    assert browser.told[-1]["n_review"] == listed(browser)["n"] == 20
    assert browser.widget.n_finished == 0


@pytest.mark.long
def test_who_says_which_texts_gets_these(store: Store) -> None:
    store.revise(defined(SENSE7), why="Clearer.", coder="lead")
    for review, n in (((), 0), (["m3", "m4"], 2), ("stale", 20)):
        browser = OfStudy(Store(store.path), review=review)
        assert (browser.ask("hello")["n_review"], listed(browser)["n"]) == (n, n)


@pytest.mark.long
def test_a_text_finished_again_over_a_code_that_was_split_comes_back_when_the_study_is_opened(
    store: Store,
) -> None:
    rest = [one for one in SENSE7 if one.id != "affective"]
    parts = [Code(id="warm", label="Warm"), Code(id="kind", label="Kind")]
    split = {"affective": ["warm", "kind"]}
    store.revise(replace(SENSE7, codes=(*rest, *parts)), why="Two.", coder="lead", split=split)
    browser = OfStudy(Store(store.path))
    assert browser.ask("hello")["n_review"] == len(stale(store)) == 8
    browser.do("finish", "m0")  # which part it is, is still not said
    assert OfStudy(Store(store.path)).ask("hello")["n_review"] == len(stale(store)) == 8

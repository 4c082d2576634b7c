"""A codebook that others revised meanwhile, taken in by the coding widget as a run of the cell does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError
from sense7_qual.store import Store
from sense7_qual.widgets._coding.revised import NewerCodebook
from tests.helpers.browser import CODES, SENSE7, SENTINEL, Browser, OfStudy, new_id, units, waiting

HOPE = Code(id="hope", label="Hope", definition="Looks forward.")


def defined(codebook: Codebook, code: str, definition: str) -> tuple[Code, ...]:
    return tuple(replace(one, definition=definition) if one.id == code else one for one in codebook)


def without(codebook: Codebook, *codes: str) -> tuple[Code, ...]:
    return tuple(one for one in codebook if one.id not in codes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "s", units=units(), codebook=SENSE7)


def coded(store: Store) -> OfStudy:
    """Return a widget in which m0 (two codes) and m1 are finished, m2 is begun, and an act was taken back."""
    browser = OfStudy(store)
    for code in CODES[:2]:
        browser.do("apply", code=code)
    browser.do("finish")
    browser.do("apply", "m1", code=CODES[0], start=0, end=2)
    browser.do("finish", "m1")
    browser.do("apply", "m2", code=CODES[2])
    browser.do("finish", "m2")
    browser.do("undo", None)
    browser.ask("unit", place=2)
    return browser


def shown(browser: OfStudy) -> dict[str, Any]:
    """Return all that a view begins with, with every text; `undo` knows what this sitting did."""
    welcome = browser.ask("hello")
    texts = [browser.ask("unit", place=place, peek=True)["unit"] for place in range(4)]
    return {
        "texts": texts,
        **{name: value for name, value in welcome.items() if name not in ("id", "client")},
    }


def revised(store: Store, codes: tuple[Code, ...], **how: Any) -> None:
    """Revise the codebook as somebody else does, in another notebook."""
    other = Store(store.path)
    other.revise(replace(other.codebook, codes=codes), why="Clearer.", coder="lead", **how)


@pytest.mark.long
def test_one_that_leaves_what_was_coded_is_taken_in_at_once(store: Store) -> None:
    browser = coded(store)
    relabelled = tuple(replace(one, label="Heart") if one.id == "affective" else one for one in SENSE7)
    revised(store, (*relabelled, HOPE))
    assert browser.ask("unit", place=2)["newer"] is True
    assert "Load the new version" in browser.widget.notice
    words = browser.ask("take_codebook", agreed=None)["words"]
    assert words == "‘Hope’ is new; ‘Affective Understanding’ has a new label"
    (told,) = browser.told
    assert (told["type"], told["newer"], told["under"]) == ("codebook", False, store.codebook.fingerprint)
    assert told["flags"] == "ffc."
    assert waiting(browser) == (["hope"], [[0, ["hope"]], [1, ["hope"]]])
    assert browser.widget.notice == ""
    assert browser.do("apply", "m2", code="hope")["can_redo"] is False
    assert store.codings(coder="ana").iloc[-1]["codebook"] == store.codebook.fingerprint
    assert browser.ask("take_codebook", agreed=None)["words"] == ""
    assert len(browser.told) == 1


WORDINGS = [
    f"‘Cognitive Understanding’, definition, before: “{SENSE7['cognitive'].definition}”",
    "‘Cognitive Understanding’, definition, now: “Another.”",
]


MEANING: list[tuple[str, Callable[[Store], None], list[str]]] = [
    (
        "redefined",
        lambda store: revised(store, defined(SENSE7, "cognitive", "Another.")),
        [
            "‘Cognitive Understanding’ has a new definition.",
            *WORDINGS,
            "‘Cognitive Understanding’ is undecided on 2 texts that you finished, because it meant "
            "something else: look at them again.",
        ],
    ),
    (
        "merged",
        lambda store: revised(store, without(SENSE7, "cognitive"), merged={"cognitive": "affective"}),
        [
            "‘Cognitive Understanding’ was merged into ‘Affective Understanding’.",
            "Your 2 codings with ‘Cognitive Understanding’ count as ‘Affective Understanding’.",
        ],
    ),
    (
        "reworded",
        lambda store: revised(
            store, defined(SENSE7, "cognitive", "Another."), meaning={"cognitive": "reword"}
        ),
        [
            "‘Cognitive Understanding’ is worded differently and means the same.",
            *WORDINGS,
            "The texts that you finished are not affected.",
        ],
    ),
    (
        "narrowed",
        lambda store: revised(
            store, defined(SENSE7, "cognitive", "Another."), meaning={"cognitive": "narrow"}
        ),
        [
            "‘Cognitive Understanding’ applies to less than before.",
            *WORDINGS,
            "‘Cognitive Understanding’ is undecided on 2 texts that you finished, because it applies to "
            "less than when you applied it: look at them again.",
        ],
    ),
    (
        "split",
        lambda store: revised(
            store,
            (*without(SENSE7, "affective"), Code(id="warm", label="Warm"), Code(id="kind", label="Kind")),
            split={"affective": ["warm", "kind"]},
        ),
        [
            "‘Affective Understanding’ was split into ‘Warm’ and ‘Kind’.",
            "Your coding with ‘Affective Understanding’ no longer counts.",
            "‘Warm’ is undecided on one text that you finished, because it was part of another: look at "
            "it again.",
            "‘Kind’ is undecided on one text that you finished, because it was part of another: look at "
            "it again.",
        ],
    ),
    (
        "retired and added",
        lambda store: revised(store, (*without(SENSE7, "affective"), HOPE)),
        [
            "‘Hope’ is new; ‘Affective Understanding’ was retired.",
            "Your coding with ‘Affective Understanding’ no longer counts.",
            "‘Hope’ is undecided on 2 texts that you finished, because it did not exist then: look at "
            "them again.",
        ],
    ),
    (
        "elsewhere",
        lambda store: revised(store, without(SENSE7, "relational")),
        ["‘Relational Continuity’ was retired.", "The texts that you finished are not affected."],
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(("what", "revise", "words"), MEANING, ids=[one[0] for one in MEANING])
def test_one_that_changes_what_codings_mean_says_so_first(
    what: str, revise: Callable[[Store], None], words: list[str], store: Store
) -> None:
    browser = coded(store)
    revise(store)
    answer = browser.ask("take_codebook", agreed=None)
    assert (answer["type"], answer["words"]) == ("newer", words), what
    assert browser.told == []
    assert browser.widget._session.codebook == SENSE7
    assert browser.ask("take_codebook", agreed="f" * 64)["type"] == "newer"
    before = store.acts(coder="ana")
    assert browser.ask("take_codebook", agreed=answer["under"])["type"] == "taken"
    assert store.acts(coder="ana") == before
    position = browser.widget._session.position
    again = OfStudy(Store(store.path))
    again.ask("unit", place=position)
    assert shown(browser) == shown(again)


@pytest.mark.long
def test_a_version_that_came_after_the_agreement_is_said_as_well(store: Store) -> None:
    browser = coded(store)
    revised(store, defined(SENSE7, "cognitive", "Another."))
    first = browser.ask("take_codebook", agreed=None)["under"]
    revised(store, defined(Store(store.path).codebook, "affective", "Another, too."))
    answer = browser.ask("take_codebook", agreed=first)
    assert (answer["type"], answer["words"][0]) == (
        "newer",
        "‘Cognitive Understanding’ has a new definition; ‘Affective Understanding’ has a new definition.",
    )


@pytest.mark.long
def test_what_is_not_saved_belongs_to_the_version_that_it_was_done_with(store: Store) -> None:
    browser = coded(store)
    save, act_id = browser.widget._save, new_id()

    def fails(_: object) -> None:
        raise OSError("full")

    browser.widget._save = fails
    browser.do("apply", "m3", act_id=act_id, code="cognitive")
    revised(store, (*SENSE7, HOPE))
    assert browser.ask("take_codebook", agreed=None)["type"] == "refused"
    browser.widget._save = save
    assert browser.do("apply", "m3", act_id=act_id, code="cognitive")["type"] == "done"
    assert browser.ask("take_codebook", agreed=None)["type"] == "taken"


def test_a_version_to_which_no_revisions_lead_is_not_taken_in(store: Store) -> None:
    """As where two copies of a study were revised apart."""
    browser = coded(store)
    other = replace(SENSE7, codes=(*SENSE7, HOPE))
    study = SimpleNamespace(use_current_codebook=lambda: other, revisions=())
    with pytest.raises(ActError, match="two copies were revised separately – ask the lead to join them"):
        NewerCodebook(browser.widget._session, study).take(other.fingerprint)
    assert browser.widget._session.codebook == SENSE7


def test_without_a_study_there_is_none_to_take_in() -> None:
    browser = Browser([].extend)
    assert browser.ask("hello")["newer"] is False
    assert browser.ask("take_codebook", agreed=None)["type"] == "refused"


@pytest.mark.long
def test_no_text_is_in_what_is_said(store: Store) -> None:
    browser = coded(store)
    revised(store, without(SENSE7, "cognitive", "affective"))
    answer = browser.ask("take_codebook", agreed=None)
    assert SENTINEL not in str(answer)

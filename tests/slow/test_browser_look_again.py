"""In a real browser: the inbox leads through the texts to be looked at again by keys, and into another round;
two notebooks of one coder show each other's codings before a text is finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual import acts, rounds
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, saved, shows, sound

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]
COMMENTS = "comment,id\n" + "".join(f"It listened to me {n} times.,m{n}\n" for n in range(16))


@pytest.fixture
def store(tmp_path: Path) -> qual.Store:
    """Return a study in which a code was narrowed after ana had applied it to 12 texts and finished these."""
    (tmp_path / "comments.csv").write_text(COMMENTS)
    units = qual.corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")
    book = qual.Codebook.read("sense7")
    study = qual.Store.create(tmp_path / "study", units=units, codebook=book)
    own, code = {"coder": "ana", "codebook": book}, book.codes[0]
    texts = [f"m{n}" for n in range(2, 14)]
    study.append([acts.apply(unit_id=one, code=code.id, start=0, end=11, **own) for one in texts])
    study.append([acts.finish(unit_id=one, **own) for one in texts])
    codes = (replace(code, definition="Surely " + code.definition), *book.codes[1:])
    narrower = {code.id: ("narrow", "As all agreed.")}
    study.revise(replace(book, codes=codes), why="Clearer.", coder="lead", meaning=narrower)
    return study


def notebook(lab: labs.Lab, name: str, store: qual.Store) -> str:
    """Write a notebook with ana's widget, opened as a coder opens it, and return its name."""
    text = (
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(store.path)!r}), coder='ana')"
    )
    labs.notebook(lab.root / f"{name}.ipynb", text)
    return f"{name}.ipynb"


def test_keys_alone_go_from_the_inbox_through_twelve_texts(lab: labs.Lab, store: qual.Store) -> None:
    texts = [f"m{n}" for n in range(2, 14)]
    with lab.page() as page:
        enter(lab, page, notebook(lab, "again", store))
        page.wait_for_selector(".s7-inbox-button b")
        assert page.inner_text(".s7-inbox-button").split() == ["Inbox", "1"]
        press(page, "I", "Enter")
        for at, unit_id in enumerate(texts):
            shows(page, unit_id)
            assert page.inner_text(".s7-again span") == f"{at + 1} of 12"
            assert page.locator(".s7-changed ins").inner_text().strip() == "Surely"
            page.keyboard.press("n" if at % 2 else "y")
        saved(page)
        page.wait_for_selector(".s7-again", state="detached")
        page.wait_for_function("document.querySelector('.s7-inbox-button').innerText === 'Inbox'")
        press(page, "n")  # nothing more is asked: it is the next unfinished text
        sound(page, "after the queue")
    again = qual.Store(store.path)
    assert set(again.coverage()["codebook"]) == {store.codebook.fingerprint}
    assert sorted(again.codings()["unit_id"]) == sorted(texts[::2])


def test_the_inbox_opens_another_round_where_the_first_was(lab: labs.Lab, store: qual.Store) -> None:
    both, (first, second) = {"coder": "lead", "codebook": store.codebook}, store.codebook.codable[:2]
    for name, unit_id in (("one", "m0"), ("two", "m1")):
        store.append([rounds.open_round(name, units=[unit_id, "m15"], coders=["ana", "ben"], **both)])
    with lab.page() as page:
        enter(lab, page, notebook(lab, "rounds", store))  # no round is named: the oldest
        shows(page, "m0")
        press(page, "1", "I")
        saved(page)
        page.locator(".s7-item", has_text="Round ‘two’").click()
        shows(page, "m1")
        press(page, "2", "Enter")
        shows(page, "m15")
        saved(page)
        press(page, "I")
        page.locator(".s7-item", has_text="Round ‘one’: 2 texts to go").click()
        shows(page, "m0")
        press(page, "f")
        saved(page)
        sound(page, "in another round")
    made = qual.Store(store.path).acts(coder="ana")
    last = [(one.kind, one.unit_id, one.round, one.code) for one in made if one.round]
    assert last == [
        ("apply", "m0", "one", first.id),
        ("apply", "m1", "two", second.id),
        ("finish", "m1", "two", None),
        ("finish", "m0", "one", None),
    ]


def test_a_second_notebook_of_the_coder_shows_the_codings_of_the_first_before_it_finishes_their_text(
    lab: labs.Lab, store: qual.Store
) -> None:
    with lab.page() as page, lab.page(new=True) as other:
        enter(lab, page, notebook(lab, "one", store))
        enter(lab, other, notebook(lab, "two", store))
        press(page, "2", "3")
        other.keyboard.press("f")
        other.wait_for_selector(".s7-message")
        refused = other.inner_text(".s7-message")
        assert "Not done: 2 codings on this text came from another window" in refused
        other.wait_for_function("document.querySelectorAll('.s7-coding').length === 2")
        assert "m0" not in store.coverage()["unit_id"].tolist()
        press(other, "f")
        other.wait_for_selector(".s7-message", state="detached")
        assert "m0" in store.coverage()["unit_id"].tolist()
        press(page, "4")
        assert "1 change came from another window" in page.inner_text(".s7-status")

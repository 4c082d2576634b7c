"""In a real browser: a button lists the texts to be looked at again after a revision, and two notebooks of
one coder show each other's codings before a text is finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual import acts
from tests.helpers import lab as labs
from tests.helpers.coding_page import enter, press, shows

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.usefixtures("nothing_went_wrong")]
COMMENTS = "comment,id\n" + "".join(f"It listened to me {n} times.,m{n}\n" for n in range(6))


@pytest.fixture
def store(tmp_path: Path) -> qual.Store:
    """Return a study in which the definition of a code was changed after ana had finished m2 and m4."""
    (tmp_path / "comments.csv").write_text(COMMENTS)
    units = qual.corpus.read(tmp_path / "comments.csv", text="comment", unit_id="id")
    book = qual.Codebook.read("sense7")
    study = qual.Store.create(tmp_path / "study", units=units, codebook=book)
    study.append([acts.finish(coder="ana", unit_id=one, codebook=book) for one in ("m2", "m4")])
    codes = (replace(book.codes[0], definition="Another."), *book.codes[1:])
    study.revise(replace(book, codes=codes), why="Clearer.", coder="lead")
    return study


def notebook(lab: labs.Lab, name: str, store: qual.Store) -> str:
    """Write a notebook with ana's widget, opened as a coder opens it, and return its name."""
    text = (
        f"import sense7_qual as qual\nqual.widgets.CodingWidget(qual.Store({str(store.path)!r}), coder='ana')"
    )
    labs.notebook(lab.root / f"{name}.ipynb", text)
    return f"{name}.ipynb"


def test_the_message_s_button_lists_the_texts_to_be_looked_at_again_until_none_is_left(
    lab: labs.Lab, store: qual.Store
) -> None:
    with lab.page() as page:
        enter(lab, page, notebook(lab, "again", store))
        assert "2 texts need another look" in page.inner_text(".s7-notice")
        page.click(".s7-look-again")
        shows(page, "m2")
        assert "2 of 6 · to look at again" in page.inner_text(".s7-list-note")
        page.locator(".s7").focus()
        press(page, "Enter")
        shows(page, "m4")
        press(page, "Enter")
        page.wait_for_selector(".s7-notice", state="detached")
    assert store.coverage()["codebook"].tolist() == [store.codebook.fingerprint] * 2


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

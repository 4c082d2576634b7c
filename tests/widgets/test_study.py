"""The coding widget opened on a study: its units, its plan, its rounds, and a codebook that moves on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from sense7_qual import Store, acts, rounds
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, StoreError
from sense7_qual.store._postgres import server
from sense7_qual.widgets import CodingWidget
from tests.helpers.browser import SENSE7, new_id, units


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    place: str | Path = tmp_path / "study"
    if request.param == "postgresql":
        postgres: Callable[..., str] = request.getfixturevalue("postgres")
        place = postgres()
    yield Store.create(place, units=units(), codebook=SENSE7)
    if request.param == "postgresql":
        server.connect(str(place)).engine.dispose()


@pytest.fixture
def folder(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "study", units=units(), codebook=SENSE7)


def shown(widget: CodingWidget) -> list[str]:
    return widget._session.unit_ids


def told(widget: CodingWidget, kind: str, **named: object) -> dict[str, object]:
    """Send a browser's message to the widget and return the answer."""
    heard: list[dict[str, object]] = []
    widget.send = lambda content, buffers=None: heard.append(content)
    widget._receive(widget, {"type": kind, "client": "c1", "id": new_id(), **named}, [])
    return heard[-1]


def finish(widget: CodingWidget, unit_id: str) -> dict[str, object]:
    return told(widget, "act", act={"kind": "finish", "unit_id": unit_id})


def redefined(book: Codebook, words: str) -> Codebook:
    return replace(book, codes=(replace(book.codes[0], definition=words), *book.codes[1:]))


def test_without_a_plan_all_units_are_coded_in_their_order_and_saved_in_the_study(store: Store) -> None:
    widget = CodingWidget(store, coder="ana")
    assert shown(widget) == units()["unit_id"].tolist()
    assert finish(widget, "m2")["type"] == "done"
    assert store.coverage()["unit_id"].tolist() == ["m2"]
    assert repr(CodingWidget(store, coder="ana")) == "CodingWidget('ana', 1 of 4 units finished)"
    assert repr(CodingWidget(store, coder="ben")) == "CodingWidget('ben', 0 of 4 units finished)"
    assert widget.notice == ""


def test_with_a_plan_a_coder_has_their_own_units_in_its_order(store: Store) -> None:
    plan = store.assign(coders=["ana", "ben"], overlap=0.25, seed=3, coder="lead")
    for coder in ("ana", "ben"):
        widget = CodingWidget(store, coder=coder, rating=None)
        assert shown(widget) == plan.loc[plan["coder"] == coder, "unit_id"].tolist()
        first = shown(widget)[0]
        assert (
            told(widget, "unit", place=0)["unit"]["text"] == store.units.set_index("unit_id")["text"][first]
        )
    with pytest.raises(
        ActError, match=r"'anna' has no texts in the plan of the study – did you mean 'ana'\?"
    ):
        CodingWidget(store, coder="anna")
    with pytest.raises(ActError, match="known are 'ana', 'ben'; for a new coder, ask the lead"):
        CodingWidget(store, coder="lead")


@pytest.mark.long
def test_a_round_has_its_own_units(store: Store) -> None:
    named = {"coder": "lead", "codebook": SENSE7}
    store.append([rounds.open_round("one", units=["m3", "m1"], coders=["ana", "ben"], **named)])
    widget = CodingWidget(store, coder="ana", round="one")
    assert shown(widget) == ["m3", "m1"]
    finish(widget, "m3")
    assert store.coverage()["round"].tolist() == ["one"]
    assert shown(CodingWidget(store, coder="ana")) == ["m3", "m1"], "all of hers are in the round"
    with pytest.raises(ActError, match="found 'oen' – did you mean 'one'"):
        CodingWidget(store, coder="ana", round="oen")
    with pytest.raises(ActError, match="'cleo' has no texts in round 'one'"):
        CodingWidget(store, coder="cleo", round="one")
    with pytest.raises(ActError, match="'cleo' has no texts in the plan of the study"):
        CodingWidget(store, coder="cleo")
    store.assign(coders=["ana", "cleo"], overlap=0, coder="lead")
    assert len(shown(CodingWidget(store, coder="ana"))) == 2
    assert shown(CodingWidget(store, coder="ben", round="one")) == ["m3", "m1"]
    store.assign(coders=["ana", "ben"], overlap=0, round="one", coder="lead")
    assert shown(CodingWidget(store, coder="ben", round="one")) == ["m1"]


def test_a_round_that_nobody_opened_is_refused(folder: Store) -> None:
    with pytest.raises(ActError, match="expected a round that was opened – found 'one' – there are none"):
        CodingWidget(folder, coder="ana", round="one")


def test_the_coder_is_told_when_the_codebook_was_revised_since_the_study_was_opened(store: Store) -> None:
    widget = CodingWidget(store, coder="ana")
    told(widget, "hello")
    assert widget.notice == ""
    other = Store(store.path)
    other.revise(redefined(SENSE7, "Another one."), why="Clearer.", coder="lead")
    assert store.desk.current_codebook() == other.codebook.fingerprint != store.codebook.fingerprint
    answer = told(widget, "unit", place=1, peek=True)  # what is fetched ahead asks nothing of the study
    assert (answer["newer"], widget.notice) == (False, "")
    for answer in (told(widget, "unit", place=1), told(widget, "hello"), finish(widget, "m0")):
        assert answer["newer"]
        assert "The codebook was revised after you opened the study. Load the new version" in widget.notice
    assert "revised after you opened the study" in CodingWidget(store, coder="ben").notice
    again = CodingWidget(Store(store.path), coder="ana")
    assert again.notice == ("One text needs another look: the codebook was revised after you finished it.")


def test_a_revision_in_the_same_notebook_is_told_of_as_well(folder: Store) -> None:
    widget = CodingWidget(folder, coder="ana")
    folder.revise(redefined(SENSE7, "Another one."), why="Clearer.", coder="lead")
    finish(widget, "m0")
    assert "revised after you opened the study" in widget.notice
    assert CodingWidget(folder, coder="ben").notice == ""


def test_without_revisions_texts_coded_with_an_earlier_codebook_are_counted_until_they_are_decided_again(
    folder: Store,
) -> None:
    widget = CodingWidget(folder, coder="ana")
    for unit_id in ("m0", "m1"):
        finish(widget, unit_id)
    folder.append([acts.apply(coder="ana", unit_id="m2", code="affective", codebook=SENSE7)])
    folder.append([acts.memo(coder="ana", unit_id="m3", text="Hm.", codebook=SENSE7)])
    folder.revise(redefined(SENSE7, "Another one."), why="Clearer.", coder="lead")
    study = SimpleNamespace(
        units=folder.units, codebook=folder.codebook, acts=folder.acts, append=folder.append
    )
    widget = CodingWidget(study, coder="ana")
    assert widget.notice.startswith("You coded 3 of these 4 texts with an earlier version")
    (item,) = told(widget, "inbox", read=None)["items"]
    assert item["title"] == "You coded 3 of these 4 texts with an earlier version of the codebook"
    finish(widget, "m0")
    assert widget.notice.startswith("You coded 2 of these 4")
    assert CodingWidget(study, coder="ana", review=["m1", "m2"]).notice == ("2 texts need another look.")


def test_a_study_that_cannot_be_asked_is_no_reason_to_stop(folder: Store) -> None:
    widget = CodingWidget(folder, coder="ana")
    file = folder.path / "study.json"
    content = file.read_bytes()
    file.write_bytes(b"{")
    assert told(widget, "unit", place=1)["type"] == "unit"
    assert widget.notice == ""
    with pytest.raises(StoreError):
        folder.desk.current_codebook()
    file.write_bytes(content)
    assert finish(widget, "m1")["type"] == "done"


def test_anything_with_units_codebook_acts_and_append_will_do() -> None:
    saved: list[acts.Act] = []
    study = SimpleNamespace(
        units=units(), codebook=SENSE7, acts=lambda coder: list(saved), append=saved.extend
    )
    finish(CodingWidget(study, coder="ana"), "m1")
    assert [act.unit_id for act in saved] == ["m1"]
    assert CodingWidget(study, coder="ana").n_finished == 1


def test_the_long_form_takes_its_parts_by_name_or_in_order() -> None:
    rest = {"coder": "ana", "acts": [], "save": [].extend}
    assert shown(CodingWidget(units=units(), codebook=SENSE7, **rest)) == ["m0", "m1", "m2", "m3"]
    assert shown(CodingWidget(units(), SENSE7, **rest)) == ["m0", "m1", "m2", "m3"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "named", "error", "reason"),
    [
        (["studies/pilot"], {"coder": "ana"}, ArgumentError, "expected an open study – found str – open it"),
        ([Path("studies")], {"coder": "ana"}, ArgumentError, "open it: CodingWidget"),
        ([Store], {"coder": "ana"}, ArgumentError, "expected an open study – found type"),
        ([3], {"coder": "ana"}, ArgumentError, "found int"),
        (["the study"], {}, ActError, "coder: no coder was named"),
        (["the study"], {"coder": 3}, ActError, "coder: expected a pseudonym"),
        (["the study"], {"coder": ["ana"]}, ActError, "coder: expected a pseudonym"),
        (["the study"], {"coder": "majority"}, ActError, "expected a person's pseudonym"),
        (["the study"], {"coder": "ana", "round": 3}, ArgumentError, "expected round to be text or None"),
        (["the study"], {"coder": "ana", "acts": []}, ArgumentError, "got a study and also acts"),
        (["the study", SENSE7], {"coder": "ana"}, ArgumentError, "got a study and also codebook"),
        (["the study"], {"coder": "ana", "units": units()}, ArgumentError, "got a study and also units"),
        ([], {"coder": "ana"}, ArgumentError, "missing: units, codebook, acts, save"),
        ([units()], {"coder": "ana", "acts": []}, ArgumentError, "missing: codebook, save"),
        ([], {}, ActError, "give your pseudonym"),
    ],
)
def test_what_is_no_study_and_no_coder_is_refused_in_one_sentence(
    folder: Store, arguments: list[object], named: dict[str, object], error: type[Exception], reason: str
) -> None:
    given = [folder if isinstance(one, str) and one == "the study" else one for one in arguments]
    with pytest.raises(error, match=reason) as caught:
        CodingWidget(*given, **named)
    assert "listened" not in str(caught.value)


def test_a_participant_who_withdrew_is_in_nobodys_widget(folder: Store) -> None:
    more = pd.concat([units(), units().assign(unit_id=["n0", "n1", "n2", "n3"], case_id="p2")])
    store = Store.create(folder.path.parent / "more", units=more, codebook=SENSE7)
    store.assign(coders=["ana"], overlap=0, coder="lead")
    store.forget("p2", why="By mail.")
    assert sorted(shown(CodingWidget(store, coder="ana"))) == ["m0", "m1", "m2", "m3"]

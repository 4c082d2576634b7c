"""The folder that is handed to a coder for a round: what they need to code it, and nothing of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sense7_qual import acts, rounds
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.widgets import CodingWidget
from tests.helpers.small_study import CODEBOOK, frame_of, put

NAMED = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
OF_BEN = "Only the lead may read this, says ben."


@pytest.fixture(params=["folder", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        place: str | Path = tmp_path / "study"
    else:
        postgres: Callable[..., str] = request.getfixturevalue("postgres")
        place = postgres()
    store = Store.create(place, units=frame_of(), codebook=CODEBOOK)
    store.append([rounds.open_round("one", **NAMED)])
    store.append([put("interest", round="one")])
    store.append([put("relational", coder="ben", round="one", start=0, end=2)])
    store.append([acts.memo(coder="ben", unit_id="m1", text=OF_BEN, codebook=CODEBOOK)])
    yield store
    if request.param == "postgres":
        server.connect(str(place)).engine.dispose()


def test_a_coder_gets_what_they_need_and_nothing_of_the_others(store: Store, tmp_path: Path) -> None:
    store.copies.hand_out("one", "ana", tmp_path / "for ana")
    handed = Store(tmp_path / "for ana")
    assert handed.coders == ("ana", "lead")
    assert handed.acts() == store.acts(viewer="ana")
    assert handed.verify()["ok"].all()
    content = b"".join(file.read_bytes() for file in handed.path.rglob("*") if file.is_file())
    assert OF_BEN.encode() not in content
    assert b"ben.sqlite" not in content
    work = [
        put("interest", start=0, end=4, round="one"),
        acts.finish(coder="ana", unit_id="m1", round="one", codebook=CODEBOOK),
    ]
    handed.append(work)
    assert store.copies.merge(handed.path).counts["new"] == 2
    assert {act.act_id for act in work} <= {act.act_id for act in store.acts(coder="ana")}
    assert store.verify()["ok"].all()


def test_the_widget_of_a_folder_begins_with_its_round_and_lists_no_other(
    store: Store, tmp_path: Path
) -> None:
    for name, unit_id in (("early", "m1"), ("two", "m2")):
        store.append([rounds.open_round(name, **{**NAMED, "units": [unit_id], "coders": ["ben", "cleo"]})])
    store.copies.hand_out("two", "cleo", tmp_path / "for cleo")
    widget = CodingWidget(Store(tmp_path / "for cleo"), coder="cleo")
    assert (widget._session.round, widget._session.unit_ids) == ("two", ["m2"])
    assert widget._inbox.asked["inbox"]({})["items"] == []


def test_a_lead_who_answered_somebody_elses_proposal_can_still_hand_out(store: Store, tmp_path: Path) -> None:
    hope = acts.propose(coder="ben", label="Hope", unit_id="m1", codebook=CODEBOOK)
    store.append([hope])
    store.append([acts.answer(coder="lead", proposal=hope.act_id, text="It went in.", codebook=CODEBOOK)])
    store.copies.hand_out("one", "ana", tmp_path / "for ana")
    handed = Store(tmp_path / "for ana")
    assert handed.coders == ("ana", "lead")
    assert handed.verify()["ok"].all()
    assert [act.kind for act in handed.acts(viewer="ana")] == [act.kind for act in store.acts(viewer="ana")]
    assert "answer" not in {act.kind for act in handed.acts(viewer="ana")}


def test_what_was_unblinded_comes_along(store: Store, tmp_path: Path) -> None:
    store.append([put("interest", coder="cleo", round="zero")])
    store.append([rounds.open_round("zero", **(NAMED | {"coders": ["cleo"]}))])
    store.append([rounds.unblind("zero", coder="lead", codebook=CODEBOOK)])
    store.copies.hand_out("one", "ana", tmp_path / "for ana")
    assert Store(tmp_path / "for ana").coders == ("ana", "cleo", "lead")


def test_a_withdrawal_names_the_folder(store: Store, tmp_path: Path) -> None:
    store.copies.hand_out("one", "ana", tmp_path / "for ana")
    held = store.forget("p0", why="withdrew").still_held.set_index("what")["place"]
    assert held["hand-out"] == str(tmp_path / "for ana")


def test_what_cannot_be_handed_out_is_refused(store: Store, tmp_path: Path) -> None:
    for named, message in (
        (("two", "ana"), "expected an open round – found 'two'"),
        (("one", "cleo"), "expected a coder of round 'one' – found 'cleo'"),
    ):
        with pytest.raises(ActError, match=message):
            store.copies.hand_out(*named, tmp_path / "for ana")
    (tmp_path / "there").mkdir()
    assert not (tmp_path / "for ana").exists()
    with pytest.raises(StoreError, match="expected nothing at"):
        store.copies.backup(tmp_path / "there")


@pytest.mark.long
def test_a_folder_that_was_handed_to_ben_brings_bens_acts_alone(store: Store, tmp_path: Path) -> None:
    place = tmp_path / "for ben"
    store.copies.hand_out("one", "ben", place)
    handed, before = Store(place), store.acts()
    own = {"round": "one", "codebook": CODEBOOK}
    done = acts.finish(coder="ben", unit_id="m1", **own)
    handed.append([done])
    handed.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    handed.append([acts.finish(coder="ana", unit_id="m1", **own)])
    handed.append([put("interest", coder="dora", unit_id="m1")])
    handed.copies.archive(tmp_path / "from ben.zip")
    with pytest.raises(StoreError, match="expected new acts of 'ben', 'lead' alone in it – found 1 of 'ana'"):
        store.copies.merge(place, coders=["ben", "lead"])
    assert store.acts() == before
    for other, n_new in ((tmp_path / "from ben.zip", 1), (place, 0), (handed, 0)):
        merged = store.copies.merge(other)
        assert (merged.counts["new"], merged.counts["refused"]) == (n_new, 3)
        refused = merged.items[merged.items["status"] == "refused"]
        assert sorted(refused["coder"]) == ["ana", "dora", "lead"]
        assert set(merged.items.loc[merged.items["status"] == "new", "coder"]) <= {"ben"}
    assert {act.act_id for act in store.acts()} - {act.act_id for act in before} == {done.act_id}
    assert not rounds.opened(store.acts())[0].unblinded_at
    assert "dora" not in store.coders
    assert store.copies.merge(place, coders=["ana", "ben", "dora", "lead"]).counts["new"] == 3
    assert store.copies.merge(place).counts["new"] == 0  # what is here already hinders nothing


def test_a_note_of_whose_folder_it_is_that_was_changed_is_refused(store: Store, tmp_path: Path) -> None:
    store.copies.hand_out("one", "ben", tmp_path / "for ben")
    note = tmp_path / "for ben" / "handed_out.json"
    note.write_text(note.read_text().replace("ben", "lead"))
    with pytest.raises(StoreError, match=r"expected handed_out\.json as store.copies.hand_out wrote it"):
        store.copies.merge(tmp_path / "for ben")

"""Codes that coders propose, and what the lead settles for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.errors import ActError, ArgumentError, QualError, StoreError, TableError
from sense7_qual.frames import PROPOSALS
from sense7_qual.store import Options, Store
from sense7_qual.store._postgres import server
from tests.helpers.small_study import CODEBOOK, TEXTS, changed, frame_of, put


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "folder":
        yield Store.create(tmp_path / "s", units=frame_of(), codebook=CODEBOOK)
        return
    made = Store.create(request.getfixturevalue("postgres")(), units=frame_of(), codebook=CODEBOOK)
    yield made
    server.connect(str(made.path)).engine.dispose()


def hope(coder: str = "ana", unit_id: str = "m1", **named: object) -> Act:
    wished = {"label": "Hope", "definition": "Looks forward.", "codebook": CODEBOOK} | named
    return acts.propose(coder=coder, unit_id=unit_id, **wished)


def test_a_proposal_comes_back_and_is_taken_back(store: Store, tmp_path: Path) -> None:
    one, two = hope(start=0, end=2), hope("ben", label="Ærger", definition='a "b"\n\\')
    store.append([one])
    store.append([two])
    proposals = store.proposals()
    PROPOSALS.check(proposals)
    row = proposals.set_index("coder").loc["ana"]
    assert (row["proposal_id"], row["label"], row["definition"]) == (one.act_id, "Hope", "Looks forward.")
    assert (row["unit_id"], row["start"], row["end"]) == ("m1", 0, 2)
    assert proposals["definition"].tolist()[1] == 'a "b"\n\\'
    store.copies.archive(tmp_path / "s.zip")
    restored = Store.restore(tmp_path / "s.zip", tmp_path / "again")
    assert restored.proposals().equals(proposals)
    undo = acts.undo(one, codebook=CODEBOOK)
    store.append([undo])
    assert store.proposals()["coder"].tolist() == ["ben"]
    store.append([acts.redo(one, codebook=CODEBOOK)])
    assert len(store.proposals()) == 2
    assert store.codings().empty
    assert store.coverage().empty
    assert store.verify()["ok"].all()


def test_a_model_s_proposal_names_it_and_those_of_people_are_written_as_ever(store: Store) -> None:
    ours = hope()
    assert ours.text == '{"definition": "Looks forward.", "label": "Hope"}'  # as records have it
    store.append([ours, hope(label="Wait", origin="theme 3, by a topic model", theme=3, examples=["m2"])])
    assert store.proposals()["origin"].fillna("").tolist() == ["", "theme 3, by a topic model"]
    made = acts.contents.Proposal.from_text(store.acts()[1].text)
    assert (made.theme, made.examples) == (3, ("m2",))
    assert store.verify()["ok"].all()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: hope(label=""), "one line of 1 to 200 characters"),
        (lambda: hope(label="a\nb"), "one line of 1 to 200 characters"),
        (lambda: hope(label="x" * 201), "found 201 characters"),
        (lambda: hope(definition="x" * 1001), "at most 1000 characters – found 1001"),
        (lambda: changed(hope(), text="Hope"), "expected the label and definition of a code"),
        (lambda: changed(hope(), text='{"label": "Hope", "definition": ""}'), "expected the label and"),
        (lambda: changed(hope(), text='{"definition": "", "label": "a\\nb"}'), "one line of 1 to 200"),
        (lambda: hope(origin="a\nb"), "expected an origin of one line"),
        (lambda: hope(theme=-1), "expected the number of a theme"),
        (lambda: hope(examples=["m1"] * 21), "ids of at most 20 units"),
        (lambda: changed(hope(), text='{"definition": "", "examples": "m", "label": "H"}'), "something else"),
        (lambda: changed(hope(), text='{"definition": "", "label": "Hope", "origin": ""}'), "something else"),
        (lambda: hope(start=0, end=999), "expected a span within the text"),
        (lambda: hope(unit_id="m9"), "expected a unit of this study"),
        (lambda: changed(hope(), unit_id=None), "expected unit_id for kind 'propose'"),
    ],
)
def test_what_is_no_proposal_is_not_recorded(store: Store, act: Callable[[], Act], message: str) -> None:
    with pytest.raises(ActError, match=message):
        store.append([act()])
    assert store.acts() == []


def test_a_round_s_proposals_are_of_its_coders_and_blind_until_it_is_unblinded(store: Store) -> None:
    named = {"coder": "lead", "codebook": CODEBOOK}
    store.append([rounds.open_round("one", units=["m1"], coders=["ana", "ben"], **named)])
    store.append([hope("ben", round="one")])
    for stranger in (hope("cyd", round="one"), hope("ana", "m2", round="one")):
        with pytest.raises(ActError, match="nothing was recorded"):
            store.append([stranger])
    assert store.proposals(viewer="ana").empty
    assert store.proposals(viewer="ben")["label"].tolist() == ["Hope"]
    store.append([rounds.unblind("one", **named)])
    assert store.proposals(viewer="ana")["label"].tolist() == ["Hope"]


def test_a_withdrawal_takes_the_words_out_of_proposals(store: Store) -> None:
    long = "This is what the participant of the first text wrote in so many words"
    units = frame_of({**TEXTS, "m4": long}).assign(case_id=["p0", "p1", "p0", "p4"])
    other = Store.create(
        Path(store.path).with_name("other") if isinstance(store.path, Path) else f"{store.path}_other",
        units=units,
        codebook=CODEBOOK,
    )
    in_vivo = hope(unit_id="m4", label="participant of the first text", start=17, end=46)
    broken = f'"Said":\n{long[:30]}\n{long[31:]}'  # JSON writes the line break as a letter n
    elsewhere = hope(unit_id="m1", label="Wording", definition=broken)
    stays = hope("ben", label="Mine")
    other.append([in_vivo, elsewhere])
    other.append([stays])
    forgotten = other.forget("p4", why="By mail.")
    assert other.proposals()["label"].tolist() == ["Mine"]
    assert [act.text for act in other.acts(coder="ana")] == ["", ""]
    assert forgotten.n_memos_elsewhere == 1
    assert other.verify()["ok"].all()
    with pytest.raises(ActError, match="memos, proposals, rulings, names of themes, paraphrases, reasons"):
        other.append([hope(unit_id="m1", definition=broken)])
    if not isinstance(other.path, Path):
        server.connect(str(other.path)).engine.dispose()


def test_who_proposed_on_a_text_keeps_it(store: Store) -> None:
    plan = store.assign(coders=["ana", "ben"], overlap=0, coder="lead")
    mine = plan.loc[plan["coder"] == "ana", "unit_id"].iloc[0]
    store.append([hope(unit_id=mine)])
    later = store.assign(coders=["ana", "ben", "cyd", "dee"], overlap=0, coder="lead")
    assert mine in set(later.loc[later["coder"] == "ana", "unit_id"])


# what the lead settles ------------------------------------------------------------------------------


def test_the_lead_settles_options_for_all(store: Store) -> None:
    assert store.options == Options(new_codes="propose", rating="hidden")
    assert store.set_options(new_codes="add", coder="lead") == Options(new_codes="add", rating="hidden")
    before = store.acts()
    assert store.set_options(new_codes="add", coder="lead").new_codes == "add"
    assert store.acts() == before
    assert store.set_options(rating="finished", coder="lead") == Options(new_codes="add", rating="finished")
    assert Store(store.path).options == Options(new_codes="add", rating="finished")
    assert [act.kind for act in store.acts(viewer="ana")] == ["set_options"] * 2
    assert store.verify()["ok"].all()
    with pytest.raises(ActError, match="can be undone"):
        acts.undo(store.acts()[0], codebook=CODEBOOK)


def test_the_studys_rating_is_a_column_of_its_units(store: Store) -> None:
    assert store.options.rating_column == ""
    with pytest.raises(TableError, match="expected a column 'warmth'"):
        store.set_options(rating_column="warmth", coder="lead")
    assert store.set_options(rating_column="position", coder="lead").rating_column == "position"
    text = '{"rating_column": ""}'
    act = acts.Act(kind="set_options", text=text, **acts.stamp("lead", CODEBOOK, None, None))
    with pytest.raises(ActError, match="expected the options that act"):
        store.append([act])


@pytest.mark.parametrize(
    "wrong", [{}, {"new_codes": "ad"}, {"rating": True}, {"new_codes": 1}, {"rating_column": 3}]
)
def test_an_option_that_is_none_is_refused(store: Store, wrong: dict[str, object]) -> None:
    with pytest.raises(QualError, match=r"set_options|new_codes|rating") as refusal:
        store.set_options(coder="lead", **wrong)
    assert isinstance(refusal.value, ActError | ArgumentError)
    text = '{"new_codes": "sometimes"}'
    act = acts.Act(kind="set_options", text=text, **acts.stamp("lead", CODEBOOK, None, None))
    with pytest.raises(ActError, match="expected the options that act"):
        store.append([act])
    assert store.acts() == []


@pytest.mark.long
def test_copies_that_were_set_apart_agree_once_they_are_merged(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=frame_of(), codebook=CODEBOOK)
    store.append([put()])
    store.copies.backup(tmp_path / "copy")
    copy = Store(tmp_path / "copy")
    store.set_options(new_codes="add", rating="shown", coder="lead")
    copy.set_options(rating="finished", coder="chair")
    copy.copies.merge(store)
    store.copies.merge(copy)
    assert store.options == copy.options == Options(new_codes="add", rating="finished")


@pytest.mark.postgres
def test_only_a_lead_of_the_database_sets_options(postgres: Callable[..., str]) -> None:
    address = postgres()
    lead = Store.create(address, units=frame_of(), codebook=CODEBOOK)
    role = "options_ana"
    lead.admin.add_coder("ana", role=role)
    lead.set_options(new_codes="add", coder="lead")
    of_ana = Store(postgres(role, address.rpartition("study=")[2]))
    try:
        assert of_ana.options.new_codes == "add"
        with pytest.raises(StoreError):
            of_ana.set_options(new_codes="propose", coder="ana")
        act = hope()
        of_ana.append([act])
        assert lead.proposals()["proposal_id"].tolist() == [act.act_id]
    finally:
        for store in (lead, of_ana):
            server.connect(str(store.path)).engine.dispose()


@pytest.mark.parametrize("round", ["one", None])
def test_who_proposed_a_code_sees_the_answer_in_a_blind_round_and_nobody_else(
    store: Store, round: str | None
) -> None:
    asked = hope(round=round)
    store.append(
        [rounds.open_round("one", units=["m1"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK)]
    )
    store.append([asked])
    answer = acts.answer(
        coder="lead", proposal=asked.act_id, text="Too rare.", codebook=CODEBOOK, round=round
    )
    store.append([answer])
    assert store.memos(viewer="ana")["text"].tolist() == ["Too rare."]
    assert store.memos(viewer="ben").empty
    assert (answer.unit_id, answer.start) == (None, None), "all roles may read it: it says not where"
    assert "ana" not in repr(answer)
    assert store.verify()["ok"].all()
    if round is not None:
        store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
        assert store.memos(viewer="ben")["text"].tolist() == ["Too rare."]

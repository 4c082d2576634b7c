"""Rulings with a reason and a note, and discussions, in studies of both kinds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, adjudication, agreement, codings, rounds
from sense7_qual._basis import Basis
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.two_coders import Address
from tests.store.conftest import Place

CODEBOOK = Codebook(name="small", codes=tuple(Code(id=i, label=i.title()) for i in ("warm", "cold", "kind")))
HERS = "My sister Quokka left on Tuesday for good, and I never told anybody."
UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3", "m4"],
        "text": [HERS, "Fine, thanks for asking me about it.", "It rained.", "It did not."],
        "document_id": ["d1", "d2", "d3", "d4"],
        "case_id": ["p1", "p2", "p3", "p4"],
        "position": 0,
    }
)


def rule(unit_id: str, applied: bool | None = True, **more: object) -> Act:
    named = {"coder": "judge", "code": "warm", "codebook": CODEBOOK} | more
    return acts.rule(unit_id=unit_id, applied=applied, **named)


def both(unit_id: str, **more: object) -> Act:
    return rule(unit_id, None, reason="different_reading", **more)


def coded(coder: str, unit_id: str, *codes: str, round: str | None = None) -> list[Act]:
    named = {"coder": coder, "unit_id": unit_id, "round": round, "codebook": CODEBOOK}
    return [*(acts.apply(code=code, **named) for code in codes), acts.finish(**named)]


@pytest.fixture
def store(place: Place) -> Store:
    store = Store.create(place("pilot"), units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben", "judge", "lead"):
        if isinstance(store.path, str):
            store.admin.add_coder(coder)
    return store


def test_a_ruling_comes_back_with_its_reason_and_note(store: Store, tmp_path: Path) -> None:
    made = [rule("m1", reason="slip", note="See\n„left“ \x00"), both("m2"), rule("m3", False)]
    assert store.append(made) == 3
    assert store.append(made) == 0  # sent again
    again = Store(store.path)
    assert again.acts(kind="rule") == made
    assert [act.reason for act in again.rulings()] == ["slip", "different_reading", None]
    assert [act.text for act in again.rulings()] == ["See\n„left“ \x00", None, None]
    store.copies.archive(tmp_path / "s.zip")
    copy = Store.restore(tmp_path / "s.zip", tmp_path / "copy")
    assert copy.acts() == made
    copy.append([both("m4", note="Both.")])
    assert store.copies.merge(copy).counts["new"] == 1
    assert store.rulings() == copy.rulings()
    assert store.rulings()[-1].text == "Both."
    undo = acts.undo(made[1], codebook=CODEBOOK)
    store.append([undo])
    assert [act.unit_id for act in store.rulings()] == ["m1", "m3", "m4"]
    store.append([acts.redo(made[1], codebook=CODEBOOK)])
    assert store.verify()["ok"].all()


def test_what_is_no_reason_is_not_recorded(store: Store) -> None:
    made = rule("m1", reason="slip")
    object.__setattr__(made, "facets", "heat=low reason=slip")
    with pytest.raises(ActError, match="expected facets only in a coding"):
        store.append([made])
    with pytest.raises(ActError, match="expected facets only in a coding"):
        store.append([replace(coded("ana", "m1")[0], facets="reason=slip")])
    assert store.acts() == []


def test_a_withdrawal_takes_notes_on_their_texts_and_those_that_quote(store: Store) -> None:
    words = "sister Quokka left on Tuesday for good"
    store.append(
        [
            rule("m1", reason="slip", note="Thinks of leaving."),
            rule("m2", note=f"As in: {words}"),
            both("m3", note="As with the sister Quokka"),
            rule("m4", False, reason="unclear_rule", note="Polite."),
        ]
    )
    found = store.forget("p1", why="withdrew")
    assert (found.n_texts, found.n_memos_elsewhere) == (2, 1)
    listed = found.still_held.set_index("what")
    assert listed.loc["ruling to judge", "place"] == f"act {store.acts()[2].act_id} of 'judge'"
    assert listed["to_clear"].notna().all()
    assert [act.text for act in store.acts(kind="rule")] == ["", "", "As with the sister Quokka", "Polite."]
    assert [act.reason for act in store.rulings()] == [None, "different_reading", "unclear_rule"]
    assert store.verify()["ok"].all()
    with pytest.raises(
        ActError, match="names of themes, paraphrases, reasons or plans of analysis that repeat"
    ):
        store.append([rule("m2", note=f"Again: {words}", code="cold")])
    assert store.append([rule("m2", code="cold")]) == 1  # without words there is nothing to compare
    if isinstance(store.path, Path):
        stored = (store.path / "acts" / "judge.sqlite").read_bytes()
        assert b"leaving" not in stored
        assert words.encode() not in stored


def test_a_merge_brings_no_withdrawn_words_back_in_notes(store: Store, tmp_path: Path) -> None:
    store.append([rule("m1", note="Thinks of leaving.")])
    store.copies.archive(tmp_path / "before.zip")
    copy = Store.restore(tmp_path / "before.zip", tmp_path / "copy")
    copy.append([rule("m1", False, note="Thinks again of leaving.")])
    store.forget("p1", why="withdrew")
    store.copies.merge(copy)
    assert {act.text for act in store.acts(kind="rule")} == {""}


def test_where_both_readings_stand_the_study_has_no_consensus(store: Store) -> None:
    for coder, codes in (("ana", ["warm"]), ("ben", []), ("judge", ["warm"])):
        for unit_id in ("m2", "m3"):
            store.append(coded(coder, unit_id, *codes))
    store.append([both("m2"), rule("m3")])
    agreed = store.decisions(settled_by="rulings")
    of_warm = agreed[agreed["code"] == "warm"]
    assert of_warm[["unit_id", "applied"]].to_numpy().tolist() == [["m3", True]]
    assert dict(Basis.of(agreed).left_out) == {"with both readings kept": 1}
    left = adjudication.remaining(store.decisions(), rulings=store.rulings()).set_index("code")
    assert left.loc["warm", ["n_differing", "n_applied", "n_open"]].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("warm", "cold", "expected"),
    [
        (None, False, None),
        (None, None, None),
        (None, True, True),
        (True, False, True),
        (False, False, False),
        (None, "open", "open"),
        (False, "open", "open"),
        (True, "open", True),
    ],
)
def test_both_readings_stand_after_codes_were_merged(warm: object, cold: object, expected: object) -> None:
    store_of = {"warm": warm, "cold": cold}
    made = [
        rule("m2", applied, code=code, reason="different_reading" if applied is None else None)
        for code, applied in store_of.items()
        if applied != "open"
    ]
    now = replace(CODEBOOK, codes=CODEBOOK.codes[:1] + CODEBOOK.codes[2:])
    step = _revision(CODEBOOK, now, merged={"cold": "warm"})
    carried = codings.rulings(made, now, revisions=[step])
    assert [act.applied for act in carried if act.code == "warm"] == (
        [] if expected == "open" else [expected]
    )


def test_both_readings_of_a_code_that_was_split_are_to_be_ruled_on_again() -> None:
    now = replace(
        CODEBOOK, codes=(*CODEBOOK.codes[1:], Code(id="hot", label="Hot"), Code(id="mild", label="M"))
    )
    step = _revision(CODEBOOK, now, split={"warm": ["hot", "mild"]})
    assert codings.rulings([both("m2")], now, revisions=[step]) == []
    assert len(codings.rulings([rule("m2", False)], now, revisions=[step])) == 2


def _revision(old: Codebook, new: Codebook, **named: object):
    from sense7_qual.codebook import Revision, changes

    return Revision(
        base=old.fingerprint,
        changes=changes(old, new, **named),
        why="x",
        coder="lead",
        at="2026-01-01T00:00:00.000Z",
        codebook=new.fingerprint,
    )


@pytest.mark.postgres
def test_no_coder_reads_a_ruling_or_its_note(postgres: Address) -> None:
    address = postgres()
    lead = Store.create(address, units=UNITS, codebook=CODEBOOK)
    lead.admin.add_coder("ana", role="rulings_ana")
    lead.append(
        [rounds.open_round("one", units=["m1", "m2"], coders=["ana"], coder="lead", codebook=CODEBOOK)]
    )
    lead.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    lead.append([rule("m2", reason="slip", note="Sentinel-Wombat")])
    of_ana = Store(postgres("rulings_ana", address.rpartition("study=")[2]))
    try:
        assert of_ana.rulings() == []
        assert {act.kind for act in of_ana.acts()} == {"open_round", "unblind"}
        assert of_ana.acts(viewer="ana") == of_ana.acts()
        assert lead.rulings()[0].text == "Sentinel-Wombat"
        assert lead.rulings(viewer="ana") == []
    finally:
        for store in (lead, of_ana):
            server.connect(str(store.path)).engine.dispose()


# discussions ----------------------------------------------------------------------------------------


def opening(name: str, **more: object) -> Act:
    named = {"units": ["m1", "m2", "m3"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    return rounds.open_round(name, **(named | more))


def discussed(store: Store) -> Store:
    """Let ana and ben disagree on m1, m2 and m3 in round one, unblind it, and discuss m1 and m2."""
    store.append([opening("one")])
    for unit_id in ("m1", "m2", "m3"):
        store.append(coded("ana", unit_id, "warm", round="one"))
        store.append(coded("ben", unit_id, round="one"))
    store.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    store.append([opening("talk", units=["m1", "m2"], discusses="one")])
    return store


@pytest.mark.long
def test_what_is_revised_in_a_discussion_never_enters_the_agreement_of_its_round(store: Store) -> None:
    own = ["unit_id", "coder", "code", "applied"]
    before = discussed(store).decisions()[own]
    store.append(coded("ana", "m1", round="talk"))  # ana yields on m1
    store.append(coded("ben", "m1", round="talk"))
    store.append(coded("ben", "m2", "warm", round="talk"))  # ben yields on m2
    pd.testing.assert_frame_equal(store.decisions()[own], before)
    pd.testing.assert_frame_equal(store.decisions(round="one")[own], before)
    talked = store.decisions(round="talk")
    assert talked.groupby("coder")["unit_id"].unique().apply(list).to_dict() == {
        "ana": ["m1"],
        "ben": ["m1", "m2"],
    }
    change = agreement.difference(store.decisions(round="one"), talked, discussion=True)
    row = change.set_index("code").loc["warm"]
    assert row[["n_first", "n_second", "n_changed"]].tolist() == [3, 3, 2]
    assert row["first"] < row["second"]
    for choice in ({}, {"round": "one"}):
        agreed = store.decisions(settled_by="discussion", **choice).query("code == 'warm'")
        assert agreed[["unit_id", "applied"]].to_numpy().tolist() == [["m1", False], ["m2", True]]
    alone = store.decisions(round="talk", settled_by="discussion").query("code == 'warm'")
    assert alone[["unit_id", "applied"]].to_numpy().tolist() == [["m1", False], ["m2", True]]


def test_codings_of_a_discussion_are_given_to_who_names_it_alone(store: Store) -> None:
    """Agreement on spans and over time takes codings: what was revised would pass for independent."""
    before, finished = discussed(store).codings(), store.coverage()
    store.append(coded("ben", "m2", "warm", round="talk"))
    pd.testing.assert_frame_equal(store.codings(), before)
    pd.testing.assert_frame_equal(store.codings(round="one"), before)
    pd.testing.assert_frame_equal(store.coverage(), finished)
    assert store.codings(round="talk")[["unit_id", "coder", "code"]].to_numpy().tolist() == [
        ["m2", "ben", "warm"]
    ]
    assert store.coverage(round="talk")["unit_id"].tolist() == ["m2"]
    n_finished = rounds.progress(store.rounds, store.coverage()).groupby("round")["n_finished"]
    assert n_finished.sum(min_count=1).fillna(-1).to_dict() == {
        "one": 6,
        "talk": -1,
    }  # -1: not known from this
    with pytest.raises(ArgumentError, match="expected round out of the rounds of the study – found 'tlak'"):
        store.codings(round="tlak")


def test_a_discussion_begins_with_the_coders_own_codings(store: Store) -> None:
    discussed(store)
    talk = store.rounds[-1]
    assert (talk.discusses, repr(talk)) == ("one", "Round('talk', 2 units, 2 coders, blind, discussion)")
    copied = rounds.own_codings(store.acts(), talk, coder="ana", codebook=store.codebook)
    assert store.append(copied) == 2
    assert store.append(rounds.own_codings(store.acts(), talk, coder="ana", codebook=store.codebook)) == 0
    in_talk = store.codings(round="talk", coder="ana")
    assert in_talk[["unit_id", "code"]].to_numpy().tolist() == [["m1", "warm"], ["m2", "warm"]]
    assert store.decisions(round="talk").empty  # nothing was finished there yet
    with pytest.raises(ActError, match="expected a round of discussion"):
        rounds.own_codings(store.acts(), store.rounds[0], coder="ana", codebook=CODEBOOK)


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"discusses": "two"}, "found one that is blind"),
        ({"discusses": "three"}, "found none of this name"),
        ({"discusses": "talk"}, "found one that is a discussion itself"),
        (
            {"discusses": "one", "units": ["m1", "m4"]},
            "expected units of the discussed round 'one' – found 'm4'",
        ),
        ({"discusses": "one", "coders": ["ana", "cyd"]}, "expected coders of the discussed round"),
    ],
)
def test_nothing_blind_is_discussed_and_nothing_but_the_round(
    store: Store, more: dict[str, object], problem: str
) -> None:
    discussed(store).append([opening("two")])
    before = store.acts()
    with pytest.raises(ActError, match=problem):
        store.append([opening("again", **more)])
    with pytest.raises(ActError, match="expected units of the discussed round"):
        store.append([opening("talk", units=["m1", "m4"])])  # opened again, without saying what it discusses
    assert store.acts() == before
    with pytest.raises(ActError, match="found the round itself"):
        opening("one", discusses="one")

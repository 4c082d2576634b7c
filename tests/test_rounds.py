"""Rounds: opened, coded in, unblinded, and what a coder sees of the others meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, codings, rounds
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, QualError
from sense7_qual.store import Store
from tests.helpers.revised_codebooks import UNITS

BOOK = Codebook(name="small", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
_minutes = count()


def stamped(make: Callable[..., Act], *given: str, **named: object) -> Act:
    at = f"2026-01-31T12:{next(_minutes) // 60:02}:{next(_minutes) % 60:02}.000Z"
    return make(*given, **({"coder": "lead", "codebook": BOOK, "at": at} | named))


def opening(name: str = "one", **named: object) -> Act:
    return stamped(rounds.open_round, name, **({"units": ["m1", "m2"], "coders": ["ana", "ben"]} | named))


def test_a_round_is_what_the_lead_opened_and_when_it_was_unblinded() -> None:
    first, second = opening(), opening("two", units=["m2"])
    shown = stamped(rounds.unblind, "one")
    one, two = rounds.opened([second, shown, first])
    assert (one.name, one.units, one.coders, one.codebook) == (
        "one",
        ("m1", "m2"),
        ("ana", "ben"),
        BOOK.fingerprint,
    )
    assert (one.opened_by, one.opened_at, one.unblinded_by, one.unblinded_at) == (
        "lead",
        first.at,
        "lead",
        shown.at,
    )
    assert (two.units, two.unblinded_at) == (("m2",), None)
    assert repr(two) == "Round('two', 1 units, 2 coders, blind)"
    again = opening(units=["m2"], coders=["cleo"])
    assert rounds.opened([first, shown, again])[0].coders == ("cleo",)
    assert rounds.opened([first, shown, stamped(rounds.unblind, "one")])[0].unblinded_at == shown.at


def test_only_who_opened_a_round_and_whom_they_named_open_it_again_or_unblind_it() -> None:
    early = stamped(rounds.unblind, "one")  # before the opening
    first = opening()
    other = opening(coder="ana", units=["m2"], leads=["ben"])
    by_others = [stamped(rounds.unblind, "one", coder=coder) for coder in ("ana", "ben")]
    (one,) = rounds.opened([early, first, other, *by_others])
    assert (one.units, one.leads, one.unblinded_at) == (("m1", "m2"), ("lead",), None)
    named = opening(leads=["ben"])
    (one,) = rounds.opened([early, first, other, *by_others, named])
    assert (one.leads, one.unblinded_by) == (("lead", "ben"), "ben")
    of_ben = stamped(acts.apply, coder="ben", unit_id="m1", code="warm", round="one")
    assert of_ben not in rounds.visible([early, first, other, *by_others, of_ben], viewer="ana")
    with pytest.raises(ActError, match="leads of round 'one', each once – found 'ben' twice"):
        opening(leads=["ben", "ben"])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"units": []}, "units of round 'one', each once – found none"),
        ({"units": ["m1", "m1"]}, "found 'm1' twice"),
        ({"units": "m1"}, "expected units to be a list of text"),
        ({"coders": ["ana", 7]}, "expected coders to be a list of text"),
        ({"coders": ["consensus"]}, "computed decisions"),
        ({"units": None}, "expected units to be a list of text"),
        ({"units": ["m1", None]}, "expected units to be a list of text"),
    ],
)
def test_a_round_without_units_or_coders_is_refused(named: dict[str, object], message: str) -> None:
    with pytest.raises(QualError, match=message):
        opening(**named)
    with pytest.raises(ActError, match="expected a name"):
        opening(" ")


def test_a_control_character_in_the_name_of_a_round_is_refused() -> None:
    with pytest.raises(ActError, match="a name without control characters"):
        rounds.open_round("one\x01", units=["m1"], coders=["ana"], coder="lead", codebook=BOOK)
    with pytest.raises(ActError, match="a control character"):
        acts.finish(coder="ana", unit_id="m1", round="one\x01", codebook=BOOK)


def test_the_ids_of_a_round_come_as_any_list_and_in_any_number() -> None:
    units = pd.Series([f"m{i}" for i in range(50_000)])
    begin = time.process_time()
    assert rounds.opened([opening(units=units)])[0].units == tuple(units)
    assert time.process_time() - begin < 5
    with pytest.raises(ActError, match="found 'm1' twice"):
        opening(units=pd.Series(["m1", "m2", "m1"]))


def test_neither_opening_nor_unblinding_is_undone() -> None:
    for act in (opening(), stamped(rounds.unblind, "one")):
        with pytest.raises(ActError, match="which the team has seen"):
            acts.undo(act, codebook=BOOK)


def test_a_coder_sees_their_own_and_what_is_unblinded() -> None:
    of_ben = [
        stamped(acts.apply, coder="ben", unit_id="m1", code="warm", round="one"),
        stamped(acts.apply, coder="ben", unit_id="m1", code="warm", round="two"),
        stamped(acts.apply, coder="ben", unit_id="m2", code="warm"),
        stamped(acts.memo, coder="ben", unit_id="m1", text="A memo."),
    ]
    of_ben.append(acts.undo(of_ben[0], codebook=BOOK))
    own = stamped(acts.finish, coder="ana", unit_id="m1", round="two")
    first, shown = opening(), stamped(rounds.unblind, "one")
    assert rounds.visible([first, *of_ben, own], viewer="ana") == [first, own]
    # With a coding of the round comes its undoing, so that what was taken back does not stand.
    assert rounds.visible([first, *of_ben, own, shown], viewer="ana") == [
        first,
        of_ben[0],
        of_ben[4],
        own,
        shown,
    ]
    assert rounds.visible(of_ben, viewer="ben") == of_ben


def test_what_takes_an_act_back_is_seen_where_the_act_is() -> None:
    one, two = (stamped(acts.apply, coder="ben", unit_id="m1", code="warm", round=r) for r in ("one", "two"))
    begin, shown = opening(), stamped(rounds.unblind, "one")
    # Undo acts that name no round, or another one: what they are about decides.
    without = [replace(acts.undo(each, codebook=BOOK), round=r) for each, r in ((one, None), (two, "one"))]
    seen = rounds.visible([begin, one, two, *without, shown], viewer="ana")
    assert seen == [begin, one, without[0], shown]
    with pytest.raises(QualError, match="expected viewer to be text"):
        rounds.visible([one], viewer=None)


def test_an_unblinded_round_takes_nobody_and_nothing_new(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    store.append([opening(units=["m1"])])
    coder = {"coder": "ana", "codebook": BOOK, "round": "one", "unit_id": "m1"}
    coding = acts.apply(code="warm", **coder)
    store.append([coding])
    store.append([opening(units=["m1", "m2"])])  # still blind
    store.append([stamped(rounds.unblind, "one")])
    for named, late in (
        ({"coders": ["ana", "cleo"]}, "cleo"),
        ({"units": ["m1", "m2"], "coders": ["dee"]}, "dee"),
    ):
        with pytest.raises(ActError, match=f"no more coders in round 'one', which was unblinded .* '{late}'"):
            store.append([opening(**named)])
    store.append([opening(units=["m2"], coders=["ana"])])  # fewer are no matter
    (one,) = rounds.opened(store.acts())
    assert (one.units, one.coders, one.unblinded_by) == (("m2",), ("ana",), "lead")
    # What ana coded stays hers to take back, by an act of the same unit and round.
    undo = acts.undo(coding, codebook=BOOK)
    for other in ({"round": None}, {"unit_id": "m2"}):
        with pytest.raises(ActError, match="expected the unit and the round of the act"):
            store.append([replace(undo, **other)])
    store.append([undo])
    assert store.codings(viewer="ben").empty


def test_taking_back_and_doing_again_in_a_blind_round_stays_unseen(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    store.append([opening(), opening("two")])
    deeds = {}
    for name in ("one", "two"):
        named = {"coder": "ben", "unit_id": "m1", "codebook": BOOK, "round": name}
        deeds[name] = acts.apply(code="warm", **named)
        store.append([deeds[name], acts.finish(**named)])
    store.append([stamped(rounds.unblind, "one")])
    assert store.codings(viewer="ana")["round"].tolist() == ["one"]
    store.append([acts.undo(each, codebook=BOOK) for each in deeds.values()])
    assert store.codings(viewer="ana").empty
    store.append([acts.redo(each, codebook=BOOK) for each in deeds.values()])
    assert store.codings(viewer="ana")["round"].tolist() == ["one"]
    assert store.coverage(viewer="ana")["round"].tolist() == ["one"]
    assert store.codings(viewer="ben")["round"].tolist() == ["one", "two"]


def test_a_study_is_coded_in_rounds(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BOOK)
    store.append([opening(), opening("final", units=["m1"])])
    for name, applied in (("one", ["warm"]), ("final", [])):
        named = {"coder": "ana", "unit_id": "m1", "codebook": BOOK, "round": name}
        store.append([*[acts.apply(code=code, **named) for code in applied], acts.finish(**named)])
    one, final = rounds.opened(store.acts())
    assert rounds.progress([one, final], store.coverage()).to_numpy().tolist() == [
        ["one", "ana", 2, 1, False],
        ["one", "ben", 2, 0, False],
        ["final", "ana", 1, 1, False],
        ["final", "ben", 1, 0, False],
    ]
    found = {
        name: codings.decisions(store.codings(), store.coverage(), BOOK, round=name)["applied"].tolist()
        for name in ("one", "final", None)
    }
    assert found == {"one": [True, False], "final": [False, False], None: [False, False]}
    with pytest.raises(ActError, match="expected units of this study in round 'one' – found 'm9'"):
        store.append([opening(units=["m9"])])
    shown = stamped(rounds.unblind, "one")
    stamp = acts.stamp("lead", BOOK, None, None)
    with pytest.raises(ActError, match="found an act of kind 'unblind'"):
        store.append([shown, Act(kind="undo", target=shown.act_id, round="one", **stamp)])


def test_gold_makes_a_round_of_training_and_must_be_whole() -> None:
    gold = pd.DataFrame(
        [("m1", "interest", True), ("m2", "interest", False), ("m9", "interest", True)],
        columns=["unit_id", "code", "applied"],
    )
    named = {"coders": ["ana"], "coder": "lead", "codebook": Codebook.read("sense7")}
    act = rounds.open_round("training", units=["m1", "m2"], gold=gold, **named)
    (one,) = rounds.opened([act])
    assert (one.is_training, one.gold) == (True, (("m1", ("interest",)), ("m2", ())))
    assert one.gold_decisions.values.tolist() == gold.head(2).values.tolist()
    assert "interest" not in repr(one) + repr(act)
    plain = rounds.open_round("one", units=["m1"], **named)
    assert not rounds.opened([plain])[0].is_training
    assert rounds.opened([plain])[0].gold_decisions.empty
    other = gold.assign(code="hope")
    two = pd.concat([gold.assign(coder="a"), gold.assign(coder="b")])
    for wrong, words in (
        (gold.head(1), "none of every code on 'm2'"),
        (other, "codes 'hope'"),
        (two, "'a', 'b'"),
    ):
        with pytest.raises(ActError, match=f"gold decisions.* – found .*{words}"):
            rounds.open_round("training", units=["m1", "m2"], gold=wrong, **named)
    with pytest.raises(ActError, match="expected the gold decisions of round"):
        rounds.opened([replace(act, text='{"units": ["m1"], "coders": ["a"], "gold": {"codes": 3}}')])

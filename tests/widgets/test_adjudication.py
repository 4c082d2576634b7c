"""The adjudication widget asked as a browser asks: the queue, readings, rulings, letters, changed codes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, adjudication, agreement, rounds
from sense7_qual.errors import ArgumentError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.widgets import AdjudicationWidget
from sense7_qual.widgets._adjudication.disputes import Gains, around
from tests.helpers.adjudicator import BLIND, CODED, DISPUTED, TEXTS, UNITS, Adjudicator, decided, disagree
from tests.helpers.hostile_words import WORDS
from tests.helpers.revised_codebooks import BASE, edited

pytestmark = pytest.mark.long

PEOPLE = ("ana", "ben", "cleo", "dee", "lead", "chair")


Copied = Callable[[Callable[[Path], object]], Store]


def disputed(path: Path) -> None:
    disagree(Store.create(path, units=UNITS, codebook=BASE))


@pytest.fixture(
    params=["folder", pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])]
)
def store(request: pytest.FixtureRequest, copied: Copied) -> Iterator[Store]:
    if request.param == "folder":
        yield copied(disputed)
        return
    address: Callable[..., str] = request.getfixturevalue("postgres")
    made = Store.create(address(), units=UNITS, codebook=BASE)
    for coder in PEOPLE:
        made.admin.add_coder(coder)
    disagree(made)
    yield made
    server.connect(str(made.path)).engine.dispose()


@pytest.fixture
def folder(copied: Copied) -> Store:
    return copied(disputed)


def keys(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(row["unit_id"], row["code"]) for row in answer["rows"]]


# rulings made together ------------------------------------------------------------------------------


def test_rulings_made_together_are_one_step_also_after_a_restart(store: Store) -> None:
    lead = Adjudicator(store)
    rows = [{"unit_id": unit_id, "code": "warm"} for unit_id in ("m1", "m3", "m4")]
    act = {"kind": "rule", "applied": True, "reason": "slip", "note": "As agreed.", **rows[0], "rows": rows}
    done = lead.ask("act", act=act, id="11111111-1111-4111-8111-111111111111")
    assert lead.ask("act", act=act, id="11111111-1111-4111-8111-111111111111") == done
    ruled = {row["unit_id"]: row["ruling"]["settled"] for row in (done, *done["also"])}
    assert ruled == {"m1": "applied", "m3": "applied", "m4": "applied"}
    assert (done["n_open"], done["n_settled"]) == (2, 3)
    made = store.rulings()
    assert [(one.unit_id, one.text, one.reason) for one in made] == [
        (unit_id, "As agreed.", "slip") for unit_id in ("m1", "m3", "m4")
    ]
    assert len({one.step for one in made}) == 1
    assert made[0].step is not None
    again = Adjudicator(Store(store.path))
    undone = again.undo()
    assert {(row["unit_id"], row["ruling"]) for row in (undone, *undone["also"])} == {
        ("m1", None),
        ("m3", None),
        ("m4", None),
    }
    assert (undone["n_settled"], Store(store.path).rulings()) == (0, [])
    assert Adjudicator(Store(store.path)).redo()["n_settled"] == 3
    assert store.verify()["ok"].all()


def test_of_rulings_made_together_none_is_made_where_one_cannot_be(folder: Store) -> None:
    lead = Adjudicator(folder)
    rows = [{"unit_id": "m1", "code": "warm"}, {"unit_id": "m2", "code": "warm"}]
    answer = lead.ask("act", act={"kind": "rule", "applied": True, "reason": "slip", **rows[0], "rows": rows})
    assert answer["type"] == "refused"
    assert folder.rulings() == []


def test_a_single_ruling_of_a_list_is_no_step(folder: Store) -> None:
    row = {"unit_id": "m1", "code": "warm"}
    Adjudicator(folder).ask(
        "act", act={"kind": "rule", "applied": True, "reason": "slip", **row, "rows": [row]}
    )
    assert [one.step for one in folder.rulings()] == [None]


# discussions ----------------------------------------------------------------------------------------


def test_a_discussion_is_opened_with_the_coders_of_the_round_and_once(store: Store) -> None:
    lead = Adjudicator(store, coder="chair")
    rows = [
        {"unit_id": unit_id, "code": code}
        for unit_id, code in (("m3", "warm"), ("m1", "warm"), ("m1", "kind"))
    ]
    asked = "22222222-2222-4222-8222-222222222222"
    answer = lead.ask("discuss", rows=rows, id=asked)
    assert answer == lead.ask("discuss", rows=rows, id=asked)
    assert answer["rounds"] == [{"name": "open, discussed", "n_units": 2, "coders": ["ana", "ben", "cleo"]}]
    talk = next(one for one in store.rounds if one.discusses)
    assert (talk.name, talk.units, talk.coders, talk.discusses) == (
        "open, discussed",
        ("m3", "m1"),
        ("ana", "ben", "cleo"),
        "open",
    )
    second = lead.ask("discuss", rows=rows[:1])
    assert second["rounds"][0]["name"] == "open, discussed 2"
    newest, first = lead.ask("discussions")["rows"]
    assert (newest["name"], [one["n"] for one in newest["coders"]]) == ("open, discussed 2", [0, 0, 0])
    assert (first["n_again"], first["may_open"]) == (0, True)
    assert lead.ask("share", name=first["name"])["rows"][1]["revised"] == []


def test_what_is_to_be_discussed_outlives_the_kernel(folder: Store) -> None:
    row = {"unit_id": "m1", "code": "warm"}
    Adjudicator(folder).ask("keep", notes=[], change=None, discuss=[row])
    again = Adjudicator(Store(folder.path)).ask("hello")
    assert again["unsaved"]["discuss"] == [row]


def test_texts_of_no_round_are_not_discussed(folder: Store) -> None:
    for coder, codes in (("ana", ("warm",)), ("ben", ())):
        folder.append(decided(coder, "m2", *codes, round=None))
    lead = Adjudicator(folder, without_round=True)
    answer = lead.ask("discuss", rows=[{"unit_id": "m2", "code": "warm"}])
    assert (answer["type"], len(folder.rounds)) == ("refused", 2)


def talked(store: Store, name: str = "open, discussed") -> Adjudicator:
    """Open a discussion of m1 and m3, in which ana drops her code on m1 and ben adds his on m3."""
    lead = Adjudicator(store, coder="chair")
    lead.ask("discuss", rows=[{"unit_id": "m1", "code": "warm"}, {"unit_id": "m3", "code": "warm"}])
    store.append([*decided("ana", "m1", round=name), *decided("ana", "m3", "warm", "kind", round=name)])
    store.append(decided("ben", "m3", "kind", "warm", round=name))
    return lead


def test_a_blind_discussion_says_how_far_it_is_and_nothing_of_what_is_revised_or_said(store: Store) -> None:
    lead = talked(store)
    store.append(
        [acts.memo(coder="ana", text=f"About {BLIND}.", unit_id="m1", round="open, discussed", codebook=BASE)]
    )
    (row,) = lead.ask("discussions")["rows"]
    assert (row["is_open"], row["may_open"], row["n_again"]) == (False, True, 0)
    assert [(one["coder"], one["n"]) for one in row["coders"]] == [("ana", 2), ("ben", 1), ("cleo", 0)]
    assert (row["revised"], row["n_changed"], [unit["n_notes"] for unit in row["units"]]) == ([], 0, [0, 0])
    thread = lead.ask("thread", name=row["name"], unit_id="m1")
    assert thread["notes"] == []
    assert [(one["again"], len(one["codings"])) for one in thread["coders"]] == [
        (False, 1),
        (False, 1),
        (False, 0),
    ]
    other = Adjudicator(store, coder="dee")  # leads nothing
    assert other.ask("discussions")["rows"] == []
    assert other.ask("share", name=row["name"])["type"] == "refused"


def test_what_a_discussion_changed_is_what_the_engine_says(store: Store) -> None:
    lead = talked(store)
    before, reported = lead.widget.n_open, store.decisions()
    (row,) = lead.ask("share", name="open, discussed")["rows"]
    assert lead.widget.n_open == before - 1, "ana dropped her code: m1 is agreed on warm"
    expected = agreement.difference(
        store.decisions(round="open"), store.decisions(round="open, discussed"), discussion=True
    )
    expected = expected[expected["n_changed"] > 0]
    assert [(one["code"], one["n"]) for one in row["revised"]] == list(
        zip(expected["code"], expected["n_changed"], strict=True)
    )
    assert row["n_changed"] == sum(unit["n_changed"] for unit in row["units"]) == 2
    alphas = [[float(one[name].replace("−", "-")) for name in ("before", "after")] for one in row["revised"]]
    assert alphas == expected[["first", "second"]].astype(float).round(2).to_numpy().tolist()
    of_round = agreement.by_code(store.decisions(round="open"), n_boot=20).set_index("code")["alpha"]
    assert [one for one, _ in alphas] == of_round[expected["code"]].astype(float).round(2).tolist()
    assert store.decisions().equals(reported), "what is reported stays"
    thread = lead.ask("thread", name="open, discussed", unit_id="m1")
    assert [(one["coder"], one["again"], one["added"], one["dropped"]) for one in thread["coders"]] == [
        ("ana", True, [], ["warm"]),
        ("ben", False, [], []),
        ("cleo", False, [], []),
    ]


def test_a_note_in_a_discussion_answers_another_and_all_its_coders_read_it(store: Store) -> None:
    lead = talked(store)
    lead.ask("share", name="open, discussed")
    on = {"name": "open, discussed", "unit_id": "m1"}
    said = acts.memo(
        coder="ben", text="Is listening warm?", unit_id="m1", round="open, discussed", codebook=BASE
    )
    store.append([said])
    lead.ask("discussions")
    named = "33333333-3333-4333-8333-333333333333"
    answer = lead.ask("say", **on, text="It is.", answers=said.memo_id, id=named)
    assert lead.ask("say", **on, text="It is.", answers=said.memo_id, id=named) == answer
    assert [(one["coder"], one["text"], one["answers"]) for one in answer["notes"]] == [
        ("ben", "Is listening warm?", None),
        ("you", "It is.", said.memo_id),
    ]
    read = store.memos(viewer="cleo").set_index("memo_id")
    assert read.loc[named, "answers"] == said.memo_id
    for wrong in ({"text": " "}, {"text": "x", "answers": "none"}, {"text": "x", "unit_id": "m4"}):
        assert lead.ask("say", **on | wrong)["type"] == "refused"
    lead.ask("names", letters=True)
    assert "ben" not in json.dumps(lead.ask("thread", **on))


def test_one_coder_is_asked_to_look_through_texts_again(store: Store) -> None:
    lead = Adjudicator(store, coder="chair")
    rows = [{"unit_id": unit_id, "code": "warm"} for unit_id in ("m1", "m3", "m4")]
    answer = lead.ask("discuss", rows=rows, coder="ana")
    assert answer["rounds"] == [{"name": "open, look again", "n_units": 3, "coders": ["ana"]}]
    assert lead.ask("discuss", rows=rows, coder="nobody")["type"] == "refused"
    lead.ask("names", letters=True)
    letter = next(one["coder"] for one in lead.show("m1", "kind")["coders"] if one["applied"])
    again = lead.ask("discuss", rows=rows[:1], coder=letter)
    assert again["rounds"][0]["coders"] == [letter]
    assert store.rounds[-1].coders == ("ben",)


# the queue ------------------------------------------------------------------------------------------


def test_the_queue_holds_what_may_be_seen_and_its_figures_are_those_of_the_engine(store: Store) -> None:
    lead = Adjudicator(store)
    welcome = lead.ask("hello")
    assert set(keys(welcome)) == DISPUTED
    assert (welcome["n_open"], welcome["n_settled"]) == (5, 0)
    lead.rule("m1", "warm", True)
    lead.rule("m3", "warm", None, "different_reading")
    done = lead.rule("m5", "cold", False, "ambiguous_text")
    seen = store.decisions(round="open")
    expected = adjudication.remaining(seen, rulings=store.rulings()).set_index("code")
    assert {row["code"] for row in done["by_code"]} == set(expected.index[expected["n_disputed"] > 0])
    for row in done["by_code"]:
        for name in ("n_units", "n_disputed", "n_open", "n_applied", "n_absent", "n_differing"):
            assert row[name] == expected.loc[row["code"], name], (row["code"], name)
        assert row["missing"] == f"{100 * expected.loc[row['code'], 'share_open']:.1f} %"
    assert (lead.widget.n_open, lead.widget.n_settled) == (2, 3)


def test_the_queue_says_who_decided_and_who_stands_apart(folder: Store) -> None:
    lead = Adjudicator(folder)
    rows = {(row["unit_id"], row["code"]): row for row in lead.ask("hello")["rows"]}
    assert all(row["coders"] == ["ana", "ben", "cleo"] for row in rows.values())
    apart = {key: row["apart"] for key, row in rows.items()}
    assert apart == {
        ("m1", "warm"): ["ana"],
        ("m1", "kind"): ["ben"],
        ("m3", "warm"): ["ana"],
        ("m4", "warm"): ["cleo"],
        ("m5", "cold"): ["ben"],
    }
    lead.ask("names", letters=True)
    assert {name for row in lead.told[-1]["rows"] for name in row["apart"]} <= set("ABCDE")


@pytest.mark.parametrize("by", ["split", "code", "pair", "participant"])
def test_each_order_is_that_of_the_engine(folder: Store, by: str) -> None:
    lead = Adjudicator(folder)
    lead.rule("m1", "warm", True)
    answer = lead.ask("queue", by=by)
    more = {"units": UNITS, "cluster": "case_id"} if by == "participant" else {}
    expected = adjudication.queue(folder.decisions(round="open"), rulings=folder.rulings(), by=by, **more)
    assert keys(answer) == list(zip(expected["unit_id"], expected["code"], strict=True))
    if by != "split":
        assert [row["group"] for row in answer["rows"]] == expected["group"].tolist()
    assert {row["settled"] for row in answer["rows"] if (row["unit_id"], row["code"]) == ("m1", "warm")} == {
        "applied"
    }


def test_a_row_of_the_queue_shows_the_text_around_the_disputed_words(folder: Store) -> None:
    rows = {(row["unit_id"], row["code"]): row["words"] for row in Adjudicator(folder).ask("hello")["rows"]}
    texts = folder.units.set_index("unit_id")["text"]
    spans = folder.codings().dropna(subset=["start"])
    for (unit_id, code), words in rows.items():
        own = spans[(spans["unit_id"] == unit_id) & (spans["code"] == code)]
        begins = int(own["start"].min()) if len(own) else 0
        line = words.strip("…")
        assert line in " ".join(texts[unit_id].split())
        assert " ".join(texts[unit_id][begins : begins + 8].split()) in line


def test_a_line_around_words_cuts_no_word_at_its_beginning() -> None:
    text = "One two three four five six. It twisted my\nopinion, " + "and so on, " * 20
    line = around(text, text.index("twisted"))
    assert line.startswith("…six. It twisted my opinion")
    assert line.endswith("…")
    assert around("It\nlistened.", 0) == "It listened."


def test_what_the_next_ones_bring_is_what_they_bring(folder: Store) -> None:
    lead = Adjudicator(folder)
    brings = lead.ask("queue", by="code")["brings"]
    assert brings["n"] == 5
    warm = next(one for one in brings["codes"] if one["code"] == "warm")
    assert (warm["n"], warm["before"], warm["after"]) == (3, "75.0 %", "0.0 %")
    for unit_id, code in DISPUTED - {("m1", "kind")}:
        done = lead.rule(unit_id, code, True)
    [last] = done["brings"]["codes"]
    assert (last["code"], last["n"], last["before"], last["after"]) == ("kind", 1, "25.0 %", "0.0 %")
    left = adjudication.remaining(folder.decisions(round="open"), rulings=folder.rulings())
    assert left.set_index("code")["share_open"].to_dict() == {
        "warm": 0.0,
        "kind": 0.25,
        "cold": 0.0,
        "other": 0.0,
    }


def test_alpha_if_decided_alike_is_its_expectation_and_links_gain_what_the_units_add() -> None:
    rng = np.random.default_rng(5)
    rows = [
        (f"m{unit}", coder, "warm", bool(rng.random() < 0.4))
        for unit in range(12)
        for coder in ("ana", "ben", "cleo")[: 2 + unit % 2]
    ]
    frame = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    disputed = adjudication.disagreements(frame)["unit_id"].tolist()[:4]
    gains = Gains(frame, frame)
    now, after = gains.alpha("warm", disputed)

    def alpha_of(made: pd.DataFrame) -> float:
        values = made.pivot(index="coder", columns="unit_id", values="applied").to_numpy(float)
        return agreement.coefficients.krippendorff_alpha(values, level="nominal")

    assert now == pytest.approx(alpha_of(frame))
    shares = frame.groupby("unit_id")["applied"].mean()
    expected = 0.0
    for ways in itertools.product([True, False], repeat=len(disputed)):
        alike = dict(zip(disputed, ways, strict=True))
        way = frame.assign(applied=[alike.get(unit, said) for unit, _, _, said in rows])
        chance = np.prod([shares[unit] if one else 1 - shares[unit] for unit, one in alike.items()])
        expected += chance * alpha_of(way)
    assert after == pytest.approx(expected)
    assert after > now
    agreed = adjudication.consensus(frame)["applied"]
    n = {True: int(agreed.sum()) + 2, False: int((~agreed).sum()) + 1}
    more = sum(shares[unit] for unit in disputed)
    ratio = (1 / (n[True] + more) + 1 / (n[False] + 4 - more)) / (1 / n[True] + 1 / n[False])
    assert gains.narrower("warm", disputed, applied=2, absent=1) == pytest.approx(1 - ratio**0.5)
    assert gains.narrower("warm", [], applied=2, absent=1) is None
    assert gains.alpha("cold", disputed) is None


def test_what_was_agreed_in_a_discussion_is_no_disagreement_any_more(folder: Store) -> None:
    talk = {"units": ["m3"], "coders": ["ana"], "coder": "chair", "codebook": BASE}
    folder.append([rounds.open_round("talk", discusses="open", **talk)])
    folder.append(decided("ana", "m3", "kind", round="talk"))
    assert set(keys(Adjudicator(folder).ask("hello"))) == DISPUTED  # the discussion is blind yet
    folder.append([rounds.unblind("talk", coder="chair", codebook=BASE)])
    assert set(keys(Adjudicator(folder).ask("hello"))) == DISPUTED - {("m3", "warm")}


# a text ---------------------------------------------------------------------------------------------


def test_a_text_comes_with_each_coders_reading(store: Store) -> None:
    named = {"codebook": BASE, "round": "open", "unit_id": "m1"}
    store.append(
        [acts.memo(coder="ben", text="Not warm: 👍🏽.", target_kind="span", start=12, end=14, **named)]
    )
    store.append([acts.memo(coder="cleo", text="My own.", target_kind="unit", codebook=BASE, unit_id="m1")])
    shown = Adjudicator(store).show("m1", "warm")
    assert (shown["text"], shown["context"]) == (TEXTS["m1"], [{"role": "user", "text": "Before it."}])
    assert [(one["coder"], one["applied"]) for one in shown["coders"]] == [
        ("ana", True),
        ("ben", False),
        ("cleo", False),
    ]
    ana, ben, cleo = shown["coders"]
    assert ana["codings"] == [{"code": "warm", "start": 3, "end": 11, "confidence": None, "facets": {}}]
    assert ben["memos"] == [{"start": 12, "end": 16, "text": "Not warm: 👍🏽."}]  # UTF-16
    assert cleo["memos"] == []  # her own, for nobody else
    assert shown["others"] == [{"code": "kind", "settled": None}]
    assert shown["ruling"] is None


def test_after_a_discussion_the_last_codings_are_shown(folder: Store) -> None:
    talk = {"units": ["m3", "m5"], "coders": ["ana"], "coder": "chair", "codebook": BASE}
    folder.append([rounds.open_round("talk", discusses="open", **talk)])
    folder.append(decided("ana", "m3", "warm", round="talk", start=3, end=7))
    folder.append([rounds.unblind("talk", coder="chair", codebook=BASE)])
    shown = Adjudicator(folder).show("m3", "warm")
    ana = next(one for one in shown["coders"] if one["coder"] == "ana")
    assert [(one["code"], one["start"]) for one in ana["codings"]] == [("warm", 3)]


# rulings --------------------------------------------------------------------------------------------


def test_a_ruling_is_in_the_record_before_it_is_said_and_the_consensus_has_it(store: Store) -> None:
    lead = Adjudicator(store)
    done = lead.rule("m1", "warm", True, "unclear_rule", "As with the brother.")
    assert (done["type"], done["ruling"]["settled"], done["ruling"]["by"]) == ("done", "applied", "you")
    (act,) = store.acts(kind="rule")
    assert (act.coder, act.applied, act.reason, act.text) == (
        "lead",
        True,
        "unclear_rule",
        "As with the brother.",
    )
    agreed = store.decisions(settled_by="rulings")
    row = agreed[(agreed["coder"] == "consensus") & (agreed["unit_id"] == "m1") & (agreed["code"] == "warm")]
    assert row["applied"].tolist() == [True]
    assert store.verify()["ok"].all()


def test_different_readings_stand_both(folder: Store) -> None:
    lead = Adjudicator(folder)
    assert lead.rule("m1", "warm", None, "different_reading")["ruling"]["settled"] == "differing"
    agreed = folder.decisions(settled_by="rulings")
    consensus = agreed[agreed["coder"] == "consensus"]
    assert ("m1", "warm") not in set(zip(consensus["unit_id"], consensus["code"], strict=True))


@pytest.mark.parametrize(
    ("unit_id", "code", "applied", "reason"),
    [
        ("m1", "warm", True, None),
        ("m1", "warm", True, "different_reading"),
        ("m1", "warm", None, "slip"),
        ("m1", "warm", "yes", "slip"),
        ("m1", "warm", True, "whim"),
        ("m2", "warm", True, "slip"),
        ("m3", "cold", True, "slip"),
        ("m1", 3, True, "slip"),
    ],
)
def test_what_is_no_ruling_on_a_disagreement_in_sight_is_refused(
    folder: Store, unit_id: str, code: Any, applied: Any, reason: Any
) -> None:
    lead = Adjudicator(folder)
    refused = lead.rule(unit_id, code, applied, reason)
    assert refused["type"] == "refused"
    assert folder.acts(kind="rule") == []
    assert lead.rule("m1", "kind", True)["type"] == "done"


def test_undo_goes_back_over_everything_the_lead_settled_also_in_the_next_kernel(folder: Store) -> None:
    lead = Adjudicator(folder)
    for unit_id, code in sorted(DISPUTED):
        lead.rule(unit_id, code, True)
    lead.rule("m1", "kind", False)  # again, otherwise
    again = Adjudicator(Store(folder.path))
    undone = again.undo()
    assert (undone["unit_id"], undone["code"], undone["undone"]) == ("m1", "kind", True)
    assert undone["ruling"]["settled"] == "applied"
    back = [again.undo() for _ in DISPUTED]
    assert [(one["unit_id"], one["code"]) for one in back] == sorted(DISPUTED, reverse=True)
    assert {one["ruling"] and one["ruling"]["settled"] for one in back} == {None}
    assert again.undo()["type"] == "refused"
    assert folder.rulings() == []
    assert folder.verify()["ok"].all()


def test_what_was_taken_back_is_done_again_with_its_reason_and_note_also_in_the_next_kernel(
    folder: Store,
) -> None:
    lead = Adjudicator(folder)
    lead.rule("m1", "kind", False, note="As agreed.")
    lead.rule("m1", "warm", True)
    assert (lead.undo()["code"], lead.undo()["code"]) == ("warm", "kind")
    again = Adjudicator(Store(folder.path))
    first = again.redo()
    assert (first["code"], first["redone"], first["undone"]) == ("kind", True, False)
    assert (first["ruling"]["settled"], first["ruling"]["note"]) == ("absent", "As agreed.")
    assert again.redo()["code"] == "warm"
    assert again.redo()["type"] == "refused"
    assert [(act.code, act.applied) for act in folder.rulings()] == [("kind", False), ("warm", True)]
    assert folder.verify()["ok"].all()


def test_a_ruling_that_a_revision_voided_settles_nothing_when_it_is_done_again(folder: Store) -> None:
    lead = Adjudicator(folder)
    assert lead.rule("m1", "warm", True)["counts"]
    lead.undo()
    assert lead.redo()["counts"]
    lead.undo()
    book = edited(BASE, "warm", definition="Theirs.")
    Store(folder.path).revise(book, why="Theirs.", coder="chair")
    for coder, texts in CODED.items():  # they look at it again, and differ as before
        named = {"coder": coder, "unit_id": "m1", "codebook": book, "round": "open"}
        folder.append([*(acts.apply(code=code, **named) for code in texts["m1"]), acts.finish(**named)])
    redone = Adjudicator(Store(folder.path)).redo()
    assert (redone["code"], redone["redone"], redone["counts"]) == ("warm", True, False)
    assert redone["ruling"] is None
    assert folder.verify()["ok"].all()


def test_after_another_ruling_nothing_is_done_again(folder: Store) -> None:
    lead = Adjudicator(folder)
    lead.rule("m1", "kind", False)
    lead.undo()
    lead.rule("m1", "warm", True)
    assert lead.redo()["type"] == "refused"
    assert Adjudicator(folder, coder="chair").redo()["type"] == "refused"
    assert [act.code for act in folder.rulings()] == ["warm"]


def test_an_act_that_is_sent_again_is_recorded_once(folder: Store) -> None:
    lead = Adjudicator(folder)
    first = lead.rule("m1", "warm", True, id="00000000-0000-4000-8000-000000000001")
    again = Adjudicator(Store(folder.path))  # as after a killed kernel
    second = again.rule("m1", "warm", True, id="00000000-0000-4000-8000-000000000001")
    assert (first["type"], second["type"], second["ruling"]) == ("done", "done", first["ruling"])
    assert len(folder.acts(kind="rule")) == 1


def test_a_ruling_that_could_not_be_saved_is_the_same_when_it_is_sent_again(
    folder: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead = Adjudicator(folder)
    whole = folder.append

    def full(_: object) -> None:
        raise StoreError("no room")

    monkeypatch.setattr(lead.widget, "_save", full)
    answer = lead.rule("m1", "warm", True, id="00000000-0000-4000-8000-000000000002")
    assert (answer["type"], answer["message"]) == ("failed", "no room")
    assert (lead.widget.n_open, lead.ask("queue", by="split")["n_settled"]) == (5, 0)
    monkeypatch.setattr(lead.widget, "_save", whole)
    assert lead.rule("m1", "warm", True, id="00000000-0000-4000-8000-000000000002")["type"] == "done"


def test_another_leads_rulings_count_and_are_undone_by_nobody_else(store: Store) -> None:
    Adjudicator(store, coder="chair").rule("m1", "warm", False, note="Polite.")
    lead = Adjudicator(store)
    assert lead.ask("hello")["n_settled"] == 1
    assert lead.show("m1", "warm")["ruling"]["by"] == "chair"
    assert lead.undo()["type"] == "refused"
    assert lead.rule("m1", "warm", True)["ruling"]["by"] == "you"
    assert [act.applied for act in store.rulings()] == [True]


# blindness ------------------------------------------------------------------------------------------


def everything(lead: Adjudicator) -> str:
    """Ask all there is to ask, and return what was said."""
    for by in ("split", "code", "pair", "participant"):
        lead.ask("queue", by=by, fresh=True)
    lead.ask("hello")
    for unit_id in TEXTS:
        for code in BASE.ids:
            for kind in ("dispute", "similar"):
                lead.ask(kind, unit_id=unit_id, code=code)
    for unit_id, code in sorted(DISPUTED):
        lead.rule(unit_id, code, True, note="Because.")
        lead.ask("similar", unit_id=unit_id, code=code)
    lead.undo()
    change = {
        "code": "cold",
        "kind": "rule",
        "values": {"definition": "Closer."},
        "before": {"definition": "About cold."},
    }
    base = lead.ask("change", **change)["base"]
    lead.ask("save_change", **change, base=base, why="Unclear.")
    return json.dumps([*lead.heard, *lead.told])


def test_nothing_of_a_blind_round_reaches_an_answer(store: Store) -> None:
    store.append(decided("ana", "m2", "warm", round=None))
    said = everything(Adjudicator(store))
    assert BLIND not in said
    assert '"dee"' not in said
    assert "because blind: round 'blind'" in said
    # The same is there once the round is unblinded: the test would see it.
    store.append([rounds.unblind("blind", coder="chair", codebook=BASE)])
    shown = Adjudicator(store).show("m2", "warm")
    assert shown["text"] == TEXTS["m2"]
    assert [one["memos"] for one in shown["coders"] if one["coder"] == "dee"] == [
        [{"start": None, "end": None, "text": f"About {BLIND}."}]
    ]


def test_with_letters_no_name_is_in_any_answer(store: Store) -> None:
    store.append(
        [acts.memo(coder="cleo", text="Hm.", target_kind="unit", unit_id="m1", round="open", codebook=BASE)]
    )
    Adjudicator(store, coder="chair").rule("m1", "kind", False)
    lead = Adjudicator(store, letters=True)
    said = everything(lead)
    for name in ("ana", "ben", "cleo", "chair"):
        assert name not in said.replace("changed", "").replace("change", "")
    assert {one["coder"] for one in Adjudicator(store, letters=True).show("m1", "kind")["coders"]} == {
        "A",
        "B",
        "C",
    }
    assert '"another lead"' in said


def test_names_and_letters_are_exchanged_in_all_views(folder: Store) -> None:
    lead = Adjudicator(folder)
    lead.ask("queue", by="pair")
    assert lead.ask("names", letters=True) == {"type": "called"}
    told = lead.told[-1]
    assert (told["type"], told["letters"]) == ("named", True)
    assert {row["group"] for row in told["rows"]} == {"A – B", "A – C", "B – C"}
    lead.ask("names", letters=False)
    assert {row["group"] for row in lead.told[-1]["rows"]} == {"ana – ben", "ana – cleo", "ben – cleo"}


def test_codings_in_no_round_are_left_out_until_the_lead_says_so(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s", units=UNITS, codebook=BASE)
    for coder, codes in (("ana", ["warm"]), ("ben", [])):
        store.append(decided(coder, "m1", *codes, round=None))
    welcome = Adjudicator(store).ask("hello")
    assert welcome["rows"] == []
    assert "count it with without_round=True" in welcome["words"]
    assert keys(Adjudicator(store, without_round=True).ask("hello")) == [("m1", "warm")]


# similar texts --------------------------------------------------------------------------------------


def test_earlier_rulings_on_texts_with_the_same_words_are_found(folder: Store) -> None:
    lead = Adjudicator(folder)
    assert lead.ask("similar", unit_id="m1", code="warm")["rows"] == []
    lead.rule("m4", "warm", True, "unclear_rule", "Listening is warm.")
    lead.rule("m3", "warm", False)
    found = lead.ask("similar", unit_id="m1", code="warm")
    (row,) = found["rows"]
    assert (row["unit_id"], row["how"], row["settled"], row["note"]) == (
        "m4",
        "words",
        "applied",
        "Listening is warm.",
    )
    assert found["n_ruled"] == 2


def test_texts_alike_in_meaning_are_found_where_there_is_a_model(folder: Store) -> None:
    asked = []

    def embed(texts: list[str]) -> Any:
        asked.append(texts)
        return np.array([[1.0, 0.0] if "kind" in text or "to me" in text else [0.0, 1.0] for text in texts])

    lead = Adjudicator(folder, embed=embed)
    for unit_id in ("m3", "m4"):
        lead.rule(unit_id, "warm", True)
    rows = lead.ask("similar", unit_id="m1", code="warm")["rows"]
    assert [(row["unit_id"], row["how"]) for row in rows] == [("m4", "words"), ("m3", "meaning")]
    lead.ask("similar", unit_id="m1", code="warm")
    assert len(asked) == 1  # each text once

    def broken(_: list[str]) -> Any:
        raise RuntimeError(TEXTS["m1"])

    lead = Adjudicator(folder, embed=broken)
    found = lead.ask("similar", unit_id="m1", code="warm")
    assert [row["unit_id"] for row in found["rows"]] == ["m4"]
    assert found["note"] == "Compared by words only: the comparison by meaning failed (RuntimeError)."


# a change of the codebook ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["example", "counter_example"])
def test_a_text_becomes_an_example_and_nothing_becomes_stale(folder: Store, kind: str) -> None:
    lead = Adjudicator(folder)
    lead.rule("m1", "warm", True)
    wish = {"code": "warm", "kind": kind, "words": " It listened. "}
    shown = lead.ask("change", **wish)
    assert (shown["by_coder"], shown["n_rulings"], shown["n_leaving"]) == ([], 0, 0)
    assert folder.codebook == BASE
    assert lead.ask("save_change", **wish, base=shown["base"], why="Clear.")["type"] == "changed_code"
    code = Store(folder.path).codebook["warm"]
    assert getattr(code, f"{kind}s") == ("It listened.",)
    assert lead.ask("hello")["n_settled"] == 1
    assert lead.ask("change", **wish)["type"] == "refused"  # it is one already
    assert lead.told[-1]["type"] == "revised"


def test_a_sharpened_rule_says_first_what_becomes_stale_and_then_it_is(store: Store) -> None:
    lead = Adjudicator(store)
    lead.rule("m1", "warm", True)
    lead.rule("m5", "cold", True)
    wish = {
        "code": "warm",
        "kind": "rule",
        "values": {"definition": "Closer.", "use_when": ["It listens."]},
        "before": {"definition": "About warm.", "use_when": []},
    }
    shown = lead.ask("change", **wish)
    assert {row["coder"]: row["n"] for row in shown["by_coder"]} == {"ana": 4, "ben": 4, "cleo": 4}
    assert (shown["n_rulings"], shown["n_leaving"]) == (1, 3)
    assert lead.ask("save_change", **wish, base=shown["base"], why=" ")["type"] == "refused"
    assert lead.ask("save_change", **wish, base=shown["base"], why="Unclear.")["type"] == "changed_code"
    (revision,) = Store(store.path).revisions
    assert (revision.why, revision.coder) == ("Unclear.", "lead")
    after = lead.ask("hello")
    assert {code for _, code in keys(after)} == {"kind", "cold"}
    assert after["n_settled"] == 1


def test_a_change_that_another_lead_made_meanwhile_is_counted_anew(folder: Store) -> None:
    lead = Adjudicator(folder)
    wish = {"code": "warm", "kind": "example", "words": "It listened."}
    base = lead.ask("change", **wish)["base"]
    Store(folder.path).revise(edited(BASE, "warm", definition="Theirs."), why="Theirs.", coder="chair")
    refused = lead.ask("save_change", **wish, base=base, why="Mine.")
    assert refused["type"] == "refused"
    assert lead.told[-1]["codebook"]["codes"][0]["definition"] == "Theirs."
    rule = {
        "code": "warm",
        "kind": "rule",
        "values": {"definition": "Mine."},
        "before": {"definition": "About warm."},
    }
    overtaken = lead.ask("change", **rule)
    assert (overtaken["type"], overtaken["theirs"]) == ("overtaken", {"definition": "Theirs."})
    assert (overtaken["by"]["coder"], overtaken["by"]["why"]) == ("chair", "Theirs.")
    now = Store(folder.path).desk.current_codebook()
    assert "choose one" in lead.ask("save_change", **rule, base=now, why="Mine.")["message"]
    again = lead.ask("change", **wish)["base"]
    assert lead.ask("save_change", **wish, base=again, why="Mine.")["type"] == "changed_code"
    now = Store(folder.path).codebook["warm"]
    assert (now.definition, now.examples) == ("Theirs.", ("It listened.",))


def test_of_a_rule_that_two_leads_changed_each_field_is_put_together_or_chosen(folder: Store) -> None:
    lead = Adjudicator(folder)
    lead.ask("hello")
    before = {"definition": "About warm.", "use_when": [], "avoid_when": []}
    theirs = edited(edited(BASE, "warm", definition="Theirs."), "warm", use_when=("It asks.",))
    Store(folder.path).revise(theirs, why="Theirs.", coder="chair")
    lead.ask("queue", by="split", fresh=True)
    mine = {"code": "warm", "kind": "rule", "before": before}
    values = {**before, "definition": "Mine.", "avoid_when": ["It lectures."]}
    assert lead.ask("change", **mine, values=values)["theirs"] == {"definition": "Theirs."}
    chosen = {**before, "definition": "Theirs."}  # as the page has it once one is chosen
    wish = {"code": "warm", "kind": "rule", "before": chosen, "values": {**values, "definition": "Mine."}}
    base = lead.ask("change", **wish)["base"]
    assert lead.ask("save_change", **wish, base=base, why="Mine.")["type"] == "changed_code"
    now = Store(folder.path).codebook["warm"]
    assert (now.definition, now.use_when, now.avoid_when) == ("Mine.", ("It asks.",), ("It lectures.",))
    nothing = {"code": "warm", "kind": "rule", "before": before, "values": before}
    assert "was changed" in lead.ask("change", **nothing)["message"]


# what is no study, no lead, no word -----------------------------------------------------------------


def test_a_table_is_no_study() -> None:
    with pytest.raises(ArgumentError, match="an open study as store – found DataFrame"):
        AdjudicationWidget(UNITS, coder="lead")


@pytest.mark.postgres
def test_a_role_that_may_not_settle_is_told_so(postgres: Callable[..., str]) -> None:
    address = postgres()
    lead = Store.create(address, units=UNITS, codebook=BASE)
    lead.admin.add_coder("ana", role="settles_ana")
    of_ana = Store(postgres("settles_ana", address.rpartition("study=")[2]))
    try:
        with pytest.raises(
            StoreError, match=r"only a leading role settles disagreements, and this is a coder's"
        ):
            AdjudicationWidget(of_ana, coder="ana")
    finally:
        for one in (lead, of_ana):
            server.connect(str(one.path)).engine.dispose()


def test_no_words_of_the_study_are_in_the_traits(store: Store) -> None:
    lead = Adjudicator(store)
    lead.rule("m1", "warm", True, note="Sentinel-Wombat")
    everything(lead)
    state = json.dumps(lead.widget.get_state(), default=str) + repr(lead.widget)
    for words in ("listened", "Wombat", "ana", "Before it"):
        assert words not in state.replace("anywidget", "").replace("widget_manager", "")
    assert repr(lead.widget) == "AdjudicationWidget('lead', 0 open, 4 settled)"


def test_hostile_words_in_notes_and_examples_are_words(folder: Store) -> None:
    lead = Adjudicator(folder)
    for words in WORDS:
        done = lead.rule("m1", "warm", True, note=words)
        assert done["ruling"]["note"] == words.strip()
    lead.rule("m1", "warm", True, note="half \ud83d of an emoji")
    assert folder.rulings()[0].text == "half \ufffd of an emoji"
    for words in WORDS[:5]:
        wish = {"code": "kind", "kind": "example", "words": words}
        base = lead.ask("change", **wish)["base"]
        assert lead.ask("save_change", **wish, base=base, why=words)["type"] == "changed_code"
    assert Store(folder.path).codebook["kind"].examples == WORDS[:5]
    assert folder.verify()["ok"].all()

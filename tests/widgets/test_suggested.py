"""A model's suggestions in the coding widget: recorded first, and shown once a text is finished."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import Store, acts, agreement, rounds, suggestions
from sense7_qual.acts.contents import Suggested
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError, CodebookError
from tests.helpers.browser import SENSE7, SENTINEL
from tests.helpers.own_view import EVERYTHING, OwnView
from tests.helpers.suggested_texts import BOOK, DECIDED, SPANS, UNITS, embed

pytestmark = pytest.mark.long

N = 30
IDS = [f"m{place}" for place in range(N)]
LEFT_OUT = [place for place, out in enumerate(suggestions.withheld(IDS)) if out]
PLACE = next(place for place in range(N) if place not in LEFT_OUT)


def units() -> pd.DataFrame:
    texts = [f"👍🏽 It asked {place} {SENTINEL}. Then it told me what to do." for place in range(N)]
    cases = [f"p{place // 2}" for place in range(N)]
    return pd.DataFrame(
        {"unit_id": IDS, "text": texts, "document_id": "d", "case_id": cases, "position": range(N)}
    )


class Model:
    """Suggests interest on the words behind the emoji, and affective on the whole text."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, units: pd.DataFrame) -> pd.DataFrame:
        self.asked += units["unit_id"].tolist()
        rows = [
            row
            for unit_id in units["unit_id"]
            for row in (
                (unit_id, "affective", 0.4, True, None, None),
                (unit_id, "interest", 0.84321, True, 3, 11),
                (unit_id, "cognitive", 0.1, False, None, None),
            )
        ]
        return pd.DataFrame(rows, columns=["unit_id", "code", "probability", "suggested", "start", "end"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store.create(tmp_path / "study", units=units(), codebook=SENSE7)
    store.append([rounds.open_round("one", units=IDS, coders=["ana", "ben"], coder="lead", codebook=SENSE7)])
    return store


def do(view: OwnView, kind: str, place: int = PLACE, **named: object) -> dict[str, Any]:
    return view.ask("act", act={"kind": kind, "unit_id": IDS[place], **named})


def look(view: OwnView, place: int = PLACE) -> dict[str, Any]:
    """Ask for the suggestions of a text, and once more when they are there."""
    answer = view.ask("suggestions", place=place)
    if answer.get("state") == "waiting":
        view.widget._suggestions._later.join()
        answer = view.ask("suggestions", place=place)
    return answer


def states(answer: dict[str, Any]) -> dict[str, str]:
    return {row["code"]: row["state"] for row in answer["unit"]["suggestions"]["rows"]}


def test_nothing_of_a_model_is_sent_or_recorded_before_the_text_is_finished(store: Store) -> None:
    with_model = OwnView(store, suggest=Model())
    with_model.widget._suggestions._later.join()
    without = OwnView(store)
    for kind, named in EVERYTHING[:-2]:
        answer = with_model.ask(kind, **named)
        assert {**answer, "suggest": None} == {**without.ask(kind, **named), "suggest": None}
    assert look(with_model)["type"] == "refused"
    assert not store.acts(kind="show_suggestions")
    assert without.ask("hello")["suggest"] is None
    assert with_model.ask("hello")["suggest"] == "finished"
    do(with_model, "finish")
    assert "suggestions" in look(with_model)["unit"]
    with_model.widget._suggestions._later.join()
    assert SENTINEL not in str(with_model.widget.get_state()["n_units"]) + repr(
        with_model.widget._suggestions
    )


def test_what_is_shown_stands_in_the_record_first_with_its_words(store: Store) -> None:
    view = OwnView(store, suggest=Model())
    do(view, "apply", code="affective", start=None, end=None)
    do(view, "finish")
    answer = look(view)
    act = store.acts(kind="show_suggestions")[0]
    assert Suggested.from_text(act.text) == Suggested(
        model="Model",
        suggestions=(
            acts.contents.Suggestion(code="interest", probability=0.8432, start=3, end=11),
            acts.contents.Suggestion(code="affective", probability=0.4),
        ),
    )
    assert (act.coder, act.unit_id, act.round) == ("ana", IDS[PLACE], "one")
    # The browser counts in UTF-16: the emoji is four there, and two code points here.
    assert answer["unit"]["suggestions"] == {
        "withheld": False,
        "rows": [
            {"code": "interest", "probability": 0.8432, "start": 5, "end": 13, "state": "none"},
            {"code": "affective", "probability": 0.4, "start": None, "end": None, "state": "agreed"},
        ],
    }
    assert look(view) == answer
    assert look(OwnView(store, suggest=Model()))["unit"] == answer["unit"]  # what was shown once stays
    assert len(store.acts(kind="show_suggestions")) == 1
    assert store.codings()["code"].tolist() == ["affective"]
    assert store.verify()["ok"].all()


@pytest.mark.parametrize(
    ("steps", "answer"),
    [
        ([("apply", {"code": "interest", "start": 5, "end": 13})], "accepted"),
        ([("apply", {"code": "interest", "start": 5, "end": 8})], "edited"),
        ([("reject_suggestion", {"code": "interest"})], "rejected"),
        ([("reject_suggestion", {"code": "interest"}), ("undo", {})], "none"),
        ([("apply", {"code": "interest", "start": 5, "end": 13}), ("undo", {})], "none"),
        ([("reject_suggestion", {"code": "interest"}), ("undo", {}), ("redo", {})], "rejected"),
    ],
)
def test_what_a_coder_makes_of_a_suggestion_is_told_from_the_record(
    store: Store, steps: list[tuple[str, dict[str, Any]]], answer: str
) -> None:
    view = OwnView(store, suggest=Model())
    do(view, "finish")
    look(view)
    for kind, named in steps:
        done = do(view, kind, **named)
        assert done["type"] == "done", done
    assert states(done) == {"interest": answer, "affective": "none"}
    made = suggestions.answers(store.acts())
    assert made.set_index("code")["answer"].to_dict() == {"interest": answer, "affective": "none"}
    assert done["unit"]["finished"]


def test_decisions_before_suggestions_are_those_that_stood_before_they_were_shown(store: Store) -> None:
    view = OwnView(store, suggest=Model())
    do(view, "apply", code="affective", start=None, end=None)
    do(view, "finish")
    do(view, "finish", PLACE + 1 + (PLACE + 1 in LEFT_OUT))
    look(view)
    do(view, "apply", code="interest", start=5, end=13)
    do(view, "remove", code="affective", start=None, end=None)
    ben = {"coder": "ben", "unit_id": IDS[PLACE], "codebook": SENSE7, "round": "one"}
    store.append([acts.apply(code="affective", **ben), acts.finish(**ben)])

    def applied(frame: pd.DataFrame) -> set[tuple[str, str]]:
        return set(frame.loc[frame["applied"], ["coder", "code"]].itertuples(index=False, name=None))

    after, before = store.decisions(settled_by="nothing"), store.decisions()
    assert applied(after) == {("ana", "interest"), ("ben", "affective")}
    assert applied(before) == {("ana", "affective"), ("ben", "affective")}
    assert len(before) == len(after)
    change = agreement.difference(before, after, units=store.units, cluster="case_id").set_index("code")
    assert change.loc["affective", "n_changed"] == change.loc["interest", "n_changed"] == 1
    assert suggestions.shown(store.acts()).to_dict() == {IDS[PLACE]: True}


def test_shown_from_the_start_nothing_counts_as_decided_before(store: Store) -> None:
    store.set_options(suggestions="shown", coder="lead")
    view = OwnView(store, suggest=Model())
    assert view.ask("hello")["suggest"] == "shown"
    assert states(look(view))["interest"] == "none"
    do(view, "finish")
    assert len(store.decisions(settled_by="nothing"))
    assert store.decisions().empty
    assert suggestions.answers(store.acts())["when"].unique().tolist() == ["shown"]


def screening(codebook: Codebook = SENSE7) -> suggestions.Screening:
    """Of the texts here "cognitive" is decided absent and "affective" present; the rest is for people."""
    sample = [f"s{n}" for n in range(1_000)]
    everything = pd.DataFrame({"unit_id": [*sample, *IDS]})
    everything["case_id"] = [f"c{n // 4}" for n in range(1_000)] + units()["case_id"].tolist()
    dice = np.random.default_rng(1)
    sure = {
        "cognitive": np.where(dice.random(1_000) < 0.7, 0.002, 0.9),
        "affective": np.where(dice.random(1_000) < 0.5, 0.1, 0.995),
    }
    rows, decided = [], []
    for code in codebook.codable:
        chance = sure.get(code.id, np.full(1_000, 0.4))
        here = {"cognitive": 0.002, "affective": 0.995}.get(code.id, 0.4)
        rows.append(everything.assign(code=code.id, probability=[*chance, *[here] * N]))
        decided.append(
            pd.DataFrame({"unit_id": sample, "code": code.id, "applied": dice.random(1_000) < chance})
        )
    made = pd.concat(rows).assign(suggested=False, start=None, end=None).drop(columns="case_id")
    decisions = pd.concat(decided).assign(coder="ana")
    return suggestions.screen(made, decisions, codebook, units=everything)


def test_what_a_screening_decided_absent_is_dimmed_and_is_no_act(store: Store) -> None:
    screened = screening()
    verdicts = screened.verdicts[screened.verdicts["unit_id"] == IDS[PLACE]].set_index("code")["verdict"]
    assert verdicts[["cognitive", "affective", "interest"]].tolist() == ["absent", "present", "people"]
    store.set_options(suggestions="shown", coder="lead")
    view = OwnView(store, suggest=Model(), screening=screened)
    for place in (PLACE, LEFT_OUT[0]):
        # None that it decided present: who passes over it would code it absent. None where none is suggested.
        assert look(view, place)["absent"] == (["cognitive"] if place == PLACE else [])
    recorded = [act.kind for act in store.acts(coder="ana")]
    assert recorded == ["show_suggestions"] * 2  # as without a screening: of dimming there is no act
    assert store.codings().empty
    assert store.decisions().empty
    assert do(view, "apply", code="cognitive", start=None, end=None)["type"] == "done"
    do(view, "finish")
    assert store.decisions().empty  # what was decided after suggestions is not independent
    decided = store.decisions(settled_by="nothing").set_index("code")["applied"]
    assert decided["cognitive"]  # the person's own act counts
    assert not decided["affective"]


@pytest.mark.parametrize("switch", ["finished", "never", "another codebook", "no screening"])
def test_nothing_is_dimmed_where_suggestions_are_not_to_be_shown(store: Store, switch: str) -> None:
    named: dict[str, Any] = {} if switch == "no screening" else {"screening": screening()}
    if switch in ("finished", "never"):
        store.set_options(suggestions=switch, coder="lead")
    if switch == "another codebook":
        clearer = replace(SENSE7.codes[0], definition="Another one.")
        store.revise(replace(SENSE7, codes=(clearer, *SENSE7.codes[1:])), why="It was vague.", coder="lead")
    view = OwnView(store, suggest=Model(), **named)
    if switch in ("finished", "never"):
        assert look(view)["type"] == "refused"
        assert "absent" not in str(view.ask("unit", place=PLACE))
    do(view, "finish")
    answer = look(view)
    assert answer["type"] == ("refused" if switch == "never" else "suggestions")
    assert answer.get("absent", []) == (["cognitive"] if switch == "finished" else [])


def test_a_screening_without_a_suggester_is_refused(store: Store) -> None:
    with pytest.raises(ArgumentError, match="pass the suggester, too"):
        OwnView(store, screening=screening())


@pytest.mark.nightly
def test_a_random_tenth_gets_nothing_and_that_is_recorded(store: Store) -> None:
    model = Model()
    view = OwnView(store, suggest=model)
    for place in range(N):
        view.ask("unit", place=place)
        view.widget._suggestions._later.join()
    assert sorted(model.asked) == sorted(IDS[place] for place in range(N) if place not in LEFT_OUT)
    for place in range(N):
        do(view, "finish", place)
        answer = look(view, place)
        assert answer["unit"]["suggestions"]["withheld"] is (place in LEFT_OUT)
        assert bool(answer["unit"]["suggestions"]["rows"]) is (place not in LEFT_OUT)
    shown = suggestions.shown(store.acts())
    assert sorted(shown[~shown].index) == sorted(IDS[place] for place in LEFT_OUT)
    assert len(LEFT_OUT) in range(1, 7)
    for place in (PLACE, LEFT_OUT[0]):
        do(view, "apply", place, code="interest", start=None, end=None)
    before = store.decisions()
    assert before.loc[before["applied"], "unit_id"].tolist() == [IDS[LEFT_OUT[0]]]
    effect = suggestions.effect(store.decisions(settled_by="nothing"), shown, units=store.units)
    assert effect["n_withheld"].unique().tolist() == [len(LEFT_OUT)]


@pytest.mark.parametrize("switch", ["never", "training", "no model"])
def test_without_suggestions_nothing_is_asked_of_a_model(store: Store, switch: str) -> None:
    model = Model()
    named: dict[str, Any] = {} if switch == "no model" else {"suggest": model}
    if switch == "never":
        store.set_options(suggestions="never", coder="lead")
    if switch == "training":
        gold = pd.DataFrame(
            [(i, code.id, False) for i in IDS for code in SENSE7.codable],
            columns=["unit_id", "code", "applied"],
        )
        opening = rounds.open_round(
            "gold", units=IDS, coders=["ana"], coder="lead", codebook=SENSE7, gold=gold
        )
        store.append([opening])
        named["round"] = "gold"
    view = OwnView(store, **named)
    assert view.ask("hello")["suggest"] is None
    view.ask("unit", place=PLACE)
    do(view, "finish")
    assert view.ask("suggestions", place=PLACE)["type"] == "refused"
    view.widget._suggestions._later.join()
    assert not model.asked
    assert not store.acts(kind="show_suggestions")


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda units: Model()(units).assign(code="nothing").head(1), "nothing"),
        (lambda units: units[["unit_id"]], "suggestions"),
        (lambda units: {}[units["text"].iloc[0]], "KeyError"),
    ],
)
def test_a_model_that_fails_is_named_without_a_word_of_the_text_and_coding_goes_on(
    store: Store, model: Any, words: str
) -> None:
    view = OwnView(store, suggest=model)
    do(view, "finish")
    answer = look(view)
    assert answer["state"] == "failed"
    assert words in answer["message"]
    assert SENTINEL not in str(answer)
    assert not store.acts(kind="show_suggestions")
    assert do(view, "finish", PLACE + 1)["type"] == "done"


def test_what_cannot_be_recorded_is_not_shown(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    view = OwnView(store, suggest=Model())
    do(view, "finish")
    view.widget._suggestions._later.join()

    def full(_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(view.widget._recorder, "_append_after", full)
    answer = look(view)
    assert answer["type"] == "failed"
    assert "No space left" in answer["message"]
    assert "interest" not in str(answer)
    monkeypatch.undo()
    assert not store.acts(kind="show_suggestions")
    assert states(look(view)) == {"interest": "none", "affective": "none"}


def test_only_a_suggested_code_can_be_rejected(store: Store) -> None:
    view = OwnView(store, suggest=Model())
    assert do(view, "reject_suggestion", code="interest")["type"] == "refused"
    do(view, "finish")
    look(view)
    assert do(view, "reject_suggestion", code="cognitive")["type"] == "refused"
    with pytest.raises(CodebookError):
        acts.contents.reject_suggestion(coder="ana", unit_id="m0", code="none", codebook=SENSE7)


def learned(
    tmp_path: Path, *, coder: str | None, decided: pd.DataFrame = DECIDED, units: pd.DataFrame = UNITS
) -> tuple[Store, Any]:
    """Return a study of which ben coded a part, and a suggester that learned from those decisions."""
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    ids = units["unit_id"].tolist()
    store.append([rounds.open_round("one", units=ids, coders=["ana", "ben"], coder="lead", codebook=BOOK)])
    for who in decided["coder"].unique():
        own = decided[decided["coder"] == who]
        spans = SPANS.merge(own[own["applied"]], on=["unit_id", "code"], suffixes=("", "_of"))
        batch = [
            acts.apply(
                coder=who,
                unit_id=row.unit_id,
                code=row.code,
                start=row.start,
                end=row.end,
                codebook=BOOK,
                round="one",
            )
            for row in spans.itertuples()
        ]
        finished = [
            acts.finish(coder=who, unit_id=i, codebook=BOOK, round="one") for i in own["unit_id"].unique()
        ]
        store.append([*batch, *finished])
    suggester = suggestions.fit(
        units, store.decisions(), BOOK, embed=embed, codings=store.codings(), coder=coder
    )
    return store, suggester


def test_a_suggester_that_learned_from_blind_colleagues_is_refused(tmp_path: Path) -> None:
    half = UNITS["unit_id"].tolist()[:60]
    both = DECIDED[DECIDED["unit_id"].isin(half)]
    decided = pd.concat([both, both.assign(coder="ben")], ignore_index=True)
    store, of_all = learned(tmp_path, coder=None, decided=decided)
    with pytest.raises(ArgumentError, match=r"learned from the coding of 'ben'.*coder='ana'"):
        OwnView(store, suggest=of_all)
    own = suggestions.fit(UNITS, store.decisions(), BOOK, embed=embed, coder="ana")
    OwnView(store, suggest=own)
    of_consensus = suggestions.fit(UNITS, store.decisions(settled_by="rulings"), BOOK, embed=embed)
    with pytest.raises(ArgumentError, match="ben"):
        OwnView(store, suggest=of_consensus)
    store.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    OwnView(store, suggest=of_all)


@pytest.mark.nightly
def test_the_nearest_quotes_are_one_s_own_codings_alone(tmp_path: Path) -> None:
    second, first = UNITS["unit_id"].tolist()[:50], UNITS["unit_id"].tolist()[50:90]
    of_ben = UNITS["unit_id"].isin(second)
    units = UNITS.assign(text=UNITS["text"].where(~of_ben, UNITS["text"].str.upper()))
    decided = pd.concat(
        [
            DECIDED[DECIDED["unit_id"].isin(first)],
            DECIDED[DECIDED["unit_id"].isin(second)].assign(coder="ben"),
        ],
        ignore_index=True,
    )
    store, suggester = learned(tmp_path, coder=None, decided=decided, units=units)
    store.append([rounds.unblind("one", coder="lead", codebook=BOOK)])
    view = OwnView(store, suggest=suggester)
    own = {
        UNITS.set_index("unit_id")["text"][row.unit_id][row.start : row.end]
        for row in store.codings(coder="ana").itertuples()
    }
    seen = []
    for place in range(90, 120):
        view.ask("act", act={"kind": "finish", "unit_id": UNITS["unit_id"][place]})
        for quotes in look(view, place).get("quotes", {}).values():
            assert len(quotes) <= 3
            seen += quotes
    assert seen
    assert set(seen) <= own
    assert {"ana", "ben"} == set(suggester.parameters["coders"])


def test_of_a_withdrawn_participant_nothing_remains(store: Store) -> None:
    view = OwnView(store, suggest=Model())
    do(view, "finish")
    look(view)
    store.forget(f"p{PLACE // 2}", why="By mail.")
    assert store.acts(kind="show_suggestions")[0].text is None
    assert suggestions.answers(store.acts()).empty
    assert suggestions.shown(store.acts()).empty
    assert store.decisions().empty
    assert store.verify()["ok"].all()


def test_a_study_takes_no_suggestions_that_do_not_fit_it(store: Store) -> None:
    mine = {"coder": "ana", "unit_id": "m0", "codebook": SENSE7, "model": "words", "round": "one"}
    long = acts.contents.show_suggestions(
        **mine, suggestions=[acts.contents.Suggestion(code="interest", start=0, end=900)]
    )
    with pytest.raises(ActError, match="inside the text"):
        store.append([long])
    stranger = acts.contents.show_suggestions(**{**mine, "coder": "cleo"})
    with pytest.raises(ActError, match="expected a coder of round"):
        store.append([stranger])
    assert not store.acts(kind="show_suggestions")

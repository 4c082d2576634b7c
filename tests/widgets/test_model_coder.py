"""The widget of a model that codes, asked as a browser asks: what it sends, hides and records."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, coders, rounds
from sense7_qual.codebook import Code
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.store import Store
from sense7_qual.widgets import ModelCoderWidget
from tests.helpers.browser import new_id
from tests.helpers.scripted_model import CODEBOOK, Model, answering, quoting, says, texts


class Lead:
    """The widget of the lead, and what it says: to this browser, and to all views."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.widget = ModelCoderWidget(store, coder="lead", **options)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))
        self.ask("hello")
        self.wait()

    def ask(self, kind: str, **named: Any) -> dict[str, Any]:
        self.widget._receive(self.widget, {"type": kind, "client": "c", "id": new_id(), **named}, [])
        return self.heard[-1]

    def wait(self) -> dict[str, Any]:
        """Return how far it is once nothing is being done."""
        for later in ("_preparing", "_coding", "_recording"):
            getattr(self.widget, later).join()
        return [one for one in self.told if one["type"] == "state"][-1]

    def send(self, kind: str) -> dict[str, Any]:
        """Agree to what is on the screen, ask, and wait until that is done."""
        assert self.ask(kind, consent=self.wait()["cost"])["type"] == "begun"
        return self.wait()

    def shown(self, place: int, code: str = "sound") -> dict[str, Any]:
        return self.ask("text", place=place, code=code)

    @property
    def failed(self) -> list[str]:
        return [one["message"] for one in self.told if one["type"] == "undone"]


@pytest.fixture
def model() -> Iterator[Model]:
    with answering(quoting) as made:
        yield made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "pilot", units=texts(12), codebook=CODEBOOK, lead="lead")


def unagreed(model: Model, **settings: Any) -> Any:
    return dataclasses.replace(model.chat(**settings), consent=None)


def test_the_prompts_are_read_before_anything_leaves(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model))
    asked = coders.prompts(store.units, CODEBOOK).set_index(["unit_id", "code"])["messages"]
    for place, code in ((0, "sound"), (11, "flawed")):
        shown = lead.shown(place, code)
        assert shown["messages"] == asked[shown["unit_id"], code]
    state = lead.wait()
    assert "24 prompts, of 12 texts × 2 codes" in state["cost"]
    assert lead.ask("code", consent="")["type"] == "refused"
    assert lead.ask("code", consent="I agree")["message"].startswith("chat: nothing was sent")
    assert lead.ask("record")["type"] == "refused"
    assert (model.asked.total(), state["n_prompts"], state["n_answers"]) == (0, 24, 0)


def test_a_prompt_is_shown_as_it_is_redacted(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model, redact=lambda text: text.replace(text.split()[0], "REDACTED")))
    shown = lead.shown(0)
    sent = json.loads(shown["messages"][1]["content"])[-1]["content"]
    assert sent == shown["text"].replace(shown["text"].split()[0], "REDACTED")
    assert "redacted" in lead.wait()["cost"]


def test_without_a_model_the_prompts_can_be_read_and_nothing_sent(store: Store) -> None:
    lead = Lead(store)
    assert lead.shown(0)["messages"]
    assert lead.ask("try", consent="")["message"].startswith("chat: there is no language model")


def test_five_are_tried_then_the_rest_is_coded_and_recorded_as_one_run(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model), lead_codes=False)
    tried = lead.send("try")
    assert (model.asked.total(), tried["n_answers"], tried["complete"]) == (10, 10, False)
    assert "14 prompts" in tried["cost"]
    assert lead.widget.run is None
    coded = lead.send("code")
    assert (model.asked.total(), max(model.asked.values()), coded["complete"]) == (24, 1, True)
    whole = coders.code(store.units, CODEBOOK, chat=model.chat(), coder="model-a")
    run = lead.widget.run
    assert run is not None
    assert run.answers.equals(whole.answers)
    assert run.card["tokens"] == whole.card["tokens"] == [2_400, 48]
    assert run.card["answered_as"] == whole.card["answered_as"]
    assert lead.ask("record")["type"] == "begun"
    assert lead.wait()["recorded"]
    assert lead.failed == []
    recorded = [act.act_id for act in store.acts(coder="model-a")]
    assert recorded == [act.act_id for act in run.acts(CODEBOOK)]
    assert {act.kind for act in store.acts(coder="lead")} == {"open_round", "set_options"}
    lead.ask("record")
    lead.wait()
    assert len(store.acts(coder="model-a")) == len(recorded)


def test_what_was_answered_stays_after_a_stop_and_an_error_and_is_not_asked_again(
    store: Store, model: Model
) -> None:
    lead = Lead(store, chat=unagreed(model), lead_codes=False)

    def stop_at_seven(number: int) -> None:
        if number == 7:
            lead.ask("stop")

    model.before_answer = stop_at_seven
    stopped = lead.send("code")
    assert (stopped["doing"], stopped["n_answers"], stopped["complete"]) == ("", 7, False)
    assert [lead.shown(place)["verdicts"]["sound"] != "" for place in range(8)] == [True] * 7 + [False]
    assert lead.ask("record")["type"] == "refused"

    def fail(number: int) -> None:
        raise OSError

    model.before_answer = fail
    assert lead.send("code")["n_answers"] == 7
    assert len(lead.failed) == 1
    model.before_answer = lambda number: None
    assert lead.send("code")["complete"]
    assert sum(model.answered.values()) == 24


def test_a_consent_is_for_the_codebook_that_was_on_the_screen(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model), lead_codes=False)
    agreed = lead.wait()["cost"]
    third = Code(id="third", label="Third", definition="Another.")
    Store(store.path).revise(
        dataclasses.replace(CODEBOOK, codes=(*CODEBOOK.codes, third)), why="Test.", coder="lead"
    )
    lead.ask("code", consent=agreed)
    assert lead.wait()["n_prompts"] == 36
    assert model.asked.total() == 0
    assert "because the codebook changed" in lead.failed[0]
    assert lead.send("code")["complete"]
    assert (model.asked.total(), lead.shown(0, "third")["verdicts"]["third"] != "") == (36, True)


def test_nothing_is_sent_of_who_withdrew_meanwhile(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model), lead_codes=False)
    agreed = lead.wait()["cost"]
    case = store.units["case_id"][0]
    gone = store.units.loc[store.units["case_id"] == case, "text"].tolist()
    Store(store.path).forget(case, why="asked to")
    lead.ask("code", consent=agreed)
    assert lead.wait()["complete"]
    assert not [
        text
        for text in gone
        for asked in model.asked
        if json.dumps(text)[1:-1] in json.loads(asked)[1]["content"]
    ]
    assert model.asked.total() == 2 * (12 - len(gone))


def finished(store: Store, places: list[int], coder: str = "lead", **more: Any) -> None:
    ids = store.units["unit_id"]
    store.append([acts.finish(coder=coder, unit_id=ids[n], codebook=CODEBOOK, **more) for n in places])


def seen(lead: Lead) -> set[int]:
    return {place for place in range(12) if not lead.shown(place)["hidden"]}


def test_answers_are_hidden_on_texts_that_the_lead_has_yet_to_finish(store: Store, model: Model) -> None:
    lead = Lead(store, chat=unagreed(model))
    assert lead.send("code")["n_hidden"] == 12
    for place in range(12):
        shown = lead.shown(place)
        assert (shown["hidden"], shown["answer"], shown["verdicts"]) == (True, None, {})
    missing = lead.ask("missing")["rows"]
    assert [row["texts"] for row in missing] == [[]] * len(missing)
    assert sum(row["n"] for row in missing) == sum(row["n_hidden"] for row in missing) > 0
    finished(store, [0, 3])
    lead.widget._acted()  # as after each cell, and when another widget saved something
    lead.wait()
    assert seen(lead) == {0, 3}
    told = {row["unit_id"] for one in lead.ask("missing")["rows"] for row in one["texts"]}
    assert told <= set(store.units["unit_id"][[0, 3]])
    assert seen(Lead(store, chat=unagreed(model), lead_codes=False)) == set(range(12))


def test_what_others_are_assigned_need_not_be_coded_by_the_lead(store: Store, model: Model) -> None:
    ids = store.units["unit_id"].tolist()
    named = {"coder": "lead", "codebook": CODEBOOK}
    store.append([rounds.open_round("one", units=ids[:6], coders=["ana", "lead"], **named)])
    store.append([rounds.open_round("two", units=ids[4:8], coders=["ana", "ben"], **named)])
    lead = Lead(store, chat=unagreed(model))
    assert seen(lead) == {6, 7, 8, 9, 10, 11}
    tried = lead.ask("try", consent=lead.wait()["cost"])["places"]
    lead.wait()
    assert len(tried) == 5
    assert set(tried) <= seen(lead)  # those whose answers may be read come first
    finished(store, [0, 1], round="one")
    finished(store, [2], coder="ana", round="one")
    finished(store, [3])  # in no round
    assert seen(Lead(store, chat=unagreed(model))) == {0, 1, 6, 7, 8, 9, 10, 11}


def test_a_recorded_model_assigns_nothing_to_people(store: Store, model: Model) -> None:
    first = Lead(store, chat=unagreed(model))
    first.send("code")
    first.ask("record")
    first.wait()
    assert seen(Lead(store, chat=unagreed(model))) == set()


def test_the_quote_is_in_the_browsers_units_and_a_missing_answer_says_why(tmp_path: Path) -> None:
    units = texts(3).assign(text=["👍🏽 It listened well to me.", "It did not, I fear.", "  "])
    store = Store.create(tmp_path / "s", units=units, codebook=CODEBOOK)
    with answering(lambda label, turns: says("yes", "listened well" if label == "Sound" else "")) as model:
        lead = Lead(store, chat=unagreed(model), lead_codes=False)
        assert lead.send("code")["complete"]
        said = lead.shown(0)["answer"]
        utf16 = units["text"][0].encode("utf-16-le")
        assert utf16[2 * said["start"] : 2 * said["end"]].decode("utf-16-le") == "listened well"
        assert (said["verdict"], said["why"], said["reason"]) == ("yes", "because", "")
        said = lead.shown(1)["answer"]
        assert (said["verdict"], "not in the text" in said["reason"]) == ("missing", True)
        assert lead.shown(2)["messages"] == []
        counted = {row["reason"]: row["n"] for row in lead.ask("missing")["rows"]}
    refused = lead.widget.run.refused["reason"]
    assert (
        counted
        == refused.value_counts().to_dict()
        == {"quote_not_in_text": 1, "no_quote": 2, "blank_text": 2}
    )


def test_your_own_function_is_asked_after_a_consent_too(store: Store) -> None:
    asked = []

    def own(messages: Any) -> str:
        asked.append(messages)
        return says("no")

    lead = Lead(store, chat=own, lead_codes=False)
    assert "24 prompts" in lead.wait()["cost"]
    assert lead.ask("code", consent="")["type"] == "refused"
    assert asked == []
    assert lead.send("code")["complete"]
    assert len(asked) == 24


def test_variants_are_asked_and_only_the_base_is_shown(store: Store, model: Model) -> None:
    plan = coders.variants(runs=2, orders=1, wordings=["plain"], n=3)
    lead = Lead(store, chat=unagreed(model), plan=plan, lead_codes=False)
    assert lead.send("code")["n_answers"] == 30
    assert lead.widget.run.answers["variant"].value_counts().to_dict() == {"base": 24, "run 2": 6}


def test_only_an_open_study_and_the_name_of_a_model_are_taken(store: Store) -> None:
    with pytest.raises(ArgumentError, match="ModelCoderWidget: expected an open study"):
        ModelCoderWidget(store.units)
    with pytest.raises(ArgumentError, match="expected the name of a model"):
        ModelCoderWidget(store, model="ana")
    with pytest.raises(ActError):
        ModelCoderWidget(store, coder="a b")

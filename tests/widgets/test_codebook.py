"""The codebook widget asked as a browser asks: drafts, quotes, proposals, conflicts, saving, split texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, codings, rounds
from sense7_qual._present import coefficient
from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, CodebookError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.widgets import CodebookWidget
from sense7_qual.widgets._lead import IN_KERNEL
from tests.helpers.lead import Lead
from tests.helpers.revised_codebooks import BASE, edited
from tests.helpers.simulation import SOAK
from tests.helpers.small_themes import to_record

pytestmark = pytest.mark.long

BLIND = "Sentinel-Quokka"
TEXTS = {"m1": "It listened 👍🏽 to me.", "m2": f"Only {BLIND} knows.", "m3": "So kind of it.", "m4": "No."}
UNITS = pd.DataFrame(
    {
        "unit_id": list(TEXTS),
        "text": list(TEXTS.values()),
        "document_id": "d",
        "case_id": ["p", "p", "q", "q"],
        "position": range(4),
    }
)


def coded(coder: str, unit_id: str, *codes: str, round: str | None = "open", **span: int) -> list[Act]:
    named: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": BASE, "round": round}
    return [*(acts.apply(code=code, **named, **span) for code in codes), acts.finish(**named)]


def rounds_of(store: Store) -> None:
    """Ana, ben and the lead code two texts in an unblinded round, cleo and ben two others blind."""
    for name, units, coders in (
        ("open", ["m1", "m3"], ["ana", "ben", "lead"]),
        ("blind", ["m2", "m4"], ["cleo", "ben"]),
    ):
        store.append([rounds.open_round(name, units=units, coders=coders, coder="chair", codebook=BASE)])
    store.append(coded("ana", "m1", "warm", start=3, end=11))
    store.append(coded("ana", "m3", "warm", "kind"))
    store.append(coded("ben", "m1", "kind"))
    store.append(coded("ben", "m3", "warm"))
    store.append(coded("lead", "m1", "warm", start=3, end=11))
    store.append([rounds.unblind("open", coder="chair", codebook=BASE)])
    store.append(coded("cleo", "m2", "warm", round="blind", start=5, end=20))


IN_BOTH = {
    "test_nothing_of_a_blind_round_reaches_an_answer",
    "test_figures_are_those_of_the_statistics",
    "test_a_proposal_becomes_a_code_and_its_coder_is_told_once_it_is_saved",
    "test_what_two_people_changed_differently_is_chosen_field_by_field",
    "test_a_failure_to_save_keeps_the_draft",
    "test_a_split_text_is_told_its_part_and_no_coders_own_decision_is_changed",
}
"""What touches the store in a way of its own; the rest runs on PostgreSQL in `make soak`."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "store" in metafunc.fixturenames:
        both = SOAK or metafunc.function.__name__ in IN_BOTH
        kinds = [
            "folder",
            *[pytest.param("postgresql", marks=[pytest.mark.nightly, pytest.mark.postgres])] * both,
        ]
        metafunc.parametrize("store", kinds, indirect=True)


def with_rounds(path: Path) -> None:
    rounds_of(Store.create(path, units=UNITS, codebook=BASE))


@pytest.fixture
def store(
    request: pytest.FixtureRequest, copied: Callable[[Callable[[Path], object]], Store]
) -> Iterator[Store]:
    if request.param == "folder":
        yield copied(with_rounds)
        Lead.end_counting()
        return
    address: Callable[..., str] = request.getfixturevalue("postgres")
    made = Store.create(address(), units=UNITS, codebook=BASE)
    for coder in ("ana", "ben", "cleo", "lead", "chair"):
        made.admin.add_coder(coder)
    rounds_of(made)
    yield made
    Lead.end_counting()
    server.connect(str(made.path)).engine.dispose()


def propose(
    store: Store, label: str = "Hope", *, coder: str = "ana", round: str | None = "open", unit_id: str = "m1"
) -> str:
    named: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": BASE, "round": round}
    act = acts.propose(label=label, definition="Looks forward.", start=3, end=11, **named)
    store.append([act])
    return act.act_id


# the draft ------------------------------------------------------------------------------------------


def test_a_step_changes_the_draft_of_all_views_and_never_the_study(store: Store) -> None:
    lead = Lead(store)
    assert lead.ask("hello")["steps"] == []
    assert lead.edit("warm", label="Warmth") == {"type": "changed"}
    draft = lead.counted("preview") and next(one for one in lead.told if one["type"] == "draft")
    assert draft["said"] == ["changed label of Warmth"]
    assert draft["codes"][0]["altered"] == ["label"]
    assert (lead.widget.n_steps, lead.widget.draft["warm"].label) == (1, "Warmth")
    assert store.codebook == BASE
    assert store.revisions == ()
    refused = lead.edit("warm", label="Kind")
    assert refused["type"] == "refused"
    assert "code 'kind' already has this label" in refused["message"]
    lead.ask("undo")
    assert lead.widget.draft == BASE
    lead.ask("redo")
    assert lead.widget.draft["warm"].label == "Warmth"
    lead.ask("leave_out", place=0)
    assert lead.widget.draft == BASE


def test_a_message_that_is_asked_again_is_done_once(store: Store) -> None:
    lead = Lead(store)
    message = {"type": "step", "client": "c", "id": "same", "step": {"do": "add", "label": "Hope"}}
    for _ in range(2):
        lead.widget._receive(lead.widget, message, [])
    assert [one["type"] for one in lead.heard] == ["changed", "changed"]
    assert lead.widget.draft.ids == (*BASE.ids, "hope")


def test_the_next_kernel_takes_the_steps_over_that_a_page_kept(store: Store) -> None:
    lead = Lead(store)
    lead.step("split", code="warm", parts=[{"label": "Close"}, {"label": "Soft"}])
    lead.edit("kind", definition="Other.")
    lead.ask("undo")
    kept = next(one for one in reversed(lead.told) if one["type"] == "draft")
    store.revise(edited(BASE, "cold", label="Icy"), why="Meanwhile.", coder="chair")
    store.desk.keep_draft("codebook", None, coder="lead")  # as where a study keeps none
    new = Lead(Store(store.path))
    welcome = new.ask("hello")
    assert welcome["work_id"] == lead.ask("hello")["work_id"]
    assert welcome["base"] != kept["base"]
    new.ask("restore", base=kept["base"], steps=kept["steps"], undone=kept["undone"])
    assert new.widget.draft == lead.widget.draft
    assert next(one for one in new.told if one["type"] == "draft")["moved_on"]
    new.ask("redo")
    assert new.widget.draft["kind"].definition == "Other."
    assert new.ask("restore", base="0" * 32, steps=[], undone=[])["type"] == "refused"


def test_a_page_loaded_anew_finds_the_draft_that_was_not_saved(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Warmth")
    lead.edit("kind", label="Care")
    lead.ask("undo")
    again = Lead(Store(store.path))
    assert again.widget.n_steps == 1
    welcome = again.ask("hello")
    assert (welcome["said"], len(welcome["undone"])) == (["changed label of Warmth"], 1)
    assert Lead(store, coder="chair").widget.n_steps == 0
    given = Lead(store, draft=edited(BASE, "cold", label="Icy"))
    assert given.widget.draft["warm"].label == BASE["warm"].label
    again.ask("save", why="It says it better.")
    assert Lead(store).widget.n_steps == 0
    Lead(store).edit("cold", label="Frosty")
    Lead(store).ask("discard")
    assert Lead(store).widget.n_steps == 0


def test_what_is_typed_outlives_kernel_and_page_until_it_is_a_step(store: Store) -> None:
    lead = Lead(store)
    typed = {"field warm definition": "Half a sen", "why": "Bec", "add label": "Ho"}
    assert lead.ask("keep", typed=typed) == {"type": "kept"}
    assert "Half a sen" not in str(lead.widget.get_state())
    IN_KERNEL.clear()  # as in a new kernel
    kept = isinstance(store.path, Path)
    again = Lead(Store(store.path))
    assert again.ask("hello")["typed"] == (typed if kept else {})
    again.ask("keep", typed=typed)
    again.edit("warm", definition="Half a sentence.")
    assert Lead(store).ask("hello")["typed"] == {"why": "Bec", "add label": "Ho"}
    again.ask("keep", typed={"why": "Because."})
    assert again.ask("save", why="Because.")["type"] == "saved_draft"
    assert store.desk.draft("codebook", coder="lead") is None
    assert Lead(store).ask("hello")["typed"] == {}


def test_a_draft_that_cannot_be_written_is_told_and_stays_in_the_kernel(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> bool:
        raise StoreError("no room")

    lead = Lead(store)
    with monkeypatch.context() as full:
        full.setattr("sense7_qual.store._open_study.Desk.keep_draft", fails)
        assert lead.edit("warm", label="Warmth") == {"type": "changed"}
        assert {"type": "unkept", "message": "no room"} in [
            {name: one.get(name) for name in ("type", "message")} for one in lead.told
        ]
        assert Lead(store).ask("hello")["said"] == ["changed label of Warmth"]
    lead.edit("kind", label="Care")
    assert Lead(store).widget.n_steps == 2


def test_steps_out_of_which_a_withdrawal_took_what_they_need_are_left_out_and_told(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Warmth")
    lead.step("add", label="Hope")
    store.desk.keep_draft(
        "codebook",
        {
            "base": store.codebook.fingerprint,
            "steps": [dict(lead.widget._draft.steps[0]), {**lead.widget._draft.steps[1], "label": ""}],
        },
        coder="lead",
    )
    IN_KERNEL.clear()
    if isinstance(store.path, Path):
        welcome = Lead(Store(store.path)).ask("hello")
        assert (welcome["said"], welcome["n_lost"]) == (["changed label of Warmth"], 1)


def test_a_file_becomes_a_draft_and_a_draft_a_file(store: Store, tmp_path: Path) -> None:
    lead = Lead(store)
    lead.edit("warm", definition="Closer.")
    lead.widget.draft.write(tmp_path / "draft.yaml")
    again = Lead(store, draft=Codebook.read(tmp_path / "draft.yaml"))
    assert again.widget.draft == lead.widget.draft
    assert repr(again.widget) == "CodebookWidget('lead', 4 codes, 1 steps)"
    wrong = edited(BASE, "cold", label="Other")
    with pytest.raises(CodebookError, match="code 'other' already has this label"):
        CodebookWidget(store, coder="lead", draft=wrong)


def test_a_csv_holds_the_codes_and_the_codebook_keeps_what_it_says_of_itself(tmp_path: Path) -> None:
    book = replace(BASE, title="A title", source="Us")
    store = Store.create(tmp_path / "s", units=UNITS, codebook=book)
    (tmp_path / "new.csv").write_text("id,label,definition\nwarm,Warmth,About warm.\nkind,Kind,About kind.\n")
    draft = Lead(store, draft=Codebook.read(tmp_path / "new.csv")).widget.draft
    assert (draft.name, draft.title, draft.source, draft.ids) == ("small", "A title", "Us", ("warm", "kind"))


# what may be seen -----------------------------------------------------------------------------------

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("hello", {}),
    ("step", {"step": {"do": "edit", "code": "warm", "values": {"definition": "Other."}}}),
    *(
        ("quotes", {"code": code, "find": find, "coder": "", "first": 0})
        for code in BASE.ids
        for find in ("", BLIND)
    ),
    ("proposals", {}),
    ("save", {"why": "Clearer."}),
    ("step", {"step": {"do": "split", "code": "warm", "parts": [{"label": "A"}, {"label": "B"}]}}),
    ("save", {"why": "Finer."}),
    ("sorting", {"code": "warm", "find": "", "first": 0}),
    ("sorting", {"code": "warm", "find": BLIND.lower(), "first": 0}),
    *(("sorting", {"code": "warm", "find": "", "theme": theme, "first": 0}) for theme in (0, 1)),
    ("versions", {}),
    ("hello", {}),
]


def test_nothing_of_a_blind_round_reaches_an_answer(store: Store) -> None:
    propose(store, f"About {BLIND}", coder="cleo", round="blind", unit_id="m2")
    store.record_themes(to_record({"m1": 0, "m2": 0, "m3": 1, "m4": 1}), coder="lead")
    for theme in (0, 1):
        store.edit_theme(theme, name=f"Theme {theme}", coder="lead")  # its terms would be words of texts
    lead = Lead(store)
    for kind, named in ASKED:
        assert lead.ask(kind, **named)["type"] not in ("failed", "refused")
        lead.counted("preview")
        lead.counted("figures")
    said = json.dumps([*lead.heard, *lead.told])
    assert BLIND not in said
    assert "cleo" not in said
    assert "because blind: round 'blind'" in said
    # The same is there once the lead unblinds the round: the test would see it.
    store.append([rounds.unblind("blind", coder="chair", codebook=BASE)])
    lead = Lead(store)
    lead.ask("hello")
    lead.ask("proposals")
    assert BLIND in json.dumps(lead.heard)


def test_quotes_come_by_coder_and_text_in_pages_and_are_searched(store: Store) -> None:
    lead = Lead(store)
    page = lead.ask("quotes", code="warm", find="", coder="", first=0)
    assert [(row["coder"], row["unit_id"], row["words"]) for row in page["rows"]] == [
        ("ana", "m1", "listened"),
        ("ana", "m3", TEXTS["m3"]),
        ("ben", "m3", TEXTS["m3"]),
        ("lead", "m1", "listened"),
    ]
    assert (page["rows"][0]["before"], page["rows"][0]["after"]) == ("It ", " 👍🏽 to me.")
    assert page["coders"] == ["ana", "ben", "lead"]
    assert lead.ask("quotes", code="warm", find="KIND", coder="ben", first=0)["n"] == 1
    assert lead.ask("quotes", code="warm", find="", coder="", first=3)["rows"] == page["rows"][3:]
    lead.step("merge", code="kind", into="warm")
    assert lead.ask("quotes", code="warm", find="", coder="", first=0)["n"] == 6
    lead.ask("discard")
    lead.edit("warm", definition="Other.")
    assert lead.ask("save", why="Clearer.")["type"] == "saved_draft"
    after = lead.ask("quotes", code="warm", find="", coder="", first=0)
    assert (after["n"], {row["stale"] for row in after["rows"]}) == (4, {True})


def test_figures_are_those_of_the_statistics(store: Store) -> None:
    lead = Lead(store)
    lead.ask("hello")
    found = lead.counted("figures")["figures"]
    assert (found["warm"]["n"], found["warm"]["n_both"]) == (2, 2)
    assert found["warm"]["prevalence"] == "80.0 %"  # four of the five decisions
    assert found["cold"] == {
        "n": 0,
        "prevalence": "0.0 %",
        "alpha": "",
        "value": None,
        "n_both": 2,
        "waits": "",
    }
    value = found["warm"]["value"]
    assert found["warm"]["alpha"].split(" ")[0] == coefficient(value, 2)
    assert lead.counted("figures")["n_split"] == 0


def test_where_a_text_has_no_participant_it_is_said_that_texts_are_resampled(tmp_path: Path) -> None:
    ids = [f"m{number}" for number in range(20)]
    units = pd.DataFrame({"unit_id": ids, "text": ids, "document_id": "d", "position": range(20)})
    units["case_id"] = [None, *"pqrst"] + [*"pq"] * 7
    store = Store.create(tmp_path / "s", units=units, codebook=BASE)
    for number, unit_id in enumerate(ids):
        store.append(coded("ana", unit_id, *["warm"] * (number % 2), round=None))
        store.append(coded("ben", unit_id, *["warm"] * (number % 3 % 2), round=None))
    lead = Lead(store, without_round=True)
    lead.ask("hello")
    assert lead.counted("figures")["figures"]["warm"]["alpha"].endswith(", texts resampled)")
    lead.end_counting()


# proposals ------------------------------------------------------------------------------------------


def test_what_was_revised_in_a_discussion_counts_for_no_agreement(store: Store) -> None:
    lead = Lead(store)
    lead.ask("hello")
    figures = lead.counted("figures")["figures"]
    talk = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "chair", "codebook": BASE}
    store.append([rounds.open_round("talk", discusses="open", **talk)])
    store.append(coded("ben", "m1", "warm", round="talk"))
    store.append([rounds.unblind("talk", coder="chair", codebook=BASE)])
    again = Lead(store)
    assert "talk" not in str(again.ask("hello"))
    talked = again.counted("figures")["figures"]
    of_agreement = [
        {code: [row[name] for name in ("alpha", "value", "n_both")] for code, row in each.items()}
        for each in (figures, talked)
    ]
    assert of_agreement[0] == of_agreement[1]
    assert (figures["kind"]["n"], talked["kind"]["n"]) == (2, 1)  # counts are of what was decided last


def test_a_proposal_becomes_a_code_and_its_coder_is_told_once_it_is_saved(store: Store) -> None:
    proposal = propose(store)
    lead = Lead(store)
    (row,) = lead.ask("proposals")["rows"]
    assert (row["label"], row["words"], row["taken"], row["coder"]) == ("Hope", "listened", None, "ana")
    lead.step("take", proposal=proposal, label="Hoping", definition="Looks ahead.", parent=None)
    assert lead.ask("proposals")["rows"][0]["taken"] == "hoping"
    assert store.memos().empty
    assert lead.ask("save", why="Missing.")["type"] == "saved_draft"
    assert store.codebook["hoping"].origin == "inductive"
    assert lead.ask("proposals")["rows"] == []
    memo = store.memos(viewer="ana").iloc[0]
    assert (memo["memo_id"], memo["text"], memo["target_id"], memo["round"]) == (
        proposal,
        "It became the code ‘Hoping’.",
        "hoping",
        "open",
    )


def test_a_proposal_is_sent_back_with_a_reason(store: Store) -> None:
    proposal = propose(store, round=None)
    lead = Lead(store)
    assert lead.ask("send_back", proposal=proposal, why=" ")["type"] == "refused"
    assert lead.ask("send_back", proposal=proposal, why="It is warm.")["type"] == "sent_back"
    assert store.memos()["text"].tolist() == ["Sent back: It is warm."]
    assert Lead(store).ask("proposals")["rows"] == []
    assert lead.ask("send_back", proposal=proposal, why="Again.")["type"] == "refused"
    assert len(store.proposals()) == 1  # the coder's own act stands
    assert store.verify()["ok"].all()


def test_a_proposal_that_goes_into_a_code_needs_no_change_of_the_codebook(store: Store) -> None:
    proposal = propose(store)
    lead = Lead(store)
    lead.step("take", proposal=proposal, into="warm")
    assert lead.ask("save", why="")["type"] == "saved_draft"
    assert store.codebook == BASE
    assert store.memos()["text"].tolist() == ["It went into the code ‘Warm’."]


# saving ---------------------------------------------------------------------------------------------


def test_saving_needs_a_reason_says_which_reviews_result_and_begins_a_new_draft(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", definition="Closer.")
    assert lead.ask("save", why=" ")["type"] == "refused"
    assert lead.widget.n_steps == 1
    answer = lead.ask("save", why="Too wide.")
    assert [(one["coder"], one["n"]) for one in answer["queues"]] == [("ana", 2), ("ben", 2), ("lead", 1)]
    assert "coder='ana', round='open', review=\"stale\")" in answer["queues"][0]["cell"]
    assert (lead.widget.n_steps, store.codebook["warm"].definition) == (0, "Closer.")
    assert [(one.why, one.coder) for one in store.revisions] == [("Too wide.", "lead")]
    assert lead.ask("save", why="Again.")["type"] == "refused"


def test_what_two_people_changed_differently_is_chosen_field_by_field(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Mine", definition="Mine, too.")
    lead.edit("kind", label="Gentle")
    other = Store(store.path)
    other.revise(
        edited(edited(BASE, "warm", label="Theirs"), "cold", label="Icy"), why="Theirs.", coder="chair"
    )
    answer = lead.ask("save", why="Mine.")
    assert answer["type"] == "conflict"
    assert answer["by"]["coder"] == "chair"
    (row,) = answer["rows"]
    assert (row["code"], row["field"], row["base"], row["mine"], row["theirs"]) == (
        "warm",
        "label",
        ["Warm"],
        ["Mine"],
        ["Theirs"],
    )
    assert lead.widget.n_steps == 2
    assert lead.ask("save", why="Mine.", choices={row["name"]: "mine"})["type"] == "saved_draft"
    now = Store(store.path).codebook
    assert [now[code].label for code in ("warm", "kind", "cold")] == ["Mine", "Gentle", "Icy"]
    assert now["warm"].definition == "Mine, too."
    assert Store(store.path).verify()["ok"].all()


@pytest.mark.parametrize(
    ("choice", "expected"),
    [("mine", ["b", "m"]), ("theirs", ["a", "b", "t"]), ("both", ["b", "m", "t"])],
)
def test_lists_that_two_people_changed_can_be_put_together(
    store: Store, choice: str, expected: list[str]
) -> None:
    first = edited(BASE, "warm", examples=("a", "b"))
    store.revise(first, why="Begin.", coder="chair")
    lead = Lead(store)
    lead.edit("warm", examples=["b", "m"])
    lead.edit("kind", label="Gentle")
    Store(store.path).revise(edited(first, "warm", examples=("a", "b", "t")), why="Theirs.", coder="chair")
    (row,) = lead.ask("save", why="Mine.")["rows"]
    assert (row["mine"], row["theirs"], row["both"]) == (["b", "m"], ["a", "b", "t"], ["b", "m", "t"])
    assert lead.ask("save", why="Mine.", choices={row["name"]: "neither"})["type"] == "conflict"
    assert lead.ask("save", why="Mine.", choices={row["name"]: choice})["type"] == "saved_draft"
    assert list(Store(store.path).codebook["warm"].examples) == expected


@pytest.mark.parametrize("choice", ["mine", "theirs"])
def test_a_code_that_one_takes_away_and_another_changes_is_a_choice(store: Store, choice: str) -> None:
    lead = Lead(store)
    lead.step("merge", code="warm", into="kind")
    Store(store.path).revise(edited(BASE, "warm", label="Theirs"), why="Theirs.", coder="chair")
    (row,) = lead.ask("save", why="Mine.")["rows"]
    assert (row["field"], row["mine"], row["theirs"]) == (None, [], ["Theirs", "About warm."])
    answer = lead.ask("save", why="Mine.", choices={row["name"]: choice})
    if choice == "mine":
        assert answer["type"] == "saved_draft"
        assert [(one.kind, one.code) for one in store.revisions[-1].changes] == [("merge", "warm")]
    else:  # then nothing is changed
        assert answer["type"] == "refused"
        assert lead.widget.n_steps == 1


def test_changes_of_different_things_are_put_together(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Warmth")
    Store(store.path).revise(edited(BASE, "cold", label="Icy"), why="Theirs.", coder="chair")
    assert lead.ask("save", why="Mine.")["type"] == "saved_draft"
    assert [Store(store.path).codebook[code].label for code in ("warm", "cold")] == ["Warmth", "Icy"]


def test_a_failure_to_save_keeps_the_draft(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Warmth")

    def full(*_: object, **__: object) -> None:
        raise StoreError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "revise", full)
        assert lead.ask("save", why="Mine.") == {"type": "failed", "message": "no room"}
    assert lead.widget.n_steps == 1
    assert lead.ask("save", why="Mine.")["type"] == "saved_draft"


def test_any_two_versions_stand_side_by_side(store: Store) -> None:
    lead = Lead(store)
    lead.edit("warm", label="Warmth", examples=["one", "two"])
    lead.ask("save", why="Clearer.")
    lead.step("retire", code="other")
    first, second = (one["version"] for one in reversed(lead.ask("versions")["versions"]))
    rows = lead.ask("compare", one=first, other=second)["rows"]
    assert [(row["code"], row["field"], row["one"], row["other"]) for row in rows] == [
        ("warm", "label", ["Warm"], ["Warmth"]),
        ("warm", "examples", [], ["one", "two"]),
    ]
    assert [
        (row["code"], row["field"]) for row in lead.ask("compare", one=second, other="draft")["rows"]
    ] == [("other", None)]
    assert lead.ask("compare", one=first, other="nowhere")["type"] == "refused"


# split texts ----------------------------------------------------------------------------------------


@pytest.fixture
def split(store: Store) -> Lead:
    lead = Lead(store)
    lead.step("split", code="warm", parts=[{"label": "Close"}, {"label": "Soft"}])
    assert lead.ask("save", why="Finer.")["type"] == "saved_draft"
    return lead


def of_store(store: Store, coder: str) -> dict[tuple[str, str], bool | None]:
    """Return what a coder decided on the parts, or (consensus) what was ruled.

    Among the decisions the parts are once nothing waits any more, also of what may not be seen here.
    """
    opened, parts = Store(store.path), ["close", "soft"]
    if coder == "consensus":
        ruled = [act for act in opened.rulings() if act.code in parts]
        return {(str(act.unit_id), str(act.code)): act.applied for act in ruled}
    coded, undecided = codings.carried(
        opened.codings(coder=coder), opened.coverage(coder=coder), opened.codebook, revisions=opened.revisions
    )
    applied, waiting = (set(zip(one["unit_id"], one["code"], strict=True)) for one in (coded, undecided))
    keys = [(unit_id, part) for unit_id in opened.coverage(coder=coder)["unit_id"] for part in parts]
    return {key: key in applied for key in keys if key not in waiting}


def test_a_split_text_is_told_its_part_and_no_coders_own_decision_is_changed(
    store: Store, split: Lead
) -> None:
    before = {coder: store.acts(coder=coder) for coder in ("ana", "ben", "cleo")}
    found = split.ask("sorting", code=None, find="", first=0)
    assert (found["code"], found["ids"], [one["id"] for one in found["parts"]]) == (
        "warm",
        ["m1", "m3"],
        ["close", "soft"],
    )
    assert {quote["coder"] for quote in found["rows"][0]["quotes"]} == {"ana", "lead"}
    assert split.ask("sort", code="warm", units=["m1"], parts=["close"]) == {"type": "sorted", "n": 1}
    assert {coder: store.acts(coder=coder) for coder in before} == before
    assert of_store(store, "lead") == {("m1", "close"): True, ("m1", "soft"): False}
    assert of_store(store, "consensus")["m1", "close"] is True
    assert of_store(store, "consensus")["m1", "soft"] is False
    # Ana's own decision waits; ben, who had not applied the code, has not applied its parts.
    assert not of_store(store, "ana")
    assert of_store(store, "ben") == {("m1", "close"): False, ("m1", "soft"): False}
    own = [act for act in store.acts(coder="lead") if act.kind == "apply"][-1]
    assert (own.code, own.start, own.end, own.round) == ("close", 3, 11, "open")
    left = split.ask("sorting", code="warm", find="", first=0)
    assert left["ids"] == ["m3"]
    assert left["splits"] == [{"code": "warm", "label": "Warm", "n": 1, "n_all": 2}]
    waiting = codings.stale(
        store.codings(viewer="ana"), store.coverage(viewer="ana"), store.codebook, revisions=store.revisions
    )
    assert set(waiting["coder"]) == {"ana", "ben"}
    counted = Store(store.path).decisions(settled_by="rulings")
    assert not set(counted["code"]) & {"close", "soft"}  # a half of a code is no figure


def test_several_parts_none_and_many_texts_at_once(store: Store, split: Lead) -> None:
    assert split.ask("sorting", code="warm", find="KIND", first=0)["ids"] == ["m3"]
    split.ask("sort", code="warm", units=["m1", "m3"], parts=["close", "soft"])
    assert of_store(store, "consensus")["m3", "soft"] is True
    assert of_store(store, "lead") == {("m1", "close"): True, ("m1", "soft"): True}
    split.ask("unsort")
    assert split.ask("sorting", code="warm", find="", first=0)["ids"] == ["m1", "m3"]
    assert of_store(store, "lead") == {}
    split.ask("sort", code="warm", units=["m1"], parts=[])
    assert of_store(store, "lead") == {("m1", "close"): False, ("m1", "soft"): False}
    assert of_store(store, "consensus")["m1", "close"] is False
    assert split.ask("sort", code="warm", units=["m1"], parts=["close"])["type"] == "refused"
    assert split.ask("sorting", code="warm", find="", first=0, fresh=True)["ids"] == ["m3"]
    assert split.ask("sort", code="warm", units=["m3"], parts=["kind"])["type"] == "refused"
    assert store.verify()["ok"].all()


def test_a_part_is_told_of_all_texts_of_a_theme_of_what_may_be_seen(store: Store, split: Lead) -> None:
    assert split.ask("sorting", code="warm", find="", first=0)["themes"] == []  # none are recorded
    store.record_themes(to_record({"m1": 0, "m2": 0, "m3": 1, "m4": 1}), coder="lead")
    for theme, name in ((0, "Listening"), (1, "Being kind")):
        store.edit_theme(theme, name=name, coder="lead")
    named: dict[str, Any] = {"code": "warm", "find": "", "first": 0}
    found = split.ask("sorting", fresh=True, **named)
    # m2 and m4 are coded in a blind round: they count in no theme.
    both = [{"theme": 0, "label": "Listening", "n": 1}, {"theme": 1, "label": "Being kind", "n": 1}]
    assert (found["themes"], found["ids"]) == (both, ["m1", "m3"])
    assert split.ask("sorting", theme=1, **named)["ids"] == ["m3"]
    assert split.ask("sorting", theme=1, **named | {"find": "listened"})["ids"] == []
    assert split.ask("sorting", theme="1", **named)["type"] == "refused"
    split.ask("sort", code="warm", units=["m3"], parts=["soft"])
    assert of_store(store, "consensus")["m3", "soft"] is True
    left = split.ask("sorting", theme=1, **named)
    assert (left["ids"], left["themes"]) == ([], [both[0], both[1] | {"n": 0}])
    split.ask("unsort")
    assert split.ask("sorting", theme=1, **named)["ids"] == ["m3"]
    store.edit_theme(1, dismissed=True, coder="lead")
    again = split.ask("sorting", fresh=True, theme=-1, **named)
    assert (again["themes"], again["ids"]) == ([both[0], {"theme": -1, "label": "", "n": 1}], ["m3"])
    assert store.verify()["ok"].all()


def test_ones_own_text_that_waits_for_more_is_not_finished_by_sorting(store: Store) -> None:
    lead = Lead(store)
    lead.step("split", code="warm", parts=[{"label": "Close"}, {"label": "Soft"}])
    lead.step("add", label="Hope")
    lead.ask("save", why="Finer.")
    lead.ask("sorting", code="warm", find="", first=0)
    lead.ask("sort", code="warm", units=["m1"], parts=["close"])
    decided = store.decisions(coder="lead")
    assert "hope" not in set(decided["code"])
    assert lead.ask("sorting", code="warm", find="", first=0, fresh=True)["ids"] == ["m3"]


# what is no study -----------------------------------------------------------------------------------


def test_a_table_is_no_study() -> None:
    with pytest.raises(ArgumentError, match="an open study as store – found DataFrame"):
        CodebookWidget(UNITS, coder="lead")


def test_no_words_of_the_study_are_in_the_traits(store: Store) -> None:
    propose(store)
    lead = Lead(store)
    lead.edit("warm", definition=f"Never {BLIND}.")
    lead.ask("quotes", code="warm", find="", coder="", first=0)
    lead.counted("figures")
    state = json.dumps(lead.widget.get_state(), default=str) + repr(lead.widget)
    assert BLIND not in state
    assert "listened" not in state

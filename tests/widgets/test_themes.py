"""The themes widget asked as a browser asks: what it shows, records, takes back, and makes codes of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, themes
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget, ThemesWidget
from tests.helpers.browser import new_id
from tests.helpers.lead import Lead

pytestmark = pytest.mark.long

BOOK = Codebook(name="two", codes=(Code(id="warm", label="Warm"), Code(id="fast", label="Fast")))
WORDS = ["queue slow minutes", "kind warm caring", "wrong fact source", "price cheap money"]
N = 80


def embed(texts: list[str]) -> np.ndarray:
    listed = " ".join(WORDS).split()
    return np.array([[text.split().count(word) for word in listed] for text in texts], dtype=float)


class Reader:
    """The widget of the lead, and what it says."""

    opened: ClassVar[list[Reader]] = []

    def __init__(self, store: Store, **options: Any) -> None:
        self.store, self.widget = store, ThemesWidget(store, coder="lead", **options)
        self.opened.append(self)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))

    def ask(self, kind: str, **named: Any) -> dict[str, Any]:
        message = {"type": kind, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return self.heard[-1]

    def act(self, **act: Any) -> dict[str, Any]:
        return self.ask("act", act=act, **({"id": act.pop("id")} if "id" in act else {}))

    def wait(self) -> None:
        for later in ("_looking", "_fitting", "_placing", "_asking"):
            getattr(self.widget, later).join()

    def look(self) -> dict[str, Any]:
        self.ask("hello")
        self.wait()
        assert not [one for one in self.told if one["type"] == "undone"]
        return [one for one in self.told if one["type"] == "themes"][-1]


def units_of() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    texts = [" ".join(rng.permutation(WORDS[row % 4].split())) + f" n{row}" for row in range(N)]
    return pd.DataFrame(
        {
            "unit_id": [f"u{row:02}" for row in range(N)],
            "text": texts,
            "document_id": "d",
            "case_id": [f"p{row % 9}" for row in range(N)],
            "position": range(N),
        }
    )


@pytest.fixture(scope="module")
def fitted() -> themes.Themes:
    return themes.fit(units_of(), embed=embed, granularity=1.0, n_resamples=2)


@pytest.fixture
def store(tmp_path: Path, fitted: themes.Themes) -> Iterator[Store]:
    units = units_of()
    made = Store.create(tmp_path / "s", units=units, codebook=BOOK)
    done = [acts.finish(coder="ana", unit_id=one, codebook=BOOK) for one in units["unit_id"]]
    kind = [
        acts.apply(coder="ana", unit_id=f"u{row:02}", code="warm", codebook=BOOK) for row in range(1, N, 4)
    ]
    made.append([*kind, *done])
    made.record_themes(fitted, coder="lead")
    yield made
    for reader in Reader.opened:
        reader.wait()
        reader.widget.close()
    Reader.opened.clear()
    for lead in Lead.opened:
        for later in (lead.widget._lacking.looking, lead.widget._lacking.asking):
            later.join()
    Lead.end_counting()


def lacking(lead: Lead) -> dict[str, Any]:
    """Return what the tray of the codebook widget says of themes, once it was read anew."""
    lead.ask("lacking")
    lead.widget._lacking.looking.join()
    assert not [one for one in lead.told if one["type"] == "lacking_failed"]
    return next(one for one in reversed(lead.told) if one["type"] == "lacking")


def test_it_shows_the_themes_of_the_study(store: Store) -> None:
    reader = Reader(store, without_round=True)
    shown = reader.look()
    summary = store.themes.summary.set_index("theme")
    assert sorted(row["theme"] for row in shown["rows"]) == summary.index.tolist()
    for row in shown["rows"]:
        expected = summary.loc[row["theme"]]
        assert [row["label"], row["n_units"], row["n_cases"]] == list(
            expected[["label", "n_units", "n_cases"]]
        )
    against = themes.against_codebook(
        store.themes, store.decisions(), BOOK, units=store.units, cluster="case_id"
    )
    assert {row["theme"]: row["verdict"] for row in shown["rows"]} == dict(
        zip(against["theme"], against["verdict"], strict=True)
    )
    assert sorted(against["verdict"]) == ["covered", "uncovered", "uncovered", "uncovered"]
    quotes = reader.ask("quotes", theme=0, first=0)
    text_of = store.units.set_index("unit_id")["text"]
    assert [row["text"] for row in quotes["rows"]] == [text_of[row["unit_id"]] for row in quotes["rows"]]
    assert quotes["n"] == summary.loc[0, "n_texts"]


def test_where_few_themes_are_covered_it_is_said_once_and_the_surest_come_first(store: Store) -> None:
    shown = Reader(store, without_round=True).look()
    assert shown["words"].count("The codebook covers few of them") == 1
    assert [row["verdict"] for row in shown["rows"]] == ["uncovered"] * 3 + ["covered"]
    assert "covers few" not in Reader(store).look()["words"], "nothing that one may see is decided"


def test_the_range_of_numbers_that_would_do_as_well_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, fitted: themes.Themes
) -> None:
    assert fitted.parameters["n_themes_as_good"] == [4, 4]
    assert "would do as well" not in Reader(store, without_round=True).look()["words"] + repr(fitted)
    monkeypatch.setitem(fitted.parameters, "n_themes_as_good", [3, 6])
    store.record_themes(fitted, coder="lead")
    assert "3 to 6 themes would do as well." in Reader(store, without_round=True).look()["words"]
    assert repr(fitted) == "Themes(4 themes of 80 units, 0 in none; 3 to 6 would do as well)"


def test_blind_work_is_not_counted(store: Store) -> None:
    assert {row["verdict"] for row in Reader(store).look()["rows"]} == {""}


def test_each_step_is_one_act_and_is_taken_back(store: Store) -> None:
    reader = Reader(store)
    reader.look()
    reader.widget._selected = tuple(store.themes.assignments.query("theme == 3")["unit_id"][:6])
    for what, value in (
        ("name", "Being kept waiting"),
        ("merge_into", 1),
        ("dismissed", True),
        ("parts", "selected"),
    ):
        before, n_acts = store.themes, len(store.acts(kind="edit_theme"))
        done = reader.act(kind="edit_theme", theme=3, what=what, value=value)
        assert done["type"] == "done", done
        assert len(store.acts(kind="edit_theme")) == n_acts + 1
        assert not store.themes.summary.equals(before.summary)
        assert reader.act(kind="undo")["type"] == "done"
        pd.testing.assert_frame_equal(store.themes.assignments, before.assignments)
        kept = ["theme", "label", "name", "dismissed", "code", "n_units"]
        pd.testing.assert_frame_equal(store.themes.summary[kept], before.summary[kept])
    assert reader.act(kind="undo")["type"] == "refused"


def test_a_merge_has_the_texts_of_both_and_undo_gives_each_its_own(store: Store) -> None:
    reader = Reader(store)
    reader.look()

    def texts() -> dict[int, set[str]]:
        groups = store.themes.assignments.groupby("theme")["unit_id"]
        return {int(str(theme)): set(of) for theme, of in groups}

    before = texts()
    for theme, into in ((3, 1), (1, 0)):
        assert reader.act(kind="edit_theme", theme=theme, what="merge_into", value=into)["type"] == "done"
    assert texts() == {0: before[0] | before[1] | before[3], 2: before[2]}
    reader.wait()
    sizes = {row["theme"]: row["n_units"] for row in reader.look()["rows"]}
    assert sizes == {theme: len(of) for theme, of in texts().items()}
    for _ in range(2):
        assert reader.act(kind="undo")["type"] == "done"
    assert texts() == before


@pytest.mark.nightly
def test_undo_gives_back_the_name_before_and_sees_what_others_did_meanwhile(store: Store) -> None:
    reader = Reader(store)
    reader.look()
    reader.act(kind="edit_theme", theme=0, what="name", value="Kept waiting")
    reader.act(kind="edit_theme", theme=0, what="name", value="Slow")
    reader.act(kind="undo")
    assert store.themes.summary["label"][0] == "Kept waiting"
    reader.wait()
    Store(store.path).edit_theme(0, name="By another", coder="other")  # this widget does not hear of it
    reader.act(kind="edit_theme", theme=0, what="name", value="Mine")
    reader.act(kind="undo")
    assert store.themes.summary["label"][0] == "By another"


def test_a_step_that_is_sent_twice_is_recorded_once(store: Store) -> None:
    reader = Reader(store)
    named = {"id": new_id(), "kind": "edit_theme", "theme": 0, "what": "name", "value": "Kept waiting"}
    assert [reader.act(**named)["type"] for _ in range(2)] == ["done", "done"]
    again = Reader(Store(store.path))  # after a kernel that was killed
    assert again.act(**named)["type"] == "done"
    assert len(store.acts(kind="edit_theme")) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "edit_theme", "theme": 9, "what": "name", "value": "x"},
        {"kind": "edit_theme", "theme": 0, "what": "merge_into", "value": 0},
        {"kind": "edit_theme", "theme": 0, "what": "rename", "value": "x"},
        {"kind": "edit_theme", "theme": 0, "what": "parts", "value": "selected"},
        {"kind": "edit_theme", "theme": "0", "what": "name", "value": "x"},
        {"kind": "record_themes"},
        {"kind": "apply"},
        {
            "kind": "revise",
            "theme": 0,
            "label": "Warm",
            "definition": "",
            "units": [],
            "base": BOOK.fingerprint,
        },
        {
            "kind": "revise",
            "theme": 0,
            "label": " ",
            "definition": "",
            "units": [],
            "base": BOOK.fingerprint,
        },
        {"kind": "revise", "theme": 0, "label": "Wait", "definition": "", "units": [], "base": "another"},
        {
            "kind": "revise",
            "theme": 0,
            "label": "Wait",
            "definition": "",
            "units": ["no"],
            "base": BOOK.fingerprint,
        },
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(store: Store, wrong: dict[str, Any]) -> None:
    before = store.acts()
    assert Reader(store).act(**wrong)["type"] == "refused"
    assert store.acts() == before
    assert store.desk.current_codebook() == BOOK.fingerprint


def test_a_code_made_of_a_theme_is_in_the_codebook_with_its_origin(store: Store) -> None:
    reader = Reader(store)
    shown = reader.look()
    draft = reader.ask("draft", theme=0)
    assert draft["label"].lower() == store.themes.summary["label"][0]
    ticked = [row["unit_id"] for row in draft["quotes"][:2]]
    asked = {
        "id": new_id(),
        "kind": "revise",
        "theme": 0,
        "label": "Waiting",
        "definition": "Slow.",
        "units": ticked,
        "base": shown["base"],
    }
    done = [reader.act(**asked), reader.act(**asked)]
    assert [one["code"] for one in done] == ["waiting", "waiting"]
    code = store.codebook["waiting"]
    text_of = store.units.set_index("unit_id")["text"]
    assert code.examples == tuple(text_of[ticked])
    assert code.origin == "model"
    assert "theme 0" in str(code.source)
    assert len(store.revisions) == 1
    assert store.themes.summary["code"].tolist()[0] == "waiting"
    coding = CodingWidget(Store(store.path), coder="ben")
    assert "waiting" in coding._session.codebook.ids
    coding.close()


@pytest.mark.nightly
def test_a_theme_that_is_proposed_waits_in_the_tray_and_is_taken_with_its_origin(store: Store) -> None:
    reader = Reader(store, without_round=True)
    reader.look()
    ticked = [row["unit_id"] for row in reader.ask("draft", theme=0)["quotes"][:2]]
    asked = {"id": new_id(), "kind": "propose", "theme": 0, "label": "Waiting", "definition": "Slow."}
    assert reader.act(**asked | {"id": new_id()}, units=[])["type"] == "refused"
    assert reader.act(**asked | {"id": new_id()}, units=["no"])["type"] == "refused"
    assert [reader.act(**asked, units=ticked)["type"] for _ in range(2)] == ["done", "done"]
    assert len(store.proposals()) == 1
    assert store.desk.current_codebook() == BOOK.fingerprint
    assert {row["theme"]: row["proposed"] for row in reader.look()["rows"]}[0] == "waiting"

    lead = Lead(store, without_round=True)
    (row,) = lead.ask("proposals")["rows"]
    text_of = store.units.set_index("unit_id")["text"]
    assert [row["words"], *row["examples"]] == list(text_of[ticked])
    assert "theme 0 of this study, proposed by a topic model" in row["origin"]
    take = {"proposal": row["proposal_id"], "label": "Waiting", "definition": "Slow.", "parent": None}
    lead.step("take", **take, with_examples=False)
    assert lead.widget.draft["waiting"].examples == ()
    lead.ask("undo")
    lead.step("take", **take, with_examples=True)
    kept = lead.widget._draft.steps  # as a page keeps them for the next kernel
    again = Lead(store, without_round=True)
    again.ask(
        "restore", base=BOOK.fingerprint, steps=[{"do": "take", **take, "with_examples": True}], undone=[]
    )
    assert again.widget._draft.steps == kept
    assert lead.ask("save", why="Missing.")["type"] == "saved_draft"
    code = store.codebook["waiting"]
    assert (code.origin, code.examples) == ("model", tuple(text_of[ticked]))
    assert code.source == "theme 0 of this study, proposed by a topic model; accepted by a person"
    assert store.themes.summary["code"].tolist()[0] == "waiting"
    shown = {row["theme"]: row for row in reader.look()["rows"]}[0]
    assert (shown["proposed"], shown["code"]) == ("answered", "waiting")
    assert store.verify()["ok"].all()


@pytest.mark.nightly
def test_a_proposal_of_a_theme_is_taken_back_where_it_was_made(store: Store) -> None:
    reader = Reader(store, without_round=True)
    reader.look()
    ticked = [reader.ask("draft", theme=0)["quotes"][0]["unit_id"]]
    reader.act(kind="propose", theme=0, label="Waiting", definition="", units=ticked)
    lead = Lead(store, without_round=True)
    (row,) = lead.ask("proposals")["rows"]
    lead.step("take", proposal=row["proposal_id"], label="Waiting", definition="", parent=None)
    assert reader.act(kind="undo")["type"] == "done"
    assert store.proposals().empty
    assert lead.ask("proposals", fresh=True)["rows"] == []
    assert lead.ask("save", why="Missing.")["type"] == "saved_draft"  # the code stays the person's
    assert "waiting" in store.codebook


@pytest.mark.nightly
def test_the_tray_offers_the_themes_that_no_code_covers_until_each_is_answered(store: Store) -> None:
    assert (lacking(Lead(store))["rows"], lacking(Lead(store))["n_unsure"]) == ([], 4)  # nothing may be seen
    lead = Lead(store, without_round=True)
    against = themes.against_codebook(store.themes, store.decisions(), BOOK)
    open_themes = set(against.loc[against["verdict"] == "uncovered", "theme"])
    assert {row["theme"] for row in lacking(lead)["rows"]} == open_themes
    theme, other, *_ = sorted(open_themes)
    ticked = [row["unit_id"] for row in lead.ask("theme", theme=theme)["quotes"][:2]]
    covered = next(iter(set(against["theme"]) - open_themes))
    for wrong in (
        {"theme": covered, "units": ticked},
        {"theme": theme, "units": []},
        {"theme": other, "units": ticked},
        {"theme": "0", "units": ticked},
    ):
        assert lead.ask("propose_theme", **wrong)["type"] == "refused"
    assert lead.ask("propose_theme", theme=theme, units=ticked)["type"] == "theme_proposed"
    assert lead.ask("propose_theme", theme=theme, units=ticked)["type"] == "refused"  # pressed twice
    assert theme not in {row["theme"] for row in lacking(lead)["rows"]}
    (row,) = lead.ask("proposals")["rows"]
    assert lead.ask("send_back", proposal=row["proposal_id"], why="A topic.")["type"] == "sent_back"
    again = {row["theme"]: row["sent_back"] for row in lacking(lead)["rows"]}
    assert (again[theme], again[other]) == (True, False)
    assert lead.ask("propose_theme", theme=theme, units=ticked)["type"] == "theme_proposed"
    (row,) = lead.ask("proposals")["rows"]
    lead.step("take", proposal=row["proposal_id"], into="fast")
    assert lead.ask("save", why="")["type"] == "saved_draft"
    assert store.codebook == BOOK
    assert store.themes.summary.set_index("theme").loc[theme, "code"] == "fast"
    assert theme not in {row["theme"] for row in lacking(lead)["rows"]}
    assert store.verify()["ok"].all()


@pytest.mark.nightly
def test_what_a_language_model_drafts_in_the_tray_is_a_proposal_and_needs_consent(store: Store) -> None:
    asked: list[Any] = []
    replies = ["no", '{"label": "Waiting", "definition": "Told to wait."}']

    def chat(messages: Any) -> str:
        asked.append(messages)
        return replies[len(asked) - 1]

    plain = Lead(store, without_round=True)
    theme = lacking(plain)["rows"][0]["theme"]
    ticked = [plain.ask("theme", theme=theme)["quotes"][0]["unit_id"]]
    named = {"theme": theme, "units": ticked}
    assert plain.ask("theme_cost", **named)["type"] == "refused"
    lead = Lead(store, without_round=True, chat=chat)
    assert lacking(lead)["chats"] is True
    assert "1 quotes" in lead.ask("theme_cost", **named)["words"]
    assert lead.ask("theme_chat", **named)["type"] == "refused"
    assert lead.ask("theme_chat", **named, consent="yes")["type"] == "refused"
    assert asked == []
    for _ in replies:
        assert lead.ask("theme_chat", **named, consent=True)["type"] == "asking"
        lead.widget._lacking.asking.join()
    assert [one["type"] for one in lead.told if one["type"].startswith(("lacking_f", "theme_d"))] == [
        "lacking_failed",
        "theme_drafted",
    ]
    (row,) = lead.ask("proposals")["rows"]
    assert (row["label"], row["definition"]) == ("Waiting", "Told to wait.")
    assert row["origin"].endswith("; drafted by a language model")
    assert store.desk.current_codebook() == BOOK.fingerprint
    text_of = store.units.set_index("unit_id")["text"]
    told = asked[-1][-1]["content"]
    assert [text in told for text in text_of] == [one in ticked for one in text_of.index]
    state = {name: value for name, value in lead.widget.get_state().items() if name not in ("_esm", "_css")}
    assert [word for word in " ".join(WORDS).split() if word in json.dumps(state, default=str)] == []


@pytest.mark.nightly
def test_a_run_says_what_it_would_change_before_it_is_recorded(store: Store) -> None:
    store.edit_theme(0, name="Kept waiting", coder="lead")
    reader = Reader(store, embed=embed)
    reader.look()
    assert reader.ask("run", granularity=1.0)["type"] == "begun"
    reader.wait()
    ran = reader.told[-1]
    assert (ran["type"], ran["stays"], ran["new"], ran["ends"]) == ("ran", 4, 0, 0)
    assert {one["stage"] for one in reader.told if one["type"] == "running"} >= {
        "embed",
        "cluster",
        "describe",
    }
    assert len(store.acts(kind="record_themes")) == 1
    assert reader.act(kind="record_themes")["type"] == "done"
    assert len(store.acts(kind="record_themes")) == 2
    assert store.themes.summary["name"].dropna().tolist() == ["Kept waiting"]


def test_a_run_may_begin_with_the_codebook_and_says_what_it_expected(store: Store) -> None:
    warm = Code(id="warm", label="Warm", definition="kind warm caring")
    store.revise(Codebook(name="two", codes=(warm, BOOK["fast"])), why="defined", coder="lead")
    reader = Reader(store, embed=embed, without_round=True)
    assert {row["expected"] for row in reader.look()["rows"]} == {""}
    reader.ask("run", granularity=1.0, expected=True)
    reader.wait()
    assert reader.act(kind="record_themes")["type"] == "done"
    shown = reader.look()
    said = {row["theme"]: row["expected"] for row in shown["rows"]}
    of_units = store.themes.assignments.set_index("unit_id")["theme"]
    [warm_theme] = [theme for theme in said if said[theme].startswith("“Warm”")]
    assert set(of_units[of_units == warm_theme].index) == {f"u{row:02}" for row in range(1, N, 4)}
    assert sum(words.startswith("No code:") for words in said.values()) == 3
    assert "No text seems to show: “Fast”." in shown["words"]


def test_texts_selected_on_the_map_are_known_by_their_ids(store: Store) -> None:
    reader = Reader(store, embed=embed)
    reader.look()
    places = reader.ask("map")
    assert len(places["x"]) == N
    assert reader.ask("select", places=[3, 0])["n"] == 2
    ids = themes.text_map(store.units, embed=embed)["unit_id"]
    assert reader.widget.selected == (ids[3], ids[0])
    assert [row["unit_id"] for row in reader.ask("selected", first=0)["rows"]] == [ids[3], ids[0]]
    assert reader.ask("select", places=[N])["type"] == "refused"
    values = reader.ask("colours", by="")["values"]
    theme_of = store.themes.assignments.set_index("unit_id")["theme"]
    assert values == theme_of[ids].tolist()


def test_a_language_model_is_asked_only_with_consent(store: Store) -> None:
    asked: list[Any] = []

    def chat(messages: Any) -> str:
        asked.append(messages)
        return 'Here: {"label": "Waiting", "definition": "Told to wait."}'

    reader = Reader(store, chat=chat)
    reader.look()
    ticked = [reader.ask("draft", theme=0)["quotes"][0]["unit_id"]]
    assert "1 quotes" in reader.ask("cost", theme=0, units=ticked)["words"]
    assert reader.ask("ask_chat", theme=0, units=ticked, consent=False)["type"] == "refused"
    reader.wait()
    assert asked == []
    reader.ask("ask_chat", theme=0, units=ticked, consent=True)
    reader.wait()
    assert reader.told[-1]["label"] == "Waiting"
    [[_, question]] = asked
    text_of = store.units.set_index("unit_id")["text"]
    assert [text in question["content"] for text in text_of] == [
        unit_id in ticked for unit_id in text_of.index
    ]


def test_no_trait_holds_a_text_a_term_or_a_label(store: Store) -> None:
    reader = Reader(store, embed=embed)
    reader.look()
    reader.ask("quotes", theme=0, first=0)
    reader.ask("select", places=[3, 0])
    reader.ask("selected", first=0)
    reader.ask("draft", theme=0)
    reader.act(kind="edit_theme", theme=0, what="name", value="Kept waiting")
    reader.wait()
    state = {name: value for name, value in reader.widget.get_state().items() if name not in ("_esm", "_css")}
    held = json.dumps(state, default=str)
    assert [word for word in [*" ".join(WORDS).split(), "waiting", "u00"] if word in held] == []
    assert state["n_themes"] == 4


def test_who_opens_it_wrongly_is_told(store: Store) -> None:
    with pytest.raises(ArgumentError, match="open study"):
        ThemesWidget(store.units, coder="lead")
    with pytest.raises(ActError, match="pseudonym"):
        ThemesWidget(store, coder="a b")
    assert Reader(store).ask("run", granularity=None)["type"] == "refused"


def apart(texts: list[str]) -> np.ndarray:
    """Embed texts so that no two have one place."""
    own = np.array(
        [[int(text.rpartition("n")[2] or 0) % 7, int(text.rpartition("n")[2] or 0) % 11] for text in texts]
    )
    return np.hstack([embed(texts), own / 20])


def test_the_map_is_the_same_again_and_keeps_texts_apart(store: Store) -> None:
    units = store.units.copy()
    units.loc[units.index[5], "text"] = " "
    units.loc[units.index[[0, 4]], "text"] = "queue slow minutes n1"
    one = themes.text_map(units, embed=apart)
    again = themes.text_map(units.sample(frac=1, random_state=3), embed=apart).set_index("unit_id")
    pd.testing.assert_frame_equal(again.loc[one["unit_id"].tolist()].reset_index(), one)
    assert one["x"].isna().tolist() == [row == 5 for row in range(N)]
    there = one.dropna()
    places = there[["x", "y"]]
    assert places.abs().max().max() <= 1
    assert not places.duplicated().any()
    own = places.groupby(there.index.to_numpy() % 4).transform("mean")
    within = np.linalg.norm(places - own, axis=1).mean()
    assert within < np.linalg.norm(places - places.mean(), axis=1).mean() / 2  # one matter stands together

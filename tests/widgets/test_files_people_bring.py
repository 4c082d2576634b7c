"""Every widget opens every text of a study read from a file, whatever columns the file lacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, corpus, rounds
from sense7_qual.store import Store
from sense7_qual.widgets import (
    AdjudicationWidget,
    CodebookWidget,
    CodingWidget,
    OverviewWidget,
    QuotesWidget,
    ThemesWidget,
)
from tests.helpers.browser import new_id
from tests.helpers.nightly import nightly_but
from tests.helpers.revised_codebooks import BASE
from tests.helpers.small_themes import to_record

pytestmark = pytest.mark.long

TURNS = json.dumps([{"role": "user", "text": "Before it."}])
COLUMNS: dict[str, list[Any]] = {
    "Comment": ["It listened 👍🏽 to me.", "So kind.", "It lectured, then it listened.", "Cold, polite."],
    "MessageId": ["m1", "m2", "m3", "m4"],
    "PID": ["p1", "p1", "p2", "p2"],
    "TaskId": ["t1", "t1", "t2", "t2"],
    "Stars": [4, None, 2, 5],
    "Before": [TURNS, None, "Plain words.", TURNS],
    "Group": ["a", "b", None, "a"],
}
ROLES = {"unit_id": "MessageId", "case_id": "PID", "document_id": "TaskId", "context": "Before"}
FILES: dict[str, list[str]] = {
    "one column": ["Comment"],
    "a rating": ["Comment", "Stars"],
    "the README's columns": ["Comment", "MessageId", "PID", "TaskId", "Stars"],
    "a conversation before some texts": ["Comment", "MessageId", "Before", "Group"],
    "everything": list(COLUMNS),
}
CODED = {"ana": ["warm", "kind"], "ben": ["warm", "cold"]}


class Asked:
    """A widget that is asked as a browser asks, and never fails."""

    def __init__(self, widget: Any) -> None:
        self.widget = widget
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))

    def __call__(self, kind: str, **named: Any) -> dict[str, Any]:
        self.widget._receive(self.widget, {"type": kind, "client": "c", "id": new_id(), **named}, [])
        answer = self.heard[-1]
        assert answer["type"] not in ("failed", "refused"), (kind, answer["message"])
        return answer


@pytest.fixture(params=nightly_but(FILES, here=["one column", "everything"]))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    columns = FILES[request.param]
    pd.DataFrame({name: COLUMNS[name] for name in columns}).to_csv(tmp_path / "brought.csv", index=False)
    units = corpus.read(
        tmp_path / "brought.csv",
        text="Comment",
        ratings=["Stars"] if "Stars" in columns else (),
        **{role: name for role, name in ROLES.items() if name in columns},  # type: ignore[arg-type]
    )
    made = Store.create(tmp_path / "study", units=units, codebook=BASE)
    ids = units["unit_id"].tolist()
    made.append([rounds.open_round("one", units=ids, coders=list(CODED), coder="lead", codebook=BASE)])
    for coder, codes in CODED.items():
        here: dict[str, Any] = {"coder": coder, "round": "one", "codebook": BASE}
        made.append(
            [acts.apply(unit_id=unit, code=code, start=0, end=2, **here) for unit in ids for code in codes]
            + [acts.finish(unit_id=unit, **here) for unit in ids]
        )
    made.append([rounds.unblind("one", coder="lead", codebook=BASE)])
    return made


def _rating(store: Store) -> str | None:
    return "Stars" if "Stars" in store.units else None


def test_the_coding_widget_shows_every_text(store: Store) -> None:
    ask = Asked(CodingWidget(store, coder="ana", round="one", rating=_rating(store)))
    ask("hello")
    for place, text in enumerate(store.units["text"]):
        assert ask("unit", place=place)["unit"]["text"] == text
    rows = ask("list", state="", show_rating=True)
    ask("choices", show_rating=True)
    ask("rows", places=list(range(len(store.units))), show_rating=True)
    assert rows["type"] == "list"


def test_the_quotes_widget_shows_every_passage_in_its_text(store: Store) -> None:
    ask = Asked(QuotesWidget(store, coder="lead", rating=_rating(store)))
    texts = store.units.set_index("unit_id")["text"]
    for code in [one["id"] for one in ask("hello")["codebook"]["codes"] if one["id"] != "other"]:
        rows = ask("code", code=code, first=0)["rows"]
        assert rows
        for row in rows:
            shown = ask("text", **{name: row[name] for name in ("unit_id", "code", "start", "end")})
            assert shown["text"] == texts[row["unit_id"]]


def test_the_adjudication_widget_shows_every_dispute(store: Store) -> None:
    ask = Asked(AdjudicationWidget(store, coder="lead"))
    disputes = ask("hello")["rows"]
    assert len(disputes) == 2 * len(store.units)
    for row in disputes:
        ask("dispute", unit_id=row["unit_id"], code=row["code"])
        ask("similar", unit_id=row["unit_id"], code=row["code"])


def test_the_overview_counts_and_opens_every_text(store: Store) -> None:
    ask = Asked(OverviewWidget(store, coder="lead"))
    ask("hello")
    ask.widget._counting.join()
    assert "uncounted" not in [one["type"] for one in ask.told]
    for unit_id in store.units["unit_id"]:
        ask("unit", unit_id=unit_id)
    ask.widget.close()


def test_the_codebook_widget_quotes_every_code(store: Store) -> None:
    ask = Asked(CodebookWidget(store, coder="lead"))
    ask("hello")
    for code in ("warm", "kind", "cold"):
        assert ask("quotes", code=code, first=0)["rows"]
    ask.widget._counting.join()


def test_the_themes_widget_shows_every_theme(store: Store) -> None:
    ids = store.units["unit_id"].tolist()
    store.record_themes(to_record({unit: place % 2 for place, unit in enumerate(ids)}), coder="lead")
    ask = Asked(ThemesWidget(store, coder="lead"))
    ask("hello")
    ask("themes")
    ask.widget._looking.join()
    assert [one for one in ask.told if one["type"] == "themes"]
    for theme in (0, 1):
        assert len(ask("quotes", theme=theme, first=0)["rows"]) == 2

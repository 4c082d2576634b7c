"""A study that names its leads: their widgets are theirs, and a coder's overview is a coder's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from sense7_qual import acts, corpus, rounds
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.widgets import (
    AdjudicationWidget,
    CodebookWidget,
    CodingWidget,
    ModelCoderWidget,
    QuotesWidget,
    ThemesWidget,
)
from tests.helpers.overview import Viewer

SENSE7 = Codebook.read("sense7")
LEADS = [AdjudicationWidget, CodebookWidget, ModelCoderWidget, QuotesWidget, ThemesWidget]


@pytest.fixture
def units(tmp_path: Path) -> pd.DataFrame:
    rows = "\n".join(f"m{n},It listened {n}." for n in range(6))
    (tmp_path / "texts.csv").write_text(f"id,said\n{rows}\n", encoding="utf-8")
    return corpus.read(tmp_path / "texts.csv", text="said", unit_id="id")


@pytest.fixture
def store(tmp_path: Path, units: pd.DataFrame) -> Iterator[Store]:
    yield Store.create(tmp_path / "study", units=units, codebook=SENSE7, lead="çhair")
    Viewer.end()


@pytest.mark.long
@pytest.mark.parametrize("widget", LEADS)
def test_a_leads_widget_is_left_to_the_leads(store: Store, widget: Any) -> None:
    assert store.options.leads == ("çhair",)
    widget(store, coder="c\u0327hair")
    with pytest.raises(ActError, match=r"'ana' is not a lead of this study \('çhair'\) – ask çhair"):
        widget(store, coder="ana")
    CodingWidget(store, coder="ana")
    store.set_options(leads=["çhair", "ana"], coder="çhair")
    widget(Store(store.path), coder="ana")


@pytest.mark.parametrize("widget", LEADS)
def test_a_leads_widget_is_not_opened_by_a_role_of_coders(store: Store, widget: Any) -> None:
    class Coders(Store):
        desk = SimpleNamespace(may_revise=False)

    with pytest.raises(StoreError, match=f"{widget.__name__}: only a leading role"):
        widget(Coders(store.path), coder="çhair")


def test_a_widget_answers_each_question_once() -> None:
    class Twice(CodingWidget):
        def _asked(self) -> Any:
            return *super()._asked(), {"unit": self._unit}

    named = {"coder": "ana", "acts": (), "codebook": SENSE7, "save": [].extend}
    units = pd.DataFrame(
        {
            "unit_id": ["m1"],
            "text": ["It listened."],
            "document_id": ["d1"],
            "case_id": ["p1"],
            "position": [1],
        }
    )
    assert "unit" in CodingWidget(units=units, **named)._questions
    with pytest.raises(TypeError, match="expected one answer to each question – found several to unit"):
        Twice(units=units, **named)


def test_who_makes_a_study_in_a_cell_that_runs_again_leads_it(tmp_path: Path, units: pd.DataFrame) -> None:
    for lead in ("mia", "ana"):
        named = {"units": units, "codebook": SENSE7, "lead": lead}
        assert Store.create(tmp_path / "cell", **named, exist_ok=True).options.leads == ("mia",)


def test_a_coder_who_may_add_codes_may_open_the_codebook_alone(store: Store) -> None:
    store.set_options(new_codes="add", coder="çhair")
    CodebookWidget(store, coder="ana")
    with pytest.raises(ActError, match="AdjudicationWidget: 'ana' is not a lead"):
        AdjudicationWidget(store, coder="ana")


def test_only_a_lead_names_leads(store: Store) -> None:
    with pytest.raises(ActError, match=r"expected a lead of this study \('çhair'\) – found 'ana'"):
        store.set_options(leads=["ana"], coder="ana")
    text = store.acts(kind="set_options")[0].text
    finished = acts.finish(coder="ana", unit_id="m1", codebook=SENSE7)
    forged = replace(finished, kind="set_options", unit_id=None, text=str(text).replace("çhair", "ana"))
    store.append([forged])
    assert store.options.leads == ("çhair",)
    for wrong in ([], ["a b"], ["model-x"]):
        with pytest.raises(ActError):
            store.set_options(leads=wrong, coder="çhair")


def test_a_study_that_names_nobody_is_open_as_before(tmp_path: Path, units: pd.DataFrame) -> None:
    store = Store.create(tmp_path / "open", units=units, codebook=SENSE7)
    assert store.options.leads == ()
    AdjudicationWidget(store, coder="ana")
    assert store.acts() == []


def test_the_leads_go_with_a_folder_that_is_handed_out(store: Store, tmp_path: Path) -> None:
    store.append([rounds.open_round("one", units=["m1"], coders=["ana"], coder="çhair", codebook=SENSE7)])
    store.copies.hand_out("one", "ana", tmp_path / "ana")
    assert Store(tmp_path / "ana").options.leads == ("çhair",)


@pytest.mark.long
def test_a_coders_overview_gives_no_orders_of_a_lead(store: Store) -> None:
    store.append(
        [rounds.open_round("one", units=["m1", "m2"], coders=["ana", "ben"], coder="çhair", codebook=SENSE7)]
    )
    for coder, code in (("ana", "interest"), ("ben", "prosocial")):
        named = {"coder": coder, "codebook": SENSE7, "round": "one"}
        store.append(
            [
                acts.apply(unit_id="m1", code=code, **named),
                *(acts.finish(unit_id=one, **named) for one in ("m1", "m2")),
                acts.propose(coder=coder, label="Lectured", codebook=SENSE7, unit_id="m1", round="one"),
            ]
        )
    store.append([rounds.unblind("one", coder="çhair", codebook=SENSE7)])
    changed = [replace(code, definition="Another.") if code.id == "interest" else code for code in SENSE7]
    store.revise(replace(SENSE7, codes=tuple(changed)), why="clearer", coder="çhair")

    def told(coder: str) -> list[str]:
        return [row["what"] for row in Viewer(Store(store.path), coder=coder).look()["attention"]["rows"]]

    assert any("not settled" in what for what in told("çhair"))
    assert any("ben has" in what for what in told("çhair"))
    assert told("ana") == ["2 texts to look at again"]

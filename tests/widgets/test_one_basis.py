"""The widgets on a whole study and `Store.decisions`: of one study on one day they say the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sense7_qual import acts, adjudication, agreement, codings, rounds
from sense7_qual._basis import Basis
from sense7_qual.acts import preregister
from sense7_qual.acts.contents import AnalysisPlan, Suggestion, show_suggestions
from sense7_qual.store import Store
from tests.helpers import basis_study, example_papers
from tests.helpers.adjudicator import Adjudicator
from tests.helpers.chooser import Chooser
from tests.helpers.lead import Lead
from tests.helpers.overview import Viewer

pytestmark = pytest.mark.long

STUDIES = {"law": basis_study.whole, "example": example_papers.shipped}


@pytest.fixture(scope="module", params=list(STUDIES))
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A study in which everything may be seen, so that what a person sees is what the study holds."""
    store = STUDIES[request.param](tmp_path_factory.mktemp(request.param) / "study")
    blind = [one.name for one in store.rounds if one.is_blind and not one.is_training]
    store.append([rounds.unblind(name, coder="lead", codebook=store.codebook) for name in blind])
    return Store(store.path)


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return basis_study.whole(tmp_path_factory.mktemp("law") / "study")


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    Viewer.end()


def look(store: Store, coder: str = "lead", **options: Any) -> dict[str, dict[str, Any]]:
    return Viewer(store, coder=coder, **{"without_round": True} | options).look()


def line(words: str) -> str:
    return words.removeprefix("Basis: ").removesuffix(".")


def n_open(store: Store) -> int:
    last = store.decisions(settled_by="nothing")
    return int(adjudication.remaining(last, rulings=store.rulings())["n_open"].sum())


def test_agreement_in_the_overview_is_that_of_the_paper(study: Store) -> None:
    first = study.decisions()
    wanted = agreement.by_code(first, units=study.units, cluster="case_id").set_index("code")
    wanted = wanted[wanted["n_units"].notna()]  # what waits for review has no number there either
    shown = look(study)["agreement"]
    rows = {row["code"]: row for row in shown["rows"]}
    assert {code for code, row in rows.items() if row["value"]} == set(wanted.index)
    for code, row in wanted.iterrows():
        for name, column in (("n", "n_units"), ("alpha", "alpha"), ("low", "alpha_low")):
            assert rows[str(code)][name] == pytest.approx(row[column], nan_ok=True)
    assert line(shown["basis"]) == str(Basis.of(first))


def test_codes_are_counted_of_each_coders_last_decisions(study: Store) -> None:
    last = study.decisions(settled_by="nothing")
    shown = look(study)["codes"]
    counts = codings.tally(last)
    for row in shown["rows"]:
        mine = counts[counts["code"] == row["code"]]
        assert row["n"] == ((mine["n_applied"] > 0).sum() if len(mine) else None)
    assert line(shown["words"]) == str(Basis.of(last))


def test_open_disagreements_are_as_many_everywhere(study: Store) -> None:
    settled = Basis.of(study.decisions(settled_by="rulings"))
    unsettled = dict(settled.left_out).get("unsettled", 0)
    assert n_open(study) == unsettled > 0
    desk = Adjudicator(study, coder="lead", without_round=True).ask("hello")
    assert desk["n_open"] == unsettled
    attention = look(study)["attention"]["rows"]
    (said,) = [row["what"] for row in attention if row["door"] == {"of": "open"}]
    assert said.startswith(f"{unsettled} disagreement")


def test_the_law_s_values_stand_in_the_overview(law: Store) -> None:
    shown = look(law)
    rows = {row["code"]: row for row in shown["agreement"]["rows"]}
    assert (rows["warm"]["value"], rows["warm"]["n"]) == (".46", 16)
    of_rounds = {one["round"]: one for one in shown["agreement"]["by_round"]}
    of_main = of_rounds["main"]["codes"]["warm"]
    assert (of_main["value"], of_main["n"]) == (".46", 16)
    assert of_rounds["again"]["codes"]["warm"]["value"] == "1.00"
    assert dict(Basis.parse(of_rounds["again"]["basis"]).inside) == {"after seeing others": 16}
    assert set(of_rounds) == {"main", "again"}


def test_a_code_that_waits_has_no_figure_but_how_much_is_to_be_reviewed(law: Store) -> None:
    shown = look(law)
    rows = {row["code"]: row for row in shown["agreement"]["rows"]}
    cold, help_code = rows["cold"], rows["help"]
    assert (cold["value"], cold["alpha"], cold["waits"]) == ("", None, "15 of 44 to be reviewed")
    assert (help_code["value"], help_code["waits"]) == ("", "44 of 44 to be reviewed")
    used = {row["code"]: row for row in shown["codes"]["rows"]}
    assert [used["cold"][name] for name in ("n", "share", "percent", "parts")] == [None, None, "", []]
    assert used["cold"]["waits"] == "14 of 44 to be reviewed"  # of two, ana alone has reviewed hers
    lead = Lead(law, coder="lead", without_round=True)
    lead.ask("hello")
    found = lead.counted("figures")
    lead.end_counting()
    assert (found["figures"]["cold"]["n"], found["figures"]["cold"]["prevalence"]) == (None, "")
    assert found["figures"]["cold"]["waits"] == used["cold"]["waits"]
    assert "first independent" in found["words"]
    assert "Texts and shares: last" in found["words"]


def test_quotes_rest_on_what_was_settled_and_none_is_proposed_of_a_code_that_waits(law: Store) -> None:
    chooser = Chooser(law, coder="lead", without_round=True)
    welcome = chooser.ask("hello")
    assert Basis.parse(line(welcome["words"])).rule == "settled by rulings"
    waits = {row["code"]: row["waits"] for row in welcome["progress"]}
    assert (waits["warm"], waits["cold"]) == ("", "14 of 44 to be reviewed")
    assert not any(row["drawn"] for row in chooser.rows("cold"))


def test_of_what_may_not_be_seen_nothing_is_counted_and_the_store_says_the_same(law: Store) -> None:
    shown = look(law, without_round=False)
    said, *hidden = shown["agreement"]["basis"].split(". Not counted")
    assert line(said) == str(Basis.of(law.decisions(viewer="lead")))
    assert len(hidden) == 1


def test_the_registered_rounds_and_coders_are_followed(tmp_path: Path) -> None:
    study = basis_study.whole(tmp_path / "study")
    plan = AnalysisPlan(question="Is it warm?", rounds=("again",), coders=("ana", "ben"))
    study.append([preregister(plan, coder="lead", codebook=study.codebook)])
    first = study.decisions()
    shown = look(study)
    assert line(shown["agreement"]["basis"]) == str(Basis.of(first))
    assert "main" not in Basis.parse(line(shown["agreement"]["basis"])).rounds
    assert line(shown["codes"]["words"]) == str(Basis.of(study.decisions(settled_by="nothing")))


def test_a_suggestion_outside_rounds_is_known_with_what_was_coded_there(tmp_path: Path) -> None:
    study = basis_study.Study(tmp_path / "study")
    for place in range(8):
        study.store.append(list(study.usual("ana", place, None)))
        named = study.named("ben", place, None)
        told = show_suggestions(model="words", suggestions=[Suggestion(code="warm")], **named)
        study.store.append([*study.usual("ben", place, None)][: 0 if place % 2 else None])
        study.store.append([told, *study.code("ben", place, None, "warm")])
    first = study.store.decisions()
    wanted = agreement.by_code(first, units=study.store.units, cluster="case_id").set_index("code")
    rows = {row["code"]: row for row in look(study.store)["agreement"]["rows"]}
    assert rows["warm"]["n"] == wanted.loc["warm", "n_units"] == 4
    assert rows["warm"]["alpha"] == pytest.approx(wanted.loc["warm", "alpha"])


def test_another_lead_s_ruling_counts_where_the_decisions_may_be_seen(tmp_path: Path) -> None:
    study = basis_study.whole(tmp_path / "study")
    named = {"unit_id": "t13", "code": "warm", "codebook": study.codebook}
    study.append([acts.rule(applied=True, coder="chair", **named)])
    assert n_open(study) == 0
    assert Adjudicator(study, coder="lead", without_round=True).ask("hello")["n_open"] == 0
    seen = Chooser(study, coder="lead", without_round=True).ask("hello")["words"]
    assert dict(Basis.parse(line(seen)).inside)["ruled"] == 2


def test_with_letters_the_basis_names_no_coder(law: Store) -> None:
    desk = Adjudicator(law, coder="lead", letters=True, without_round=True)
    basis = Basis.parse(line(desk.ask("hello")["words"]))
    assert {name for name, _ in basis.coders} == {"A", "B", "C"}

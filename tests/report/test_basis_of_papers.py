"""What the numbers of a paper rest on: one basis for each purpose, said, asked for, and never the data's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, agreement, links, report, rounds
from sense7_qual._basis import Basis, is_mixed, line_of
from sense7_qual.acts import Act
from sense7_qual.acts.contents import AnalysisPlan, show_suggestions
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links import MULTIVERSE
from sense7_qual.report import _text_basis
from sense7_qual.report._text_record import Record, record_of
from sense7_qual.store import Store
from tests.helpers import basis_study

pytestmark = pytest.mark.long

BOOK = Codebook(
    name="two",
    codes=(
        Code(id="warm", label="Warm", definition="It is warm."),
        Code(id="cold", label="Cold", definition="It is cold."),
    ),
)
NAMED: dict[str, Any] = {"coder": "lead", "codebook": BOOK}
PLAN = AnalysisPlan(question="Why?", rating="Stars", cluster="case_id", n_boot=20, adjust="bh")


def units(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    return pd.DataFrame(
        {
            "unit_id": [f"t{i}" for i in range(n)],
            "text": [f"Text number {i} says how it was." for i in range(n)],
            "document_id": [f"t{i}" for i in range(n)],
            "case_id": [f"p{i % (n // 4)}" for i in range(n)],
            "position": 0,
            "Stars": rng.integers(1, 6, n).astype(float),
            "Site": np.where(np.arange(n) % 3 == 0, "lab", "home"),
        }
    )


def coded(
    coder: str, places: Iterable[int], has: Callable[[int], bool], round: str | None = None
) -> list[Act]:
    """Return the acts by which a coder applies *warm* where `has` says so, and *cold* on every third."""
    done: list[Act] = []
    for place in places:
        named = {"coder": coder, "unit_id": f"t{place}", "codebook": BOOK, "round": round}
        done += [acts.apply(code="warm", **named)] if has(place) else []
        done += [acts.apply(code="cold", **named)] if place % 3 == 0 else []
        done.append(acts.finish(**named))
    return done


def opened(store: Store, name: str, places: range, coders: list[str]) -> None:
    ids = [f"t{place}" for place in places]
    store.append([rounds.open_round(name, units=ids, coders=coders, **NAMED)])


def in_two_rounds(path: Path, *, plan: AnalysisPlan | None = None, n: int = 40) -> Store:
    """A blind round of two who disagree; unblinded, and a second round in which ben copies ana."""
    store = Store.create(path, units=units(n), codebook=BOOK)
    if plan is not None:
        store.append([acts.preregister(plan, **NAMED)])
    opened(store, "one", range(n // 2), ["ana", "ben"])
    store.append(coded("ana", range(n // 2), lambda i: i % 2 == 0, "one"))
    store.append(coded("ben", range(n // 2), lambda i: (i % 2 == 0) ^ (i % 5 > 0), "one"))
    store.append([rounds.unblind("one", **NAMED)])
    opened(store, "two", range(n // 2), ["ana", "ben"])
    for coder in ("ana", "ben"):
        store.append(coded(coder, range(n // 2), lambda i: i % 2 == 0, "two"))
    return store


def quarter_double(path: Path, *, n: int = 80) -> Store:
    """A quarter coded by two who never differ, the rest by one."""
    store = Store.create(path, units=units(n), codebook=BOOK)
    rng = np.random.default_rng(4)
    has = rng.random(n) < 0.4
    store.append(coded("ana", range(n), lambda i: bool(has[i])))
    store.append(coded("ben", range(n // 4), lambda i: bool(has[i])))
    return store


def disputed(path: Path, *, n: int = 60) -> Store:
    """Two coders who differ on a third, and nobody who rules."""
    store = Store.create(path, units=units(n), codebook=BOOK)
    store.append(coded("ana", range(n), lambda i: i % 2 == 0))
    store.append(coded("ben", range(n), lambda i: (i % 2 == 0) ^ (i % 3 == 0)))
    return store


def alpha(frame: pd.DataFrame, code: str = "warm") -> float:
    return float(frame.set_index("code").loc[code, "alpha"])


def record(store: Store, **named: Any) -> Record:
    return record_of(store, function="paper", n_boot=20, **named)


def lines(folder: Path) -> dict[str, str]:
    """Return what `basis.md` says of each part."""
    rows = (folder / "basis.md").read_text("utf-8").splitlines()
    return dict(row[3:].split("` | ", 1) for row in rows if row.startswith("| `"))


# which decisions ------------------------------------------------------------------------------------------


def test_a_later_round_that_copies_changes_no_agreement_in_the_paper(tmp_path: Path) -> None:
    store = in_two_rounds(tmp_path / "study")
    found = record(store, settled_by="rulings")
    first = agreement.by_code(store.decisions(round="one"), n_boot=20)
    assert alpha(found.alphas.value) == alpha(first) < 0
    assert found.n_double.value == 20
    told = str(report.methods(store, settled_by="rulings", n_boot=20))
    assert "40 decisions on texts in later rounds" in told
    assert "any ruling, discussion" not in told


def test_what_was_decided_after_suggestions_is_in_no_agreement(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    before = alpha(record(store, settled_by="rulings").alphas.value)
    for place in range(0, 60, 3):
        named = {"coder": "ben", "unit_id": f"t{place}", "codebook": BOOK}
        act = acts.apply if place % 2 == 0 else acts.remove
        changed = [show_suggestions(model="words", **named), act(code="warm", **named)]
        store.append([*changed, acts.finish(**named)])
    found = record(store, settled_by="nothing")
    assert alpha(found.alphas.value) == before
    assert alpha(agreement.by_code(found.last.value, n_boot=20)) == 1
    assert "20 texts that coders finished again after a model's suggestion" in str(
        report.methods(store, settled_by="nothing", n_boot=20)
    )


def test_the_readmes_links_are_the_papers(tmp_path: Path) -> None:
    store = quarter_double(tmp_path / "study")
    report.paper(store, PLAN, tmp_path / "paper", settled_by="rulings", formats=["csv"], with_prose=False)
    settled = store.decisions(settled_by="rulings")
    found = links.code_to_rating(
        settled, store.units, rating="Stars", cluster="case_id", sources=["consensus"], n_boot=20, seed=0
    )
    assert (found["n_with"] + found["n_without"]).tolist() == [80, 80]
    own = report.tables.link(
        found, source="consensus", codebook=BOOK, rating="Stars", cluster_name="participants"
    )
    printed = (tmp_path / "paper" / "links.csv").read_text("utf-8-sig").splitlines()
    assert printed[:3] == own.csv().splitlines()[:3]


def test_the_laws_study_has_its_values_in_the_paper(tmp_path: Path) -> None:
    store = basis_study.whole(tmp_path / "study")
    plan = replace(PLAN, rating=basis_study.RATING)
    found = record(store, settled_by="rulings", rating=basis_study.RATING)
    assert round(alpha(found.alphas.value), 3) == 0.458
    assert found.n_double.value == 16
    report.paper(store, plan, tmp_path / "paper", settled_by="rulings", formats=["md", "csv"])
    codes, results = ((tmp_path / "paper" / f"{name}.md").read_text("utf-8") for name in ("codes", "results"))
    assert "12 / 23 (52.2)" in codes
    assert "present in 12 of 23 texts (52.2%" in results
    assert "not present in any text" not in results
    assert "14 of 44 decisions are to be reviewed" in results
    assert "“Help”" not in next(one for one in results.split(". ") if "present in 12" in one)
    assert set(Basis.of(found.settled.value).left_out) >= {("unsettled", 1)}


def test_a_code_that_waits_is_neither_unused_nor_ranked(tmp_path: Path) -> None:
    store = quarter_double(tmp_path / "study")
    warm = replace(BOOK.codes[0], definition="It is warm, and means it.")
    store.revise(
        replace(BOOK, codes=(warm, BOOK.codes[1])), why="Wide.", coder="lead", meaning={"warm": "narrow"}
    )
    told = str(report.results(store, settled_by="rulings", n_boot=20))
    assert "“Warm” was narrowed and has no figure" in told
    assert "not present in any text" not in told
    assert "“Cold” was present in" in told
    assert "code_unused" not in report.review(store, n_boot=20).frame["kind"].tolist()


# how disagreements count ----------------------------------------------------------------------------------


def test_saturation_counts_no_code_that_waits_for_review(tmp_path: Path) -> None:
    store = basis_study.whole(tmp_path / "s")
    text = report.results(store, settled_by="rulings", n_boot=20)
    calls = set(text.frame["call"].dropna())
    assert not [call for call in calls if "new_information" in call or "saturation" in call]
    assert "“Help”" in str(text).partition("Saturation")[2].partition("###")[0]


@pytest.mark.parametrize("call", [report.methods, report.results, report.paper])
def test_how_disagreements_count_is_asked_whatever_the_data(call: Callable[..., Any], tmp_path: Path) -> None:
    for make, open_, tied in (
        (disputed, "20 unsettled", "20 tied"),
        (quarter_double, "0 unsettled", "0 tied"),
    ):
        store = make(tmp_path / make.__name__)
        given = (store, None, tmp_path / "paper") if call is report.paper else (store,)
        with pytest.raises(ArgumentError) as refused:
            call(*given)
        for words in ("settled_by", "'rulings'", open_, "'majority'", tied, "'nothing' (each coder’s own"):
            assert words in str(refused.value)
        assert not (tmp_path / "paper").exists()


def test_the_argument_comes_before_the_plan_and_this_before_the_registered_one(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    store.append([acts.preregister(replace(PLAN, settled_by="majority"), **NAMED)])
    passed = replace(PLAN, settled_by="nothing")
    assert record(store).settled_by == "majority"
    assert record(store, plan=PLAN).settled_by == "majority"
    assert record(store, plan=passed).settled_by == "nothing"
    assert record(store, plan=passed, settled_by="rulings").settled_by == "rulings"


def test_one_coder_is_not_asked(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "study", units=units(40), codebook=BOOK)
    store.append(coded("ana", range(40), lambda i: i % 2 == 0))
    assert record(store).source == "ana"
    assert "present in 20 of 40 texts" in str(report.results(store))


def test_work_without_agreement_is_asked_where_a_number_needs_it(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    assert "applied" in str(report.results(store, with_agreement=False))
    with pytest.raises(ArgumentError, match=r"AnalysisPlan\(settled_by=…\)\): 'any'"):
        report.paper(store, None, tmp_path / "paper", with_agreement=False)
    plan = AnalysisPlan(question="Why?", with_agreement=False, settled_by="any")
    report.paper(store, plan, tmp_path / "paper", formats=["md"], with_prose=False)
    assert "any coder" in lines(tmp_path / "paper")["co_occurrence"]


def test_what_source_was_is_refused_with_its_successor(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    for call, given in ((report.paper, (store, None, tmp_path / "p")), (report.methods, (store,))):
        with pytest.raises(ArgumentError, match="pass settled_by"):
            call(*given, source="consensus")  # type: ignore[operator]


# what is said ---------------------------------------------------------------------------------------------


def test_where_nobody_ruled_nothing_is_said_of_rulings(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    folder = tmp_path / "paper"
    report.paper(store, PLAN, folder, settled_by="rulings", formats=["md"])
    methods, results, codes = (
        (folder / f"{name}.md").read_text("utf-8") for name in ("methods", "results", "codes")
    )
    assert "of 20 disagreements, none were ruled on; 20 stayed open and were left out" in methods
    assert "nobody ruled on the rest" in methods
    assert "Nobody ruled" in codes
    assert "20 disagreements" in results
    assert "20 were left open" in results
    assert "Disagreements were settled" not in methods
    for frame in (methods, results):
        assert "Counts and links rest on other decisions: settled by rulings" in frame
    settled = store.decisions(settled_by="rulings").query("code == 'warm'")
    assert f"/ {len(settled)} (" in codes
    assert len(settled) == 40


def test_rulings_that_count_are_counted_and_those_that_do_not_are_said(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    ruled = [acts.rule(unit_id=f"t{place}", code="warm", applied=True, **NAMED) for place in (0, 3, 6)]
    store.append(ruled)
    told = str(report.methods(store, settled_by="rulings", n_boot=20))
    assert "of 20 disagreements, 3 were ruled on; 17 stayed open and were left out" in told
    assert "3 were ruled on" in told.partition("Of the decisions on a text and a code")[2]
    assert "3 rulings are on record and in no number" in str(
        report.methods(store, settled_by="majority", n_boot=20)
    )


def test_with_each_coders_own_one_association_has_one_number(tmp_path: Path) -> None:
    store = disputed(tmp_path / "study")
    rated = store.units.assign(Stars=store.units["Stars"].mask(np.arange(60) % 7 == 0))
    again = Store.create(tmp_path / "again", units=rated, codebook=BOOK)
    for coder in store.coders:
        again.append(store.acts(coder=coder))
    folder = tmp_path / "paper"
    done = report.paper(again, PLAN, folder, settled_by="nothing", formats=["md"])
    why = done.left_out.set_index("what")["why"]
    assert "pooled" in why["missing_ratings"]
    methods, results, codes = (
        (folder / f"{name}.md").read_text("utf-8") for name in ("methods", "results", "codes")
    )
    assert "was not bounded" in methods
    assert "Over all coded texts" not in results
    share = again.decisions(settled_by="nothing").query("code == 'warm'")
    mean = share.groupby("unit_id")["applied"].mean().mean()
    assert f"{100 * mean:.1f}% of 60" in codes
    assert f"{100 * mean:.1f}% of 60 texts" in results
    assert "mean over the coders of a text" in methods
    settled = report.paper(
        again, PLAN, tmp_path / "settled", settled_by="majority", formats=["csv"], with_prose=False
    )
    assert "missing_ratings.csv" in settled.files["file"].tolist()


# deviations -----------------------------------------------------------------------------------------------


REGISTERED = replace(PLAN, settled_by="rulings", rounds=("one", "two"), coders=("ana", "ben"))
OTHERWISE: dict[str, tuple[dict[str, Any], AnalysisPlan | None]] = {
    "analysed_settled_by": ({"settled_by": "majority"}, None),
    "analysed_rounds": ({"round": "one"}, None),
    "analysed_conditions": ({"conditions": ["Site"]}, None),
    "analysed_coders": ({}, replace(REGISTERED, coders=("ana",))),
}


@pytest.mark.parametrize("kind", OTHERWISE)
def test_what_is_analysed_otherwise_is_a_deviation_of_the_paper(kind: str, tmp_path: Path) -> None:
    store = in_two_rounds(tmp_path / "study", plan=REGISTERED)
    named, plan = OTHERWISE[kind]
    folder = tmp_path / "paper"
    report.paper(store, plan, folder, formats=["md"], with_prose=False, **named)
    printed = (folder / "deviations.md").read_text("utf-8")
    assert "Nothing was done differently" not in printed
    field = report._deviations.FIELDS[kind.removeprefix("analysed_")]  # type: ignore[attr-defined]
    assert f"| {field}: " in printed
    assert "Analysed: " in printed


def test_a_paper_as_planned_has_no_deviation_of_its_basis(tmp_path: Path) -> None:
    store = in_two_rounds(tmp_path / "study", plan=replace(REGISTERED, conditions=("Site",)))
    done = report.paper(store, None, tmp_path / "paper", formats=["md"], with_prose=False)
    assert "Nothing was done differently" in (tmp_path / "paper" / "deviations.md").read_text("utf-8")
    assert "codes_by_Site.md" in done.files["file"].tolist()


def test_a_registered_round_in_which_nothing_was_coded_is_told(tmp_path: Path) -> None:
    store = in_two_rounds(tmp_path / "study", plan=replace(REGISTERED, rounds=("one", "two", "three")))
    opened(store, "three", range(4), ["ana"])
    assert "round_not_coded" in report.deviations(store).frame["kind"].tolist()


def test_rounds_of_a_plan_that_is_not_registered_are_followed_and_said(tmp_path: Path) -> None:
    store = in_two_rounds(tmp_path / "study")
    plan = replace(PLAN, settled_by="nothing", rounds=("one",))
    folder = tmp_path / "paper"
    report.paper(store, plan, folder, formats=["md"])
    assert "rounds “one”" in lines(folder)["codes"]
    assert "“two”" not in lines(folder)["codes"]
    assert "20 texts" in lines(folder)["codes"]
    assert "this was not registered" in (folder / "methods.md").read_text("utf-8")


# basis.md -------------------------------------------------------------------------------------------------


def test_a_paper_says_what_each_part_rests_on_and_what_changed(tmp_path: Path) -> None:
    store, folder = disputed(tmp_path / "study"), tmp_path / "paper"
    named: dict[str, Any] = {"formats": ["md"], "with_prose": False, "overwrite": True}
    first = report.paper(store, PLAN, folder, settled_by="majority", **named)
    assert first.changed.empty
    said = lines(folder)
    assert said["links"] == said["links_plot"] == said["codes"] == said["co_occurrence"]
    assert f"agreement: {store.decisions()['basis'].iloc[0]} |" == said["reliability"]
    assert "codebook" not in said
    same = report.paper(store, PLAN, folder, settled_by="majority", **named)
    assert same.changed.empty
    other = report.paper(store, PLAN, folder, settled_by="nothing", **named)
    assert {"links", "links_plot", "codes"} <= set(other.changed["part"])
    assert not {"reliability", "agreement"} & set(other.changed["part"])
    row = other.changed.set_index("part").loc["links"]
    assert "majority" in row["before"]
    assert "last" in row["now"]
    assert "Changed since the earlier paper" in (folder / "basis.md").read_text("utf-8")
    assert "rests on other decisions" in other.table.markdown()


def test_a_multiverse_of_decisions_on_several_bases_is_refused(tmp_path: Path) -> None:
    store = quarter_double(tmp_path / "study")
    mixed = pd.concat([store.decisions(settled_by="nothing"), store.decisions()])
    assert is_mixed(mixed)
    tried = MULTIVERSE.example(
        code="warm", source="majority", analysis="rank_biserial", exclusion="none", confidence_level=0.95
    )
    named: dict[str, Any] = {"settled_by": "rulings", "formats": ["md"], "with_prose": False}
    with pytest.raises(TableError, match="on one basis"):
        report.paper(store, PLAN, tmp_path / "a", multiverse=tried.assign(basis=line_of(mixed)), **named)
    one = tried.assign(basis=line_of(store.decisions()))
    report.paper(store, PLAN, tmp_path / "b", multiverse=one, **named)
    assert "multiverse: first independent" in lines(tmp_path / "b")["multiverse"]


def test_a_new_plan_field_leaves_registered_fingerprints_as_they_were() -> None:
    plain = AnalysisPlan(question="Why?")
    assert "conditions" not in plain.to_text()
    assert AnalysisPlan.from_text(replace(plain, settled_by="any").to_text()).settled_by == "any"
    named = replace(plain, conditions=("Site",))
    assert AnalysisPlan.from_text(named.to_text()) == named
    assert named.fingerprint != plain.fingerprint


# a phrase of the line has a sentence ----------------------------------------------------------------


def test_whatever_the_line_counts_as_in_or_left_out_has_a_sentence(tmp_path: Path) -> None:
    store = basis_study.whole(tmp_path / "study")
    planned = basis_study.whole(tmp_path / "planned")
    plan = replace(PLAN, rating=basis_study.RATING, rounds=("main",), coders=("ana", "chi"))
    planned.preregister(plan, coder="lead")
    choices: list[dict[str, Any]] = [{}, {"round": "again"}, {"round": ["main", "again"]}]
    lines = [
        Basis.of(one.decisions(**choice, **settled))
        for one in (store, planned)
        for choice in choices
        for settled in ({}, *({"settled_by": by} for by in ("rulings", "discussion", "majority", "any")))
    ]
    counted = {what for basis in lines for what, _ in (*basis.inside, *basis.left_out)}
    known = {*_text_basis.LATER, *_text_basis.SETTLED, *_text_basis.OPEN}
    assert {"of a later round", "outside the plan's rounds", "by coders outside the plan"} <= counted
    of_models = {what for what in counted if what.startswith("by model-")}
    assert counted - of_models - {"after seeing others", "after a suggestion"} <= known

"""Max-T, equivalence and the multiverse in print: text, tables, figure and review say one thing."""

from __future__ import annotations

import csv
import html
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, coders, corpus, figures, links, report
from sense7_qual.codebook import Code, Codebook
from sense7_qual.links import LINKS, MULTIVERSE
from sense7_qual.store import Store
from tests.helpers.reviewed_study import study
from tests.helpers.scripted_model import says

pytestmark = pytest.mark.long

CODES = Codebook(
    name="three",
    codes=tuple(
        Code(id=one, label=one.capitalize(), definition=f"It is {one}.")
        for one in ("flawed", "sound", "brief")
    ),
)
MARGIN = ("rank_biserial", 0.35)
PLAN = acts.contents.AnalysisPlan(
    question="Why?", rating="Stars", settled_by="nothing", n_boot=20, adjust="max-t", equivalence=MARGIN
)
Written = tuple[Path, Store, pd.DataFrame]


def asked(folder: Path) -> tuple[Store, pd.DataFrame]:
    """Return a study whose units are read from a file, and the multiverse with a model asked in two ways."""
    rng = np.random.default_rng(3)
    case = np.repeat(np.arange(40), 6)
    true = rng.random(240) < rng.beta(1, 2, 40)[case]
    latent = rng.normal(size=40)[case] - 1.4 * true + rng.normal(size=240)
    pd.DataFrame(
        {
            "Message": [f"u{i:03}" for i in range(240)],
            "Comment": [f"Text number {i}." for i in range(240)],
            "Person": [f"p{c:02}" for c in case],
            "Stars": 1 + np.digitize(latent, [-2, -1, 0, 1]),
        }
    ).to_csv(folder / "units.csv", index=False)
    units = corpus.read(
        folder / "units.csv", text="Comment", unit_id="Message", case_id="Person", ratings=["Stars"]
    )
    sample = corpus.hand_sample(units, n=160, seed=7)
    store = Store.create(folder / "study", units=units, codebook=CODES)
    for coder in ("ana", "ben"):
        codes = {
            "flawed": true ^ (rng.random(240) < 0.08),
            "sound": rng.random(240) < 0.4,
            "brief": rng.random(240) < 0.05,
        }
        named: dict[str, Any] = {"coder": coder, "codebook": CODES}
        made = []
        for at in np.flatnonzero(sample["drawn"]):
            unit = units["unit_id"].iloc[at]
            made += [acts.apply(unit_id=unit, code=code, **named) for code in codes if codes[code][at]]
            made.append(acts.finish(unit_id=unit, **named))
        store.append(made)
    wrong = {name: rng.random(240) for name in ("brief", "plain")}

    def chat(messages: list[dict[str, str]]) -> str:
        number = int(messages[1]["content"].rpartition("number ")[2].split(".")[0])
        is_brief = messages[0]["content"].startswith("Does this code apply")
        errs = wrong["brief" if is_brief else "plain"][number] < (0.25 if is_brief else 0.12)
        return says("yes", "Text number") if bool(true[number]) ^ errs else says("no")

    plan = coders.variants(runs=1, wordings=["plain", "brief"], orders=1, n=120, seed=5)
    run = coders.code(units, CODES, chat=chat, coder="model-a", plan=plan)
    return store, links.multiverse(
        store.decisions(),
        store.units,
        rating="Stars",
        cluster="case_id",
        arms={run.coder: run.answers},
        inclusion=sample,
        analyses=["rank_biserial", "mixed"],
        exclusions=["none", "disputed"],
        n_boot=100,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("paper")
    store, curve = asked(folder)
    report.paper(store, PLAN, folder / "paper", formats=["csv", "md"], multiverse=curve)
    return folder / "paper", store, curve


def cells(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["Code"]: {head: cell.lstrip("'") for head, cell in row.items()} for row in rows}


def words(path: Path) -> str:
    return html.unescape(path.read_text("utf-8").replace("\\", ""))


def labels_in(said: list[str]) -> set[str]:
    return {label for one in said for label in re.findall("“(.*?)”", one)}


def below(cell: str) -> bool:
    return cell != "–" and float(cell.lstrip("<> ")) < 0.05


def test_text_and_table_have_the_same_adjusted_p_and_equivalence(written: Written) -> None:
    folder, store, _ = written
    table = cells(folder / "links.csv")
    note, methods, results = (words(folder / f"{name}.md") for name in ("links", "methods", "results"))
    (n_tests,) = re.findall(r"over all codes × sources \((\d+) tests\)", note)
    every = links.code_to_rating(
        store.decisions(settled_by="nothing"),
        store.units,
        rating="Stars",
        cluster="case_id",
        adjust="max-t",
        equivalence=MARGIN,
        n_boot=20,
    )
    assert int(n_tests) == every["odds_ratio_p"].notna().sum() > len(table)
    assert f"across all {n_tests} tests of codes and {every['source'].nunique()} sources" in methods
    assert "two one-sided t tests (Schuirmann, 1987) at the margin of r between −.35 and .35" in methods
    assert "r between −.35 and .35), adjusted over these by Holm's method" in note
    within = {label for label, row in table.items() if below(row["Equivalence, adjusted p"])}
    found = {label for label, row in table.items() if below(row["Adjusted p"])}
    assert within
    assert found
    assert labels_in(re.findall(r"Within the margin .*? p .*?\)", results)) == within
    left_open = re.findall(r"For ([^.]*?) neither an association nor its absence was shown", results)
    tested = {label for label, row in table.items() if row["Adjusted p"] != "–"}
    assert labels_in(left_open) == tested - found - within
    (largest,) = re.findall(r"Within the margin .*?p (?:= )?([<.\d ]+)\)", results)
    own = [table[label]["Equivalence, adjusted p"] for label in within]
    assert largest == max(own, key=lambda one: float(one.lstrip("<> ")))


def test_each_number_of_the_texts_has_its_call(written: Written) -> None:
    _, store, curve = written
    given: dict[str, Any] = {
        "rating": "Stars",
        "settled_by": "nothing",
        "n_boot": 5,
        "adjust": "max-t",
        "equivalence": ("odds_ratio", 6.0),
    }
    texts = [one(store, multiverse=curve, **given) for one in (report.methods, report.results)]
    assert "an odds ratio between 1/6 and 6" in str(texts[0])

    @cache
    def called(call: str) -> object:
        return eval(call, {"store": store, "links": links, "multiverse": curve})  # noqa: S307

    for text in texts:
        numbers = text.frame[text.frame["call"].str.contains("code_to_rating|^multiverse")]
        assert len(numbers) > 3
        for one in numbers.itertuples():
            assert eval(f"found{one.where}", {"found": called(one.call)}) == one.value  # noqa: S307


def example(**columns: object) -> pd.DataFrame:
    usual = {
        "code": ["a", "b"],
        "source": "ana",
        "n_with": 10,
        "n_without": 20,
        "n_clusters": 12,
        "mean_difference": 0.1,
        "rank_biserial": [0.3, 0.02],
        "rank_biserial_low": [0.1, -0.1],
        "rank_biserial_high": [0.5, 0.14],
        "p": [0.004, 0.7],
        "p_adjusted": [0.01, 0.7],
        "n_boot": 20,
        "confidence_level": 0.95,
        "seed": 0,
        "family": "codes of ana",
    }
    return LINKS.example(**usual | columns)


NAMED = {"equivalence_effect": "rank_biserial", "equivalence_margin": 0.15}


def test_the_table_has_the_column_where_a_margin_was_named_and_no_other_table_has() -> None:
    plain = report.tables.link(example(), source="ana")
    assert "Equivalence, adjusted p" not in plain.headers
    assert any("Benjamini–Hochberg within each family" in note for note in plain.notes)
    named = NAMED | {"equivalence_p_adjusted": [0.9, 0.021]}
    table = report.tables.link(example(**named), source="ana")
    assert [row[table.headers.index("Equivalence, adjusted p")] for row in table.rows] == [".900", ".021"]
    assert any("r between −.15 and .15), adjusted in the same way" in note for note in table.notes)
    held = report.tables.link(example(**named, adjustment="max-t", family="codes × sources"), source="ana")
    assert any("(2 tests)" in note and "Holm's method" in note for note in held.notes)


def test_the_figure_draws_the_margin() -> None:
    plain, drawn = (figures.link_plot(example(**more), source="ana") for more in ({}, NAMED))
    assert "Margin: −.15 and .15." in drawn.description
    assert ">−.15<" in drawn.svg()
    assert "Margin" not in plain.description
    odds = example(equivalence_effect="odds_ratio", equivalence_margin=1.5)
    assert "Margin" not in figures.link_plot(odds, source="ana").description


def test_review_asks_for_the_adjustment_and_names_what_is_left_open(tmp_path: Path) -> None:
    plan = acts.contents.AnalysisPlan(question="Why?", rating="Stars")
    found = report.review(study(tmp_path / "open", plan=plan), with_agreement=False).frame.set_index("kind")
    assert found.loc["adjustment_open", "n"] == 4
    assert found.loc["settled_by_open", "n"] > 0
    settled = replace(plan, adjust="max-t", settled_by="rulings", equivalence=("rank_biserial", 0.05))
    store = study(tmp_path / "settled", plan=settled)
    frame = report.review(store, with_agreement=False).frame.set_index("kind")
    assert not {"adjustment_open", "settled_by_open"} & set(frame.index)
    rows = links.code_to_rating(
        store.decisions(settled_by="rulings"),
        store.units,
        rating="Stars",
        cluster="case_id",
        adjust="max-t",
        equivalence=("rank_biserial", 0.05),
        n_boot=2,
    )
    rows = rows[rows["source"] == "consensus"]
    left_open = (rows["odds_ratio_p_adjusted"] >= 0.05) & (rows["equivalence_p_adjusted"] >= 0.05)
    assert frame.loc["links_inconclusive", "n"] == left_open.sum() > 0
    wide = study(tmp_path / "wide", plan=replace(settled, equivalence=("rank_biserial", 0.9)))
    assert "links_inconclusive" not in report.review(wide, with_agreement=False).frame["kind"].tolist()


def test_the_multiverse_of_units_from_a_file_is_one_in_text_and_table(written: Written) -> None:
    folder, _, curve = written
    table = cells(folder / "multiverse.csv")
    methods, results = (words(folder / f"{name}.md") for name in ("methods", "results"))
    assert set(table) == {"Flawed", "Sound", "Brief"}
    for label, row in table.items():
        tried = curve[(curve["code"] == label.lower()) & (curve["analysis"] != "whole")]
        known = tried[tried["estimate"].notna()]
        none = known["effect"].eq("odds_ratio").astype("float64")
        lower, apart = known["estimate"] < none, known["high"] < none
        assert row["Combinations"] == str(len(known))
        assert row["Lower"] == f"{lower.sum()} ({(lower & apart).sum()})"
        (said,) = re.findall(rf"gave p (?:= )?([<.\d ]+) for the link of “{label}”(.*?\]|)\.", results)
        assert said[0] == row["p of all"]
        if row["95% CI"] != "–":
            assert f"was {row['r, whole error']}, 95% CI {row['95% CI']}" in said[1]
    assert table["Flawed"]["95% CI"] != "–"
    n = len(curve[curve["analysis"] != "whole"][["source", "analysis", "exclusion"]].drop_duplicates())
    assert f"{n} combinations of source, analysis and exclusion" in methods
    for counted in ("coder", "prompt"):
        assert f"{table['Flawed'][f'{counted.capitalize()}s']} {counted}s" in methods


def test_each_model_has_a_row_and_without_arms_there_is_no_whole_error() -> None:
    whole = MULTIVERSE.example(
        code="a",
        source=["ana", "human", "model-a", "model-a + human", "model-b", "model-b + human"],
        analysis=["rank_biserial", *["whole"] * 5],
        estimate=[0.2, 0.21, 0.3, 0.22, 0.1, 0.19],
        low=0.01,
        high=0.5,
        n_coders=[None, 2, None, 2, None, 2],
        n_prompts=[None, None, 3, 1, 1, 0],
        exclusion="none",
        effect="rank_biserial",
        whole_p=0.03,
        confidence_level=0.95,
    )
    table = report.tables.multiverse(whole)
    assert [row[1] for row in table.rows] == ["model-a", "model-b"]
    of_model = [(".22", "[.01, .50]", "2", "3"), (".19", "[.01, .50]", "2", "1")]
    assert [row[-4:] for row in table.rows] == of_model
    plain = report.tables.multiverse(whole[whole["source"] == "ana"])
    assert plain.headers == ("Code", "Combinations", "Higher", "Lower", "r", "p of all")
    assert plain.rows == (("a", "1", "1 (1)", "0 (0)", ".20 to .20", ".030"),)


def test_review_objects_to_a_link_by_choice_and_to_one_prompt(written: Written) -> None:
    _, store, curve = written
    found = report.review(store, rating="Stars", n_boot=5, multiverse=curve)
    assert "one_prompt" not in found.frame["kind"].tolist()
    assert found.n_checked == report.review(store, rating="Stars", n_boot=5).n_checked + 2
    shown = curve[(curve["analysis"] != "whole") & (curve["code"] == "flawed")]
    assert (shown["high"] < shown["effect"].eq("odds_ratio").astype("float64")).any()
    alone = curve["n_prompts"].where(curve["source"] != "model-a", 1)
    other = curve.assign(whole_p=0.5, n_prompts=alone)
    objections = report.review(store, rating="Stars", n_boot=5, multiverse=other).frame.set_index("kind")
    assert "“Flawed”" in objections.loc["link_by_choice", "seen"]
    assert "model-a rests on one prompt" in objections.loc["one_prompt", "seen"]
    assert objections.loc["one_prompt", "n"] == 1

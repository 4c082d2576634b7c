"""Missing ratings in a paper: how many is said wherever any is missing, and what they could change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sense7_qual import Codebook, Store, acts, corpus, links, report
from sense7_qual.codebook import Code
from sense7_qual.errors import TableError

pytestmark = pytest.mark.long

BOOK = Codebook(name="one", codes=(Code(id="warm", label="Warmth"), Code(id="cold", label="Coldness")))


def study(folder: Path, *, missing: float) -> Store:
    """Thirty participants with six texts each; those with warmth are rated higher, and lack more ratings."""
    rng = np.random.default_rng(7)
    warm = rng.random(180) < 0.4
    stars = np.clip(rng.integers(1, 5, 180) + warm, 1, 5)
    gone = rng.random(180) < missing * np.where(warm, 1.5, 0.5)
    rows = [f"t{i},p{i % 30},Words number {i},{'' if gone[i] else stars[i]}" for i in range(180)]
    (folder / "said.csv").write_text("\n".join(["id,who,said,Stars", *rows]), encoding="utf-8")
    units = corpus.read(folder / "said.csv", text="said", unit_id="id", case_id="who", ratings=["Stars"])
    store = Store.create(folder / "study", units=units, codebook=BOOK)
    for unit_id, is_warm in zip(units["unit_id"], warm, strict=True):
        named = {"coder": "ana", "unit_id": unit_id, "codebook": BOOK}
        coded = [acts.apply(code="warm", **named)] if is_warm else []
        store.append([*coded, acts.finish(**named)])
    return store


def test_a_paper_says_how_many_ratings_are_missing_and_what_they_could_change(tmp_path: Path) -> None:
    store = study(tmp_path, missing=0.4)
    n = int(store.units["Stars"].isna().sum())
    methods = report.methods(store, rating="Stars", n_boot=20)
    assert f"The rating was missing for {n} of 180 coded texts ({n / 1.8:.1f}%)" in str(methods)
    every = links.models.missing_ratings(store.decisions(), store.units, rating="Stars", cluster="case_id")
    row = every[(every["code"] == "warm") & (every["direction"] == "opposite")].iloc[0]
    (said,) = [
        str(one)
        for one in report.results(store, rating="Stars", n_boot=20).sentences
        if "wherever" in str(one)
    ]
    assert f"“Warmth” lies between {row['lowest']:.2f} and".replace("-0", "−").replace("0.", ".") in said
    assert f"on average {-row['delta_interval']:.2f} points lower than observed ones with it" in said
    (objection,) = [
        one for one in report.review(store, rating="Stars", n_boot=20) if one.kind == "rating_missing"
    ]
    assert objection.n == n
    assert "more often where “Warmth” applies" in objection.seen
    plan = acts.contents.AnalysisPlan(question="Why?", rating="Stars", n_boot=20)
    report.paper(store, plan, tmp_path / "paper", formats=["csv"])
    assert "Warmth" in (tmp_path / "paper" / "missing_ratings.csv").read_text("utf-8-sig")


def test_where_none_is_missing_nothing_is_said(tmp_path: Path) -> None:
    store = study(tmp_path, missing=0)
    said = str(report.methods(store, rating="Stars", n_boot=20)) + str(
        report.results(store, rating="Stars", n_boot=20)
    )
    assert "rating was missing" not in said
    assert "missing ratings" not in said
    assert "rating_missing" not in [one.kind for one in report.review(store, rating="Stars", n_boot=20)]


def test_the_table_prints_what_there_is_and_no_other_source(tmp_path: Path) -> None:
    store = study(tmp_path, missing=0.4)
    found = links.models.missing_ratings(store.decisions(), store.units, rating="Stars", cluster="case_id")
    table = report.tables.missing(
        found, source="ana", codebook=BOOK, rating="Stars", cluster_name="participants"
    )
    assert [row[0] for row in table.rows] == ["Warmth", "Coldness"]
    assert table.rows[1][4:6] == ("–", "–")  # never applied
    assert any("never applied" in note for note in table.notes)
    with pytest.raises(TableError, match="ben"):
        report.tables.missing(found, source="ben")

"""The whole path from file to tables, with the first thirty texts coded in a real browser.

Texts: the first 300 real ones, or 286 synthetic ones where they are absent; in `make soak` all of both.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from benchmarks import real_path
from tests.helpers.messages import REAL, SOURCES, messages
from tests.helpers.simulation import SOAK

pytestmark = [pytest.mark.browser, pytest.mark.model]

# Texts, writers, texts that both coders get.
SIZES = {"real": (1860, 372, 558) if SOAK else (300, 60, 90), "synthetic": (286, 40, 86)}


def texts(source: str, folder: Path) -> Path:
    """The file of a source with as many texts as its size says."""
    path = messages(source, folder)
    if source == "synthetic" or SOAK:
        return path
    every = pd.read_csv(path, dtype=str, keep_default_na=False)
    every.head(SIZES[source][0]).to_csv(folder / "messages.csv", index=False)
    return folder / "messages.csv"


@pytest.fixture(scope="module", params=SOURCES if SOAK or not REAL.exists() else SOURCES[1:])
def walked(request, chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    path = texts(request.param, tmp_path_factory.mktemp("messages"))
    return {"size": SIZES[request.param], **real_path.run(folder, path)}


def test_every_text_comes_in_with_its_writer_and_ratings(walked):
    units = walked["store"].units
    assert (len(units), units["case_id"].nunique()) == walked["size"][:2]
    assert units["empathy"].between(1, 7).all()


def test_the_keys_pressed_in_the_browser_are_the_record(walked):
    store, decided = walked["store"], walked["decided"]["ana"]
    first = walked["plan"]["ana"]["unit_id"].head(real_path.BROWSER_UNITS).tolist()
    record = qual.acts.fold(walked["in_browser"])
    assert record.coverage["unit_id"].tolist() == first
    codings = record.codings
    assert {unit: sorted(codings.loc[codings["unit_id"] == unit, "code"]) for unit in first} == {
        unit: sorted(decided[unit]) for unit in first
    }
    assert len(codings) >= 20, "the rule must have coded something"
    spans = codings.dropna(subset=["start"])
    assert set(spans["code"]) <= {"sadness", "help"}
    texts = store.units.set_index("unit_id")["text"]
    for coding in spans.itertuples():
        first_word = texts[coding.unit_id][coding.start : coding.end]
        assert texts[coding.unit_id].lstrip().startswith(first_word) or coding.start <= 2
    assert store.verify()["ok"].all()


def test_decisions_are_what_the_rule_decided(walked):
    decisions, plan = walked["decisions"], walked["plan"]
    expected = [
        (unit_id, coder, code, code in walked["decided"][coder][unit_id])
        for coder in real_path.CODERS
        for unit_id in plan[coder]["unit_id"]
        for code in real_path.WORDS
    ]
    found = list(decisions[["unit_id", "coder", "code", "applied"]].itertuples(index=False, name=None))
    assert sorted(found) == sorted(expected)


def test_agreement_equals_krippendorffs_own_package(walked):
    import krippendorff

    for row in walked["agreement"].itertuples():
        chosen = walked["decisions"][walked["decisions"]["code"] == row.code]
        table = chosen.pivot(index="coder", columns="unit_id", values="applied").astype(float)
        alpha = krippendorff.alpha(reliability_data=table.to_numpy(), level_of_measurement="nominal")
        assert row.alpha == pytest.approx(alpha, abs=1e-12)
        assert row.alpha_low < row.alpha < row.alpha_high
        assert row.n_units == walked["size"][2]  # 30 %


def test_links_equal_scipys_mann_whitney(walked):
    from scipy.stats import mannwhitneyu

    decisions, units = walked["decisions"], walked["store"].units.set_index("unit_id")
    links = walked["links"].set_index(["code", "source"])
    for code in real_path.WORDS:
        chosen = decisions[(decisions["code"] == code) & (decisions["coder"] == "ana")]
        rating = units.loc[chosen["unit_id"], "empathy"].to_numpy()
        with_code, without = rating[chosen["applied"].to_numpy()], rating[~chosen["applied"].to_numpy()]
        row = links.loc[(code, "ana")]
        effect = 2 * mannwhitneyu(with_code, without).statistic / (len(with_code) * len(without)) - 1
        assert row["rank_biserial"] == pytest.approx(effect, abs=1e-12)
        assert (row["n_with"], row["n_without"]) == (len(with_code), len(without))
    assert links["p_adjusted"].ge(links["p"]).all()


def test_themes_group_the_texts_and_are_compared_with_the_codes(walked):
    themes = walked["themes"]
    assert themes.assignments["unit_id"].tolist() == sorted(walked["store"].units["unit_id"])
    assert 5 <= len(themes.summary) <= 80
    assert themes.summary["n_units"].max() < walked["size"][0] / 2
    assert (themes.assignments["theme"] == -1).mean() < 0.1
    assert themes.summary["stability"].between(0, 1).all()
    assert set(walked["against"]["verdict"].dropna()) <= {"covered", "uncovered"}


def test_tables_name_every_code_and_escape(walked):
    for name in ("codebook", "reliability", "links", "quotes"):
        table = walked["tables"][name]
        for written in (table.markdown(), table.latex(), table.html()):
            assert all(code.capitalize() in written for code in real_path.WORDS)

"""The tables: what stands in their cells, and what their notes say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sense7_qual import acts, agreement, corpus, links, ratings, report
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, QualError, TableError
from sense7_qual.frames import CODINGS
from sense7_qual.links import LINKS
from sense7_qual.store import Store
from tests.helpers.conversations import rated_turns
from tests.helpers.reference import in_clusters
from tests.helpers.small_study import facet

CODEBOOK = Codebook(
    name="study",
    title="A <study>",
    version="2",
    facets=(facet("valence", "met", "unmet"),),
    source="Somebody (2025).",
    codes=(
        Code(
            id="warm",
            label="Warm | kind",
            definition="Warmth.",
            use_when=("first", "second"),
            avoid_when=("never",),
            examples=("It was kind.",),
            counter_examples=("It was quick.",),
            source="theory",
            rules_source="the team",
        ),
        Code(id="cold", label="Cold", parent="warm", origin="model"),
        Code(id="group", label="Group", codable=False, rules_source="the team"),
    ),
)


def agreement_frame(**changes: object) -> pd.DataFrame:
    row = {
        "code": "warm",
        "n_units": 1200,
        "n_coders": 2,
        "n_clusters": 40,
        "prevalence": 0.254,
        "percent": 0.9123,
        "alpha": 0.7681,
        "alpha_low": 0.6412,
        "alpha_high": 0.8666,
        "n_boot": 2000,
        "n_undefined": 0,
        "confidence_level": 0.95,
        "seed": 7,
        "reason": None,
    }
    return pd.DataFrame([row | changes])


def link_frame(**changes: object) -> pd.DataFrame:
    row = {
        "code": "warm",
        "source": "majority",
        "n_with": 61,
        "n_without": 239,
        "n_clusters": 40,
        "mean_with": 3.9,
        "mean_without": 3.55,
        "mean_difference": 0.35,
        "rank_biserial": 0.214,
        "rank_biserial_low": -0.012,
        "rank_biserial_high": 0.41,
        "p": 0.0004,
        "p_adjusted": 0.0028,
        "family": "codes of majority",
        "odds_ratio": 1.5214,
        "odds_ratio_low": 0.971,
        "odds_ratio_high": 12.384,
        "odds_ratio_p": 0.0612,
        "odds_ratio_p_adjusted": 0.122,
        "odds_ratio_df": 24,
        "n_clusters_both": 25,
        "between_odds_ratio": 1.21,
        "between_odds_ratio_low": 0.55,
        "between_odds_ratio_high": 2.66,
        "between_odds_ratio_p": 0.64,
        "n_boot": 2000,
        "n_undefined": 0,
        "confidence_level": 0.95,
        "seed": 7,
    }
    return LINKS.example(**(row | changes))


def notes_of(table: report.Table) -> str:
    return " ".join(table.notes)


def test_codebook_table_has_every_part_of_a_code() -> None:
    table = report.tables.codebook(CODEBOOK)
    assert table.rows[0] == (
        "Warm | kind",
        "Warmth.",
        "• first\n• second",
        "never",
        "• It was kind.\n• Not: It was quick.",
        "not stated\ntheory",
    )
    assert table.rows[1] == ("Cold\n(under Warm | kind)", "–", "–", "–", "–", "proposed by a model")
    assert table.rows[2][0] == "Group\n(groups other codes; not applied itself)"
    notes = notes_of(table)
    assert "– = not given in the codebook." in notes
    assert "Rules and examples: the team (Warm | kind, Group)." in notes
    assert "Source of the codebook: Somebody (2025). " in notes
    assert f"version 2, fingerprint {CODEBOOK.fingerprint}." in notes
    assert table.layout == "list"
    assert "longtable" in report.tables.codebook(CODEBOOK, layout="grid").latex()


def test_shipped_codebook_is_complete() -> None:
    table = report.tables.codebook(Codebook.read("sense7"))
    assert len(table.rows) == 7
    assert all(cell != "–" for row in table.rows for cell in row)


def test_reliability_row_is_rounded_here() -> None:
    table = report.tables.reliability(agreement_frame(), codebook=CODEBOOK)
    assert table.headers == ("Code", "n", "Prevalence (%)", "Agreement (%)", "α", "95% CI")
    assert table.rows == (("Warm | kind", "1,200", "25.4", "91.2", ".77", "[.64, .87]"),)
    assert report.tables.reliability(agreement_frame(), digits=3).rows[0][4:] == (".768", "[.641, .867]")


def test_reliability_foot_says_what_a_reviewer_asks() -> None:
    table = report.tables.reliability(
        agreement_frame(n_undefined=12, confidence_level=0.9, seed=20250101),
        codebook=CODEBOOK,
        cluster_name="participants",
        notes=("Round: first.",),
    )
    notes = notes_of(table)
    assert table.headers[-1] == "90% CI"
    assert (
        "90% CI: bootstrap over whole participants (number: 40; B = 2,000 resamples; seed 20250101)" in notes
    )
    assert "Resamples in which α was not defined: Warm | kind 12." in notes
    assert "(number of coders: 2)" in notes
    assert ".800" in notes
    assert ".667" in notes
    assert "Krippendorff's (2004) conventions, which are not verdicts" in notes
    assert "Round: first." in table.notes
    assert f"fingerprint {CODEBOOK.fingerprint}. Codes without a result: Cold. Made with sense7_qual" in notes


def test_resampled_texts_are_called_that() -> None:
    assert "(number: 1,200, one text each;" in notes_of(
        report.tables.reliability(agreement_frame(n_clusters=1200))
    )


@pytest.mark.parametrize(
    ("alpha", "digits", "printed"),
    [
        (0.7996, 2, ".7996"),
        (0.7968, 2, ".797"),
        (0.6651, 2, ".665"),
        (0.7996, 4, ".7996"),
        (0.8, 2, ".80"),
        (0.79, 2, ".79"),
    ],
)
def test_alpha_never_reaches_a_convention_by_rounding(alpha: float, digits: int, printed: str) -> None:
    assert report.tables.reliability(agreement_frame(alpha=alpha), digits=digits).rows[0][4] == printed


def test_a_text_counts_an_alpha_just_below_a_convention_as_below_it(tmp_path: Path) -> None:
    """Alphas of .798 and .666, which two decimals would lift to .80 and .67."""
    (tmp_path / "said.csv").write_text("id,said,who\n" + "".join(f"m{i},Text {i}.,p{i}\n" for i in range(32)))
    units = corpus.read(tmp_path / "said.csv", text="said", unit_id="id", case_id="who")
    book = Codebook(name="two", codes=(Code(id="warm", label="Warmth"), Code(id="cold", label="Coldness")))
    store = Store.create(tmp_path / "study", units=units, codebook=book)
    for coder, n_warm, n_cold in (("ana", 7, 14), ("ben", 5, 9)):
        named = [{"coder": coder, "unit_id": f"m{i}", "codebook": book} for i in range(32)]
        applied = [acts.apply(code="warm", **each) for each in named[:n_warm]]
        applied += [acts.apply(code="cold", **each) for each in named[:n_cold]]
        store.append([*applied, *(acts.finish(**each) for each in named)])
    told = str(report.results(store, settled_by="rulings", n_boot=20))
    assert "at least .667 but below .800 for 1 code and below .667 for 1 code (“Coldness”)" in told


def test_missing_numbers_are_dashes_with_their_reason() -> None:
    codes = ["warm", "cold", "new"]
    decisions = pd.DataFrame(
        {
            "unit_id": f"m{n}",
            "coder": coder,
            "code": code,
            "applied": code == "warm" and (n + (coder == "a")) % 3 == 0,
        }
        for n in range(9)
        for coder in ("a", "b")
        for code in codes
        if code != "new" or coder == "a"
    )
    frame = agreement.by_code(
        decisions, **in_clusters(pd.Series({f"m{n}": f"p{n % 4}" for n in range(9)})), n_boot=50, seed=1
    )
    table = report.tables.reliability(frame)
    assert table.rows[0][5] != "–"
    assert table.rows[1] == ("cold", "9", "0.0", "100.0", "–", "–")
    assert table.rows[2] == ("new", "0", "–", "–", "–", "–")
    notes = notes_of(table)
    assert "To be read with caution: too few clusters have, or lack, the code (warm)." in notes
    assert "Not resampled: warm (from leaving out each of the clusters, Student's t" in notes
    assert "agreement beyond chance is not defined (cold)" in notes
    assert "no text was finished by two or more coders (new)" in notes
    assert "95% CI: Not resampled" in notes


def test_dash_without_reason_is_still_explained_and_a_reason_without_dash_is_a_caution() -> None:
    missing = report.tables.reliability(agreement_frame(alpha_low=np.nan, alpha_high=np.nan))
    assert "– = not computable: the result gives no reason (warm)." in missing.notes
    caution = report.tables.reliability(agreement_frame(reason="few_clusters"))
    assert "To be read with caution: too few clusters have, or lack, the code (warm)." in caution.notes


def test_a_result_of_no_rows_is_a_table_of_no_rows() -> None:
    table = report.tables.reliability(agreement_frame().iloc[:0])
    assert table.rows == ()
    assert table.headers[-1] == "CI"
    assert "| Code |" in table.markdown()


def test_link_row_and_foot() -> None:
    table = report.tables.link(
        pd.concat([link_frame(), link_frame(source="ana", rank_biserial=0.9)]),
        source="majority",
        codebook=CODEBOOK,
        rating="Empathy_Overall",
        cluster_name="participants",
    )
    cells = (
        "Warm | kind",
        "61",
        "239",
        "0.35",
        "1.52",
        "[0.97, 12.38]",
        "24",
        ".061",
        ".122",
        "1.21",
        "[0.55, 2.66]",
        ".640",
        ".21",
        "[−.01, .41]",
        "< .001",
    )
    assert table.rows == (cells,)
    assert table.title == "Association of codes with Empathy_Overall"
    notes = notes_of(table)
    assert (
        "95% CI of r: bootstrap over whole participants (number: 40; B = 2,000 resamples; seed 7)." in notes
    )
    assert table.notes[0] == "Basis: not stated"
    assert "Benjamini–Hochberg within each family (number of tests): codes of majority (1)." in notes
    assert "p: two-sided, of an odds ratio of 1; p of r: of r = 0." in notes
    assert "odds of a higher rating of a text with the code" in notes
    assert "df = participants who wrote both (25), less 1" in notes
    assert "Hypothesis: own texts." in notes
    assert "These are associations" in notes
    of_ana = link_frame(source="ana").assign(basis="last · 4 texts: ana")
    assert report.tables.link(of_ana, source="ana").notes[0] == "Basis: last · 4 texts: ana"


def test_links_of_real_decisions_with_every_kind_of_missing() -> None:
    rng = np.random.default_rng(3)
    units = pd.DataFrame(
        {"unit_id": [f"m{n}" for n in range(80)], "case_id": [f"p{n % 20}" for n in range(80)]}
    )
    units["stars"] = rng.integers(1, 6, 80).astype(float)
    applied = {"warm": rng.random(80) < 0.4, "cold": np.zeros(80, bool), "all": np.ones(80, bool)}
    decisions = pd.concat(
        pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": code, "applied": values})
        for code, values in applied.items()
    )
    frame = links.code_to_rating(decisions, units, rating="stars", cluster="case_id", n_boot=200, seed=1)
    table = report.tables.link(frame, source="ana")
    row = frame[frame["code"] == "warm"].iloc[0]
    assert table.rows[0][1] == str(int(applied["warm"].sum()))
    assert table.rows[0][3] == f"{row['mean_difference']:.2f}".replace("-", "−")
    assert table.rows[1][3:] == ("–",) * 12
    assert table.rows[2][3:] == ("–",) * 12
    notes = notes_of(table)
    assert "the code was never applied (cold)" in notes
    assert "the code was applied to every text (all)" in notes
    assert "codes of ana (1)" in notes
    assert "– for the odds ratio = not computable: the code was never applied (cold)." in notes
    without = links.code_to_rating(
        decisions, units, rating="stars", cluster="case_id", n_boot=200, seed=1, odds_ratios=False
    )
    heads = " ".join(report.tables.link(without, source="ana").headers)
    assert "Odds ratio" not in heads


@pytest.mark.long
def test_sources_stand_beside_each_other_under_every_code() -> None:
    decisions, units = study()
    frame = links.code_to_rating(decisions, units, rating="stars", cluster="case_id", n_boot=200, seed=1)
    table = report.tables.link(frame, source=["majority", "ana", "pooled"])
    assert [row[:2] for row in table.rows] == [
        (code, source) for code in ("warm", "cold") for source in ("majority", "ana", "pooled")
    ]
    pooled = frame[(frame["source"] == "pooled") & (frame["code"] == "warm")].iloc[0]
    assert table.headers[-1] == "Between coders (%)"
    assert table.rows[2][-1] == f"{100 * pooled['between_coder_share']:.1f}"
    assert table.rows[0][-1] == table.rows[1][-1] == ""
    assert table.headers[5:10] == ("Odds ratio (own texts)", "95% CI", "df", "p", "Adjusted p")
    assert table.headers[10:13] == ("Odds ratio (people)", "95% CI", "p (people)")
    assert table.rows[2][5] == f"{pooled['odds_ratio']:.2f}"
    assert table.rows[2][13] == f"{pooled['rank_biserial']:.2f}".replace("0.", ".").replace("-", "−")
    notes = notes_of(table)
    assert [note.partition(":")[0] for note in table.notes if note.startswith("Basis")] == [
        "Basis (ana)",
        "Basis (majority)",
        "Basis (pooled)",
    ]
    assert "codes of majority (2), codes of ana (2), codes of pooled (2)" in notes
    assert "\\begin{longtable}" in report.tables.link(frame, source="pooled").latex()


def test_cautions_of_links_are_spelt_out() -> None:
    table = report.tables.link(
        pd.concat([link_frame(caution="fewer_than_10_clusters, clusters_of_one"), link_frame(source="ana")]),
        source=["majority", "ana"],
    )
    assert (
        "To be read with caution: fewer than 10 clusters have the code, lack it, or have texts with and "
        "without it (warm / majority)." in table.notes
    )
    assert sum("no cluster has two texts" in note for note in table.notes) == 1


def study(n: int = 240) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two coders who mostly agree on two codes, in 30 participants' texts; `warm` goes with high ratings."""
    rng = np.random.default_rng(5)
    ids = [f"m{number}" for number in range(n)]
    true = {"warm": rng.random(n) < 0.4, "cold": rng.random(n) < 0.3}
    stars = np.clip(np.round(2.5 + true["warm"] + rng.normal(size=n)), 1, 5)
    units = pd.DataFrame(
        {"unit_id": ids, "case_id": [f"p{number % 30}" for number in range(n)], "stars": stars}
    )
    units["system"] = np.where(rng.random(n) < 0.5, "new", "old")
    decisions = pd.concat(
        pd.DataFrame(
            {"unit_id": ids, "coder": coder, "code": code, "applied": applied ^ (rng.random(n) < 0.1)}
        )
        for coder in ("ana", "ben")
        for code, applied in true.items()
    )
    return decisions, units


def test_joint_table_has_a_row_per_code_and_per_condition() -> None:
    decisions, units = study()
    frame = links.joint(
        decisions, units, rating="stars", cluster="case_id", source="ana", interaction="system"
    )
    table = report.tables.joint(frame, rating="Stars", cluster_name="participants")
    assert table.headers == ("Code", "Condition", "n with", "Odds ratio", "95% CI", "p", "Adjusted p", "VIF")
    assert [row[:2] for row in table.rows] == [
        ("warm", "all"),
        ("cold", "all"),
        ("warm", "old over new"),
        ("cold", "old over new"),
    ]
    first = frame.iloc[0]
    assert table.rows[0][2:5] == (
        str(first["n_with"]),
        f"{first['odds_ratio']:.2f}",
        f"[{first['odds_ratio_low']:.2f}, {first['odds_ratio_high']:.2f}]",
    )
    assert table.rows[0][7] == f"{first['variance_inflation']:.2f}"
    assert table.rows[2][7] == ""
    notes = notes_of(table)
    assert "(240 texts of 30 participants)" in notes
    assert "codes of ana (2), codes of ana by system (2)" in notes
    assert "Equal odds ratios in all conditions (Wald's F): warm p" in notes
    plain = report.tables.joint(frame[frame["effect"] == "code"])
    assert "Condition" not in plain.headers
    with pytest.raises(TableError, match="rows of one source – found 'ana', 'ben'"):
        report.tables.joint(pd.concat([frame, frame.assign(source="ben")]))


def test_a_code_that_the_others_determine_has_an_infinite_inflation_and_a_reason() -> None:
    decisions, units = study()
    same = decisions[decisions["code"] == "warm"].assign(code="same")
    frame = links.joint(pd.concat([decisions, same]), units, rating="stars", cluster="case_id", source="ana")
    table = report.tables.joint(frame)
    assert [row[-1] for row in table.rows][0::2] == ["∞", "∞"]
    assert (
        "– = not computable: the other codes say exactly whether the code is applied (warm, same)."
        in table.notes
    )
    assert "\\infty" in table.latex()


def test_rating_table_has_both_baselines_and_marks_what_was_published() -> None:
    _, units = study()
    found = ratings.cross_validate(
        units,
        {"guess": lambda train, test: np.arange(len(test)) % 5 + 1.0},
        rating="stars",
        cluster="case_id",
        folds=5,
        seed=7,
    )
    compared = ratings.compare(found, n_boot=100, seed=7)
    table = report.tables.rating(compared, rating="Stars")
    assert [row[0] for row in table.rows] == [
        "guess",
        "majority class",
        "mean rating",
        "SENSE-7 paper (published, on its own data) *",
    ]
    accuracy = compared.loc[0, ["accuracy", "accuracy_low", "accuracy_high"]].astype(float)
    printed = [f"{value:.2f}".removeprefix("0") for value in accuracy]
    assert table.rows[0][3] == f"{printed[0]}\n[{printed[1]}, {printed[2]}]"
    assert table.rows[1][-1] == ".00"
    assert table.rows[3][1:] == ("–", ".37", ".49", "–", "–", "–", "–")
    notes = notes_of(table)
    assert "every prediction was the same within each fold (mean rating)" in notes
    assert "computed on other data. They are no result on these texts" in notes
    assert "(number: 30; B = 100 resamples; seed 7)" in notes
    with pytest.raises(TableError, match="one row per predictor"):
        report.tables.rating(pd.concat([compared, compared]))


def test_disruption_and_variance_tables() -> None:
    rng = np.random.default_rng(2)
    units = rated_turns(rng, "stars")
    decisions = units[["unit_id"]].assign(coder="ana", code="warm", applied=rng.random(len(units)) < 0.4)
    found = links.disruption(
        units,
        rating="stars",
        document_id="document_id",
        position="turn",
        cluster="case_id",
        decisions=decisions,
        source="ana",
        n_boot=100,
    )
    table = report.tables.disruption(found, codebook=CODEBOOK, cluster_name="participants")
    assert [row[:2] for row in table.rows][:4] == [
        ("later turns", "all"),
        ("later turns, adjusted", "all"),
        ("within conversation", "all"),
        ("later turns", "Warm | kind"),
    ]
    assert table.rows[0][8] == f"{found.loc[0, 'cohens_d']:.2f}".replace("-", "−")
    assert "none of this shows what they cause" in notes_of(table)
    assert table.rows[0][-1] == "–"  # of which the terms say why
    assert "gives no reason" not in notes_of(table)
    shares = links.variance_shares(units, rating="stars", levels=["case_id", "document_id"], n_boot=100)
    table = report.tables.variance(shares, names={"case_id": "Participant"}, rating="Stars")
    assert [row[0] for row in table.rows] == ["Participant", "document_id", "Remainder (turn, and error)"]
    assert table.rows[2][3] == f"{100 * shares.loc[2, 'share']:.1f}"


def test_links_refuse_an_unknown_source_and_repeated_codes() -> None:
    with pytest.raises(TableError, match="did you mean 'majority'"):
        report.tables.link(link_frame(), source="majorty")
    with pytest.raises(TableError, match="one row per code"):
        report.tables.link(pd.concat([link_frame()] * 2), source="majority")


def two_settings(frame: pd.DataFrame, **changes: object) -> pd.DataFrame:
    return pd.concat([frame, frame.assign(code="cold", **changes)])


@pytest.mark.parametrize("changes", [{"confidence_level": 0.9}, {"seed": 8}, {"seed": None}])
def test_rows_of_several_settings_are_refused_within_a_source(changes: dict[str, object]) -> None:
    name = f"one {next(iter(changes))} in all rows"
    with pytest.raises(TableError, match=f"agreement: expected {name}"):
        report.tables.reliability(two_settings(agreement_frame(), **changes))
    with pytest.raises(TableError, match=f"links: expected {name}"):
        report.tables.link(two_settings(link_frame(), **changes), source="majority")
    apart = two_settings(link_frame(), source="ana", **changes)
    assert report.tables.link(apart, source="majority").rows[0][0] == "warm"


def test_the_level_and_the_seed_are_those_of_the_computation() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(60) < 0.5
    decisions = pd.concat(
        pd.DataFrame(
            {
                "unit_id": [f"m{n}" for n in range(60)],
                "coder": coder,
                "code": "warm",
                "applied": truth ^ (rng.random(60) < 0.1),
            }
        )
        for coder in ("ana", "ben")
    )
    units = pd.DataFrame({"unit_id": [f"m{n}" for n in range(60)], "stars": rng.integers(1, 6, 60)})
    found = agreement.by_code(decisions, n_boot=50, confidence_level=0.8, seed=11)
    table = report.tables.reliability(found)
    assert table.headers[-1] == "80% CI"
    assert "(number: 60, one text each; B = 50 resamples; seed 11)" in notes_of(table)
    linked = links.code_to_rating(
        decisions, units, rating="stars", cluster="unit_id", n_boot=50, confidence_level=0.99, seed=12
    )
    table = report.tables.link(linked, source="ana")
    assert "99% CI" in table.headers
    assert "B = 50 resamples; seed 12)" in notes_of(table)


def test_tables_refuse_what_they_cannot_print() -> None:
    with pytest.raises(TableError, match="'alpha_low'"):
        report.tables.reliability(agreement_frame().drop(columns="alpha_low"))
    for name in ("confidence_level", "seed"):
        with pytest.raises(TableError, match=f"'{name}'"):
            report.tables.reliability(agreement_frame().drop(columns=name))
        with pytest.raises(TableError, match=f"'{name}'"):
            report.tables.link(link_frame().drop(columns=name), source="majority")
    with pytest.raises(CodebookError, match="did you mean 'warm'"):
        report.tables.reliability(agreement_frame(code="wram"), codebook=CODEBOOK)
    with pytest.raises(TableError, match="confidence_level between 0 and 1"):
        report.tables.reliability(agreement_frame(confidence_level=95))
    with pytest.raises(QualError, match="digits from 1 to 6"):
        report.tables.link(link_frame(), source="majority", digits=0)


UNITS = pd.DataFrame(
    {
        "unit_id": ["m1", "m2", "m3"],
        "text": ["It was so | kind to me, **really**.", "word " * 60, "<b>kind</b>"],
        "document_id": None,
        "case_id": ["p1", "p2", None],
        "position": 1,
        "stars": [4.0, 2.5, np.nan],
    }
)
CODED = CODINGS.check(
    pd.DataFrame(
        [
            {"unit_id": "m1", "coder": "ana", "code": "warm", "start": 3, "end": 13},
            {"unit_id": "m2", "coder": "ben", "code": "warm"},
            {"unit_id": "m2", "coder": "ana", "code": "warm"},
            {"unit_id": "m3", "coder": "ana", "code": "warm"},
        ]
    ).reindex(columns=list(CODINGS.columns))
)


def test_quote_table_prints_span_participant_rating_and_coders() -> None:
    table = report.tables.quote(CODED, UNITS, codebook=CODEBOOK, rating="stars", max_length=20, seed=7)
    assert table.headers == ("Code", "Quote", "Participant", "stars", "Coders")
    assert table.rows == (
        ("Warm | kind", "word word word word […]", "p2", "2.50", "ana, ben"),
        ("Warm | kind", "was so | k", "p1", "4", "ana"),
        ("Warm | kind", "<b>kind</b>", "–", "–", "ana"),
    )
    assert "was so &#124; k" in table.markdown()
    assert "&lt;b&gt;kind&lt;/b&gt;" in table.html()
    assert "<b>" not in table.html()


def test_quote_foot_states_the_rule() -> None:
    table = report.tables.quote(CODED, UNITS, codebook=CODEBOOK, per_code=4, rating="stars", seed=7)
    notes = notes_of(table)
    assert (
        "up to 4 quotes per code and at most one per participant and code, drawn at random (seed 7)" in notes
    )
    assert "with the rating (stars) farthest from those chosen" in notes
    assert "over 200 characters it is cut at a word boundary: […]" in notes
    assert "Fewer than 4 participants have the code: Warm | kind (3), Cold (0)." in notes
    assert "– as participant = not known" in notes
    assert "identify a person" in notes
    plain = report.tables.quote(CODED, UNITS, codebook=CODEBOOK, seed=7)
    assert plain.headers == ("Code", "Quote", "Participant", "Coders")
    assert "farthest" not in notes_of(plain)


def test_quote_table_shows_no_text_but_in_its_cells() -> None:
    table = report.tables.quote(CODED, UNITS, codebook=CODEBOOK, seed=7)
    assert "kind" not in repr(table)
    assert "word" not in repr(table)
    with pytest.raises(QualError, match="max_length of 1 or more"):
        report.tables.quote(CODED, UNITS, codebook=CODEBOOK, max_length=0, seed=7)


@pytest.mark.long
def test_importing_the_report_loads_nothing_heavy() -> None:
    heavy = ("altair", "vl_convert", "scipy", "sklearn", "torch", "bertopic", "statsmodels", "matplotlib")
    code = f"import sys, sense7_qual.report; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# memos ------------------------------------------------------------------------------------------------


def memos(**changed: object) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "memo_id": ["a", "b", "c", "d"],
            "target_kind": ["unit", "span", "code", "study"],
            "target_id": ["m1", "m1", "warm", None],
            "coder": ["ana", "ben", "ana", "ana"],
            "text": ["On the | text", "=HYPERLINK(1)", "On the code", "On it all"],
            "at": [f"2026-01-31T12:0{minute}:00.000Z" for minute in range(4)],
            "start": [None, 3, None, None],
            "end": [None, 7, None, None],
            "round": [None, "one", None, None],
            "answers": None,
        }
    )
    return frame.assign(**changed)


def test_memos_stand_with_their_words_the_newest_first(tmp_path: Path) -> None:
    units = pd.DataFrame(
        {"unit_id": ["m1"], "text": ["It was kind."], "document_id": "d", "case_id": "p", "position": 1}
    )
    table = report.tables.memo(memos(), units, codebook=CODEBOOK)
    assert [row[2:] for row in table.rows] == [
        ("the study", "–", "On it all", "ana"),
        ("the code Warm | kind", "–", "On the code", "ana"),
        ("m1", "was ", "=HYPERLINK(1)", "the team, with round one"),
        ("m1", "It was kind.", "On the | text", "ana"),
    ]
    other = Codebook(name="later", codes=(Code(id="new", label="New"),))
    for earlier, label in (((), "warm"), ([CODEBOOK], "Warm | kind")):
        later = report.tables.memo(memos(), units, codebook=other, earlier=earlier)
        assert [row[2] for row in later.rows if "code" in row[2]] == [f"the code {label}"]
    assert table.rows[0][:2] == ("2026-01-31 12:03", "ana")
    assert table.notes[0] == "3 of 4 memos are private, not shared with the team."
    for suffix in (".docx", ".csv", ".md"):
        table.write(tmp_path / f"memos{suffix}")
    assert "\n2026-01-31 12:01,ben,m1,was,'=HYPERLINK(1)" in (tmp_path / "memos.csv").read_text("utf-8-sig")
    with pytest.raises(TableError, match="expected spans within their texts – found others in memos 'b'"):
        report.tables.memo(memos(end=[None, 99, None, None]), units, codebook=CODEBOOK)
    elsewhere = report.tables.memo(memos(), units.head(0), codebook=CODEBOOK)
    assert {row[3] for row in elsewhere.rows} == {"–"}

from __future__ import annotations

import hashlib
import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual import themes
from sense7_qual._languages import in_share, languages
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError, CodebookError, ImportRefused, QualError, TableError
from sense7_qual.themes._fit import typical
from sense7_qual.themes._terms import Terms, _alike, _plain, _stop_list, counter, labels_of
from sense7_qual.themes._texts import distinct_texts
from tests.helpers.messages import SOURCES, messages
from tests.helpers.planted_groups import planted
from tests.helpers.small_themes import frame, placed

FRAMES = ("assignments", "terms", "summary", "quotes", "granularities", "hierarchy")
BOOK = Codebook(
    name="three",
    codes=(
        Code(id="group", label="Group", codable=False),
        Code(id="warm", label="Warm", parent="group"),
        Code(id="fast", label="Fast", parent="group"),
    ),
)
VOCABULARY = {
    "speed": ["queue", "waiting", "minutes", "slow", "delay", "hours"],
    "warmth": ["kind", "caring", "gentle", "warmth", "listened", "comfort"],
    "facts": ["wrong", "error", "invented", "source", "incorrect", "mistake"],
}


def words_of(texts: list[str]) -> np.ndarray:
    """Embed a text as the counts of the planted words in it: a real function of the text alone."""
    words = [word for listed in VOCABULARY.values() for word in listed]
    return np.array([[text.split().count(word) for word in words] for text in texts], dtype=float)


def study(n: int = 90, *, seed: int = 4) -> pd.DataFrame:
    """Return units about three planted matters (40 %, 33 %, 27 %), each of four words of its matter."""
    rng = np.random.default_rng(seed)
    matters = rng.permutation(np.repeat(list(VOCABULARY), [n - n // 3 - n * 4 // 15, n // 3, n * 4 // 15]))
    texts = [
        " ".join(rng.permutation(VOCABULARY[matter])[:4]) + f" n{row}" for row, matter in enumerate(matters)
    ]
    return frame(texts).assign(matter=matters)


def decided(**of_coder: dict[str, str]) -> pd.DataFrame:
    """Return decisions from {unit: codes that the coder applied, joined by a space}."""
    rows = [
        (unit_id, coder, code, code in applied.split())
        for coder, units in of_coder.items()
        for unit_id, applied in units.items()
        for code in ("warm", "fast")
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


# --- against the codebook ----------------------------------------------------------------------------

# Theme 0 = u000, u001, u002; theme 1 = u003, u004; u005 fits nowhere. Ana finished five units, Ben two.
CODED = decided(
    ana={"u000": "fast", "u001": "fast", "u003": "", "u004": "warm", "u005": "fast"},
    ben={"u000": "", "u003": ""},
)
THEMES = placed(0, 0, 0, 1, 1, -1)


def test_codes_by_theme_by_hand() -> None:
    found = themes.codes_by_theme(THEMES, CODED, BOOK).set_index(["theme", "code"])
    assert found.index.tolist() == [(0, "warm"), (0, "fast"), (1, "warm"), (1, "fast")]
    assert found["n_units"].tolist() == [3, 3, 2, 2]
    assert found["n_decided"].tolist() == [2, 2, 2, 2]
    assert found["n_decisions"].tolist() == [3, 3, 3, 3]
    np.testing.assert_allclose(found["share"], [0, 2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(found["overall_share"], [1 / 7, 3 / 7, 1 / 7, 3 / 7])
    np.testing.assert_allclose(found["lift"], [0, 14 / 9, 7 / 3, 0])


def coded_in_themes(*shares: dict[str, float], n: int = 12, n_coders: int = 1) -> pd.DataFrame:
    """Return decisions on `n` units of each theme, the first of which have each code to the given share."""
    of_unit = {
        f"u{theme * n + row:03}": " ".join(code for code, share in of_code.items() if row < share * n)
        for theme, of_code in enumerate(shares)
        for row in range(n)
    }
    return decided(**{f"coder{number}": of_unit for number in range(n_coders)})


def test_against_codebook_by_hand() -> None:
    coded = coded_in_themes({"fast": 0.75}, {"warm": 0.5, "fast": 0.25}, {"warm": 0.25})
    of_units = placed(*[0] * 12, *[1] * 12, *[2] * 12, labels=("a", "b", "c"))
    found = themes.against_codebook(of_units, coded, BOOK)
    assert found["label"].tolist() == ["a", "b", "c"]
    assert found["verdict"].tolist() == ["covered", "covered", "uncovered"]
    assert found["clear"].tolist() == [False, False, False]
    assert found["best_code"].tolist() == ["fast", "warm", "warm"]
    np.testing.assert_allclose(found["best_share"], [3 / 4, 1 / 2, 1 / 4])
    np.testing.assert_allclose(found["best_lift"], [9 / 4, 2, 1])
    assert found["n_clusters"].tolist() == [12, 12, 12]
    assert found["reason"].isna().all()


@pytest.mark.parametrize("n_coders", [1, 2])
def test_a_broad_code_covers_no_theme(n_coders: int) -> None:
    coded = coded_in_themes({"warm": 0.6}, {"warm": 0.6, "fast": 0.9}, n=40, n_coders=n_coders)
    of_units = placed(*[0] * 40, *[1] * 40)
    found = themes.against_codebook(of_units, coded, BOOK)
    assert found["verdict"].tolist() == ["uncovered", "covered"]
    assert found["clear"].tolist() == [True, True]
    anything = themes.against_codebook(of_units, coded, BOOK, lift=0)
    assert anything["verdict"].tolist() == ["covered", "covered"]


@pytest.mark.parametrize(("n_coded", "verdict"), [(3, "uncovered"), (4, "covered")])
def test_the_threshold_of_the_share(n_coded: int, verdict: str) -> None:
    coded = coded_in_themes({"warm": n_coded / 12}, {})
    found = themes.against_codebook(placed(*[0] * 12, *[1] * 12), coded, BOOK)
    assert found["verdict"].tolist() == [verdict, "uncovered"]


def test_a_code_that_few_decided_on_leaves_the_verdict_unclear() -> None:
    coded = coded_in_themes({}, {}, n=40)
    of_units = placed(*[0] * 40, *[1] * 40)
    assert themes.against_codebook(of_units, coded, BOOK)["clear"].all()
    late = (coded["code"] == "fast") & ~coded["unit_id"].isin(["u000", "u001", "u040", "u041"])
    found = themes.against_codebook(of_units, coded[~late], BOOK)
    assert found["verdict"].tolist() == ["uncovered", "uncovered"]
    assert found["clear"].tolist() == [False, False]


def test_participants_carry_the_uncertainty() -> None:
    coded = coded_in_themes({"warm": 0.5}, {}, n=48)
    units = frame(["x"] * 96).assign(case_id=[f"p{row // 6}" for row in range(96)])
    of_units = placed(*[0] * 48, *[1] * 48)
    alone = themes.codes_by_theme(of_units, coded, BOOK).iloc[0]
    together = themes.codes_by_theme(of_units, coded, BOOK, units=units, cluster="case_id").iloc[0]
    assert (alone["n_clusters"], together["n_clusters"]) == (48, 8)
    assert alone["share"] == together["share"] == 0.5
    for value in ("share", "lift"):
        width = [row[f"{value}_high"] - row[f"{value}_low"] for row in (alone, together)]
        assert width[1] > 1.8 * width[0]
    # A unit that nobody's name stands by is one of its own, also where a participant is called like it.
    units["case_id"] = units["case_id"].mask(units["unit_id"] == "u047").replace({"p0": "u047"})
    own = themes.codes_by_theme(of_units, coded, BOOK, units=units, cluster="case_id").iloc[0]
    assert own["n_clusters"] == 9


def test_the_interval_of_a_share_is_wilsons() -> None:
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

    coded = coded_in_themes({"warm": 0.4}, {"warm": 0.1}, n=30)
    found = themes.codes_by_theme(placed(*[0] * 30, *[1] * 30), coded, BOOK, confidence_level=0.9).iloc[0]
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.95, 29))  # Student's quantile in the place of the normal one
    # The variance of a share of n texts is estimated as if there were one text less.
    ends = proportion_confint(0.4 * 29, 29, alpha=alpha, method="wilson")
    assert (found["share_low"], found["share_high"]) == pytest.approx(ends, abs=1e-12)


def test_the_variance_between_participants_is_that_of_leaving_each_out() -> None:
    from scipy import stats
    from statsmodels.stats.proportion import proportion_confint

    rng = np.random.default_rng(3)
    of_theme, case = np.tile([0, 0, 1, 1, 1, 1], 40), np.repeat(np.arange(40), 6)
    habits = rng.beta(0.4, 0.4, (2, 40))  # participants differ a lot, and from theme to theme
    applied = rng.random(240) < habits[of_theme, case]
    coded = decided(ana={f"u{row:03}": "warm" if applied[row] else "" for row in range(240)})
    units = frame(["x"] * 240).assign(case_id=[f"p{number}" for number in case])
    found = themes.codes_by_theme(placed(*of_theme), coded, BOOK, units=units, cluster="case_id").iloc[0]

    def shares(without: int | None) -> tuple[float, float]:
        kept = case != without
        share = applied[kept & (of_theme == 0)].mean()
        return share, share / applied[kept].mean()

    share = shares(None)[0]
    left_out = np.array([shares(number) for number in range(40)])
    of_share, of_lift = ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0) * 39 / 40
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, 39))
    for name, variance, scale in (("share", of_share, 1), ("lift", of_lift, applied.mean())):
        worth = share * (1 - share) / (variance * scale**2)
        assert worth < 80  # fewer than the texts: it is not cut off there
        low, high = proportion_confint(share * worth, worth, alpha=alpha, method="wilson")
        ends = [found[f"{name}_low"] * scale, found[f"{name}_high"] * scale]
        assert ends == pytest.approx([low, high], rel=0.01)


def test_five_texts_give_no_verdict() -> None:
    coded = coded_in_themes({"warm": 1}, {}, n=5)
    found = themes.against_codebook(placed(*[0] * 5, *[1] * 5), coded, BOOK)
    assert found["reason"].tolist() == ["few_decided", "few_decided"]
    units = frame(["x"] * 80).assign(case_id=[f"p{row % 5}" for row in range(80)])
    coded, of_units = coded_in_themes({"warm": 1}, {}, n=40), placed(*[0] * 40, *[1] * 40)
    found = themes.against_codebook(of_units, coded, BOOK, units=units, cluster="case_id")
    assert found["reason"].tolist() == ["few_decided", "few_decided"]  # nor do five participants
    assert themes.against_codebook(of_units, coded, BOOK)["reason"].isna().all()


def test_what_nobody_finished_is_not_uncovered() -> None:
    found = themes.against_codebook(THEMES, decided(ana={"u000": "", "u001": ""}), BOOK)
    assert found[["verdict", "clear", "best_code"]].isna().all(axis=None)
    assert found["reason"].tolist() == ["few_decided", "not_decided"]
    assert found["n_decided"].tolist() == [2, 0]
    by_code = themes.codes_by_theme(THEMES, decided(ana={"u000": "", "u001": ""}), BOOK)
    assert by_code["share"].tolist()[:2] == [0, 0]
    assert by_code["share"].isna().tolist()[2:] == [True, True]
    assert by_code["lift"].isna().all()  # applied nowhere


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(48)))
def test_the_order_of_the_decisions_changes_nothing(order: list[int]) -> None:
    coded = coded_in_themes({"warm": 0.5}, {"fast": 0.25})
    of_units = placed(*[0] * 12, *[1] * 12)
    for compare in (themes.against_codebook, themes.codes_by_theme):
        pd.testing.assert_frame_equal(
            compare(of_units, coded.iloc[order], BOOK), compare(of_units, coded, BOOK), rtol=1e-12
        )


def test_no_decisions_at_all_give_no_verdicts() -> None:
    found = themes.against_codebook(THEMES, CODED.head(0), BOOK)
    assert found["reason"].tolist() == ["not_decided", "not_decided"]
    assert themes.codes_by_theme(THEMES, CODED.head(0), BOOK)["n_decisions"].tolist() == [0] * 4


def test_decisions_on_other_units_or_codes_are_refused() -> None:
    with pytest.raises(TableError, match=r"found none among 'x1' – use the units"):
        themes.against_codebook(THEMES, decided(ana={"x1": "warm"}), BOOK)
    wrong = CODED.replace({"code": {"warm": "warn"}})
    with pytest.raises(CodebookError, match=r"found 'warn' – did you mean 'warm'\?"):
        themes.codes_by_theme(THEMES, wrong, BOOK)
    with pytest.raises(CodebookError, match="expected codable codes"):
        themes.codes_by_theme(THEMES, CODED.replace({"code": {"warm": "group"}}), BOOK)
    with pytest.raises(ArgumentError, match=r"share between 0 and 1 and lift from 0 – found 2, 1\.5"):
        themes.against_codebook(THEMES, CODED, BOOK, share=2)
    with pytest.raises(ArgumentError, match="confidence_level between 0 and 1 – found 95"):
        themes.codes_by_theme(THEMES, CODED, BOOK, confidence_level=95)


# --- neighbours --------------------------------------------------------------------------------------


def test_nearest_by_hand() -> None:
    units = frame(["queue slow", "kind", "queue queue slow", "kind", " "]).sample(frac=1, random_state=1)
    found = themes.nearest(units, embed=words_of, k=1)
    assert found[["unit_id", "neighbour_id"]].to_numpy().tolist() == [
        ["u000", "u002"],
        ["u001", "u003"],
        ["u002", "u000"],
        ["u003", "u001"],
    ]
    np.testing.assert_allclose(found["similarity"], [3 / np.sqrt(10), 1, 3 / np.sqrt(10), 1], atol=1e-6)


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(12)), k=st.integers(1, 15))
def test_the_order_of_the_units_does_not_matter(order: list[int], k: int) -> None:
    units = study(12)
    pd.testing.assert_frame_equal(
        themes.nearest(units.iloc[order], embed=words_of, k=k), themes.nearest(units, embed=words_of, k=k)
    )


def test_nearest_needs_two_texts() -> None:
    with pytest.raises(TableError, match="two texts or more and k from 1 – found 1 texts"):
        themes.nearest(frame(["queue", ""]), embed=words_of)


# --- what is refused before anything is computed -----------------------------------------------------


def test_too_few_distinct_texts_are_refused_with_the_way_out() -> None:
    texts = [f"private {number % 49}" for number in range(400)]
    with pytest.raises(TableError, match=r"found 49 in 400 units.*themes\.nearest") as refused:
        themes.fit(frame(texts), embed=words_of, seed=1)
    assert "private" not in str(refused.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"seed": -1}, "seed"),
        ({"granularity": 0}, "granularity"),
        ({"granularity": float("nan")}, "granularity"),
        ({"min_size": 1}, "min_size"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"n_resamples": 1}, "at least 2 resamples to choose the granularity"),
    ],
)
def test_settings_out_of_range_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(QualError, match=f"fit: expected {message}"):
        themes.fit(study(), **{"embed": words_of, "seed": 1} | setting)


@pytest.mark.parametrize(
    "embed",
    [
        lambda texts: np.ones((1, 3)),
        lambda texts: np.ones(len(texts)),
        lambda texts: np.full((len(texts), 3), np.nan),
    ],
)
def test_a_model_that_gives_no_vectors_is_refused(embed: themes.fitting.Embed) -> None:
    with pytest.raises(TableError, match="embed: expected 90 rows of finite numbers"):
        themes.fit(study(), embed=embed, seed=1)


# --- terms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It didn't listen", "it did not listen"),
        ("I can’t, it won’t", "i can not, it will not"),
        ("cannot didnt shouldnt", "can not did not should not"),
        ("It's Ana's, I've said", "it  ana , i  said"),
        ("wontons in Kant", "wontons in kant"),
    ],
)
def test_english_contractions_keep_their_negation(text: str, plain: str) -> None:
    assert _plain(text, english=True) == plain


def terms_of(texts: list[str]) -> list[str]:
    made = counter([_plain(text, english=True) for text in texts], "english")
    return [] if made is None else sorted(made.vocabulary)


def test_a_term_stands_in_two_texts_and_not_only_beside_another_word() -> None:
    assert terms_of(["not helpful at all", "It wasn't helpful", "rare rare rare"]) == [
        "helpful",
        "not helpful",
    ]
    assert terms_of(["Nothing.", "nothing"]) == ["nothing"]
    assert terms_of(["the", "of"]) == terms_of(["one two", "three four"]) == []


def test_stop_words_are_a_list_or_those_of_languages() -> None:
    assert _stop_list(["und", "Der"]) == ["der", "und"]
    assert _stop_list(None) is None
    german = set(_stop_list("german") or [])
    assert {"und", "der"} < german
    assert not {"nicht", "kein"} & german
    assert {"und", "the"} < set(_stop_list("english, german") or [])
    with pytest.raises(TableError, match="found 'klingon'"):
        _stop_list("klingon")


# --- fit, with BERTopic ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted() -> themes.Themes:
    return themes.fit(study(), embed=words_of, seed=7)


@pytest.mark.model
def test_planted_themes_are_found(fitted: themes.Themes) -> None:
    units = study()
    theme_of = fitted.assignments.set_index("unit_id")["theme"]
    found = units.set_index("unit_id").join(theme_of).groupby("matter")["theme"].agg(["nunique", "first"])
    assert found["nunique"].tolist() == [1, 1, 1]
    assert fitted.summary["n_units"].tolist() == [36, 30, 24]
    assert fitted.summary["n_texts"].tolist() == [36, 30, 24]
    assert fitted.summary["n_cases"].tolist() == [8, 8, 8]
    for matter, theme in found["first"].items():  # noqa: B007 - used in the query
        terms = fitted.terms.query("theme == @theme")["term"]
        assert {word for term in terms for word in term.split()} <= set(VOCABULARY[str(matter)])
    assert (fitted.summary["stability"] > 0.9).all()
    assert (fitted.summary["recovered"] > 0.9).all()
    assert (fitted.summary["dissolved"] == 0).all()


@pytest.mark.model
def test_the_weight_of_a_term_is_its_c_tf_idf(fitted: themes.Themes) -> None:
    # Grootendorst (2022), equation 2, tf · log(1 + A / f); here the square root of the relative tf.
    units = study()
    theme = fitted.assignments.set_index("unit_id")["theme"].loc[units["unit_id"]].to_numpy()
    documents = [" ".join(units["text"][theme == number]) for number in range(3)]
    made = counter(list(units["text"]), "english")
    assert made is not None
    counts = made.fit_transform(documents).toarray()
    idf = np.log(1 + int(counts.sum(axis=1).mean()) / counts.sum(axis=0))
    weights = np.sqrt(counts / counts.sum(axis=1, keepdims=True)) * idf
    names = list(made.get_feature_names_out())
    for row in fitted.terms.itertuples():
        assert row.weight == pytest.approx(weights[row.theme, names.index(row.term)], rel=1e-9)
    for number, listed in fitted.terms.groupby("theme"):
        assert listed["weight"].iloc[0] == pytest.approx(weights[number].max())


def test_labels_take_phrases_one_spelling_and_terms_of_different_texts() -> None:
    texts = ["raising taxes", "raising taxes hurts", "raising tax", "taxes", "end war", "end war now"]
    texts += ["troops home", "troops home now", "democrat", "democrate", "democrate party", "end"]
    others = [f"weather rain umbrella {word}" for word in ("wind", "snow", "storm", "wind cold")]
    groups = np.array([0] * len(texts) + [1] * len(others))
    listed = Terms([*texts, *others], "english").of(groups)
    terms = listed.query("theme == 0")["term"].tolist()
    assert {"raising taxes", "end war", "troops home"} <= set(terms)
    assert not {"raising", "end", "troops", "home", "war"} & set(terms)
    assert len({"democrat", "democrate"} & set(terms)) == 1
    label = labels_of(listed)[0]
    assert len(label.split(", ")) == 3
    assert not {"tax", "taxes"} & set(label.split(", ")) or "raising taxes" not in label


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("tax", "taxes", True),
        ("worry", "worried", True),
        ("democrat", "democrate", True),
        ("war", "warm", False),
        ("not", "nothing", False),
        ("care", "career", True),
        ("home", "house", False),
    ],
)
def test_forms_of_a_word(one: str, other: str, alike: bool) -> None:
    assert _alike(one, other) is _alike(other, one) is alike


@pytest.mark.model
def test_one_answer_typed_in_several_ways_counts_once_and_is_quoted_once() -> None:
    units = study()
    typed = units["text"].tolist()
    typed[1:5] = [typed[0].upper(), f"{typed[0]}!!!", f"  {typed[0]} ", typed[0].replace(" ", ", ")]
    found = themes.fit(units.assign(text=typed), embed=words_of, seed=7)
    assert found.parameters["n_texts"] == len(units) - 4
    assert found.assignments["theme"].head(5).nunique() == 1
    assert found.quotes["unit_id"].isin(units["unit_id"].head(5)).sum() <= 1


@pytest.mark.model
def test_the_first_quotes_differ_in_their_words() -> None:
    said = [
        "the wait was far too long for me",
        "the wait was far too long",
        "the wait was far too long today",
        "slow queue",
        "it took hours to get an answer",
    ]
    units = frame([*said, *(f"kind warm caring {number}" for number in range(5))])
    assignments = units[["unit_id"]].assign(theme=[0] * 5 + [1] * 5, similarity=np.linspace(1, 0.1, 10))
    quoted = typical(distinct_texts(units), assignments).query("theme == 0")
    words = units.set_index("unit_id")["text"].loc[quoted["unit_id"]].tolist()
    assert words == [said[0], said[3], said[4], said[1], said[2]]
    assert quoted["rank"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.model
def test_similarity_and_typical_units(fitted: themes.Themes) -> None:
    units = study().set_index("unit_id")
    vectors = words_of(list(units["text"]))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    theme = fitted.assignments["theme"].to_numpy()
    centre = vectors[theme == 0].mean(axis=0)
    similarity = vectors[theme == 0] @ centre / np.linalg.norm(centre)
    np.testing.assert_allclose(fitted.assignments.query("theme == 0")["similarity"], similarity, atol=1e-6)
    best = fitted.quotes.query("theme == 0")
    assert best["rank"].tolist() == list(range(1, 11))
    assert best["typicality"].iloc[0] == pytest.approx(similarity.max(), abs=1e-6)
    own = fitted.assignments.set_index("unit_id")["similarity"]
    assert best["typicality"].tolist() == own.loc[best["unit_id"]].tolist()
    shown = themes.typical(fitted, study(), n=2)
    assert shown["theme"].tolist() == [0, 0, 1, 1, 2, 2]
    assert shown["text"].tolist() == units.loc[shown["unit_id"], "text"].tolist()
    with pytest.raises(TableError, match="found no 'u"):
        themes.typical(fitted, study().head(3))


@pytest.mark.model
def test_row_order_and_repeats_change_nothing(fitted: themes.Themes) -> None:
    again = themes.fit(study().sample(frac=1, random_state=5), embed=words_of, seed=7)
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(fitted, name), check_exact=True)
    assert again.parameters == fitted.parameters


@pytest.mark.model
def test_copies_and_blanks_change_no_theme(fitted: themes.Themes) -> None:
    units = study()
    copies = units.iloc[[0] * 200].assign(unit_id=[f"v{row:03}" for row in range(200)])
    blanks = units.iloc[:2].assign(unit_id=["w1", "w2"], text=["  ", None])
    found = themes.fit(pd.concat([units, copies, blanks]), embed=words_of, seed=7)
    of = fitted.assignments.set_index("unit_id")["theme"]
    joined = found.assignments.set_index("unit_id")["theme"]
    copied = joined["u000"]
    assert copied == 0  # 200 more units: now the largest, with as many texts as before
    assert set(joined[[f"v{row:03}" for row in range(200)]]) == {0}
    assert found.summary["n_texts"].sum() == 90
    assert found.summary["n_units"].sum() == 290
    assert pd.crosstab(of, joined.loc[of.index]).gt(0).sum(axis=1).tolist() == [1, 1, 1]
    assert joined[["w1", "w2"]].tolist() == [-1, -1]
    assert found.parameters["n_blank"] == found.parameters["n_nowhere"] == 2
    assert found.quotes["unit_id"].str.startswith("u").all()


@pytest.mark.model
def test_nothing_shows_a_text(fitted: themes.Themes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        themes.fit(study(), embed=words_of, seed=7, granularity=1.0, n_resamples=0)
    words = {word for listed in VOCABULARY.values() for word in listed}
    assert repr(fitted) == "Themes(3 themes of 90 units, 0 in none)"
    assert not words & set(re.findall(r"\w+", caplog.text + repr(fitted.parameters)))


@pytest.mark.model
def test_what_is_needed_to_report_and_repeat(fitted: themes.Themes) -> None:
    told = fitted.parameters
    assert told["model"] == "words_of"
    assert (told["seed"], told["granularity_chosen"], told["min_size"], told["n_resamples"]) == (
        7,
        True,
        5,
        20,
    )
    shown = fitted.granularities
    assert shown.loc[shown["chosen"], "granularity"].tolist() == [told["granularity"]]
    assert (told["n_units"], told["n_texts"], told["n_themes"], told["n_nowhere"]) == (90, 90, 3, 0)
    assert set(told["versions"]) == {"sense7_qual", "graspologic-native", "numpy", "scipy", "scikit-learn"}
    changed = study().replace({"text": {study()["text"][0]: "queue slow delay hours n999"}})
    other = themes.fit(changed, embed=words_of, seed=7, granularity=1.0, n_resamples=0)
    assert other.parameters["units_sha256"] != told["units_sha256"]


@pytest.mark.model
def test_without_resamples_the_stability_is_not_known() -> None:
    found = themes.fit(study(), embed=words_of, seed=7, granularity=1.0, n_resamples=0).summary
    assert found[["stability", "dissolved", "recovered"]].isna().all(axis=None)


@pytest.mark.model
def test_texts_that_share_no_word_have_themes_without_terms() -> None:
    texts = [f"{'abc'[row % 3]}word{row:03}" for row in range(60)]
    found = themes.fit(frame(texts), embed=lambda part: np.eye(3)[["abc".index(t[0]) for t in part]], seed=1)
    assert found.summary["n_units"].tolist() == [20, 20, 20]
    assert found.terms.empty
    assert found.summary["label"].isna().all()


@pytest.mark.model
def test_where_no_theme_is_large_enough_there_are_none() -> None:
    found = themes.fit(study(), embed=words_of, seed=7, min_size=40)
    assert repr(found) == "Themes(0 themes of 90 units, 90 in none)"
    assert found.assignments["similarity"].isna().all()
    assert themes.typical(found, study()).empty
    assert themes.against_codebook(found, CODED, BOOK).empty


@pytest.mark.long
def test_texts_of_one_word_and_texts_that_nearly_all_are_equal_have_themes() -> None:
    words = [word for listed in VOCABULARY.values() for word in listed]
    one_word = [f"{word}{'abcd'[copy]}" for word in words for copy in range(4)]
    vectors, _ = planted([24, 24, 24], noise=0.05)
    embed = dict(zip(one_word, vectors, strict=True))
    found = themes.fit(frame(one_word), embed=lambda texts: np.array([embed[text] for text in texts]))
    assert found.summary["n_units"].tolist() == [24, 24, 24]
    same = themes.fit(
        frame([f"same {row}" for row in range(60)]), embed=lambda texts: np.ones((len(texts), 3))
    )
    assert same.assignments["theme"].ge(0).all()


@pytest.mark.parametrize("n", [0, 1, 2, 20])
def test_one_to_twenty_texts_are_refused_with_the_way_out(n: int) -> None:
    with pytest.raises(TableError, match=rf"found {n} in {n} units.*themes\.nearest"):
        themes.fit(frame([f"text {row}" for row in range(n)]), embed=words_of)


def test_no_text_is_lost_and_every_level_lies_in_the_one_above(fitted: themes.Themes) -> None:
    placed = fitted.assignments
    assert (placed[["coarse", "theme", "sub"]] >= 0).all(axis=None)
    tree = fitted.hierarchy
    assert tree["level"].drop_duplicates().tolist() == ["coarse", "theme", "sub"]
    assert tree.groupby("level")["n_units"].sum().eq(90).all()
    for level, above in (("theme", "coarse"), ("sub", "theme")):
        rows = tree[tree["level"] == level].set_index("group")
        parents = placed.groupby(level)[above].agg(["nunique", "first"])
        assert parents["nunique"].eq(1).all()
        assert rows["parent"].tolist() == parents["first"].tolist()
    assert tree.loc[tree["level"] == "coarse", "parent"].isna().all()
    assert tree.loc[tree["level"] == "theme", "label"].tolist() == fitted.summary["label"].tolist()


SAME = """
import hashlib
from tests.themes import test_themes
from sense7_qual import themes
found = themes.fit(test_themes.study(), embed=test_themes.words_of, seed=7)
print(hashlib.sha256("".join(getattr(found, n).to_csv() for n in test_themes.FRAMES).encode()).hexdigest())
"""


@pytest.mark.long
def test_another_process_gives_the_same_bytes(fitted: themes.Themes) -> None:
    own = hashlib.sha256("".join(getattr(fitted, name).to_csv() for name in FRAMES).encode()).hexdigest()
    done = subprocess.run([sys.executable, "-c", SAME], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [own]


def test_the_languages_of_texts_are_told() -> None:
    english = [f"I was in the queue and it is slow number {row}" for row in range(40)]
    german = [f"Ich war in der Schlange und es ist langsam Nummer {row}" for row in range(30)]
    greek = [f"καλημέρα κόσμε {row}" for row in range(6)]
    few = ["La queue est longue et les gens sont là"] * 4
    counts = {"English": 40, "German": 30, "Greek script": 6, "French": 4}
    assert languages([*english, *german, *greek, *few, "slow", "12", ""]) == counts
    found = languages([*english, *german, *greek, *few])
    assert in_share(found) == {"English": 40, "German": 30, "Greek script": 6}
    assert in_share(languages([])) == {}


@pytest.mark.nightly
@pytest.mark.model
def test_bertopic_has_the_same_topics_and_terms(fitted: themes.Themes) -> None:
    units = study()
    copies = units.iloc[[0] * 40].assign(unit_id=[f"v{row:03}" for row in range(40)])
    blank = units.iloc[:1].assign(unit_id="w", text=" ")
    repeated = pd.concat([units, copies, blank]).drop(columns="matter")
    found = themes.fit(repeated, embed=words_of, seed=7)
    model = themes.to_bertopic(found, repeated, embed=words_of)
    theme_of = dict(
        zip(
            repeated["text"].str.strip(),
            found.assignments.set_index("unit_id")["theme"].loc[repeated["unit_id"]],
            strict=True,
        )
    )
    assert model.topics_ == [theme_of[text] for text in sorted(set(theme_of) - {""})]
    words = model.vectorizer_model.get_feature_names_out().tolist()
    for theme, listed in found.terms.groupby("theme"):
        theirs = [(term, weight) for term, weight in model.get_topic(theme) if term]
        assert theirs == list(zip(listed["term"], listed["weight"], strict=True))
        weights = model.c_tf_idf_[theme].toarray().ravel()  # which BERTopic computed
        own = weights[[words.index(term) for term in listed["term"]]]
        np.testing.assert_allclose(listed["weight"], own, rtol=1e-9)
        assert listed["weight"].iloc[0] == pytest.approx(weights.max())
    assert len(model.get_topic_info()) == 3
    assert model.visualize_barchart()
    assert model.visualize_term_rank()
    with pytest.raises(TableError, match="found other ids or texts"):
        themes.to_bertopic(found, study(), embed=words_of)


@pytest.mark.model
def test_progress_is_told_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[str, int, int]] = []
    themes.fit(study(), embed=words_of, seed=7, n_resamples=2, progress=lambda *step: told.append(step))
    assert told == [
        ("embed", 0, 90),
        ("embed", 90, 90),
        ("cluster", 0, 1),
        ("cluster", 1, 1),
        ("resample", 1, 2),
        ("resample", 2, 2),
        *(("chance", number, 6) for number in range(1, 7)),
        ("describe", 1, 1),
    ]
    themes.fit(study(), embed=words_of, seed=7, n_resamples=2, progress=True)
    shown = capsys.readouterr().err
    assert all(f"{stage}:   0%" in shown for stage in ("embed", "cluster", "resample", "describe"))
    assert shown.rpartition("\r")[0].endswith(" ")  # a bar that is done is wiped out
    assert shown.endswith("\r")


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    from sense7_qual.models import embedder

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportRefused, match=r"pip install 'sense7_qual\[themes\]'"):
        embedder()
    with pytest.raises(ImportRefused, match="found no graspologic_native and no sklearn – pip"):
        themes.fit(pd.DataFrame(), embed=lambda texts: np.zeros((len(texts), 2)))


# --- real texts, the real model ----------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.parametrize(
    "source", [SOURCES[0], pytest.param("real", marks=[*SOURCES[1].marks, pytest.mark.nightly])]
)
def test_some_three_hundred_messages_have_themes(source: str, tmp_path: Path) -> None:
    from sense7_qual.models import embedder

    read = pd.read_csv(messages(source, tmp_path), dtype=str, keep_default_na=False).head(300)
    units = read.rename(columns={"message_id": "unit_id", "essay": "text", "response_id": "case_id"})
    units = units.assign(document_id=units["case_id"], position=range(len(units)))
    embed = embedder(cache=tmp_path)
    found = themes.fit(units, embed=embed, seed=7)
    if source == "real":
        assert 6 <= len(found.summary) <= 25  # 11 when this was written
    assert found.summary["n_units"].max() < 150
    assert found.parameters["n_nowhere"] == 0
    assert found.summary["stability"].between(0.2, 1).all()
    assert found.summary["stability"].median() > {"real": 0.4, "synthetic": 0.3}[source]
    labels = " ".join(found.summary["label"])
    known = {"real": ("trump", "global warming", "police", "animal"), "synthetic": ("slow",)}
    assert [word for word in known[source] if word not in labels] == [], labels
    if source == "real":  # two names of one matter stand in one theme
        of_theme = [set(listed) for _, listed in found.terms.groupby("theme")["term"]]
        assert sum({"global warming", "climate change"} <= terms for terms in of_theme) == 1
    again = themes.fit(units.sample(frac=1, random_state=2), embed=embed, seed=7)
    for name in FRAMES:
        pd.testing.assert_frame_equal(getattr(again, name), getattr(found, name), check_exact=True)

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links
from sense7_qual.errors import TableError
from tests.helpers.rating_studies import people

NAMES = {"rating": "empathy", "cluster": "case_id", "n_boot": 100, "seed": 7}


def two_codes() -> tuple[pd.DataFrame, pd.DataFrame]:
    decisions, units = people(np.random.default_rng(1))
    other = people(np.random.default_rng(2), shift=0)[0].assign(code="other")
    return pd.concat([decisions, other], ignore_index=True), units


def test_long_calls_tell_how_far_they_are() -> None:
    decisions, units = two_codes()
    told: dict[str, list[tuple[int, int]]] = {"table": [], "curve": []}
    asked = NAMES | {"sources": ["ana"]}
    links.code_to_rating(
        decisions, units, odds_ratios=False, progress=lambda *at: told["table"].append(at), **asked
    )
    links.multiverse(
        decisions,
        units,
        analyses=["rank_biserial"],
        exclusions=["none", "disputed"],
        progress=lambda *at: told["curve"].append(at),
        **asked,
    )
    assert told == {"table": [(1, 2), (2, 2)], "curve": [(1, 2), (2, 2)]}


@pytest.mark.long
def test_every_combination_stands_once_ordered_by_its_estimate() -> None:
    decisions, units = two_codes()
    found = links.multiverse(decisions, units, **NAMES)
    assert len(found) == 2 * 5 * 2 * 4
    assert not found.duplicated(["code", "source", "analysis", "exclusion"]).any()
    for _, rows in found.groupby(["code", "effect"], sort=False):
        known = rows[rows["estimate"].notna()]
        assert known["estimate"].is_monotonic_increasing
        assert known["rank"].tolist() == list(range(1, len(known) + 1))
        assert rows["estimate"].notna().tolist() == [True] * len(known) + [False] * (len(rows) - len(known))
    assert found["code"].unique().tolist() == ["interest", "other"]


@pytest.mark.long
def test_rows_without_exclusion_are_those_of_the_table() -> None:
    decisions, units = two_codes()
    every = ["rank_biserial", "mixed", "within"]
    found = links.multiverse(decisions, units, exclusions=["none"], analyses=every, **NAMES)
    table = links.code_to_rating(decisions, units, **NAMES, details=True).set_index(["code", "source"])
    for model, effect, p in (
        ("rank_biserial", "rank_biserial", "p"),
        ("mixed", "mixed_odds_ratio", "mixed_odds_ratio_p"),
        ("within", "odds_ratio", "odds_ratio_p"),
    ):
        rows = found[found["analysis"] == model].set_index(["code", "source"]).reindex(table.index)
        columns = [effect, f"{effect}_low", f"{effect}_high", p]
        np.testing.assert_allclose(rows[["estimate", "low", "high", "p"]], table[columns], rtol=1e-12)


@pytest.mark.long
def test_exclusions_leave_out_what_they_say() -> None:
    decisions, units = two_codes()
    units.loc[:3, "case_id"] = ["alone1", "alone2", "alone3", "alone4"]
    lone = decisions[(decisions["coder"] == "ana") | (decisions["unit_id"] >= "u0020")]
    found = links.multiverse(lone, units, analyses=["rank_biserial"], sources=["ana"], **NAMES)
    n = found[found["code"] == "interest"].set_index("exclusion")["n_units"]
    own = lone[lone["code"] == "interest"].groupby("unit_id")["applied"].agg(["nunique", "size"])
    assert n.to_dict() == {
        "none": 280,
        "single_texts": 276,
        "disputed": (own["nunique"] == 1).sum(),
        "single_coder": 260,
    }


@pytest.mark.long
def test_a_source_that_an_exclusion_leaves_nothing_of_says_so() -> None:
    decisions, units = two_codes()
    ana = decisions[decisions["coder"] == "ana"]
    found = links.multiverse(ana, units, exclusions=["none", "single_coder"], **NAMES)
    gone = found[found["exclusion"] == "single_coder"]
    assert len(gone) == 2 * 2
    assert gone["reason"].eq("no_rated_units").all()
    assert gone["n_units"].eq(0).all()
    only_consensus = ana.assign(coder="consensus")
    kept = links.multiverse(
        only_consensus, units, analyses=["rank_biserial"], exclusions=["disputed"], **NAMES
    )
    assert kept["n_units"].eq(280).all()
    assert links.multiverse(ana.iloc[:0], units, **NAMES).empty


@pytest.mark.long
def test_gee_is_there_when_asked_for() -> None:
    decisions, units = two_codes()
    found = links.multiverse(
        decisions, units, analyses=["gee"], exclusions=["none"], sources=["ana", "pooled"], **NAMES
    )
    assert found["effect"].eq("odds_ratio").all()
    assert found["estimate"].notna().all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"analyses": ["naive"]}, "expected analyses among"),
        ({"exclusions": ["disputd"]}, "did you mean 'disputed'"),
    ],
)
def test_unknown_words_are_refused(wrong: dict[str, list[str]], message: str) -> None:
    decisions, units = two_codes()
    with pytest.raises(TableError, match=message):
        links.multiverse(decisions, units, **wrong, **NAMES)

"""Intervals of all small tables: none fails, and each lies within what its coefficient can be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual.agreement._intervals._bootstrap import cut_off
from sense7_qual.agreement.coefficients._compute import compute
from tests.helpers.reference import in_clusters
from tests.helpers.simulation import SOAK

LEVELS = ("nominal", "ordinal", "interval", "ratio")
COEFFICIENTS: list[tuple[str, dict[str, Any]]] = [
    *(("krippendorff_alpha", {"level": level}) for level in LEVELS),
    ("krippendorff_alpha", {"level": lambda a, b: float({a, b} == {0.0, 1.0})}),
    *((name, {}) for name in ("percent_agreement", "scott_pi", "cohen_kappa", "light_kappa")),
    *((name, {}) for name in ("fleiss_kappa", "conger_kappa", "brennan_prediger", "gwet_ac")),
    *((name, {"categories": [0, 1, 2]}) for name in ("brennan_prediger", "gwet_ac")),
    *((name, {"weights": "linear"}) for name in ("percent_agreement", "fleiss_kappa", "brennan_prediger")),
    *((name, {"weights": "quadratic"}) for name in ("cohen_kappa", "conger_kappa", "gwet_ac")),
    *(("specific_agreement", {"category": category}) for category in (0, 1)),
]
SHAPES = [  # coders, units, values, and which of the tables are taken in the soak: every one, every 5th …
    (2, 2, 2, 1),
    (2, 2, 3, 4),
    (2, 3, 2, 4),
    (2, 3, 3, 50),
    (2, 4, 2, 20),
    (2, 4, 3, 300),
    (3, 2, 2, 10),
    (3, 2, 3, 80),
    (3, 3, 2, 120),
    (3, 3, 3, 1500),
]
FEWER = 1 if SOAK else 3


def tables(coders: int, units: int, values: int) -> Iterator[np.ndarray]:
    """All tables of values 0, 1 … or missing, but for the order of coders and units."""
    columns = list(product([-1, *range(values)], repeat=coders))
    known = set()
    for chosen in combinations_with_replacement(columns, units):
        orders = permutations(range(coders))
        key = min(tuple(sorted(tuple(unit[i] for i in order) for unit in chosen)) for order in orders)
        if key not in known:
            known.add(key)
            table = np.array(key, dtype=float).T
            yield np.where(table < 0, np.nan, table)


def settings(name: str, units: int) -> Iterator[dict[str, Any]]:
    for ci in ("analytic", "unit", "gwet", "coders", *(("kalpha",) if name == "krippendorff_alpha" else ())):
        yield {"ci": ci}
    for size in (1, 2):
        yield {"groups": np.arange(units) // size}


def check(found: agreement.coefficients.Estimate, smallest: float) -> None:
    ends = np.array([found.low, found.high])
    if np.isnan(found.estimate) or np.isnan(ends).any():
        assert np.isnan(ends).all()
        assert found.reason is not None
        return
    assert smallest <= found.estimate + 1e-12
    assert min(smallest, found.estimate) <= found.low <= found.estimate <= found.high <= 1 + 1e-12
    assert found.low < found.high or found.confidence_level < 0.9
    assert found.standard_error > 1e-12 or found.reason == "no_disagreement"
    for share in (found.p_below_667, found.p_below_800):
        assert np.isnan(share) or 0 <= share <= 1


@pytest.mark.nightly
@pytest.mark.long
def test_every_interval_of_small_tables_lies_within_what_the_coefficient_can_be() -> None:
    number = 0
    for *shape, every in SHAPES:
        step = every * FEWER if every > 1 else 1
        for place, table in enumerate(tables(*shape)):
            if place % step:
                continue
            for name, options in COEFFICIENTS:
                if name in ("cohen_kappa", "scott_pi") and len(table) != 2:
                    continue
                if "categories" not in options or set(table[~np.isnan(table)]) <= {0, 1, 2}:
                    number += examine(table, name, options, level=(0.95, 0.5, 0.999)[place // step % 3])
    assert number > 4000, "number"


def examine(table: np.ndarray, name: str, options: dict[str, Any], level: float) -> int:
    """Check one coefficient of a table by every method; how many there are."""
    smallest, number = compute(name, table, options).coefficient.smallest, 0
    for how in settings(name, table.shape[1]):
        found = agreement.coefficients.estimate(
            table, name, **how, n_boot=20, seed=1, confidence_level=level, **options
        )
        check(found, -np.inf if np.isnan(found.estimate) else smallest())
        number += 1
    return number


@pytest.mark.parametrize("statistic", ["krippendorff_alpha", "cohen_kappa", "fleiss_kappa", "light_kappa"])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_a_unit_without_which_nothing_varies(statistic: str, level: float) -> None:
    """One of two units has two values: no coefficient is left when it is taken away."""
    options = {"level": "nominal"} if statistic == "krippendorff_alpha" else {}
    found = agreement.coefficients.estimate(
        [[0, 2], [2, 2]], statistic, ci="unit", confidence_level=level, n_boot=50, seed=1, **options
    )
    assert (found.reason, np.isnan([found.low, found.high]).all()) == ("few_units", True)


def test_one_resample_has_no_spread() -> None:
    table = np.random.default_rng(1).integers(0, 3, (2, 30))
    found = agreement.coefficients.estimate(
        table, "krippendorff_alpha", ci="unit", level="nominal", n_boot=1, seed=1
    )
    assert (found.reason, np.isnan([found.low, found.standard_error]).all()) == ("one_pattern", True)


def test_an_interval_holds_a_coefficient_below_minus_one() -> None:
    """Units with one value count for the chance of Fleiss' kappa alone, here nearly all of them 0."""
    table = np.full((2, 40), np.nan)
    table[0], table[1, :6] = 0, 1
    for options in ({"ci": "analytic"}, {"groups": np.arange(40) // 2}, {"groups": np.arange(40)}):
        table[0, 3] = 1 if "groups" not in options or options["groups"][3] == 3 else 0
        found = agreement.coefficients.estimate(table, "fleiss_kappa", **options, n_boot=200, seed=1)
        if not np.isnan(found.low):
            assert found.low < found.estimate < -1
            assert found.estimate <= found.high
    assert agreement.coefficients.estimate(table, "fleiss_kappa").low < -1


@pytest.mark.parametrize(("categories", "smallest"), [([0, 1], -1), ([0, 1, 2], -1 / 2), (range(5), -1 / 4)])
def test_coefficients_of_named_categories_end_above_minus_one(categories: list[int], smallest: float) -> None:
    """No agreement at all is −1 / (categories − 1)."""
    table = np.zeros((2, 12))
    table[0, ::2], table[1, 1:11:2] = 1, 1
    for name in ("brennan_prediger", "gwet_ac"):
        found = agreement.coefficients.estimate(table, name, categories=categories)
        assert found.low == pytest.approx(smallest)
        assert found.low < found.estimate < found.high


def test_the_limit_is_attained_by_coders_who_never_agree() -> None:
    """Half of the units 0 and 1, half of them 1 and 0; alpha only nears it, and differences without one."""
    table = np.tile([[0.0, 1.0], [1.0, 0.0]], 500)
    for name in (
        "cohen_kappa",
        "scott_pi",
        "light_kappa",
        "conger_kappa",
        "fleiss_kappa",
        "brennan_prediger",
    ):
        found = compute(name, table, {}).coefficient
        assert found.estimate == pytest.approx(found.smallest(), abs=1e-9)
    pairs = np.concatenate([table + 2 * k for k in range(3)], axis=1)  # three pairs of values that differ
    alone = lambda a, b: float(a // 2 == b // 2 and a != b)  # noqa: E731
    found = compute("krippendorff_alpha", pairs, {"level": alone}).coefficient
    assert found.estimate == pytest.approx(1 - 2 * 3, abs=0.01)
    assert found.smallest() == -np.inf
    for level in LEVELS:
        assert compute("krippendorff_alpha", pairs, {"level": level}).coefficient.smallest() == -1


def test_the_ends_are_cut_off_around_the_coefficient() -> None:
    assert cut_off(-3.0, 1.5, 0.2, -1.0) == (-1.0, 1.0)
    assert cut_off(-0.5, 0.1, 0.2, -1.0) == (-0.5, 0.2)
    assert cut_off(-3.0, -2.0, -2.5, -np.inf) == (-3.0, -2.0)


def decided(given: dict[str, list[bool]]) -> pd.DataFrame:
    return pd.DataFrame(
        [(f"u{i}", coder, "c", value) for coder, row in given.items() for i, value in enumerate(row)],
        columns=["unit_id", "coder", "code", "applied"],
    )


@pytest.mark.nightly
@pytest.mark.long
def test_the_limits_hold_for_decisions_of_people_and_models() -> None:
    """A person and a model, in every combination of how often both, one, the other or neither applied it."""
    for both, one, other, none in product(range(4), repeat=4):
        if not both + one + other + none:
            continue
        given = {
            "ana": [True] * (both + one) + [False] * (other + none),
            "gpt": [True] * both + [False] * one + [True] * other + [False] * none,
        }
        if (both + one + other + none) % 3 == 1:
            row = agreement.human_model(decided(given), models="gpt", n_boot=20, seed=1).iloc[-1]
            ends = row[["low", "estimate", "high"]].to_numpy(dtype=float)
            assert np.isnan(ends).any() or (-1 <= ends[0] <= ends[1] <= ends[2] <= 1), given
            assert not np.isnan(ends).any() or isinstance(row["reason"], str)


def test_clusters_that_are_all_alike_give_no_interval_of_a_model() -> None:
    given = {"ana": [True, True, False, False] * 12, "gpt": [True, False, True, False] * 12}
    decisions = decided(given)
    cluster = pd.Series([f"p{i // 4}" for i in range(48)], index=[f"u{i}" for i in range(48)])
    row = agreement.human_model(decisions, models="gpt", **in_clusters(cluster), n_boot=50, seed=1).iloc[-1]
    assert (row["reason"], np.isnan([row["low"], row["high"]]).all()) == ("one_pattern", True)

"""The interval of an intraclass correlation: published, by another program, and over participants."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement
from sense7_qual.agreement.coefficients import estimate, icc
from sense7_qual.errors import ArgumentError, TableError

SHROUT_FLEISS = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
DRAWN = np.array(
    [
        [6, 4, 3, 4, 6, 4, 8, 5, 3, 2, 3, 5],
        [7, 5, 3, 6, 5, 3, 10, 4, 5, -1, 4, 5],
        [8, 5, 6, 9, 7, 3, 11, 5, 8, 2, 5, 9],
    ],
    dtype=float,
)


# The R package psych 2.2.9, ICC(x, lmer = FALSE): table 2 of Shrout and Fleiss (1979), and drawn values.
@pytest.mark.parametrize(
    ("values", "kind", "n_averaged", "low", "high"),
    [
        (SHROUT_FLEISS, "one_way", 1, -0.132932325, 0.72256006),
        (SHROUT_FLEISS, "agreement", 1, 0.018786513, 0.76108437),
        (SHROUT_FLEISS, "consistency", 1, 0.342464765, 0.94585826),
        (SHROUT_FLEISS, "one_way", 4, -0.884442155, 0.91241542),
        (SHROUT_FLEISS, "agreement", 4, 0.071136815, 0.92723204),
        (SHROUT_FLEISS, "consistency", 4, 0.675674714, 0.98589168),
        (DRAWN, "one_way", 1, 0.27308172, 0.84578696),
        (DRAWN, "agreement", 1, 0.21099672, 0.86652273),
        (DRAWN, "consistency", 1, 0.49182998, 0.91436437),
        (DRAWN, "agreement", 3, 0.44514282, 0.95116171),
    ],
)
def test_the_interval_of_f_is_that_of_psych(
    values: list[list[int]], kind: str, n_averaged: int, low: float, high: float
) -> None:
    categories = range(-1, 12)  # −1 is a rating here
    found = estimate(values, "icc", kind=kind, n_averaged=n_averaged, categories=categories)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)
    assert found.estimate == icc(values, kind=kind, n_averaged=n_averaged, categories=categories)  # type: ignore[arg-type]
    assert (found.method, found.n_coders, found.n_pairable) == ("analytic", len(values), len(values[0]))


@pytest.mark.parametrize("kind", ["one_way", "agreement", "consistency"])
@pytest.mark.parametrize("clustered", [False, True])
def test_shares_below_a_convention_are_where_a_one_sided_interval_would_end(
    kind: str, clustered: bool
) -> None:
    groups = np.arange(12) // 2 if clustered else None
    for convention in ("667", "800"):
        of = {"kind": kind, "groups": groups, "categories": range(-1, 12)}
        found = estimate(DRAWN, "icc", **of)
        share = getattr(found, f"p_below_{convention}")
        level = abs(1 - 2 * share)
        at = estimate(
            DRAWN, "icc", kind=kind, groups=groups, confidence_level=level, categories=range(-1, 12)
        )
        ends = (at.low, at.high)
        assert min(abs(end - float(convention) / 1000) for end in ends) < 1e-6


def study(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    case = np.repeat(np.arange(n), rng.integers(1, 12, size=n))
    level = 1.2 * rng.standard_normal(n)[case] + 0.5 * rng.standard_normal(len(case))
    return level + rng.standard_normal((3, len(case))) + np.array([[-0.3], [0.0], [0.3]]), case


def test_leaving_out_participants_is_the_jackknife_by_hand_and_blind_to_order() -> None:
    values, case = study(15, np.random.default_rng(4))
    found = estimate(values, "icc", kind="one_way", groups=case)
    log_f = [
        np.log((1 + 2 * one) / (1 - one))
        for one in (icc(values[:, case != each], kind="one_way") for each in range(15))
    ]
    single = icc(values, kind="one_way")
    error = np.sqrt(14 / 15 * np.square(log_f - np.mean(log_f)).sum())
    assert found.standard_error == pytest.approx(error * (1 - single) * (1 + 2 * single) / 3)
    assert found.n_clusters == 15
    assert found.method == "cluster"
    order = np.random.default_rng(5).permutation(len(case))
    again = estimate(values[::-1, order], "icc", kind="one_way", groups=[f"p{one}" for one in case[order]])
    assert (again.low, again.high) == pytest.approx((found.low, found.high))
    units = [f"u{place}" for place in range(len(case))]
    frame = pd.DataFrame(
        values.T, index=pd.Index(units, name="unit_id"), columns=pd.Index(list("abc"), name="coder")
    )
    labels = pd.Series(case, index=units)[::-1]
    named = estimate(frame, "icc", kind="one_way", groups=labels)
    assert (named.low, named.high) == pytest.approx((found.low, found.high))


def test_it_holds_the_true_one_where_participants_differ_and_the_interval_of_f_does_not() -> None:
    """The test in small of benchmarks/icc_coverage.py; 200 studies of 15 participants."""
    rng = np.random.default_rng(6)
    true = icc(study(20_000, rng)[0], kind="consistency")
    held = []
    for _ in range(200):
        values, case = study(15, rng)
        own, of_f = (estimate(values, "icc", kind="consistency", groups=each) for each in (case, None))
        held.append((own.low <= true <= own.high, of_f.low <= true <= of_f.high))
    own_share, f_share = np.mean(held, axis=0)
    assert 0.91 <= own_share <= 0.985
    assert f_share < 0.85


def test_what_cannot_be_computed_has_a_reason() -> None:
    rng = np.random.default_rng(7)
    values, case = study(15, rng)
    few = estimate(values[:, case < 5], "icc", kind="one_way", groups=case[case < 5])
    assert few.reason == "few_clusters"
    assert np.isnan(few.low)
    assert not np.isnan(few.estimate)
    one = estimate(values, "icc", kind="one_way", groups=np.zeros(len(case)))
    assert one.reason == "one_cluster"
    same = np.repeat(values[:1], 2, axis=0)
    assert estimate(same, "icc", kind="agreement").reason == "no_disagreement"
    assert estimate(same[:1], "icc", kind="agreement").reason == "one_coder"
    assert estimate([[1, None], [None, 2]], "icc", kind="agreement").reason == "no_pairable_units"
    assert estimate(np.ones((2, 9)), "icc", kind="agreement").reason == "no_variation"
    missing = np.where(rng.random(values.shape) < 0.1, np.nan, values)
    there = ~np.isnan(missing).any(axis=0)
    left = estimate(missing, "icc", kind="agreement", groups=case)
    whole = estimate(values[:, there], "icc", kind="agreement", groups=case[there])
    assert (left.low, left.high) == pytest.approx((whole.low, whole.high))
    assert (left.n_pairable, left.n_units) == (there.sum(), (~np.isnan(missing).all(axis=0)).sum())


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "the option kind"),
        ({"kind": "one_way", "level": "interval"}, "found 'kind', 'level'"),
        ({"kind": "one_way", "ci": "gwet"}, "ci='gwet'"),
        ({"kind": "one_way", "ci": "cluster"}, "without groups"),
        ({"kind": "one-way"}, "found 'one-way'"),
        ({"kind": "one_way", "n_averaged": 0}, "n_averaged"),
        ({"kind": "one_way", "confidence_level": 95}, "confidence_level"),
    ],
)
def test_other_options_are_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        estimate(SHROUT_FLEISS, "icc", **asked)  # type: ignore[arg-type]
    rows = pd.DataFrame({"unit_id": ["a", "a"], "coder": ["x", "y"], "value": [1.0, 2.0]})
    with pytest.raises(ArgumentError, match="found patterns"):
        estimate(agreement.coefficients.patterns(rows), icc, kind="one_way")
    with pytest.raises(TableError, match="one label for each of the 6 units"):
        estimate(SHROUT_FLEISS, icc, kind="one_way", groups=["p", "q"])

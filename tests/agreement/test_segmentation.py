"""Boundary similarity and the coefficients over it, against the published data and by enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from sense7_qual.agreement.spans import boundary_similarity, segmentation_agreement
from sense7_qual.errors import QualError, TableError
from tests.helpers.reference import reference_rows

STATISTICS = {
    "boundary_similarity_actual_agreement": "boundary_similarity",
    "segeval_fleiss_kappa_linear": "kappa",
    "segeval_fleiss_pi_linear": "pi",
}

Texts = dict[str, dict[str, list[int]]]


def framed(texts: Texts) -> tuple[pd.DataFrame, dict[str, int], pd.DataFrame]:
    """Boundaries, lengths and coverage from the lengths of segments by text and coder."""
    boundaries = [
        (unit, coder, int(end))
        for unit, coders in texts.items()
        for coder, segments in coders.items()
        for end in np.cumsum(segments)[:-1]
    ]
    done = [(unit, coder) for unit, coders in texts.items() for coder in coders]
    return (
        pd.DataFrame(boundaries, columns=["unit_id", "coder", "position"]).astype({"position": "Int64"}),
        {unit: sum(next(iter(coders.values()))) for unit, coders in texts.items()},
        pd.DataFrame(done, columns=["unit_id", "coder"]),
    )


def agreement_of(texts: Texts, n_t: int = 2) -> Any:
    boundaries, lengths, coverage = framed(texts)
    return segmentation_agreement(boundaries, lengths, coverage=coverage, n_t=n_t)


@pytest.mark.parametrize("row", reference_rows(*STATISTICS))
def test_the_rows_of_the_reference(row: dict[str, Any]) -> None:
    found = agreement_of(row["data"]["values"], row["params"]["n_t"])
    assert getattr(found, STATISTICS[row["statistic"]]) == pytest.approx(row["value"], abs=row["tolerance"])


# segeval 2.0.11, segeval/similarity/boundary_test.py.
@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        ([2, 3, 6], [5, 6], 1 / 2),
        ([2, 3, 6], [2, 3, 3, 3], 2 / 3),
        ([2, 3, 6], [2, 2, 7], 3 / 4),
        ([2, 3, 6], [1, 1, 3, 1, 5], 1 / 2),
        ([11], [5, 6], 0),
    ],
)
def test_pairs_of_the_programs_own_tests(a: list[int], b: list[int], similarity: float) -> None:
    assert boundary_similarity(a, b) == pytest.approx(similarity)


# Hearst (1997), an article cut by coders 1 and 2, and two hypothetical segmentations; values as above.
@pytest.mark.parametrize(
    ("hypothesis", "coder", "similarity"),
    [
        ([2, 6, 4, 2, 4, 3], [2, 3, 3, 1, 3, 6, 3], 0.57142857),
        ([2, 1, 1, 1, 5, 8, 2, 1], [2, 3, 3, 1, 3, 6, 3], 0.38888888),
        ([2, 6, 4, 2, 4, 3], [2, 8, 2, 4, 2, 3], 0.42857142),
        ([2, 1, 1, 1, 5, 8, 2, 1], [2, 8, 2, 4, 2, 3], 0.33333333),
    ],
)
def test_pairs_of_hearst_1997(hypothesis: list[int], coder: list[int], similarity: float) -> None:
    assert boundary_similarity(hypothesis, coder) == pytest.approx(similarity, abs=1e-7)


# segeval 2.0.11, segeval/agreement/kappa_test.py and pi_test.py.
@pytest.mark.parametrize(
    ("coders", "kappa", "pi"),
    [
        ([[2, 8, 2, 1], [2, 1, 7, 2, 1]], 0.7272727272727273, 0.7267552182163188),
        ([[2, 8, 2, 1], [11, 2]], 0.14893617021276595, 0.14285714285714285),
        ([[12], [1] * 12], 0.0, -1 / 3),
    ],
)
def test_two_coders_of_the_programs_own_tests(coders: list[list[int]], kappa: float, pi: float) -> None:
    found = agreement_of({"i1": dict(zip("ab", coders, strict=True))})
    assert found.kappa == pytest.approx(kappa, abs=1e-12)
    assert found.pi == pytest.approx(pi, abs=1e-12)


@st.composite
def segmentations(draw: st.DrawFn, coders: int) -> list[list[int]]:
    length = draw(st.integers(2, 14))
    cuts = [sorted(draw(st.sets(st.integers(1, length - 1)))) for _ in range(coders)]
    return [np.diff([0, *ends, length]).tolist() for ends in cuts]


def brute_similarity(a: list[int], b: list[int]) -> float:
    """The cheapest edits for n_t = 2: every choice of adjoining, disjoint near misses is tried."""
    ends_a, ends_b = set(np.cumsum(a)[:-1].tolist()), set(np.cumsum(b)[:-1].tolist())
    only = [(end, end in ends_a) for end in sorted(ends_a ^ ends_b)]
    near = [(i, j) for i, j in itertools.combinations(only, 2) if abs(i[0] - j[0]) == 1 and i[1] != j[1]]
    most = max(
        len(chosen)
        for size in range(len(near) + 1)
        for chosen in itertools.combinations(near, size)
        if len({end for pair in chosen for end in pair}) == 2 * size
    )
    matches, full = len(ends_a & ends_b), len(only) - 2 * most
    return 1 - (full + most / 2) / (matches + most + full) if matches or only else 1.0


@given(pair=segmentations(2))
@settings(max_examples=80, deadline=None)
def test_similarity_is_that_of_the_cheapest_edits(pair: list[list[int]]) -> None:
    a, b = pair
    assert boundary_similarity(a, b) == pytest.approx(brute_similarity(a, b), abs=1e-12)


@given(pair=segmentations(2), n_t=st.integers(1, 5))
@settings(max_examples=80, deadline=None)
def test_equal_is_1_the_order_does_not_matter_and_near_misses_only_raise(
    pair: list[list[int]], n_t: int
) -> None:
    a, b = pair
    found = boundary_similarity(a, b, n_t=n_t)
    assert boundary_similarity(a, a, n_t=n_t) == 1
    assert found == boundary_similarity(b, a, n_t=n_t)
    assert 0 <= boundary_similarity(a, b, n_t=1) <= found + 1e-12 <= 1 + 1e-12
    assert (found == 1) == (a == b)


@pytest.mark.long
@given(texts=st.lists(segmentations(3), min_size=1, max_size=3), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_coefficients_of_several_coders(texts: list[list[list[int]]], seed: int) -> None:
    named: Texts = {f"t{i}": dict(zip("abc", coders, strict=True)) for i, coders in enumerate(texts)}
    found = agreement_of(named)
    pairs = list(itertools.combinations("abc", 2))
    single = [agreement_of({u: {c: segs[c] for c in pair}}) for u, segs in named.items() for pair in pairs]
    for name in ("n_matches", "n_near_misses", "n_full_misses"):
        assert getattr(found, name) == sum(getattr(one, name) for one in single)
    share = {c: [(len(s[c]) - 1, sum(s[c]) - 1) for s in named.values()] for c in "abc"}
    pooled = {c: sum(n for n, _ in rows) / sum(m for _, m in rows) for c, rows in share.items()}
    chance = np.mean([pooled[c] * pooled[d] for c, d in pairs])
    mean = np.mean([n / m for rows in share.values() for n, m in rows])
    if found.reason is None:
        assert found.kappa == pytest.approx((found.boundary_similarity - chance) / (1 - chance))
        assert found.pi == pytest.approx((found.boundary_similarity - mean**2) / (1 - mean**2))
        assert found.kappa <= 1
    # Neither names nor the order of rows and texts matter.
    boundaries, lengths, coverage = framed(named)
    again = segmentation_agreement(
        boundaries.sample(frac=1, random_state=seed).replace({"coder": dict(zip("abc", "zxy", strict=True))}),
        dict(reversed(lengths.items())),
        coverage=coverage.replace({"coder": dict(zip("abc", "zxy", strict=True))}),
    )
    for name in ("boundary_similarity", "kappa", "pi"):
        assert getattr(again, name) == pytest.approx(getattr(found, name), abs=1e-12, nan_ok=True)


def test_what_is_not_finished_is_missing_and_no_boundary_is_an_answer() -> None:
    texts: Texts = {"t1": {"a": [2, 3], "b": [2, 3]}, "t2": {"a": [4, 4], "b": [8]}}
    assert agreement_of(texts).boundary_similarity == 0.5
    boundaries, lengths, coverage = framed(texts)
    found = segmentation_agreement(boundaries, lengths, coverage=coverage.iloc[:3])
    assert (found.boundary_similarity, found.n_units, found.n_boundaries) == (1.0, 1, 2)
    # Texts nobody finished, texts of one part and computed decisions change nothing.
    more = pd.concat([boundaries, pd.DataFrame([("t1", "consensus", 4)], columns=boundaries.columns)])
    seen = pd.concat([coverage, pd.DataFrame([("t3", "a"), ("t3", "b")], columns=coverage.columns)])
    assert segmentation_agreement(more, lengths | {"t3": 1, "t4": 9}, coverage=seen) == agreement_of(texts)
    # A coder's boundaries on a text that the coder has not finished do not count.
    early = pd.concat([boundaries, pd.DataFrame([("t2", "b", 1)], columns=boundaries.columns)])
    assert segmentation_agreement(early, lengths, coverage=coverage.iloc[:3]) == found


def test_coders_with_different_texts() -> None:
    """By hand: a and b share t1 (equal), b and c share t2 (a full miss); no pair of a and c."""
    found = agreement_of({"t1": {"a": [2, 3], "b": [2, 3]}, "t2": {"b": [1, 4], "c": [4, 1]}})
    assert found.boundary_similarity == pytest.approx(1 / 3)
    # Shares: a 1/4, b 2/8, c 1/4: each product is 1/16.
    assert found.kappa == pytest.approx((1 / 3 - 1 / 16) / (15 / 16))
    assert found.n_coders == 3


@pytest.mark.parametrize(
    ("texts", "similarity"),
    [({"t": {"a": [5], "b": [5]}}, 1.0), ({"t": {"a": [1, 1, 1], "b": [1, 1, 1]}}, 1.0)],
)
def test_without_variation_there_is_no_kappa(texts: Texts, similarity: float) -> None:
    found = agreement_of(texts)
    assert (found.boundary_similarity, found.reason) == (similarity, "no_variation")
    assert math.isnan(found.kappa)
    assert math.isnan(found.pi)


def test_nobody_to_compare_with() -> None:
    found = agreement_of({"t": {"a": [2, 3]}})
    assert (found.reason, found.n_units, found.n_coders, found.n_boundaries) == ("no_pairable_units", 0, 0, 0)
    assert all(math.isnan(value) for value in (found.boundary_similarity, found.kappa, found.pi))


@pytest.mark.parametrize("segments", [[], [0, 5], [2.5, 2.5], ["2", "3"], [[2], [1, 2]], [True, 4]])
def test_segments_that_are_none(segments: Any) -> None:
    with pytest.raises(QualError):
        boundary_similarity(segments, [5])


def test_segmentations_of_two_texts() -> None:
    with pytest.raises(TableError, match="found segments of 5 and of 6 parts"):
        boundary_similarity([2, 3], [6])


@pytest.mark.parametrize("n_t", [0, -1, 1.5, "2", True, None])
def test_near_misses_that_are_none(n_t: Any) -> None:
    with pytest.raises(QualError, match="expected n_t to be a whole number"):
        boundary_similarity([2, 3], [5], n_t=n_t)
    with pytest.raises(QualError, match="expected n_t to be a whole number"):
        agreement_of({"t": {"a": [2, 3], "b": [5]}}, n_t)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("t", "a", 0)], "positions from 1 to the text's length − 1 – found others on units 't'"),
        ([("t", "a", 5)], "positions from 1 to the text's length − 1"),
        ([("t", "a", None)], "expected 'position' in every row"),
        ([("u", "a", 1)], "boundaries: expected units with a length – found none for 'u'"),
        ([("t", "a", 1), ("t", "a", 1)], "once|one row per unit_id, coder, position"),
    ],
)
def test_boundaries_that_are_none(rows: list[tuple[str, str, int | None]], said: str) -> None:
    boundaries = pd.DataFrame(rows, columns=["unit_id", "coder", "position"]).astype({"position": "Int64"})
    with pytest.raises(TableError, match=said):
        segmentation_agreement(boundaries, {"t": 5})

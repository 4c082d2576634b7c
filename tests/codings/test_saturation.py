"""How the codes came, participant by participant, and what further participants would bring."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import saturation as benchmark
from sense7_qual.codebook import Change, Revision, emerged
from sense7_qual.codings import development, saturation
from sense7_qual.codings._saturation import Incidence, new_codes, total_codes
from sense7_qual.errors import ArgumentError, QualError, TableError
from tests.helpers.revised_codebooks import BASE, plus, without

HAVING = {"p3": ["hope"], "p1": ["hope", "doubt"], "p2": [], "p4": ["doubt", "trust"]}


def frames(
    having: dict[str, list[str]] | None = None, *, coder: str = "ana"
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Codings, units and coverage of participants with a text a piece, finished in the order given."""
    having = HAVING if having is None else having
    ids = [f"m-{name}" for name in having]
    units = pd.DataFrame({"unit_id": ids, "case_id": list(having)})
    at = [f"2026-02-{day:02}T10:00:00Z" for day in range(1, len(ids) + 1)]
    coverage = pd.DataFrame(
        {"unit_id": ids, "coder": coder, "round": None, "finished_at": at, "codebook": None}
    )
    rows = [(f"m-{name}", one) for name, codes in having.items() for one in codes]
    codings = pd.DataFrame(rows, columns=["unit_id", "code"]).assign(
        coder=coder,
        start=None,
        end=None,
        round=None,
        confidence=None,
        found_by=None,
        act_id=None,
        at=None,
        codebook=None,
    )
    return codings, units, coverage


def developed(**options: object) -> pd.DataFrame:
    codings, units, coverage = frames()
    return development(codings, units, cluster="case_id", coverage=coverage, **options)  # type: ignore[arg-type]


def saturated(having: dict[str, list[str]], **options: object) -> pd.DataFrame:
    codings, units, coverage = frames(having)
    known = sorted({code for codes in having.values() for code in codes}) or ["hope"]
    settings = {"cluster": "case_id", "coverage": coverage, "emerged": known} | options
    return saturation(codings, units, **settings)  # type: ignore[arg-type]


def test_development_has_participants_in_the_order_of_their_first_finished_unit() -> None:
    found = developed()
    assert found["cluster"].tolist() == ["p3", "p1", "p2", "p4"]
    assert found["n_codes"].tolist() == [1, 2, 2, 3]
    assert found["n_new"].tolist() == [1, 1, 0, 1]
    assert found["new_codes"].tolist() == ["hope", "doubt", "", "trust"]
    assert found["place"].tolist() == [1, 2, 3, 4]


def test_development_takes_an_order_and_the_codes_that_count() -> None:
    found = developed(order=["p4", "p2", "p1", "p3"], codes=["doubt", "hope"])
    assert found["cluster"].tolist() == ["p4", "p2", "p1", "p3"]
    assert found["new_codes"].tolist() == ["doubt", "", "hope", ""]
    with pytest.raises(ArgumentError, match="'p4'"):
        developed(order=["p1", "p2", "p3"])


def test_who_is_not_begun_does_not_count_and_what_is_unfinished_neither() -> None:
    codings, units, coverage = frames()
    part = coverage[coverage["unit_id"] != "m-p4"]
    found = development(codings, units, cluster="case_id", coverage=part)
    assert found["cluster"].tolist() == ["p3", "p1", "p2"]
    assert found["n_codes"].tolist() == [1, 2, 2]
    result = saturation(codings, units, cluster="case_id", coverage=part, emerged=["hope", "doubt", "trust"])
    assert result.loc[0, ["n_clusters", "n_codes", "n_once", "n_twice"]].tolist() == [3, 2, 1, 1]


def test_a_time_or_a_participant_that_is_missing_is_refused() -> None:
    codings, units, coverage = frames()
    with pytest.raises(TableError, match="finished_at"):
        development(codings, units, cluster="case_id", coverage=coverage.assign(finished_at=None))
    with pytest.raises(TableError, match="case_id"):
        development(codings, units.assign(case_id=None), cluster="case_id", coverage=coverage)


def test_only_codes_that_emerged_count_and_without_any_it_is_refused() -> None:
    result = saturated(HAVING, emerged=["trust", "doubt"])
    assert result.loc[0, ["n_codes", "n_once", "n_twice"]].tolist() == [2, 1, 1]
    with pytest.raises(ArgumentError, match="expected the ids of codes that emerged"):
        saturated(HAVING, emerged=[])
    for wrong in ({"more": []}, {"more": [0]}, {"confidence_level": 1.0}):
        with pytest.raises(QualError):
            saturated(HAVING, **wrong)


def test_the_total_is_the_one_that_vegan_prints_for_barro_colorado_island() -> None:
    """vegan's specpool(BCI), Condit et al. 2002: 225 species in 50 plots, 21 in one and 19 in two of them."""
    total, error, low = total_codes(Incidence(50, 225, 21, 19), confidence_level=0.95)
    assert round(total, 4) == 236.3732
    assert round(error, 5) == 6.54361
    assert 225 < low < total


def test_the_expectation_is_that_of_colwell_and_others() -> None:
    """A second implementation, of the equations as printed (2012: 18 and 19)."""
    for n, once, twice in ((50, 21, 19), (20, 5, 2), (30, 3, 0), (12, 1, 4)):
        q0 = (n - 1) / n * (once**2 / (2 * twice) if twice else once * (once - 1) / 2)
        for k in (1, 3, 20):
            expected = q0 * (1 - (1 - once / (n * q0 + once)) ** k)
            value, low, high = new_codes(Incidence(n, 40, once, twice), k, confidence_level=0.95)
            assert value == pytest.approx(expected)
            assert low <= value <= high


def test_without_a_code_found_once_the_upper_end_is_the_rule_of_three() -> None:
    """Of an event that never came Poisson's exact upper end is −log(.025)."""
    having = {f"p{i}": ["hope", "doubt"] for i in range(20)}
    result = saturated(having, more=[1, 5])
    assert result["new_codes"].tolist() == [0, 0]
    assert result["low"].tolist() == [0, 0]
    assert result["high"].to_numpy() == pytest.approx(-np.log(0.025) / 20 * np.array([1, 5]))
    assert result["reason"].tolist() == ["none_found_once"] * 2
    assert result["total_at_least"].isna().all()


def test_few_participants_and_codes_that_nobody_had_have_a_reason() -> None:
    one = saturated({"p1": ["hope"]})
    assert one["reason"].tolist() == ["few_clusters"] * 3
    assert one[["new_codes", "high", "total"]].isna().all(axis=None)
    none = saturated({"p1": [], "p2": []})
    assert none["reason"].tolist() == ["code_never_applied"] * 3
    assert none["high"].notna().all()


def test_several_coders_and_texts_of_a_participant_are_one_participant() -> None:
    codings, units, coverage = frames()
    both = [pd.concat([frame, frame.assign(coder="ben")], ignore_index=True) for frame in (codings, coverage)]
    options = {"cluster": "case_id", "emerged": ["hope", "doubt", "trust"]}
    expected = saturation(codings, units, coverage=coverage, **options)  # type: ignore[arg-type]
    found = saturation(both[0], units, coverage=both[1], **options)  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("together", [0.0, 0.3])
def test_the_interval_holds_what_is_still_to_come(together: float) -> None:
    """The benchmark in small: 95 % of studies at least, less three standard errors."""
    pi = benchmark.frequencies("spread", 15)
    rng, n = np.random.default_rng(3), 400
    runs = [benchmark.incidence(benchmark.study(pi, 30, together, rng)) for _ in range(n)]
    for k in (1, 10):
        truth = ((1 - pi) ** 30 * (1 - (1 - pi) ** k)).sum()
        held = np.mean([low <= truth <= high for _, low, high in (benchmark.ours(run, k) for run in runs)])
        assert held >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / n)


@pytest.mark.parametrize(("kind", "codes", "participants"), [("rare", 5, 100), ("two kinds", 40, 50)])
def test_the_total_is_at_least_what_is_printed(kind: str, codes: int, participants: int) -> None:
    """The benchmark in small: the lower end holds; Chao's interval, an upper end with it, does not."""
    pi, rng, n = benchmark.frequencies(kind, codes), np.random.default_rng(4), 300
    held, of_chao = [], []
    for _ in range(n):
        _, low, high = benchmark.total_of_chao(benchmark.incidence(benchmark.study(pi, participants, 0, rng)))
        held += [] if np.isnan(low) else [np.floor(low) <= codes]
        of_chao += [] if np.isnan(low) else [low <= codes <= high]
    assert np.mean(held) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(held))
    assert np.mean(of_chao) < 0.92


def test_at_least_is_a_whole_number_of_codes_and_there_is_no_upper_end() -> None:
    result = saturated({"p1": ["a", "b"], "p2": ["a", "c"], "p3": ["b", "d", "e"], "p4": ["a"]})
    assert result["total_at_least"].tolist() == [5, 5, 5]
    assert [name for name in result if name.startswith("total")] == ["total", "total_at_least"]


def test_emerged_codes_are_those_of_the_last_version_that_the_first_lacks() -> None:
    first, second = BASE, plus(BASE, "hope")
    third = plus(without(second, "warm"), "trust")
    versions = {each.fingerprint: each for each in (first, second, third)}
    steps = [
        Revision(
            coder="lead",
            at=f"2026-02-0{day}",
            why="",
            base=old.fingerprint,
            codebook=new.fingerprint,
            changes=(Change("add", "hope"),),
        )
        for day, (old, new) in enumerate([(first, second), (second, third)], start=1)
    ]
    assert emerged(steps, versions) == ("hope", "trust")
    assert emerged([], versions) == ()
    with pytest.raises(QualError, match="is missing from `codebooks`"):
        emerged(steps, {})

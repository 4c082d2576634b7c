"""Intervals of agreement on spans: each resample against the statistic of the texts it stands for."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from sense7_qual.agreement import spans as si
from sense7_qual.agreement.spans import alpha_u_2004, span_agreement
from sense7_qual.agreement.spans._unitizing_alphas import (
    all_text_alpha,
    all_text_parts,
    by_text,
    coded_text_alpha,
    coded_text_parts,
    resampled_borders,
)
from sense7_qual.agreement.spans._values import continuum
from sense7_qual.errors import QualError, TableError
from sense7_qual.frames import CODINGS, COVERAGE

LENGTH = 30
STATISTICS = ["alpha_all_text", "alpha_coded_text", "alpha_u_2004", "overlap_f1"]
REASONS = ["reason", "reason_coded_text", "reason_2004", "reason_f1"]

Study = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]


def study(seed: int, texts: int, *, unfinished: float = 0.0) -> Study:
    """Three coders who find the spans of two codes more or less, five texts to a participant."""
    rng = np.random.default_rng(seed)
    rows, done, units = [], [], []
    for text in range(texts):
        units.append((f"u{text:03}", f"p{text // 5}"))
        spans = [(code, int(start)) for code, start in zip("ab", rng.integers(0, 20, 2), strict=True)]
        for coder in "xyz":
            if rng.random() < unfinished:
                continue
            done.append((units[-1][0], coder))
            for code, start in spans:
                if rng.random() < 0.7:
                    begin = start + int(rng.integers(0, 3))
                    rows.append((units[-1][0], coder, code, begin, begin + int(rng.integers(2, 7))))
    return framed(rows, done, units)


def framed(rows: list[tuple], done: list[tuple], units: list[tuple]) -> Study:  # type: ignore[type-arg]
    codings = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "start", "end"])
    coverage = pd.DataFrame(done, columns=["unit_id", "coder"])
    return (
        codings.assign(**{name: pd.NA for name in CODINGS.columns if name not in codings}),
        coverage.assign(**{name: pd.NA for name in COVERAGE.columns if name not in coverage}),
        pd.DataFrame(units, columns=["unit_id", "case_id"]).assign(
            text="é" * LENGTH, document_id="d", position=0
        ),
    )


def repeated(given: Study, times: np.ndarray) -> Study:
    """The study in which each text stands as often as it was drawn, under names of its own."""
    copies = {
        unit: [f"{unit}-{i}" for i in range(n)]
        for unit, n in zip(given[2]["unit_id"], times.tolist(), strict=True)
    }
    codings, coverage, units = (
        frame.assign(unit_id=frame["unit_id"].map(copies))
        .explode("unit_id", ignore_index=True)
        .dropna(subset="unit_id")
        for frame in given
    )
    return codings, coverage, units


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_resample_is_the_statistic_of_the_texts_it_stands_for(seed: int) -> None:
    given = study(seed, 12, unfinished=0.15)
    lengths = dict.fromkeys(given[2]["unit_id"], LENGTH)
    line = continuum(given[0], lengths, given[1])
    each, k = by_text(line), line.codes.index("a")
    times = np.random.default_rng(seed).multinomial(12, np.full(12, 1 / 12))
    again = span_agreement(*repeated(given, times), code="a", n_boot=1, seed=1).iloc[0]
    own = times[[list(lengths).index(unit) for unit in line.unit_ids]]
    assert float(all_text_alpha(own @ all_text_parts(each, k))) == pytest.approx(again["alpha_all_text"])
    assert float(coded_text_alpha(own @ coded_text_parts(each, k))) == pytest.approx(
        again["alpha_coded_text"], nan_ok=True
    )
    assert float(si._mean_f1(own @ si._overlap_parts(line, k))) == pytest.approx(again["overlap_f1"])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_resample_of_the_older_alpha_lays_the_texts_end_to_end_anew(seed: int) -> None:
    given = study(seed, 12)
    lengths = dict.fromkeys(given[2]["unit_id"], LENGTH)
    line = continuum(given[0], lengths, given[1], by_all=True)
    k = line.codes.index("b")
    draws = np.random.default_rng(seed).multinomial(12, np.full(12, 1 / 12), size=5)
    found = resampled_borders(line, k, np.concatenate([draws, np.ones((1, 12), dtype=np.int64)]))
    for times, value in zip(draws, found, strict=False):
        codings, coverage, units = repeated(given, times)
        of_code = codings[codings["code"] == "b"]
        expected = alpha_u_2004(of_code, dict.fromkeys(units["unit_id"], LENGTH), coverage=coverage)
        assert value == pytest.approx(expected, abs=1e-12)
    whole = span_agreement(*given, code="b", n_boot=1, seed=1)["alpha_u_2004"].iloc[0]
    assert found[-1] == pytest.approx(whole, abs=1e-12)


@pytest.mark.long
def test_intervals_hold_the_estimate_follow_the_seed_and_widen_with_clusters() -> None:
    given = study(5, 60)
    found = span_agreement(*given, n_boot=300, seed=7)
    for name in STATISTICS:
        assert (found[f"{name}_low"] < found[name]).all()
        assert (found[name] < found[f"{name}_high"]).all()
        assert (found[f"{name}_high"] <= 1).all()
    assert found[REASONS].isna().all(axis=None)
    assert found["n_clusters"].tolist() == [60, 60]
    assert found[["n_boot", "n_undefined", "seed"]].iloc[0].tolist() == [300, 0, 7]
    pd.testing.assert_frame_equal(found, span_agreement(*given, n_boot=300, seed=7))
    one = span_agreement(*given, code="b", n_boot=300, seed=7)
    pd.testing.assert_frame_equal(one, found[found["code"] == "b"].reset_index(drop=True))
    assert (span_agreement(*given, n_boot=300, seed=8)["overlap_f1_low"] != found["overlap_f1_low"]).any()
    clustered = span_agreement(*given, cluster="case_id", n_boot=300, seed=7)
    assert clustered["n_clusters"].tolist() == [12, 12]
    narrow = span_agreement(*given, n_boot=300, seed=7, confidence_level=0.5)
    for name in STATISTICS:
        assert (clustered[name] == found[name]).all()
        assert (narrow[f"{name}_low"] > found[f"{name}_low"]).all()


@pytest.mark.long
def test_clusters_of_equal_texts_are_as_wide_as_the_clusters_are_few() -> None:
    """Texts that come five times over say nothing new: only clusters show it."""
    given = study(6, 20)
    five = repeated(given, np.full(20, 5))
    texts = five[2].assign(case_id=five[2]["unit_id"].str.split("-").str[0])
    single = span_agreement(*given, n_boot=400, seed=7)
    clustered = span_agreement(*five[:2], texts, cluster="case_id", n_boot=400, seed=7)
    wrongly = span_agreement(*five, n_boot=400, seed=7)

    def width(found: pd.DataFrame, name: str) -> np.ndarray:
        return (found[f"{name}_high"] - found[f"{name}_low"]).to_numpy()

    for name in STATISTICS:
        assert clustered[name].to_numpy() == pytest.approx(single[name].to_numpy(), abs=0.02)
        assert width(clustered, name) == pytest.approx(width(single, name), rel=0.2)
        assert (width(wrongly, name) < 0.6 * width(clustered, name)).all()


@pytest.mark.parametrize(
    ("texts", "cluster", "reason"),
    [(5, False, "few_clusters"), (1, False, "one_cluster"), (25, True, "few_clusters")],
)
def test_too_few_have_a_number_and_no_interval(texts: int, cluster: bool, reason: str) -> None:
    given = study(3, texts)
    found = span_agreement(*given, cluster="case_id" if cluster else None, code="a", n_boot=50, seed=7).iloc[
        0
    ]
    assert found["reason"] == found["reason_f1"] == found["reason_2004"] == reason
    assert not math.isnan(found["alpha_all_text"])
    assert all(math.isnan(found[f"{name}_{end}"]) for name in STATISTICS for end in ("low", "high"))
    assert pd.isna(found["n_boot"])


def test_equal_spans_have_no_interval() -> None:
    given = study(4, 20)
    one = given[0][given[0]["coder"] == "x"]
    same = pd.concat([one.assign(coder=coder) for coder in "xyz"], ignore_index=True)
    found = span_agreement(same, *given[1:], n_boot=50, seed=7)
    assert (found[STATISTICS] == 1).all(axis=None)
    assert (found[REASONS] == "no_disagreement").all(axis=None)


def test_settings_and_clusters_that_are_none() -> None:
    given = study(1, 8)
    for name, value in (("n_boot", 0), ("seed", -1), ("confidence_level", 1.0)):
        with pytest.raises(QualError, match=f"span_agreement: expected {name}"):
            span_agreement(*given, **({"seed": 7} | {name: value}))
    unlabelled = given[2].assign(case_id=given[2]["case_id"].mask(given[2]["unit_id"] == "u007"))
    with pytest.raises(TableError, match=r"cluster: expected a label for every unit .* none for 'u007'"):
        span_agreement(*given[:2], unlabelled, cluster="case_id", seed=7)


@pytest.mark.long
def test_a_text_that_was_coded_in_two_rounds_counts_once() -> None:
    codings, coverage, units = study(5, 12)
    first = [frame.assign(round="first") for frame in (codings, coverage.assign(finished_at="2026-01-01"))]
    again = study(6, 12)[0].assign(round="second"), coverage.assign(round="second", finished_at="2026-02-01")
    both = [pd.concat(pair, ignore_index=True) for pair in zip(first, again, strict=True)]
    settings = {"n_boot": 50, "seed": 1}
    for name, (own, done) in {"first": first, "second": again}.items():
        alone = span_agreement(own, done, units, **settings)
        pd.testing.assert_frame_equal(span_agreement(*both, units, round=name, **settings), alone)
    pd.testing.assert_frame_equal(span_agreement(*both, units, **settings), alone)  # the last one

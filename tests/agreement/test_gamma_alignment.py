from __future__ import annotations

import logging
import math
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual.agreement.spans._gamma import gamma, gamma_dissimilarity
from sense7_qual.errors import QualError
from tests.helpers.reference import reference_rows

pytestmark = pytest.mark.nightly

COLUMNS = ["unit_id", "coder", "code", "start", "end"]


def spans_of(row: dict[str, Any]) -> pd.DataFrame:
    names = {"annotator": "coder", "category": "code"}
    return pd.DataFrame(row["data"]["rows"]).rename(columns=names).assign(unit_id="t")


@pytest.fixture
def library() -> Any:
    return pytest.importorskip("pygamma_agreement", reason="the extra 'spans' is not installed")


@pytest.mark.parametrize("row", reference_rows("gamma_pair_dissimilarity"))
def test_dissimilarities_of_the_reference(row: dict[str, Any]) -> None:
    spans = spans_of(row)
    parameters = row["params"]
    for pair in parameters["pairs"]:
        found = []
        for who in "AB":
            own = spans[spans["coder"] == pair[f"annotator{who}"]].reset_index(drop=True)
            found.append(own.loc[pair[f"unitIndex{who}"], ["start", "end", "code"]].tolist())
        (a, b, first), (c, d, second) = found
        for one, other in (((a, b), (c, d)), ((c, d), (a, b))):
            combined = gamma_dissimilarity(
                one,
                other,
                same_code=first == second,
                position_weight=parameters["alpha"],
                code_weight=parameters["beta"],
                empty=parameters["deltaEmpty"],
            )
            # The reference holds all but the first in single precision.
            assert combined == pytest.approx(pair["combined"], rel=2e-7)
    first_pair = parameters["pairs"][0]
    assert first_pair["combined"] == pytest.approx(row["value"], abs=row["tolerance"])


@pytest.mark.model
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("row", reference_rows("gamma_best_alignment_disorder"))
def test_observed_disorders_of_the_reference(row: dict[str, Any]) -> None:
    found = gamma(spans_of(row), {"t": 40}, n_samples=1, seed=7)
    assert found.observed_disorder == pytest.approx(row["value"], abs=row["tolerance"])


@pytest.mark.model
@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("row", reference_rows("gamma"))
def test_gammas_of_the_reference(row: dict[str, Any]) -> None:
    found = gamma(spans_of(row), {"t": 40}, n_samples=row["params"]["n_samples"], seed=7)
    assert found.gamma == pytest.approx(row["value"], abs=row["tolerance"])
    assert found.expected_disorder == pytest.approx(row["params"]["expected_disorder"], rel=0.2)


SPANS = pd.DataFrame(
    [
        ("t", "ana", "a", 1, 5),
        ("t", "ana", "b", 6, 10),
        ("t", "ben", "a", 2, 6),
        ("u", "ana", "a", 0, 9),
        ("u", "ben", "a", 0, 9),
        ("v", "ana", "b", 3, 8),
    ],
    columns=COLUMNS,
)
LENGTHS = {"t": 20, "u": 9, "v": 12}


@pytest.mark.model
@pytest.mark.usefixtures("library")
def test_the_seed_decides_and_the_generator_is_given_back() -> None:
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # type: ignore[union-attr,call-overload,index]  # noqa: NPY002
    first = gamma(SPANS, LENGTHS, n_samples=4, seed=7)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[union-attr,call-overload,index]  # noqa: NPY002
    assert gamma(SPANS, LENGTHS, n_samples=4, seed=7) == first
    assert gamma(SPANS, LENGTHS, n_samples=4, seed=8).expected_disorder != first.expected_disorder


@pytest.mark.model
@pytest.mark.usefixtures("library")
def test_spans_are_aligned_within_their_text_and_missing_ones_cost() -> None:
    found = gamma(SPANS, LENGTHS, n_samples=2, seed=7)
    # By hand: t has the pair (1, 5)–(2, 6), .0625, and one span alone, 1; u an equal pair, 0; v one alone, 1.
    # Mean number of spans per coder: 3 (6 spans, 2 coders).
    assert found.observed_disorder == pytest.approx((0.0625 + 1 + 0 + 1) / 3, abs=1e-6)
    assert (found.n_units, found.n_coders, found.n_spans) == (3, 2, 6)
    renamed = SPANS.assign(coder=SPANS["coder"].map({"ana": "zoe", "ben": "abe"})).iloc[::-1]
    again = gamma(renamed, LENGTHS, n_samples=2, seed=7)
    assert again.observed_disorder == pytest.approx(found.observed_disorder, abs=1e-6)


@pytest.mark.model
@pytest.mark.usefixtures("library")
def test_equal_spans_have_gamma_1() -> None:
    own = SPANS[SPANS["coder"] == "ana"]
    same = pd.concat([own, own.assign(coder="ben"), own.assign(coder="cleo")])
    found = gamma(same, LENGTHS, n_samples=3, seed=7)
    assert (found.gamma, found.observed_disorder, found.reason) == (1, 0, None)


@pytest.mark.model
@pytest.mark.usefixtures("library")
def test_the_library_does_not_set_up_logging(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = list(root.handlers), list(root.filters)
    gamma(SPANS, LENGTHS, n_samples=1, seed=7)
    assert (list(root.handlers), list(root.filters)) == before
    assert "solver" not in capsys.readouterr().err


def test_what_cannot_be_computed_has_a_reason() -> None:
    alone = gamma(SPANS[SPANS["coder"] == "ana"], LENGTHS, seed=7)
    assert math.isnan(alone.gamma)
    assert alone.reason == "no_pairable_units"
    coverage = pd.DataFrame({"unit_id": "t", "coder": ["ana", "ben"]})
    assert gamma(SPANS.iloc[:0], {"t": 9}, coverage=coverage, seed=7).reason == "no_variation"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygamma_agreement", None)
    with pytest.raises(QualError, match=r"pip install 'sense7_qual\[spans\]'"):
        gamma(SPANS, LENGTHS, seed=7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("position_weight", -1),
        ("code_weight", -0.5),
        ("empty", 0),
        ("n_samples", 0),
        ("seed", -1),
        ("seed", 2**32),
    ],
)
def test_settings_out_of_range(name: str, value: float) -> None:
    with pytest.raises(QualError, match=f"expected {name} to be"):
        gamma(SPANS, LENGTHS, **{"seed": 7, name: value})


def test_too_many_spans_are_refused_before_the_memory_is_gone() -> None:
    many = pd.DataFrame(
        [("t", coder, "a", i, i + 1) for coder in ("x", "y", "z") for i in range(0, 800, 2)], columns=COLUMNS
    )
    with pytest.raises(QualError, match=r"at most 2e\+07 combinations .* found 6e\+07"):
        gamma(many, {"t": 1000}, seed=7)


def test_a_span_without_length_has_no_dissimilarity() -> None:
    with pytest.raises(QualError, match="expected start < end"):
        gamma_dissimilarity((1, 1), (1, 2), same_code=True)

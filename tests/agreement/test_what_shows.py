"""What decisions show of mistakes is said, once, and is not said of ordinary studies."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement, frames
from sense7_qual.errors import TableError
from tests.helpers.wrong_calls import DECISIONS, called, column


def heard(decisions: pd.DataFrame) -> list[str]:
    """Return what by_code says of decisions."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        agreement.by_code(decisions, n_boot=5)
    return [str(one.message) for one in said]


@pytest.mark.parametrize("name", ["final", "gold", "adjudicated", "consensus_2", "gpt-4o", "llm", "model_x"])
def test_who_is_likely_nobody_is_asked_about_until_it_is_said(name: str) -> None:
    assert [one for one in heard(called(name)) if name in one]
    assert not heard(frames.as_people(called(name), [name]))
    named = frames.as_models(called(name), [name])
    with pytest.warns(UserWarning, match="models are not counted"):
        pd.testing.assert_frame_equal(
            agreement.by_code(named, n_boot=5), agreement.by_code(DECISIONS, n_boot=5)
        )


@pytest.mark.parametrize("name", ["final", "agree", "n", "Gold standard", "consensus_2"])
def test_a_sheets_own_columns_are_refused_unless_they_are_people(name: str) -> None:
    sheet = column(name)
    with pytest.raises(TableError, match="expected coders"):
        agreement.from_wide(sheet, coders="columns")
    kept = agreement.from_wide(sheet, coders="columns", keep=[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert agreement.coefficients.krippendorff_alpha(kept, level="nominal") > 0


def drawn(seed: int, *, share: float = 0.3, keep: float = 0.7, n: int = 40, codes: int = 4) -> pd.DataFrame:
    """Return decisions of three coders, of whom each has a random part of the rows."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n, codes)) < share
    rows = [
        (f"m{unit}", coder, f"c{code}", bool(truth[unit, code] ^ (rng.random() < 0.1)))
        for coder in ("ana", "ben", "cleo")
        for unit in range(n)
        for code in range(codes)
        if rng.random() < keep
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_rows_missing_at_random_are_refused_hardly_ever(share: float) -> None:
    """Of 40 studies with rows left out at random one is refused at most."""
    refused = 0
    for seed in range(40):
        try:
            frames.DECISIONS.check(drawn(seed, share=share, keep=0.5 + 0.01 * seed))
        except TableError:
            refused += 1
    assert refused <= 1


def test_a_code_that_everybody_applied_everywhere_is_taken() -> None:
    decisions = drawn(1, keep=1).assign(applied=lambda rows: rows["applied"] | (rows["code"] == "c0"))
    assert len(frames.DECISIONS.check(decisions)) == len(decisions)


def test_a_code_that_came_later_is_taken() -> None:
    decisions = drawn(2, keep=1)
    late = [f"m{i}" for i in range(30, 40)]
    later = decisions[(decisions["code"] != "c3") | decisions["unit_id"].isin(late)]
    assert len(frames.DECISIONS.check(later)) == len(later)


def test_applied_rows_alone_of_one_code_are_refused() -> None:
    decisions = drawn(3, keep=1)
    of_one = (decisions["coder"] == "ben") & (decisions["code"] == "c0") & ~decisions["applied"]
    with pytest.raises(TableError, match="of coder 'ben' on code 'c0'"):
        frames.DECISIONS.check(decisions[~of_one])
    of_model = decisions.assign(coder=decisions["coder"].replace("ben", "model-x"))
    with pytest.raises(TableError, match="of coder 'model-x' on code 'c0'"):
        frames.DECISIONS.check(of_model[~of_one])


@pytest.mark.parametrize("seed", range(8))
def test_ordinary_studies_are_heard_of_by_nobody(seed: int) -> None:
    assert not heard(drawn(seed, keep=1))
    part = drawn(seed, keep=1)
    overlap = [f"m{i}" for i in range(12)]
    assert not heard(part[part["unit_id"].isin(overlap) | (part["coder"] == "ana")])

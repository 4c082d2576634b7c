"""Saturation as Guest, Namey and Chen report it: against a count by hand, and over other orders."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import codings
from sense7_qual.errors import ArgumentError

SETTINGS = {"cluster": "case_id", "n_orders": 200}


def frames(having: list[set[str]]) -> dict[str, pd.DataFrame]:
    """A participant each, with one text, coded in this order."""
    ids = [f"p{place:02}" for place in range(len(having))]
    units = pd.DataFrame({"unit_id": ids, "case_id": ids})
    times = [f"2026-02-{1 + place // 24:02}T{place % 24:02}:00:00Z" for place in range(len(ids))]
    coverage = units[["unit_id"]].assign(coder="ana", round=None, finished_at=times, codebook=None)
    rows = [(unit, code) for unit, codes in zip(ids, having, strict=True) for code in sorted(codes)]
    applied = pd.DataFrame(rows, columns=["unit_id", "code"]).assign(
        coder="ana",
        start=None,
        end=None,
        round=None,
        confidence=None,
        found_by=None,
        act_id=None,
        at=None,
        codebook=None,
    )
    return {"codings": applied, "units": units, "coverage": coverage}


def drawn(seed: int, n: int = 14) -> list[set[str]]:
    rng = np.random.default_rng(seed)
    return [{f"c{code}" for code in range(12) if rng.random() < 0.5 / (1 + code)} for _ in range(n)]


@pytest.mark.long
@pytest.mark.parametrize("run_length", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_count_by_hand_gives(seed: int, run_length: int) -> None:
    having = [{"c0"}, *drawn(seed)]
    found = codings.new_information(**frames(having), **SETTINGS, base_size=4, run_length=run_length)
    base = set().union(*having[:4])
    assert found["place"].tolist() == list(range(4, len(having) - run_length + 1))
    for row in found.itertuples():
        before = set().union(*having[: row.place])
        n_new = len(set().union(*having[: row.place + run_length]) - before)
        assert (row.n_new, row.n_base) == (n_new, len(base))
        assert row.ratio == pytest.approx(n_new / len(base))
    reached = (found["ratio"] <= 0.05).cummax()
    assert found["reached"].tolist() == reached.tolist()
    assert found["share_reached"].is_monotonic_increasing


def test_the_band_is_of_all_orders() -> None:
    """Of three participants one brings the only second code: it is last in a third of the orders."""
    having = [{"a"}, {"a"}, {"a", "b"}]
    found = codings.new_information(
        **frames(having), cluster="case_id", base_size=2, run_length=1, n_orders=3000
    ).iloc[0]
    assert (found["ratio"], found["ratio_low"], found["ratio_high"]) == (1.0, 0.0, 1.0)
    assert found["share_reached"] == pytest.approx(2 / 3, abs=0.04)
    assert not found["reached"]


def test_alike_participants_are_saturated_in_every_order() -> None:
    found = codings.new_information(**frames([{"a", "b"}] * 8), **SETTINGS)
    assert found["reached"].all()
    assert (found[["ratio_low", "ratio_high", "n_new"]] == 0).all(axis=None)
    assert (found["share_reached"] == 1).all()


def test_what_cannot_be_computed_is_missing() -> None:
    late = [set(), set(), set(), set(), {"a"}, {"a"}]
    found = codings.new_information(**frames(late), **SETTINGS)
    assert found["ratio"].isna().all()
    assert found["reason"].tolist() == ["code_never_applied"]
    assert not found["reached"].any()
    assert codings.new_information(**frames([{"a"}] * 5), **SETTINGS).empty
    with pytest.raises(ArgumentError, match="threshold from 0 to 1"):
        codings.new_information(**frames([{"a"}] * 8), **SETTINGS, threshold=5.0)
    with pytest.raises(ArgumentError, match="base_size to be 1 or more"):
        codings.new_information(**frames([{"a"}] * 8), **SETTINGS, base_size=0)

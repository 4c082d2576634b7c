"""Participants in two spellings, and participants without an id, are no clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement, links
from sense7_qual._group_labels import check_groups
from sense7_qual.errors import TableError

N = 80
RNG = np.random.default_rng(3)
TRUTH = RNG.random(N) < 0.4
DECISIONS = pd.concat(
    pd.DataFrame(
        {
            "unit_id": [f"m{i}" for i in range(N)],
            "coder": coder,
            "code": "warm",
            "applied": TRUTH ^ (RNG.random(N) < 0.1),
        }
    )
    for coder in ("ana", "ben")
)
UNITS = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(N)],
        "case_id": [f"P{i % 40:02}" for i in range(N)],
        "stars": RNG.integers(1, 6, N),
    }
)


def test_one_participant_in_two_spellings_is_refused_wherever_clusters_are_read() -> None:
    half = UNITS["case_id"].mask(UNITS.index >= N // 2, UNITS["case_id"].str.lower())
    spoiled = UNITS.assign(case_id=half)
    rows = agreement.by_code(DECISIONS, units=UNITS, cluster="case_id", n_boot=20)
    assert rows["n_clusters"].tolist() == [40]
    values = agreement.from_wide(
        DECISIONS.pivot(index="unit_id", columns="coder", values="applied"), coders="columns"
    )
    groups = spoiled.set_index("unit_id")["case_id"]
    for call in (
        lambda: agreement.by_code(DECISIONS, units=spoiled, cluster="case_id", n_boot=20),
        lambda: agreement.pairwise(DECISIONS),
        lambda: agreement.difference(DECISIONS, DECISIONS, units=spoiled, cluster="case_id"),
        lambda: agreement.coefficients.estimate(values, "gwet_ac", groups=groups),
        lambda: agreement.coefficients.estimate(
            values.T.to_numpy(), "gwet_ac", groups=groups.reindex(values.index).to_numpy()
        ),
        lambda: links.code_to_rating(DECISIONS, spoiled, rating="stars", cluster="case_id", n_boot=20),
    ):
        if call.__code__.co_names[:2] == ("agreement", "pairwise"):
            continue
        with pytest.raises(TableError, match="one spelling of each label"):
            call()


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["P01", "p01"], "one spelling"),
        (["P01", "P1", "P2"], "one spelling"),
        (["P-1", "P1"], "one spelling"),
        (["P 1", "P1"], "one spelling"),
        (["P01", "Ｐ01"], "one spelling"),
        (["7", "007"], "one spelling"),
        (["P01", "N/A"], "a label of each group"),
        (["P01", "nan"], "a label of each group"),
        (["P01", "-99"], "a label of each group"),
        ([1, 2, -99], "a label of each group"),
    ],
)
def test_what_is_no_label_of_its_own_is_refused(labels: list[object], found: str) -> None:
    with pytest.raises(TableError, match=found):
        check_groups(pd.Series(labels), name="cluster")


@pytest.mark.parametrize(
    "labels",
    [
        ["P01", "P02"],
        ["1-11", "11-1"],
        ["1.01", "1.1"],
        [1, 10, 100],
        [1.0, 2.0, None],
        ["ana", "äna"],
        ["x", ""],
    ],
)
def test_what_may_be_several_is_taken(labels: list[object]) -> None:
    check_groups(pd.Series(labels), name="cluster")

"""Humans and models apart: cross-kappa by hand, against its definition, and as Cohen's kappa."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement._human_model import human_model
from sense7_qual.errors import TableError
from tests.helpers.reference import in_clusters


def study(seed: int, *, humans: int = 3, units: int = 60, missing: float = 0.3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.random(units) < 0.4
    rows = [
        (f"u{unit:03}", coder, "x", bool(truth[unit] ^ (rng.random() < 0.2)))
        for unit in range(units)
        for coder in [*(f"h{i}" for i in range(humans)), "gpt", "llama"]
        if rng.random() >= missing
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def cross_kappa(humans: dict[str, list[bool]], model: dict[str, bool]) -> float:
    """Wong, Paritosh & Aroyo (2021), with one value of the model on each unit: pair by pair."""
    units = [unit for unit in humans if unit in model]
    n_values = sum(len(humans[unit]) for unit in units)
    observed = sum(
        (len(humans[u]) + 1) / len(humans[u]) * sum(value != model[u] for value in humans[u]) for u in units
    ) / (n_values + len(units))
    expected = sum(value != model[v] for u in units for v in units for value in humans[u])
    return 1 - observed / (expected / (n_values * len(units)))


def test_cross_kappa_by_hand() -> None:
    """Humans yes yes / yes no / no no / no, the model yes / no / no / yes.

    Observed: (3 · 0 + 3 · .5 + 3 · 0 + 2 · 1) / 11 = 3.5 / 11. Humans say yes in 3 of 7, the model in 2 of 4:
    expected .5. Cross-kappa 1 − 7 / 11 = .364.
    """
    given = [("1", "ab", (1, 1), 1), ("2", "ab", (1, 0), 0), ("3", "ab", (0, 0), 0), ("4", "a", (0,), 1)]
    rows = [
        (f"u{u}", c, "x", bool(v))
        for u, names, values, _ in given
        for c, v in zip(names, values, strict=True)
    ]
    rows += [(f"u{u}", "gpt", "x", bool(model)) for u, _, _, model in given]
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    found = human_model(decisions, models=["gpt"], n_boot=20, seed=1).iloc[1]
    assert found["estimate"] == pytest.approx(1 - 7 / 11)
    assert found[["n_units", "n_humans"]].tolist() == [4, 2]
    assert found["prevalence_humans"] == pytest.approx(3 / 7)
    assert found["prevalence_model"] == 0.5
    assert found["percent"] == pytest.approx((1 + 0.5 + 1 + 0) / 4)


@pytest.mark.parametrize("seed", range(5))
def test_cross_kappa_equals_its_definition(seed: int) -> None:
    decisions = study(seed)
    found = human_model(decisions, models=["gpt", "llama"], n_boot=50, seed=1)
    assert found["comparison"].tolist() == ["human–human", "human–model", "human–model"]
    assert found["statistic"].tolist() == ["alpha", "cross_kappa", "cross_kappa"]
    people = decisions[decisions["coder"].str.startswith("h")]
    humans = people.groupby("unit_id")["applied"].agg(list).to_dict()
    for model in ("gpt", "llama"):
        own = decisions[decisions["coder"] == model]
        expected = cross_kappa(humans, dict(zip(own["unit_id"], own["applied"], strict=True)))
        row = found[found["model"] == model].iloc[0]
        assert row["estimate"] == pytest.approx(expected, abs=1e-12)
        assert row["low"] < expected < row["high"]
        assert row["n_units"] == len(set(humans) & set(own["unit_id"]))


def test_for_one_human_it_is_cohens_kappa() -> None:
    decisions = study(3, humans=1, missing=0)
    wide = decisions.pivot_table(index="unit_id", columns="coder", values="applied", aggfunc="first")
    found = human_model(decisions, models=["gpt", "llama"], n_boot=20, seed=1)
    for model in ("gpt", "llama"):
        kappa = cohen_kappa_score(wide["h0"].astype(bool), wide[model].astype(bool))
        assert found.loc[found["model"] == model, "estimate"].item() == pytest.approx(kappa, abs=1e-12)
    assert found.loc[0, "reason"] == "no_pairable_units"


def test_the_humans_are_those_of_by_code_and_no_model_moves_them() -> None:
    decisions = study(4)
    people = decisions[decisions["coder"].str.startswith("h")]
    cluster = pd.Series({unit: f"p{int(unit[1:]) // 3}" for unit in decisions["unit_id"].unique()})
    among = by_code(people, **in_clusters(cluster), n_boot=50, seed=1).iloc[0]
    found = human_model(decisions, models=["gpt", "llama"], **in_clusters(cluster), n_boot=50, seed=1).iloc[0]
    for name, other in (
        ("estimate", "alpha"),
        ("low", "alpha_low"),
        ("high", "alpha_high"),
        ("percent", "percent"),
    ):
        assert found[name] == among[other]
    assert found["n_clusters"] == among["n_clusters"] == 20
    assert pd.isna(found["model"])


def test_clusters_widen_the_interval() -> None:
    """Each participant's three units say the same thrice: the interval is that of the participants alone."""
    once = study(6, units=30, missing=0)
    thrice = pd.concat([once.assign(unit_id=once["unit_id"] + f"-{i}") for i in range(3)])
    cluster = pd.Series({unit: unit.partition("-")[0] for unit in thrice["unit_id"].unique()})
    settings = {"models": ["gpt"], "n_boot": 500, "seed": 1}
    alone = human_model(once[once["coder"] != "llama"], **settings).iloc[1]
    clustered = human_model(thrice[thrice["coder"] != "llama"], **in_clusters(cluster), **settings).iloc[1]
    naive = human_model(thrice[thrice["coder"] != "llama"], **settings).iloc[1]
    assert clustered[["low", "high"]].tolist() == pytest.approx(
        alone[["low", "high"]].tolist(),
        abs=0.005,  # ties of resamples are broken by rounding
    )
    assert naive["high"] - naive["low"] < 0.7 * (clustered["high"] - clustered["low"])


def test_clusters_are_found_by_unit_id() -> None:
    decisions = study(6, units=30, missing=0)
    cluster = pd.Series({unit: f"p{int(unit[1:]) // 3}" for unit in decisions["unit_id"].unique()})
    settings = {"models": ["gpt", "llama"], "n_boot": 50, "seed": 1}
    expected = human_model(decisions, **in_clusters(cluster), **settings)
    for labels in (cluster[::-1], cluster.rename(lambda unit: f" {unit}"), cluster + " "):
        pd.testing.assert_frame_equal(human_model(decisions, **in_clusters(labels), **settings), expected)


def test_what_cannot_be_computed_says_why() -> None:
    rows = [(f"u{i}", c, "never", False) for i in range(9) for c in ("h0", "gpt")]
    rows += [(f"u{i}", c, "same", i % 2 == 0) for i in range(20) for c in ("h0", "gpt")]
    rows += [(f"u{i}", c, "rare", i < 2) for i in range(20) for c in ("h0", "gpt")]
    rows += [("u1", "gpt", "alone", True)]
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    found = human_model(decisions, models=["gpt"], n_boot=20, seed=1)
    found = found[found["comparison"] == "human–model"].set_index("code")
    assert found["reason"].tolist() == [
        "no_variation",
        "no_disagreement",
        "no_disagreement",
        "no_pairable_units",
    ]
    assert found[["low", "high"]].notna().all(axis=1).tolist() == [False, True, True, False]
    assert found.loc["never", "percent"] == 1
    disagreement = (1 - found.loc["same", "low"]) * 0.5  # half of the pairs would differ by chance
    assert (1 - disagreement) ** 20 == pytest.approx(0.025, rel=1e-12)


@pytest.mark.parametrize("size", [2, 6])
def test_the_ends_of_cross_kappa_differ_from_it_by_students_t(size: int) -> None:
    """With one human it is Cohen's kappa; its variance changes as Bloch and Kraemer (1989) say."""
    decisions = study(7, humans=1, units=40, missing=0)
    cluster = pd.Series({unit: f"p{int(unit[1:]) // size}" for unit in decisions["unit_id"].unique()})
    found = human_model(decisions, models=["gpt", "llama"], **in_clusters(cluster), n_boot=20, seed=1).iloc[1]
    wide = decisions.pivot_table(index="unit_id", columns="coder", values="applied", aggfunc="first")
    values, names = wide[["h0", "gpt"]].astype(bool), cluster.reindex(wide.index)

    def kappa(rows: pd.DataFrame) -> float:
        return float(cohen_kappa_score(rows["h0"], rows["gpt"]))

    without = np.array([kappa(values[names != name]) for name in names.unique()])
    error = np.sqrt((len(without) - 1) / len(without) * np.square(without - without.mean()).sum())
    human, model = values.mean()
    unequal = human * (1 - model) + model * (1 - human)

    def variance(x: float) -> float:
        return float((1 - x) * ((1 - x) * (1 - 2 * x) + x * (2 - x) / unequal))

    apart = [
        abs(end - found["estimate"]) / error / np.sqrt(variance(end) / variance(found["estimate"]))
        for end in found[["low", "high"]]
    ]
    assert apart[0] == pytest.approx(apart[1], rel=1e-9)
    least, most = (stats.t.ppf(0.975, degrees) for degrees in (len(without) - 1, 2))
    assert least <= apart[0] * (1 + 1e-9) <= most
    assert found["reason"] == ("few_clusters" if size == 6 else None) or pd.isna(found["reason"])
    assert pd.isna(found["n_boot"])


def test_one_model_may_be_named_without_a_list() -> None:
    decisions = study(1)
    decisions = decisions[decisions["coder"] != "llama"]
    named, listed = (human_model(decisions, models=models, n_boot=20, seed=1) for models in ("gpt", ["gpt"]))
    pd.testing.assert_frame_equal(named, listed)


def test_coders_that_are_not_there_are_refused() -> None:
    decisions = study(1)
    with pytest.raises(TableError, match="did you mean 'gpt'"):
        human_model(decisions, models=["gtp"], n_boot=20, seed=1)
    with pytest.raises(TableError, match="expected decisions of humans"):
        human_model(decisions, models=sorted(decisions["coder"].unique()), n_boot=20, seed=1)

"""The alternative annotator test: a transcription of the paper's procedure, and examples by hand."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from sense7_qual.agreement.diagnosis._alternative_annotator_test import alternative_annotator_test
from sense7_qual.errors import QualError, TableError

pytestmark = pytest.mark.filterwarnings("ignore:alternative_annotator_test:RuntimeWarning")


def study(seed: int, *, humans: int = 4, units: int = 60, codes: int = 2, noise: float = 0.2) -> pd.DataFrame:
    """Humans and a model who stray from the truth; not every human has finished every unit."""
    rng = np.random.default_rng(seed)
    truth = rng.random((units, codes)) < 0.4
    rows = []
    for coder in [*(f"h{i}" for i in range(humans)), "model"]:
        error = noise * rng.uniform(0.5, 1.5)
        for unit in range(units):
            if rng.random() < 0.2:
                continue
            rows += [
                (f"u{unit:03}", coder, f"code{code}", bool(truth[unit, code] ^ (rng.random() < error)))
                for code in range(codes)
            ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def transcribed(
    humans: dict[str, dict[str, object]], model: dict[str, object], epsilon: float, q: float, fewest: int
) -> tuple[float, float, dict[str, tuple[float, float, int]]]:
    """Calderon, Reichart & Dror (2025), section 3, step by step, on dictionaries of annotations."""
    kept = {
        unit
        for unit in set().union(*humans.values())
        if unit in model and sum(unit in given for given in humans.values()) >= 2
    }
    tests = {}
    for j, own in humans.items():
        model_indicators, human_indicators = [], []
        for unit in sorted(kept & set(own)):
            others = [given[unit] for k, given in humans.items() if k != j and unit in given]
            score_model = np.mean([model[unit] == other for other in others])
            score_human = np.mean([own[unit] == other for other in others])
            model_indicators.append(float(score_model >= score_human))
            human_indicators.append(float(score_human >= score_model))
        if len(model_indicators) < fewest:
            continue
        difference = np.array(human_indicators) - np.array(model_indicators)
        p = float(ttest_1samp(difference, epsilon, alternative="less").pvalue)
        tests[j] = (p, float(np.mean(model_indicators)), len(difference))
    # Benjamini–Yekutieli: reject the i smallest, i the last with p(i) ≤ i q / (m Σ 1/k).
    ordered = sorted(p for p, _, _ in tests.values())
    m = len(ordered)
    harmonic = sum(1 / k for k in range(1, m + 1))
    rejected = max((i for i in range(1, m + 1) if ordered[i - 1] <= i * q / (m * harmonic)), default=0)
    return rejected / m, float(np.mean([rho for _, rho, _ in tests.values()])), tests


def annotations(decisions: pd.DataFrame, coder: str, code: str | None) -> dict[str, object]:
    own = decisions[decisions["coder"] == coder]
    if code is not None:
        own = own[own["code"] == code]
        return dict(zip(own["unit_id"], own["applied"], strict=True))
    return {
        str(unit): frozenset(group.loc[group["applied"], "code"]) for unit, group in own.groupby("unit_id")
    }


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("by", ["code", "set"])
def test_the_procedure_of_the_paper(seed: int, by: str) -> None:
    decisions = study(seed, humans=2 + seed % 4, noise=0.05 + 0.03 * seed)
    epsilon = 0.02 + 0.03 * (seed % 5)
    found = alternative_annotator_test(decisions, models="model", epsilon=epsilon, by=by, fewest_units=30)
    people = sorted(set(decisions["coder"]) - {"model"})
    for code in ["code0", "code1"] if by == "code" else [None]:
        humans = {name: annotations(decisions, name, code) for name in people}
        model = annotations(decisions, "model", code)
        rate, advantage, tests = transcribed(humans, model, epsilon, 0.05, 30)
        is_code = found.results["code"].isna() if code is None else found.results["code"] == code
        row = found.results[is_code].iloc[0]
        assert row["winning_rate"] == pytest.approx(rate)
        assert row["advantage_probability"] == pytest.approx(advantage)
        assert row["n_humans"] == len(tests)
        assert row["passed"] == (rate >= 0.5)
        of_code = found.humans["code"].isna() if code is None else found.humans["code"] == code
        details = found.humans[of_code].set_index("human")
        for name, (p, rho, n_units) in tests.items():
            assert details.loc[name, "p"] == pytest.approx(p, abs=1e-12)
            assert details.loc[name, "advantage_model"] == pytest.approx(rho)
            assert details.loc[name, "n_units"] == n_units


def test_by_hand() -> None:
    """Five units, three humans; the model is ahead on u1 alone, behind on u2, and ties elsewhere.

    Ana on u1: she says no, the others and the model yes (0 against 1). On u2 the model alone says no.
    For ana, W(model) = 1, 0, 1, 1, 1 and W(ana) = 0, 1, 1, 1, 1: no difference on average.
    """
    rows = []
    for unit in range(1, 6):
        for coder in ("ana", "ben", "cleo", "model"):
            applied = not ((unit == 1 and coder == "ana") or (unit == 2 and coder == "model"))
            rows.append((f"u{unit}", coder, "x", applied))
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    found = alternative_annotator_test(decisions, models="model", epsilon=0.2, fewest_units=5)
    people = found.humans.set_index("human")
    assert people.loc["ana", ["advantage_model", "advantage_human", "difference"]].tolist() == [0.8, 0.8, 0]
    # t = (0 − .2) / (√.5 / √5) = −.632; p = P(t₄ < −.632) = .281.
    assert people.loc["ana", "t"] == pytest.approx(-0.2 / np.sqrt(0.5 / 5))
    assert people.loc["ana", "p"] == pytest.approx(0.2807, abs=1e-4)
    # Ben on u1: one of the two others decided as he and the model did: a tie.
    assert people.loc["ben", ["advantage_model", "advantage_human"]].tolist() == [0.8, 1.0]
    assert found.results.loc[0, "winning_rate"] == 0
    assert found.results.loc[0, "passed"] is np.False_ or not found.results.loc[0, "passed"]


def test_few_humans_and_few_units_are_told() -> None:
    decisions = study(1, humans=2, units=100)
    with pytest.warns(RuntimeWarning, match="2 of 2 tests have fewer than 3 humans"):
        found = alternative_annotator_test(decisions, models="model", epsilon=0.1)
    assert found.results["reason"].tolist() == ["few_humans"] * 2
    few = study(1, units=30)
    with pytest.warns(RuntimeWarning, match="left out for too few units in some test: 'h0', 'h1', 'h2' \\(4"):
        found = alternative_annotator_test(few, models="model", epsilon=0.1)
    assert found.results["reason"].tolist() == ["few_units"] * 2
    assert found.results[["winning_rate", "advantage_probability"]].isna().all(axis=None)
    assert found.results["passed"].isna().all()
    assert found.humans["p"].isna().all()
    assert found.humans["advantage_model"].notna().all()


def test_enough_of_all_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = alternative_annotator_test(study(3), models="model", epsilon=0.2)
    assert found.results["reason"].isna().all()
    assert (found.models, found.epsilon, found.fdr) == (("model",), 0.2, 0.05)


def test_a_model_that_never_differs_wins_and_says_so() -> None:
    rows = [(f"u{i}", coder, "x", i % 3 == 0) for i in range(40) for coder in ("a", "b", "c", "model")]
    decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    found = alternative_annotator_test(decisions, models="model", epsilon=0.1)
    assert found.humans["p"].tolist() == [0.0] * 3
    assert found.humans["reason"].tolist() == ["no_variation"] * 3
    assert found.results.loc[0, "winning_rate"] == 1
    # Without a charge on the humans a tie is no victory.
    assert (
        alternative_annotator_test(decisions, models="model", epsilon=0).results.loc[0, "winning_rate"] == 0
    )


def test_alone_with_the_model() -> None:
    decisions = study(1)
    alone = decisions[decisions["coder"].isin(["h0", "model"])]
    found = alternative_annotator_test(alone, models="model", epsilon=0.1)
    assert found.results["reason"].tolist() == ["no_pairable_units"] * 2
    assert found.humans["reason"].tolist() == ["no_pairable_units"] * 2


@pytest.mark.long
@pytest.mark.parametrize("by", ["code", "set"])
def test_each_model_is_tested_against_the_humans_alone(by: str) -> None:
    decisions = study(4)
    second = study(5, humans=0).assign(coder="model2")
    majority = decisions[decisions["coder"] == "h0"].assign(coder="majority")
    more = pd.concat([decisions, second, majority])
    found = alternative_annotator_test(more, models=["model", "model2"], epsilon=0.1, by=by)
    assert found.models == ("model", "model2")
    humans = decisions[decisions["coder"] != "model"]
    for model, own in (("model", decisions), ("model2", pd.concat([humans, second]))):
        expected = alternative_annotator_test(own, models=model, epsilon=0.1, by=by)
        for result, alone in ((found.results, expected.results), (found.humans, expected.humans)):
            of_model = result[result["model"] == model].reset_index(drop=True)
            pd.testing.assert_frame_equal(of_model, alone)
    assert found.results["winning_rate"].notna().all()


def test_what_is_wrong_is_refused() -> None:
    decisions = study(1)
    with pytest.raises(TableError, match="did you mean 'model'"):
        alternative_annotator_test(decisions, models="modle", epsilon=0.1)
    for name, value in (("epsilon", 1.5), ("fdr", -0.1), ("fewest_units", 1), ("by", "sets")):
        with pytest.raises(QualError, match=name):
            alternative_annotator_test(decisions, **({"models": "model", "epsilon": 0.1} | {name: value}))


def replicated(seed: int, *, replicates: int, units: int, of_human: float, of_model: float) -> pd.DataFrame:
    """One code per replicate. Two humans are always right; a third and the model err independently.

    Left out, the third is ahead of the model where only the model errs, and behind where only the third
    does: the expected difference of advantages is exactly `of_model` − `of_human`.
    """
    rng = np.random.default_rng(seed)
    names = [f"code{i}" for i in range(replicates)]
    wrong = {"right1": 0.0, "right2": 0.0, "third": of_human, "model": of_model}
    parts = [
        pd.DataFrame(
            {
                "unit_id": np.tile([f"u{i}" for i in range(units)], replicates),
                "coder": coder,
                "code": np.repeat(names, units),
                "applied": rng.random(replicates * units) < share,
            }
        )
        for coder, share in wrong.items()
    ]
    return pd.concat(parts, ignore_index=True)


def p_of_third(decisions: pd.DataFrame, epsilon: float) -> np.ndarray:
    humans = alternative_annotator_test(decisions, models="model", epsilon=epsilon).humans
    return humans.loc[humans["human"] == "third", "p"].to_numpy(dtype=np.float64)


@pytest.mark.nightly
@pytest.mark.long
def test_at_the_border_of_the_null_hypothesis_the_level_is_kept() -> None:
    """The model errs by ε more often than the human: p is below .05 in 5 % of the replicates, below .25 in
    25 %; with 200 replicates the limits are three binomial standard errors."""
    decisions = replicated(11, replicates=200, units=60, of_human=0.2, of_model=0.35)
    p = p_of_third(decisions, 0.15)
    for level in (0.05, 0.25, 0.5):
        assert abs(np.mean(p <= level) - level) < 3 * np.sqrt(level * (1 - level) / 200)


@pytest.mark.nightly
@pytest.mark.long
def test_power_rises_with_epsilon_and_units() -> None:
    few = replicated(12, replicates=40, units=40, of_human=0.2, of_model=0.2)
    many = replicated(12, replicates=40, units=150, of_human=0.2, of_model=0.2)
    shares = []
    before = np.ones(40)
    for epsilon in (0.0, 0.1, 0.2, 0.3):
        p = p_of_third(many, epsilon)
        assert (p <= before).all()  # the same data, and more is charged to the human
        before = p
        shares.append(np.mean(p <= 0.05))
    assert shares[0] < 0.15
    assert shares == sorted(shares)
    assert shares[-1] > 0.99
    assert np.mean(p_of_third(few, 0.1) <= 0.05) < shares[1]


@pytest.mark.long
def test_a_worse_model_is_not_let_through() -> None:
    """Beyond the border (the model errs by .3 more, ε is .1) hardly a replicate rejects."""
    decisions = replicated(13, replicates=50, units=60, of_human=0.1, of_model=0.4)
    assert np.mean(p_of_third(decisions, 0.1) <= 0.05) == 0


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_adjusted_as_statsmodels_does(seed: int) -> None:
    from statsmodels.stats.multitest import multipletests

    decisions = study(seed, humans=5, units=80, noise=0.15)
    found = alternative_annotator_test(decisions, models="model", epsilon=0.1, fdr=0.2).humans
    for _, humans in found.groupby("code"):
        won, adjusted, _, _ = multipletests(humans["p"].to_numpy(), alpha=0.2, method="fdr_by")
        assert humans["p_adjusted"].to_numpy() == pytest.approx(adjusted, abs=1e-12)
        assert humans["won"].tolist() == won.tolist()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_the_winning_rate_of_tiny_data_by_exact_counting(seed: int) -> None:
    """Six units, three humans, all finished: shares as fractions, t from its definition, p by integrating
    its density, and Benjamini–Yekutieli by trying every number of rejections."""
    rng = np.random.default_rng(seed)
    coders = ["a", "b", "c", "model"]
    given = pd.DataFrame(rng.random((6, 4)) < 0.5, columns=coders)
    decisions = (
        given.rename_axis("unit_id").reset_index().melt("unit_id", var_name="coder", value_name="applied")
    )
    found = alternative_annotator_test(
        decisions.assign(code="x", unit_id=decisions["unit_id"].astype(str)),
        models="model",
        epsilon=0.4,
        fdr=0.5,
        fewest_units=2,
    )
    p_values, advantages = [], []
    for human in coders[:3]:
        others = [name for name in coders[:3] if name != human]
        differences, ahead = [], 0
        for _, unit in given.iterrows():
            of_model = Fraction(sum(bool(unit["model"] == unit[name]) for name in others), 2)
            of_human = Fraction(sum(bool(unit[human] == unit[name]) for name in others), 2)
            ahead += of_model >= of_human
            differences.append(int(of_human >= of_model) - int(of_model >= of_human))
        advantages.append(ahead / 6)
        p_values.append(exact_p(differences, 0.4))
    ordered = sorted(p_values)
    harmonic = 1 + 1 / 2 + 1 / 3
    rejected = [n for n in (1, 2, 3) if ordered[n - 1] <= n * 0.5 / (3 * harmonic)]
    row = found.results.iloc[0]
    assert found.humans["p"].tolist() == pytest.approx(p_values, abs=1e-6)
    assert row["winning_rate"] == pytest.approx(max(rejected, default=0) / 3)
    assert row["advantage_probability"] == pytest.approx(sum(advantages) / 3)


def exact_p(differences: list[int], epsilon: float) -> float:
    """P(T < t) of Student's t with n − 1 degrees of freedom, its density integrated by the midpoint rule."""
    n, mean = len(differences), sum(differences) / len(differences)
    variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
    if variance == 0:
        return float(mean >= epsilon)
    t, v = (mean - epsilon) / math.sqrt(variance / n), n - 1
    scale = math.gamma((v + 1) / 2) / (math.sqrt(v * math.pi) * math.gamma(v / 2))
    x = np.linspace(0, t, 200_001)
    middle = (x[:-1] + x[1:]) / 2
    return 0.5 + float(np.sum(scale * (1 + middle**2 / v) ** (-(v + 1) / 2)) * (x[1] - x[0]))

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sense7_qual import agreement, links
from sense7_qual.errors import QualError
from sense7_qual.links import _power
from sense7_qual.links._odds import log_odds

DESIGN = {"units_per_participant": 6, "prevalence": 0.3, "icc": 0.4}


@pytest.mark.long
def test_the_test_is_that_of_code_to_rating() -> None:
    """A simulated study, written out as frames, has the same effect and p."""
    study = _power._study(0.3, None, 0.3, 5, 0.4, 0.3, 0.9, 0.95, None, (0.2,) * 5, 0.05)
    counts = _power._simulated(study, 20, 3, np.random.default_rng(1))
    effects, p = _power._tested(counts)
    for one, effect, expected in zip(counts, effects, p, strict=True):
        cells = [
            (case, 1 - side, level + 1)
            for (case, side, level), n in np.ndenumerate(one.astype(int))
            for _ in range(n)
        ]
        frame = pd.DataFrame(cells, columns=["case_id", "applied", "empathy"])
        frame = frame.assign(unit_id=[f"u{i}" for i in range(len(frame))], coder="ana", code="c")
        decisions = frame[["unit_id", "coder", "code"]].assign(applied=frame["applied"] == 1)
        row = links.code_to_rating(
            decisions, frame, rating="empathy", cluster="case_id", n_boot=1, seed=1
        ).iloc[0]
        assert row["rank_biserial"] == pytest.approx(effect)
        assert row["p"] == pytest.approx(expected)


def test_the_simulated_link_is_the_one_that_was_asked_for() -> None:
    for effect, icc, shares in (
        (0.3, 0.4, (0.2,) * 5),
        (-0.4, 0.0, (0.5, 0.3, 0.2)),
        (-0.1, 0.8, (0.1, 0.9)),
    ):
        study = _power._study(effect, None, 0.3, 5, icc, 0.0, 1, 1, None, shares, 0.05)
        assert study.effect == pytest.approx(effect, abs=1e-9)
        counts = _power._simulated(study, 60_000, 1, np.random.default_rng(2))[0].sum(axis=0)
        assert _power.rank_biserial(counts[0], counts[1]) == pytest.approx(effect, abs=0.012)
        assert counts[0].sum() / counts.sum() == pytest.approx(0.3, abs=0.005)
        np.testing.assert_allclose(counts[1] / counts[1].sum(), shares, atol=0.012)


@pytest.mark.long
def test_odds_ratios_and_intraclass_correlation_are_those_of_the_mixed_model() -> None:
    study = _power._study(None, 2.0, 0.4, 8, 0.3, 0.2, 1, 1, None, (0.2,) * 5, 0.05)
    counts = _power._simulated(study, 400, 1, np.random.default_rng(3))[0].astype(int)
    cells = [at for at, n in np.ndenumerate(counts) for _ in range(n)]
    frame = pd.DataFrame(cells, columns=["case", "side", "level"])
    model = links.models.cumulative_mixed(
        frame["level"], (1 - frame["side"]).rename("code"), groups=frame["case"]
    )
    assert model.coefficients["code"] == pytest.approx(np.log(2), abs=4 * model.standard_errors["code"])
    icc = model.cluster_variance / (model.cluster_variance + np.pi**2 / 3)
    assert icc == pytest.approx(0.3, abs=0.06)


def test_coders_of_a_given_agreement_agree_so_and_apply_the_code_as_often_as_it_is_true() -> None:
    row = links.power(
        participants=10, agreement=0.6, rank_biserial=0.2, n_simulations=1, seed=1, **DESIGN
    ).loc[0]
    rng = np.random.default_rng(4)
    true = rng.random(200_000) < 0.3
    coders = rng.random((2, len(true))) < np.where(true, row["sensitivity"], 1 - row["specificity"])
    assert agreement.coefficients.krippendorff_alpha(coders.astype(float), level="nominal") == pytest.approx(
        0.6, abs=0.01
    )
    assert coders.mean() == pytest.approx(0.3, abs=0.005)
    assert row["n_with"] == pytest.approx(0.3 * row["units"])


def test_false_positives_are_as_many_as_allowed() -> None:
    found = links.power(
        participants=[20, 60], rank_biserial=0, agreement=0.7, n_simulations=1000, seed=5, **DESIGN
    )
    assert found["power"].between(0.03, 0.075).all()
    assert found["observed"].abs().max() < 0.01


def test_power_rises_with_participants_and_falls_with_the_coders_error() -> None:
    settings = {"rank_biserial": 0.25, "n_simulations": 300, "seed": 6, **DESIGN}
    sure = links.power(participants=[15, 40, 120], **settings)
    assert sure["power"].is_monotonic_increasing
    assert sure["power"].iloc[2] > 0.95
    unsure = links.power(participants=[40], agreement=0.5, **settings).iloc[0]
    assert unsure["power"] < sure["power"].iloc[1] - 0.1
    assert unsure["observed"] < 0.2 < 0.25 == pytest.approx(unsure["rank_biserial"])
    assert sure["standard_error"].iloc[1] == pytest.approx(
        np.sqrt(sure["power"].iloc[1] * (1 - sure["power"].iloc[1]) / 300)
    )


def test_a_study_without_a_p_finds_nothing() -> None:
    row = links.power(participants=5, odds_ratio=20, n_simulations=50, seed=7, **DESIGN).loc[0]
    assert (row["power"], row["undefined"]) == (0, 1)


@pytest.mark.long
def test_the_sample_size_has_the_power_and_fewer_have_not() -> None:
    tried = links.power(target=0.8, rank_biserial=0.3, agreement=0.7, n_simulations=400, seed=8, **DESIGN)
    needed = tried[tried["enough"]].iloc[0]
    assert tried["participants"].is_monotonic_increasing
    assert tried["enough"].is_monotonic_increasing
    again = links.power(
        participants=[int(needed["participants"]), int(needed["participants"] / 2)],
        rank_biserial=0.3,
        agreement=0.7,
        n_simulations=1000,
        seed=9,
        **DESIGN,
    )["power"]
    assert again[0] == pytest.approx(0.8, abs=0.07)
    assert again[1] < 0.7


def test_the_same_seed_simulates_the_same_studies() -> None:
    settings = {"participants": [12, 20], "rank_biserial": 0.3, "n_simulations": 50, **DESIGN}
    pd.testing.assert_frame_equal(links.power(seed=1, **settings), links.power(seed=1, **settings))
    assert links.power(seed=2, **settings)["observed"][0] != links.power(seed=1, **settings)["observed"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank_biserial": None}, "found neither"),
        ({"odds_ratio": 2}, "found both"),
        ({"rank_biserial": 1.0}, "rank_biserial above −1"),
        ({"rank_biserial": 0.99, "rating_shares": (0.9, 0.1)}, "these rating_shares allow"),
        ({"prevalence": 0}, "prevalence above 0"),
        ({"icc": 1}, "icc 0 or more"),
        ({"agreement": 0.5, "sensitivity": 0.9}, "give one"),
        ({"sensitivity": 0.4, "specificity": 0.5}, "better than chance"),
        ({"rating_shares": (0.5, 0.4)}, "adding up to 1"),
        ({"participants": 1}, "whole number from 2"),
        ({"participants": None}, "participants or target – found neither"),
        ({"target": 0.8}, "participants or target – found both"),
        ({"significance": 5}, "significance above 0"),
        ({"between": 1}, "between above −1"),
        ({"between": 0.5, "code_icc": 0}, "differ in rating and in use"),
        ({"units_per_participant": 0.5}, "units_per_participant 1 to 1000"),
        ({"n_simulations": 0}, "expected n_simulations to be 1 or more"),
    ],
)
def test_bad_input_is_refused_in_words(change: dict[str, object], message: str) -> None:
    settings = {"participants": 20, "rank_biserial": 0.3, "n_simulations": 5, "seed": 1, **DESIGN, **change}
    with pytest.raises(QualError, match=message):
        links.power(**settings)


def test_people_who_use_the_code_more_and_rate_higher_are_no_link_of_own_texts() -> None:
    """Without a link of own texts, the comparison of all texts finds one, that of own texts does not."""
    settings = {
        "participants": 40,
        "between": 0.7,
        "n_simulations": 400,
        "seed": 3,
        "units_per_participant": 5,
        "prevalence": 0.4,
        "icc": 0.4,
    }
    own = links.power(odds_ratio=1, **settings).iloc[0]
    every = links.power(rank_biserial=0, **settings).iloc[0]
    assert every["power"] > 0.2
    assert own["power"] < 0.085
    assert own["observed"] == every["observed"] > 0.05
    assert 20 < own["n_clusters_both"] < 40


def test_the_test_of_own_texts_decides_as_the_model_does() -> None:
    """The fast test and the odds ratio of `code_to_rating`, in the same simulated studies."""
    study = _power._study(None, 2.5, 0.3, 5, 0.4, 0.3, 1, 1, None, (0.2,) * 5, 0.05, 0.5)
    counts = _power._simulated(study, 25, 25, np.random.default_rng(8))
    by_model = []
    for one in counts:
        cells = np.array([at for at, n in np.ndenumerate(one.astype(int)) for _ in range(n)])
        found = log_odds(cells[:, 1] == 0, cells[:, 2] + 1.0, cells[:, 0], mixed=False)
        by_model.append(found["odds_ratio"].p)
    fast = _power._tested_within(counts)
    assert np.corrcoef(np.log(fast), np.log(by_model))[0, 1] > 0.95
    assert ((fast < 0.05) == (np.array(by_model) < 0.05)).mean() > 0.85


def test_no_number_of_participants_finds_no_link() -> None:
    with pytest.raises(QualError, match="smallest link that matters"):
        links.power(target=0.8, rank_biserial=0, seed=1, **DESIGN)
    with pytest.raises(QualError, match="target above 0"):
        links.power(rank_biserial=0.2, target=1, seed=1, **DESIGN)

"""A code for missing that stands among the ratings enters no link: it is refused, with its counts."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sense7_qual import links, ratings
from sense7_qual.errors import QualError, TableError
from sense7_qual.links._inputs import refuse_off_scale
from sense7_qual.ratings._cross_validate import BASELINES

Frames = tuple[pd.DataFrame, pd.DataFrame]
Call = Callable[..., Any]


def study(**changed: float) -> Frames:
    """40 participants with four ratings from 1 to 5, and two codes by two coders."""
    rng = np.random.default_rng(7)
    units = pd.DataFrame({"unit_id": [f"u{i}" for i in range(160)], "position": np.tile([1, 2, 3, 4], 40)})
    units["case_id"] = np.repeat([f"p{i}" for i in range(40)], 4)
    units["stars"] = rng.integers(1, 6, 160).astype(float)
    units["other"] = rng.integers(1, 6, 160).astype(float)
    units["importance"] = np.repeat(rng.integers(1, 6, 40), 4).astype(float)
    for name, value in changed.items():
        units.loc[units.index[:12], name] = value
    decided = [
        pd.DataFrame({"unit_id": units["unit_id"], "coder": coder, "code": code})
        for coder in ("ana", "ben")
        for code in ("stars", "interest")
    ]
    decisions = pd.concat(decided, ignore_index=True)
    return decisions.assign(applied=rng.random(len(decisions)) < 0.4), units


def posterior(units: pd.DataFrame) -> pd.DataFrame:
    given = {"code": "stars", "prevalence_by": "stars", "probability": np.arange(160) % 3 == 0}
    return pd.DataFrame({"unit_id": units["unit_id"], **given}).astype({"probability": "float64"})


BY: dict[str, Any] = {"rating": "stars", "cluster": "case_id"}
BOTH: dict[str, Any] = {"ratings": ["stars", "other"], "cluster": "case_id"}
CALLS: dict[str, Call] = {
    "code_to_rating": lambda d, u, **k: links.code_to_rating(
        d, u, **BY, **k, n_boot=20, seed=7, odds_ratios=False
    ),
    "multiverse": lambda d, u, **k: links.multiverse(
        d, u, **BY, **k, n_boot=20, seed=7, analyses=["rank_biserial"], exclusions=["none"]
    ),
    "joint": lambda d, u, **k: links.joint(d, u, **BY, **k, source="ana"),
    "corrected": lambda d, u, **k: links.corrected(posterior(u), u, **BY, **k, n_imputations=2, seed=7),
    "distributions": lambda d, u, **k: links.distributions(d, u, rating="stars", **k),
    "by_dimension": lambda d, u, **k: links.by_dimension(d, u, **BOTH, **k, source="ana", n_boot=20),
    "context": lambda d, u, **k: links.context(u, **BY, **k, variables=["importance"]),
    "disruption": lambda d, u, **k: links.disruption(
        u, rating="stars", **k, document_id="case_id", position="position", outcomes=["importance"], n_boot=20
    ),
    "variance_shares": lambda d, u, **k: links.variance_shares(
        u, rating="stars", **k, levels=["case_id"], n_boot=20
    ),
    "internal_consistency": lambda d, u, **k: links.scales.internal_consistency(
        u, **BOTH, **k, missing="listwise"
    ),
    "dimension_correlations": lambda d, u, **k: links.scales.dimension_correlations(u, **BOTH, **k),
    "cumulative_mixed": lambda d, u, **k: links.models.cumulative_mixed(
        u["stars"], u["other"] > 3, groups=u["case_id"], **k
    ),
    "marginal": lambda d, u, **k: links.models.marginal(u["stars"], u["other"] > 3, groups=u["case_id"], **k),
    "proportional_odds": lambda d, u, **k: links.models.proportional_odds(
        u["stars"], pd.Series(u["other"] > 3, name="high"), groups=u["case_id"], model="marginal", **k
    ),
    "with_model": lambda d, u, **k: links.models.with_model(
        d[d["coder"] == "ana"][::2],
        u,
        **BY,
        **k,
        inclusion="equal",
        odds_ratios=False,
        model=d[d["coder"] == "ben"].assign(coder="model-ben"),
    ),
    "missing_ratings": lambda d, u, **k: links.models.missing_ratings(d, u, **BY, **k, sources=["ana"]),
    "r_script": lambda d, u, **k: links.models.r_script(
        d, u, Path(tempfile.mkdtemp()) / "link.R", **BY, **k, source="ana", codes=["stars"]
    ),
    "polychoric": lambda d, u, **k: links.scales.polychoric(u["stars"], u["other"], **k),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_no_function_reads_a_code_for_missing_as_a_rating(name: str) -> None:
    decisions, units = study(stars=-99)
    with pytest.raises(TableError, match=r"found -99 in 12 rows, next to 1 to 5 – make codes for missing"):
        CALLS[name](decisions, units)
    decisions, units = study(stars=0)
    with pytest.raises(TableError, match=r"expected numbers from 1 to 5 – found 0 in 12 rows"):
        CALLS[name](decisions, units, rating_range=(1, 5))
    with pytest.raises(TableError, match=r"found 0 in 12 rows, next to 1 to 5 .* state their range"):
        CALLS[name](decisions, units)
    decisions, units = study(stars=np.nan)
    CALLS[name](decisions, units, rating_range=(1, 5))  # the same ratings, missing where they are missing
    CALLS[name](*study(stars=0), rating_range=(0, 5))  # a scale from 0 to 5, as it is stated
    with pytest.raises(QualError, match=r"rating_range: expected the lowest and the highest rating"):
        CALLS[name](decisions, units, rating_range=(5, 1))


def test_every_function_with_a_rating_has_a_range() -> None:
    named = {"rating", "ratings"}
    for module in (links, links.models, links.scales):
        for name, function in inspect.getmembers(module, inspect.isfunction):
            parameters = set(inspect.signature(function).parameters)
            assert "rating_range" in parameters or not named & parameters, name
            assert (name in CALLS) == ("rating_range" in parameters), name


def test_a_code_of_minus_99_no_longer_turns_a_link_round() -> None:
    """A link of .43 came out as −2.12 points where twelve missing ratings were written −99."""
    decisions, units = study()
    decisions["applied"] = decisions["unit_id"].isin(units.loc[units["stars"] > 3, "unit_id"])
    units.loc[:11, "stars"] = -99
    with pytest.raises(TableError, match="-99 in 12 rows"):
        CALLS["code_to_rating"](decisions, units)
    clean = units.assign(stars=units["stars"].replace(-99, np.nan))
    assert (CALLS["code_to_rating"](decisions, clean)["mean_difference"].dropna() > 1).all()


@pytest.mark.parametrize("name", ["context", "disruption"])
def test_other_variables_have_ranges_by_column(name: str) -> None:
    decisions, units = study(importance=-9)
    with pytest.raises(TableError, match=r"column 'importance': .* found -9 in 12 rows"):
        CALLS[name](decisions, units, rating_range=(1, 5))
    CALLS[name](decisions, units, rating_range={"stars": (1, 5), "importance": (-9, 5)})
    decisions, units = study(importance=0)  # no rating, so a 0 may be one of its numbers
    CALLS[name](decisions, units, rating_range=(1, 5))
    with pytest.raises(TableError, match=r"column 'importance': expected numbers from 1 to 5"):
        CALLS[name](decisions, units, rating_range={"importance": (1, 5)})
    with pytest.raises(TableError, match=r"rating_range: expected columns of `units` – found 'star'"):
        CALLS[name](decisions, units, rating_range={"star": (1, 5)})


def test_the_dimensions_of_sense7_have_their_own_range() -> None:
    decisions, units = study(stars=0)
    seven = ["Affective", "Cognitive", "Response", "Prosocial", "Interest", "Contextual", "Relational"]
    units = units.assign(**dict.fromkeys(seven, 3.0), EmpathyOverall=units["stars"].clip(upper=4))
    with pytest.raises(TableError, match="from 1 to 5 – found 0 in 12 rows"):
        links.code_to_rating(decisions, units, rating="EmpathyOverall", cluster="case_id", seed=7)


FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("levels", "codes"),
    [
        (FIVE, []),
        ([*FIVE, -99], [-99]),
        ([*FIVE, -99, -98, -1], [-99, -98, -1]),
        ([*FIVE, 9], [9]),
        ([*FIVE, 99, 999], [99, 999]),
        ([*FIVE, 0], [0]),
        ([*FIVE, 6, 7, 9, 0], [0, 9]),
        ([*FIVE, 6, 7, 8, 9], []),
        ([0, 1, 2, 3, 4], []),
        ([0, 1, 2, 3], []),
        (list(range(11)), []),
        ([-1, 0, 1], []),
        ([-1, 1], []),
        ([-3, -2, -1, 0, 1], []),
        ([-2, -1, 0, 1, 2], []),
        ([0, 25, 50, 75, 99, 100], []),
        ([0, 10, 55, 70, 99], []),
        ([*range(0, 91, 3), 99], []),
        ([*range(0, 91, 3), -9, 999], [-9, 999]),
        ([*range(-90, 91, 3), -99], []),
        ([*np.random.default_rng(5294).integers(0, 868, 60), 996], []),
        ([0.0, 0.4, 2.5, 5.0], []),
        ([1.25, 2.5, 3.0, -9], [-9]),
        ([1.0, -99], [-99]),
        ([-99, -9], []),
        ([], []),
    ],
)
def test_which_values_are_taken_for_codes(levels: Sequence[float], codes: Sequence[float]) -> None:
    values = np.array([*levels, np.nan, *levels], dtype=np.float64)
    if not codes:
        refuse_off_scale(values, None, what="rating")
        return
    with pytest.raises(TableError) as refused:
        refuse_off_scale(values, None, what="rating")
    found = str(refused.value).split(" – ")[1]
    assert all(f"{code:g} in 2 rows" in found for code in codes), found


def test_an_ordered_categorical_states_its_levels() -> None:
    _, units = study(stars=-1)
    named = pd.Series(pd.Categorical(units["stars"], ordered=True))
    model = links.models.cumulative_mixed(named, units["other"] > 3, groups=units["case_id"])
    assert model.reason is None
    with pytest.raises(QualError, match="an ordered Categorical, and its categories are the levels"):
        links.models.cumulative_mixed(named, units["other"] > 3, groups=units["case_id"], rating_range=(1, 5))


# --- predictions -------------------------------------------------------------------------------------


TRUE = pd.Series([1.0, 2, 3, 4, 5, 3], index=[f"c{i}" for i in range(6)])


@pytest.mark.parametrize(("scale", "ends"), [(TRUE - 1, "0 to 0"), ((TRUE - 1) * 25, "0 to 100")])
def test_predictions_on_another_scale_are_refused_and_not_clipped(scale: pd.Series, ends: str) -> None:
    """Predictions from 0 to 4 that were right throughout had an accuracy of .17, and from 0 to 100 .33."""
    with pytest.raises(TableError, match=rf"predicted: expected numbers from 1 to 5.* from {ends} \(first"):
        ratings.evaluate(TRUE, scale)
    with pytest.raises(TableError, match=rf"from {ends}"):
        ratings.evaluate_runs(TRUE, pd.DataFrame({"run": scale}))
    units = pd.DataFrame({"unit_id": TRUE.index, "stars": TRUE.to_numpy(), "case_id": list("ppqqrr")})
    given: dict[str, Any] = {"rating": "stars", "cluster": "case_id", "folds": 3, "seed": 7}
    with pytest.raises(TableError, match="predictor 'wide': expected numbers from 1 to 5"):
        ratings.cross_validate(units, {"wide": lambda train, test: scale.loc[test["unit_id"]]}, **given)
    right = ratings.evaluate(TRUE, TRUE + 1e-15)
    assert (right.accuracy, right.n) == (1.0, 6)


def test_a_truth_off_the_scale_is_not_learned_from() -> None:
    train = pd.DataFrame({"text": list("abcd"), "truth": [1.0, 5.0, 99.0, 3.0], "cluster": list("pqrs")})
    for predict in (BASELINES["majority class"], ratings.ordinal_regression(lambda texts: np.eye(4))):
        with pytest.raises(TableError, match=r"truth: expected numbers from 1 to 5.* from 99 to 99"):
            predict(train, train.drop(columns=["truth", "cluster"]))

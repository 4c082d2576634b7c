"""Texts coded by hand: which were drawn, next to a model's codes of all; and how many to code."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._debias import debiased, drawn_texts, refuse_not_drawn, refuse_other_values
from sense7_qual._reasons import Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links import _resample
from sense7_qual.links._pooled import Pooled
from sense7_qual.links.models._results import BY_HAND, WITH_MODEL

Floats = npt.NDArray[np.float64]
Inclusion = Literal["equal"] | pd.DataFrame

_NAMES: Final = ("model", "human", "same")


@dataclass(frozen=True, slots=True)
class Texts:
    """All rated texts of one code, with people's and the model's codes (1, 0, NaN: none), and the draw."""

    code: str
    rating: Floats
    cluster: npt.NDArray[np.int64]
    human: Floats
    model: Floats
    weight: Floats
    drawn: _resample.Truths

    @property
    def by_hand(self) -> _resample.Truths:
        """Which texts people decided on."""
        return ~np.isnan(self.human)

    @property
    def unequal(self) -> bool:
        """Whether texts coded by hand were drawn with different probabilities."""
        weight = self.weight[self.by_hand]
        return bool(len(weight) and np.ptp(weight) > 1e-9 * weight.max())

    @property
    def whole(self) -> bool:
        """Whether people coded all texts of each participant of whom they coded any."""
        return not np.isin(self.cluster[~self.by_hand], self.cluster[self.by_hand]).any()


def read(
    rated: pd.DataFrame, people: pd.DataFrame, made: pd.DataFrame, inclusion: Inclusion, *, function: str
) -> list[Texts]:
    """Return the texts of each code: the codes of people first, then those of the model alone.

    `rated` has unit_id, rating, cluster; `people` and `made` unit_id, code, applied.
    """
    texts = rated.set_index("unit_id")[["rating", "cluster"]].assign(weight=1.0, drawn=False)
    if isinstance(inclusion, pd.DataFrame):
        by_hand = pd.Index(people["unit_id"].unique())
        chance, drawn = drawn_texts(inclusion, by_hand, function=function)
        texts = texts.assign(weight=1 / chance.reindex(texts.index), drawn=texts.index.isin(drawn))
    rating, cluster, weight, is_drawn = (texts[name].to_numpy() for name in texts)
    codes = [str(code) for code in pd.concat([people["code"], made["code"]]).unique()]
    return [
        Texts(
            code,
            rating,
            cluster,
            human=applied_to(people, code, texts),
            model=applied_to(made, code, texts),
            weight=weight,
            drawn=is_drawn,
        )
        for code in codes
    ]


def applied_to(decided: pd.DataFrame, code: str, texts: pd.DataFrame) -> Floats:
    """Return the code on each text of the index of `texts`: 1, 0, NaN where it was not decided."""
    applied = decided[decided["code"] == code].set_index("unit_id")["applied"].astype("float64")
    return np.asarray(applied.reindex(texts.index), dtype=np.float64)


def refuse_picked(texts: list[Texts], *, rating: str, function: str) -> float:
    """Raise `TableError` if the model's codes, or ratings, show that texts were not drawn as was said.

    Returns p of the hypothesis that ratings are spread alike in the texts coded by hand and in all.
    """
    for one in texts:
        weight = np.where(one.by_hand, one.weight, 0.0)
        refuse_not_drawn(one.code, one.model, weight, one.cluster, len(texts), function=function)
    if not texts:
        return 1.0
    every = texts[0]
    weight = np.where(np.any([one.by_hand for one in texts], axis=0), every.weight, 0.0)
    return refuse_other_values(rating, every.rating, weight, every.cluster, function=function)


@BY_HAND.returns
def by_hand(linked: pd.DataFrame, *, n: Sequence[int]) -> pd.DataFrame:
    """Forecast how precise each link would be with more, or fewer, texts coded by hand.

    Parameters
    ----------
    linked : DataFrame
        The result of `with_model` for a pilot.
    n : sequence of int
        Numbers of texts coded by hand to forecast for, drawn as in the pilot; at most all texts.

    Raises
    ------
    TableError
        `linked` is not what `with_model` returns.
    ArgumentError
        A number is below 1, or above the number of texts.

    Notes
    -----
    What the links by hand share with the link in all texts stays; the rest of their variances goes with the
    number of texts. Participants with the code by hand are interpolated between those of the pilot and those
    with the model's codes on all texts. A forecast from a small pilot is rough: from an eighth of 600 texts,
    nine in ten were between two thirds and one and a half times what they should have been
    (benchmarks/links_with_model.md).

    Without a pilot: a model with an F1 of .7 or more saves a sixth to a third of the texts, if its errors do
    not go with the rating; one with an F1 below .5 saves none.

    Examples
    --------
    >>> pilot = WITH_MODEL.example(
    ...     code="warm", source=["human", "model", "model + human"], n_with=[30, 180, 30],
    ...     n_without=[90, 420, 90], n_clusters_with=[20, 45, 20], n_clusters_without=[58, 60, 58],
    ...     n_by_hand=120, rank_biserial=-0.3, var_model=[None, None, 0.005], var_human=[None, None, 0.03],
    ...     var_same=[None, None, 0.03], cov_model_human=[None, None, 0.005], confidence_level=0.95,
    ...     cov_model_same=[None, None, 0.005], cov_human_same=[None, None, 0.022])
    >>> by_hand(pilot, n=[120, 300])[["half_width_human", "half_width"]].round(2).values.tolist()
    [[0.32, 0.26], [0.22, 0.19]]
    """
    check_arguments(by_hand, locals())
    linked = WITH_MODEL.check(linked)
    model = linked[linked["source"] == "model"].set_index("code")
    both = linked[linked["source"] == "model + human"]
    rows = [dict(zip(both.columns, row, strict=True)) for row in both.itertuples(index=False, name=None)]
    most = int((model["n_with"] + model["n_without"]).max()) if len(model) else 0
    wrong = [one for one in n if not 1 <= one <= most]
    if wrong:
        raise ArgumentError(
            f"by_hand: expected numbers of texts from 1 to {most}, all there are – found {wrong[0]} – choose "
            "others."
        )
    return BY_HAND.frame([_forecast(row, model.loc[row["code"]], one) for row in rows for one in n])


def _forecast(row: dict[str, Any], model: pd.Series, n: int) -> dict[str, Any]:
    """Return the forecast of one code for `n` texts."""
    fewest = _fewest(row, model, n)
    found = {"code": row["code"], "n": n, "n_clusters": fewest, "confidence_level": row["confidence_level"]}
    if not pd.isna(row["reason"]) or fewest < FEWEST_CLUSTERS:
        return found | {"reason": Reason.FEW_CLUSTERS if pd.isna(row["reason"]) else row["reason"]}
    alone, both = _variances(row, n, fewest)
    halves = {
        "half_width_human": _half_width(row, alone, fewest),
        "half_width": _half_width(row, both, fewest),
    }
    return found | halves


def _variances(row: dict[str, Any], n: int, fewest: float) -> tuple[float, float]:
    """Return the variances of people's link and of that with the model, on Fisher's z, for `n` texts."""
    covariance = np.diag([row[f"var_{name}"] for name in _NAMES])
    for (i, one), (j, other) in itertools.combinations(enumerate(_NAMES), 2):
        covariance[i, j] = covariance[j, i] = row[f"cov_{one}_{other}"]
    less = row["n_by_hand"] / n
    if np.isnan(covariance).any():  # the model's link has no interval
        return less * covariance[1, 1], less * covariance[1, 1]
    shared = np.outer(covariance[0], covariance[0]) / covariance[0, 0]
    forecast = shared + less * (covariance - shared)
    return float(forecast[1, 1]), debiased(np.zeros(3), forecast, fewest).variance


def _half_width(row: dict[str, Any], variance: float, fewest: float) -> float:
    """Return half the width of the interval of the rank-biserial effect as it was estimated."""
    z = np.arctanh(row["rank_biserial"])
    low, high = Pooled(z, np.sqrt(variance), fewest - 1, np.nan, 1).interval(row["confidence_level"])
    return float((np.tanh(high) - np.tanh(low)) / 2)


def _fewest(row: dict[str, Any], model: pd.Series, n: int) -> float:
    """Return the participants with, or without, the code in `n` texts by hand, whichever are fewer."""
    now, last = (min(one["n_clusters_with"], one["n_clusters_without"]) for one in (row, model))
    by_hand, every = row["n_by_hand"], model["n_with"] + model["n_without"]
    if n <= by_hand or every <= by_hand or last <= now:
        return float(now * min(n / max(by_hand, 1), 1))
    return float(now + (last - now) * (n - by_hand) / (every - by_hand))

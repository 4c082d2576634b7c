"""How many texts to code by hand, forecast from a pilot."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._debias import debiased
from sense7_qual._reasons import Reason
from sense7_qual.errors import ArgumentError
from sense7_qual.links._pooled import Pooled
from sense7_qual.links._results import BY_HAND, WITH_MODEL

_NAMES: Final = ("model", "human", "same")


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

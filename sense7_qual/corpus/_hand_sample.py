"""The texts that people code where a model codes all: drawn over all participants, with known chances."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._contract import Column, Contract, flag, number
from sense7_qual._debias import model_codes
from sense7_qual._messages import did_you_mean
from sense7_qual.corpus._assign import probabilities, systematic
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import UNITS, require_column

_OFTENER: Final = 3.0

HAND_SAMPLE: Final = Contract(
    "hand_sample",
    ("unit_id",),
    {
        "unit_id": Column("string", missing=False),
        "drawn": flag("whether people are to code it"),
        "probability": number("with which it was drawn, above 0, at most 1; their sum is n", 0, 1),
    },
    row="One row per unit that could be drawn, by unit_id",
)


@HAND_SAMPLE.returns
def hand_sample(
    units: pd.DataFrame,
    *,
    n: int,
    model: pd.DataFrame | None = None,
    by: Literal["random", "model"] = "random",
    code: str | None = None,
    cluster: str = "case_id",
    seed: int = 0,
) -> pd.DataFrame:
    """Draw the texts that people code where a model codes all, for `links.models.with_model`.

    Texts are drawn from all participants, in proportion to how many each has: that narrows the intervals more
    than any model. Give them to the coders in random order without saying which texts were drawn or what the
    model said.

    Parameters
    ----------
    units : DataFrame
        The `units` frame: all texts that count, such as those with a rating.
    n : int
        The number of texts to draw, from 1 to all.
    model : DataFrame, optional
        The model's decisions or suggestions, as `with_model` takes them. Texts where `learned` is True
        (the model learned from the text or its participant) cannot be drawn.
    by : {"random", "model"}
        "random": each text with the same probability. "model": three times as often where the model applies
        `code`, as far as probabilities stay below 1. That helps a code on less than a quarter of the texts,
        of which the model is known to find most; for other codes intervals can get wider.
    code : str, optional
        The code, for "model".
    cluster : str
        The column of the participant; a text without one is its own.
    seed : int
        Seed, 0 or more. The order of the rows has no effect.

    Raises
    ------
    TableError
        Not a `units` frame, no column `cluster`, or not a model's codes.
    ArgumentError
        `n` or `seed` is out of range, or "model" without `model`, or without a code that it applies.

    Notes
    -----
    Drawn systematically from a list of the participants in random order, each one's texts together in random
    order: probabilities and n are kept exactly, and each participant has the share of n that is theirs, up to
    one text (Madow 1949).

    References
    ----------
    Madow (1949), On the theory of systematic sampling II, Annals of Mathematical Statistics 20, 333–354.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "text": "…", "document_id": None,
    ...                       "case_id": ["p1", "p1", "p2", "p2", "p3", "p3"], "position": None})
    >>> sample = hand_sample(units, n=3)
    >>> sample["probability"].tolist(), sample.groupby(list("112233"))["drawn"].sum().tolist()
    ([0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [1, 1, 1])
    """
    check_arguments(hand_sample, locals())
    check_least(hand_sample, 0, seed=seed)
    units = UNITS.check(units).sort_values("unit_id", ignore_index=True)
    require_column(units, cluster, frame_name="units")
    made = None if model is None else model_codes(model, function="hand_sample")
    if made is not None:
        units = units[~units["unit_id"].isin(made[1])].reset_index(drop=True)
    if not 1 <= n <= len(units):
        raise ArgumentError(
            f"hand_sample: expected n from 1 to {len(units)}, the texts that can be drawn – found {n} – "
            "choose how many texts people code."
        )
    weight = np.ones(len(units))
    if by == "model":
        weight[units["unit_id"].isin(_applied(None if made is None else made[0], code))] = _OFTENER
    rng = np.random.default_rng(seed)
    owner = units[cluster].astype("string").fillna("\0" + units["unit_id"])
    number_of = rng.permutation(owner.nunique())[pd.factorize(owner, sort=True)[0]]
    order = np.lexsort([rng.random(len(units)), number_of])
    chance = probabilities(weight, n)
    drawn = np.zeros(len(units), dtype=np.bool_)
    drawn[order] = systematic(chance[order], n, rng)
    return HAND_SAMPLE.frame({"unit_id": units["unit_id"], "drawn": drawn, "probability": chance})


def _applied(made: pd.DataFrame | None, code: str | None) -> pd.Series:
    """Return the units to which the model applies the code."""
    if made is None or code is None:
        raise ArgumentError(
            "hand_sample: expected model and code for by='model' – one is missing – pass the model's codes "
            "and the code to draw by."
        )
    applied = made.loc[made["applied"]]
    if code not in set(applied["code"]):
        raise ArgumentError(
            f"hand_sample: expected a code that the model applies – found {code!r} – "
            f"{did_you_mean(code, [str(one) for one in applied['code'].unique()])}"
        )
    return applied.loc[applied["code"] == code, "unit_id"]

"""Texts of which people coded some, by a draw, and a model all: what `with_model` reads, and refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._contract import Column, Contract
from sense7_qual._debias import probabilities_of
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.links import _resample

__all__ = ["Inclusion", "Texts", "read", "refuse_picked"]

Floats = npt.NDArray[np.float64]
Inclusion = Literal["equal"] | pd.DataFrame

_NOT_DRAWN: Final = 0.001
_DRAWN: Final = Contract("inclusion", ("unit_id",), {"unit_id": Column("id"), "drawn": Column("boolean")})


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


def read(rated: pd.DataFrame, people: pd.DataFrame, made: pd.DataFrame, inclusion: Inclusion) -> list[Texts]:
    """Return the texts of each code: the codes of people first, then those of the model alone.

    `rated` has unit_id, rating, cluster; `people` and `made` unit_id, code, applied.
    """
    texts = rated.set_index("unit_id")[["rating", "cluster"]].assign(weight=1.0, drawn=False)
    if isinstance(inclusion, pd.DataFrame):
        chance, drawn = _draw(inclusion, pd.Index(people["unit_id"].unique()))
        texts = texts.assign(weight=1 / chance.reindex(texts.index), drawn=texts.index.isin(drawn))
    rating, cluster, weight, is_drawn = (texts[name].to_numpy() for name in texts)
    codes = [str(code) for code in pd.concat([people["code"], made["code"]]).unique()]
    return [
        Texts(
            code,
            rating,
            cluster,
            human=_applied(people, code, texts),
            model=_applied(made, code, texts),
            weight=weight,
            drawn=is_drawn,
        )
        for code in codes
    ]


def _applied(decided: pd.DataFrame, code: str, texts: pd.DataFrame) -> Floats:
    applied = decided[decided["code"] == code].set_index("unit_id")["applied"].astype("float64")
    return np.asarray(applied.reindex(texts.index), dtype=np.float64)


def _draw(inclusion: pd.DataFrame, by_hand: pd.Index) -> tuple[pd.Series, pd.Index]:
    """Return the probability of each unit and the units drawn, if known; refuse others coded by hand."""
    chance = probabilities_of(inclusion)
    drawn = chance.index[_DRAWN.check(inclusion)["drawn"]] if "drawn" in inclusion else None
    others = by_hand[~by_hand.isin(chance.index if drawn is None else drawn)]
    if len(others):
        raise TableError(
            f"with_model: expected only texts coded by hand that were drawn – found {len(others)} others: "
            f"{first_three(others)} – leave these out, or draw texts with corpus.hand_sample."
        )
    return chance, chance.index[:0] if drawn is None else drawn


def refuse_picked(texts: list[Texts]) -> None:
    """Raise `TableError` if the model's codes show that texts were not drawn with their probabilities."""
    for of_code in texts:
        by_hand, everywhere, p = _shares(of_code)
        if p * len(texts) < _NOT_DRAWN:
            raise TableError(
                "with_model: expected texts coded by hand that were drawn as inclusion says – found that the "
                f"model applies {of_code.code!r} to {by_hand:.0%} of them (weighted) and to {everywhere:.0%} "
                "of all texts – pass the probabilities with which they were drawn, or draw others with "
                "corpus.hand_sample."
            )


def _shares(texts: Texts) -> tuple[float, float, float]:
    """Return the model's share of a code by hand and everywhere, and p of the hypothesis that they are equal.

    The variance is that of leaving out participants, but at least that of independent texts: the former is 0
    where the texts coded by hand are all alike.
    """
    said = ~np.isnan(texts.model)
    model, cluster = texts.model[said], texts.cluster[said]
    weight = np.where(texts.by_hand, texts.weight, 0.0)[said]
    clusters = len(np.unique(cluster[weight > 0]))
    if clusters < FEWEST_CLUSTERS:
        return np.nan, np.nan, 1.0
    terms = np.column_stack([weight * model, weight, model, np.ones(len(model))])
    sums = _resample.cluster_sums(terms, np.unique(cluster, return_inverse=True)[1])
    by_hand, everywhere = (float(one) for one in _two_shares(sums.sum(axis=0)))
    without = _resample.left_out(sums, lambda one: np.subtract(*_two_shares(one)))
    alone = everywhere * (1 - everywhere) * np.square(weight).sum() / weight.sum() ** 2
    error = max(_resample.jackknife_error(without), float(np.sqrt(alone)))
    p = _resample.t_test(by_hand - everywhere, error, clusters - 1) if error > 0 else 1.0
    return by_hand, everywhere, p


def _two_shares(sums: Floats) -> tuple[Floats, Floats]:
    return sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]

"""Texts of which people coded some, by a draw, and a model all: what `with_model` reads, and refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._debias import drawn_texts, refuse_not_drawn
from sense7_qual.links import _resample

Floats = npt.NDArray[np.float64]
Inclusion = Literal["equal"] | pd.DataFrame


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


def refuse_picked(texts: list[Texts], *, function: str) -> None:
    """Raise `TableError` if the model's codes show that texts were not drawn with their probabilities."""
    for one in texts:
        refuse_not_drawn(
            one.code, one.model, one.by_hand * one.weight, one.cluster, len(texts), function=function
        )

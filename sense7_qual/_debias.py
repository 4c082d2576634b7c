"""What texts coded by hand say about all texts: by their chances of being drawn, and with a model's codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import require_column
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._contract import Column, Contract
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, SUGGESTIONS, is_model

Floats = npt.NDArray[np.float64]

_LEARNED: Final = Contract(
    "model",
    ("unit_id", "code"),
    {
        "unit_id, code": Column("id"),
        "learned": Column("boolean"),
    },
)
_DRAWN: Final = Contract("inclusion", ("unit_id",), {"unit_id": Column("id"), "drawn": Column("boolean")})
_NOT_DRAWN: Final = 0.001
_MOST_SPLITS: Final = 10
_LEAST_EXPECTED: Final = 5  # texts coded by hand on either side of a split
_TOO_MANY: Final = 4.0  # standard deviations of the number of texts drawn


@dataclass(frozen=True, slots=True)
class Debiased:
    """An estimate for all texts, its variance, the weight given to the model, and what the model is worth."""

    estimate: float
    variance: float
    weight: float
    worth: float


def debiased(estimates: Floats, covariance: Floats, fewest: float) -> Debiased:
    """Correct people's estimate on some texts by a model's estimates on all texts and on the same ones.

    `estimates` (3,) are a, of the model's codes on all texts; h, of people's codes on the texts coded by
    hand; p, of the model's codes on these; `covariance` (3, 3) is theirs over participants. The result is h +
    w (a − p), right whatever errors the model makes, because a and p have the same. The best weight w is that
    of a regression of h on p − a, and `worth` is its R². The weight is multiplied by the adjusted R² over R²
    and cut to 0 … 1, and the variance by 1 + 1 / (fewest − 3), for having estimated it; `fewest` is the
    number of participants that the uncertainty of h rests on, 6 or more. The variance is never larger than
    that of h.

    References
    ----------
    Kluger, Lu, Zrnic, Wang & Bates (2025), Prediction-powered inference with imputed covariates and
    nonuniform sampling, arXiv 2501.18577.

    Examples
    --------
    >>> covariance = np.array([[0.01, 0.01, 0.01], [0.01, 0.04, 0.025], [0.01, 0.025, 0.04]])
    >>> found = debiased(np.array([0.2, 0.3, 0.25]), covariance, fewest=23)
    >>> round(found.weight, 4), round(found.worth, 4), round(found.variance, 5)
    (0.3968, 0.1875, 0.03446)
    """
    apart = np.array([1.0, 0.0, -1.0])
    spread, along = float(apart @ covariance @ apart), float(-(apart @ covariance)[1])
    own = float(covariance[1, 1])
    a, h, p = (float(one) for one in estimates)
    if spread <= 1e-12 * float(covariance[0, 0] + covariance[2, 2]):  # every text was coded by hand
        return Debiased(h, own, 0.0, np.nan)
    worth = along**2 / (spread * own)
    kept = max(0.0, 1 - (1 - worth) / ((fewest - 2) * worth)) if worth > 0 else 0.0
    weight = min(max(kept * along / spread, 0.0), 1.0)
    variance = (own - 2 * weight * along + weight**2 * spread) * (1 + 1 / (fewest - 3))
    if weight == 0 or variance >= own:
        return Debiased(h, own, 0.0, worth)
    return Debiased(h + weight * (a - p), variance, weight, worth)


def model_codes(model: pd.DataFrame, *, function: str) -> tuple[pd.DataFrame, pd.Index]:
    """Read a model's decisions or suggestions: unit_id, code, applied; and the units it has learned from.

    Suggestions with a `reason` (a blank text, no model of the code) say nothing, and have no row.
    """
    if "coder" in model:
        made = DECISIONS.check(model)
        names = [str(name) for name in made["coder"].unique()]
        if len(names) != 1 or not is_model(names[0]):
            raise TableError(
                f"{function}: expected decisions of one model, called 'model-…' – found coders "
                f"{first_three(names) or 'none'} – select its rows; frames.as_models renames a coder."
            )
        made = made.assign(learned=made.get("learned", False))
    else:
        made = SUGGESTIONS.check(model).rename(columns={"suggested": "applied"})
        if "learned" not in made:
            raise TableError(
                f"{function}: expected a column 'learned' in the suggestions, True where the model learned "
                "from the text's participant – found none – pass what Suggester.suggest returns, or add it."
            )
    made = _LEARNED.check(made)
    learned = pd.Index(made.loc[made["learned"], "unit_id"].unique())
    says = made["reason"].isna() if "reason" in made else slice(None)
    return made.loc[says, ["unit_id", "code", "applied"]], learned


def probabilities_of(inclusion: pd.DataFrame) -> pd.Series:
    """Return the probability of each unit, by unit_id."""
    for column in ("unit_id", "probability"):
        require_column(inclusion, column, frame_name="inclusion")
    ids = inclusion["unit_id"].astype("string").str.strip()
    chance = pd.to_numeric(inclusion["probability"], errors="coerce").to_numpy(dtype=np.float64)
    twice, wrong = ids[ids.duplicated()], ids[~((chance > 0) & (chance <= 1))]
    for bad, expected in ((twice, "each unit once"), (wrong, "probabilities above 0 and up to 1")):
        if len(bad):
            raise TableError(
                f"inclusion: expected {expected} – found otherwise for {first_three(bad)} – pass what "
                "corpus.inclusion or corpus.hand_sample returns."
            )
    return pd.Series(chance, index=pd.Index(ids))


def refuse_more_than_drawn(chance: pd.Series, n: int, *, function: str) -> None:
    """Raise `TableError` if more texts were coded by hand than the probabilities (0 to 1) allow.

    Where each text is drawn by itself their number has the variance of the sum of p (1 − p), else less.
    """
    expected, spread = float(chance.sum()), float(np.sqrt((chance * (1 - chance)).sum()))
    if n > expected + _TOO_MANY * spread + 1e-6 * len(chance):
        raise TableError(
            f"{function}: expected about {expected:.0f} texts, the sum of the probabilities of inclusion – "
            f"found {n} texts that were coded – pass only the texts that were drawn with these "
            "probabilities, or leave inclusion out if all were to be coded."
        )


def drawn_texts(inclusion: pd.DataFrame, by_hand: pd.Index, *, function: str) -> tuple[pd.Series, pd.Index]:
    """Return the probability of each unit and the units drawn, if known; refuse others coded by hand."""
    chance = probabilities_of(inclusion)
    drawn = chance.index[_DRAWN.check(inclusion)["drawn"]] if "drawn" in inclusion else None
    others = by_hand[~by_hand.isin(chance.index if drawn is None else drawn)]
    if len(others):
        raise TableError(
            f"{function}: expected only texts coded by hand that were drawn – found {len(others)} others: "
            f"{first_three(others)} – leave these out, or draw texts with corpus.hand_sample."
        )
    if drawn is None:
        refuse_more_than_drawn(chance, len(by_hand), function=function)
    return chance, chance.index[:0] if drawn is None else drawn


def refuse_not_drawn(
    code: str,
    model: Floats,
    weight: Floats,
    cluster: npt.NDArray[np.int64],
    n_codes: int,
    *,
    function: str,
) -> None:
    """Raise `TableError` if a model's codes show that the texts coded by hand were picked.

    `model` (texts,) has 1, 0 and NaN (none), `weight` 1 / probability of a text coded by hand, 0 of others.
    """
    by_hand, everywhere, p = _shares(model, weight, cluster)
    if p * n_codes < _NOT_DRAWN:
        raise TableError(
            f"{function}: expected texts coded by hand that were drawn as inclusion says – found that the "
            f"model applies {code!r} to {by_hand:.0%} of them (weighted) and to {everywhere:.0%} of all "
            "texts – pass the probabilities with which they were drawn, or draw others with "
            "corpus.hand_sample."
        )


def refuse_other_values(
    name: str, values: Floats, weight: Floats, cluster: npt.NDArray[np.int64], *, function: str
) -> float:
    """Return p of the hypothesis that values are spread alike by hand and everywhere; refuse a p below .001.

    `values` (texts,) are numbers, such as ratings, NaN where missing; `weight` is 1 / probability of a text
    coded by hand, 0 of others. Compared are the shares above each of up to ten splits of the scale; p is the
    smallest times their number.
    """
    known = values[~np.isnan(values)]
    levels = np.unique(known)
    if len(levels) > _MOST_SPLITS + 1:
        levels = np.unique(np.quantile(known, np.linspace(0, 1, _MOST_SPLITS + 2)[:-1], method="lower"))
    n, found = int((weight[~np.isnan(values)] > 0).sum()), []
    for level in levels[1:]:
        above = np.where(np.isnan(values), np.nan, (values >= level) * 1.0)
        by_hand, everywhere, p = _shares(above, weight, cluster)
        if n * min(everywhere, 1 - everywhere) >= _LEAST_EXPECTED:
            found.append((p, by_hand, everywhere, level))
    if not found:
        return 1.0
    p, by_hand, everywhere, level = min(found)
    if p * len(found) < _NOT_DRAWN:
        raise TableError(
            f"{function}: expected texts coded by hand that were drawn as inclusion says – found that "
            f"{by_hand:.0%} of them (weighted) and {everywhere:.0%} of all texts have {name!r} of {level:g} "
            "or more – pass the probabilities with which they were drawn, or draw others with "
            "corpus.hand_sample."
        )
    return min(p * len(found), 1.0)


def _shares(model: Floats, weight: Floats, cluster: npt.NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the model's share of a code by hand and everywhere, and p of the hypothesis that they are equal.

    The variance is that of leaving out participants, but at least that of independent texts: the former is 0
    where the texts coded by hand are all alike.
    """
    from scipy import special

    said = ~np.isnan(model)
    model, weight, number = model[said], weight[said], np.unique(cluster[said], return_inverse=True)[1]
    clusters = len(np.unique(number[weight > 0]))
    if clusters < FEWEST_CLUSTERS:
        return np.nan, np.nan, 1.0
    terms = (weight * model, weight, model, np.ones(len(model)))
    sums = np.stack([np.bincount(number, one) for one in terms])
    total = sums.sum(axis=1)
    by_hand, everywhere = (float(part / whole) for part, whole in (total[:2], total[2:]))
    without = total[:, None] - sums
    moved = without[0] / without[1] - without[2] / without[3]
    alone = everywhere * (1 - everywhere) * np.square(weight).sum() / weight.sum() ** 2
    error = np.sqrt(max((len(moved) - 1) * np.var(moved), alone))
    p = 2 * special.stdtr(clusters - 1, -abs(by_hand - everywhere) / error) if error > 0 else 1.0
    return by_hand, everywhere, float(p)

"""One code's classifier: logistic regression, scored on texts of participants that it did not learn from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The inverse strength of the penalty (benchmarks/suggestions.py chose it).
_C: Final = 0.3
_FOLDS: Final = 5
_FEW: Final = 200  # up to so many units the folds are drawn several times: one draw says little
_DRAWS: Final = 3
#: Mean and standard deviation of the slopes of calibration over codes (benchmarks/suggestions_few.py).
_SLOPE: Final = (0.8, 0.5)
#: A code is suggested on at most so many times the share of texts that it was coded on, and at most on half.
_TIMES: Final = 2.0
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A logistic regression whose scores have mean 0 and standard deviation 1 on the study's own texts.

    Regressions of different folds differ in where their scores lie, against the class that was held out; on
    this scale their scores can be pooled, and hold for the regression of all texts.
    """

    regression: Any = field(repr=False)
    mean: float
    deviation: float

    def __call__(self, seen: Any) -> Floats:
        """Return the score of each text: a row of features, or a list with the vectors of its sentences."""
        score: Floats = (_log_odds(self.regression, seen) - self.mean) / self.deviation
        return score


def learn(rows: Any, applied: Bools, reference: Any) -> Scorer:
    """Fit the logistic regression; both sides count as much, however rare the code is.

    `reference` are the study's texts that scores are measured against: rows, or lists of sentences.
    """
    from sklearn.linear_model import LogisticRegression

    made = LogisticRegression(C=_C, class_weight="balanced", max_iter=1000, tol=1e-4).fit(rows, applied)
    usual = _log_odds(made, reference)
    return Scorer(made, float(usual.mean()), float(usual.std()) or 1.0)


def _log_odds(regression: Any, seen: Any) -> Floats:
    if isinstance(seen, list):
        return best_sentence(regression, seen)
    score: Floats = regression.decision_function(seen)
    return score


def best_sentence(regression: Any, parts: list[Floats]) -> Floats:
    """Return each text's highest score of a sentence; of a text without one the lowest of all."""
    size = np.array([len(part) for part in parts], dtype=np.intp)
    best = np.full(len(parts), np.nan)
    if size.any():
        score = regression.decision_function(np.concatenate([part for part in parts if len(part)]))
        best[size > 0] = np.maximum.reduceat(score, np.cumsum(size[size > 0]) - size[size > 0])
    return np.where(np.isnan(best), np.nanmin(best) if size.any() else 0.0, best)


def folds(applied: Bools, groups: npt.NDArray[Any], seed: int) -> list[tuple[Any, Any]]:
    """Split units so that no participant stands on both sides; none where a side would lack the code.

    A code must be present, and absent, in the texts of at least two participants.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    least = min(len(np.unique(groups[applied])), len(np.unique(groups[~applied])))
    if least < 2:
        return []
    split: list[tuple[Any, Any]] = []
    for draw in range(_DRAWS if len(applied) <= _FEW else 1):
        drawn = StratifiedGroupKFold(min(_FOLDS, least), shuffle=True, random_state=(seed + draw) % 2**32)
        split += drawn.split(groups, applied, groups)
    return [(train, test) for train, test in split if 0 < applied[train].sum() < len(train)]


def out_of_fold(seen: Any, learned: Callable[[Any], Scorer | None], split: list[tuple[Any, Any]]) -> Floats:
    """Return each text's mean score by regressions that saw no text of its participant; NaN if none.

    `learned` returns the regression of some texts, or None where they do not teach one.
    """
    n = len(seen) if isinstance(seen, list) else seen.shape[0]
    total, times = np.zeros(n), np.zeros(n)
    for train, test in split:
        scorer = learned(train)
        if scorer is not None:
            total[test] += scorer([seen[i] for i in test] if isinstance(seen, list) else seen[test])
            times[test] += 1
    mean: Floats = np.where(times > 0, total / np.maximum(times, 1), np.nan)
    return mean


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt's line from scores to log odds: `slope` (0 or more; 0 tells nothing) and `intercept`."""

    slope: float = field(repr=False)
    intercept: float = field(repr=False)

    def probability(self, score: Floats) -> Floats:
        """Return probabilities, 0 to 1."""
        from scipy.special import expit

        made: Floats = expit(self.slope * score + self.intercept)
        return made


def calibrate(score: Floats, applied: Bools) -> Calibration:
    """Fit Platt's line to scores out of fold, with his targets that are a little off 0 and 1.

    A few presences say little about the slope, so it is drawn to what slopes of codes are like (a normal
    prior), the less the more is coded. It ends at 0 where presences score so much lower than absences that
    chance is the better guess.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin & Weng (2007), Machine Learning
    68, 267–276.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    n = int(applied.sum())
    target = np.where(applied, (n + 1) / (n + 2), 1 / (len(applied) - n + 2))
    usual, spread = _SLOPE

    def loss(line: Floats) -> tuple[float, Floats]:
        at, off = line[0] * score + line[1], (line[0] - usual) / spread
        away = expit(at) - target
        value = np.sum(np.logaddexp(0, at) - target * at) + off**2 / 2
        return float(value), np.array([np.sum(away * score) + off / spread, np.sum(away)])

    start = np.array([usual, np.log((n + 1) / (len(applied) - n + 1))])
    best = minimize(loss, start, jac=True, bounds=[(0, None), (None, None)]).x
    return Calibration(float(best[0]), float(best[1]))


def threshold(probability: Floats, applied: Bools, reference: Floats) -> tuple[float, float]:
    """Return the probability from which on a code is suggested, for the largest F1, and that F1.

    The mean of two answers, since each is unsteady in small samples: the cut that had the largest F1, and
    half the F1 that calibrated probabilities lead one to expect at best (Lipton, Elkan & Naryanaswamy 2014).
    Where probabilities tell little, both would suggest every text: that has the largest F1. So a code that at
    most half of the coded texts have is suggested on less than half, and at most on twice the share that was
    coded, of these texts and of the study's (`reference`, their probabilities). Less than half by a standard
    error: `reference` is a sample of the texts that are to come.
    """
    order = np.argsort(-probability, kind="stable")
    rank = np.arange(1, len(order) + 1)
    f1 = 2 * np.cumsum(applied[order]) / (rank + applied.sum())
    last = np.append(np.diff(probability[order]) != 0, True)  # equal probabilities are cut off together
    best = int(np.argmax(np.where(last, f1, -1)))
    below = probability[order][best + 1] if best + 1 < len(order) else 0.0
    seen = (probability[order][best] + below) / 2
    expected = 2 * np.cumsum(probability[order]) / (rank + probability.sum())
    cut = float((seen + expected.max() / 2) / 2)
    if applied.mean() <= _HALF:
        error = np.sqrt(_HALF * (1 - _HALF) / len(reference))
        most = min(_HALF - error, _TIMES * (applied.sum() + 1) / (len(applied) + 2))
        cut = max(cut, _at_most(most, probability), _at_most(most, reference))
    chosen = probability >= cut
    return cut, float(2 * (chosen & applied).sum() / max(chosen.sum() + applied.sum(), 1))


def _at_most(share: float, probability: Floats) -> float:
    """Return a cut from which on no more than this share of texts are suggested."""
    first_out = np.sort(probability)[::-1][int(share * len(probability))]
    above = probability[probability > first_out].min(initial=1.0)
    return float((first_out + above) / 2)

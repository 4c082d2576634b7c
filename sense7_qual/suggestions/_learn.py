"""One code's classifier: logistic regression, scored on texts of participants that it did not learn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["Calibration", "calibrate", "classifier", "folds", "out_of_fold", "threshold"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: The inverse strength of the penalty (benchmarks/suggestions.py chose it).
_C: Final = 0.3
_FOLDS: Final = 5
_FEW: Final = 200  # up to so many units the folds are drawn several times: one draw says little
_DRAWS: Final = 3


def classifier(rows: Any, applied: Bools) -> Any:
    """Fit the logistic regression; both sides count as much, however rare the code is."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=_C, class_weight="balanced", max_iter=1000, tol=1e-4).fit(rows, applied)


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


def out_of_fold(rows: Any, applied: Bools, split: list[tuple[Any, Any]]) -> Floats:
    """Return each unit's score (log odds) by classifiers that saw no text of its participant; NaN if none."""
    total, times = np.zeros(len(applied)), np.zeros(len(applied))
    for train, test in split:
        total[test] += classifier(rows[train], applied[train]).decision_function(rows[test])
        times[test] += 1
    mean: Floats = np.where(times > 0, total / np.maximum(times, 1), np.nan)
    return mean


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt's line from scores to log odds: `slope` (0 or more) and `intercept`."""

    slope: float = field(repr=False)
    intercept: float = field(repr=False)

    def probability(self, score: Floats) -> Floats:
        """Return probabilities, 0 to 1."""
        from scipy.special import expit

        made: Floats = expit(self.slope * score + self.intercept)
        return made


def calibrate(score: Floats, applied: Bools) -> Calibration:
    """Fit Platt's line to scores out of fold, with his targets that are a little off 0 and 1.

    References
    ----------
    Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin & Weng (2007), Machine Learning
    68, 267–276.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    n = int(applied.sum())
    target = np.where(applied, (n + 1) / (n + 2), 1 / (len(applied) - n + 2))

    def loss(line: Floats) -> tuple[float, Floats]:
        at = line[0] * score + line[1]
        away = expit(at) - target
        value = np.sum(np.logaddexp(0, at) - target * at)
        return float(value), np.array([np.sum(away * score), np.sum(away)])

    start = np.array([1.0, np.log((n + 1) / (len(applied) - n + 1))])
    best = minimize(loss, start, jac=True, bounds=[(0, None), (None, None)]).x
    return Calibration(float(best[0]), float(best[1]))


def threshold(probability: Floats, applied: Bools) -> tuple[float, float]:
    """Return the probability from which on a code is suggested, for the largest F1, and that F1.

    The mean of two answers, since each is unsteady in small samples: the cut that had the largest F1, and
    half the F1 that calibrated probabilities lead one to expect at best (Lipton, Elkan & Naryanaswamy 2014).
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
    chosen = probability >= cut
    return cut, float(2 * (chosen & applied).sum() / max(chosen.sum() + applied.sum(), 1))

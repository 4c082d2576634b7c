"""Predictors of a rating from texts: fitted on some units, they predict others.

A predictor is a function (train, test) → predictions. `train` has the columns truth (1 to 5) and cluster,
`test` has neither; both have the columns of the units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.errors import TableError
from sense7_qual.frames import require_column
from sense7_qual.ratings._evaluate import LEVELS, levels_of, numbers_of

__all__ = ["BASELINES", "Embed", "OrdinalRegression", "Predictor", "ordinal_regression"]

Floats = npt.NDArray[np.float64]
Embed = Callable[[list[str]], npt.NDArray[Any]]
Predictor = Callable[[pd.DataFrame, pd.DataFrame], Any]

_PENALTIES: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_INNER_FOLDS: Final = 5


@dataclass(frozen=True, slots=True)
class OrdinalRegression:
    """An ordinal regression on sentence vectors, as a predictor; made by `ordinal_regression`."""

    embed: Embed = field(repr=False)
    text: str
    penalties: tuple[float, ...]
    _known: dict[str, Floats] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, train: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
        """Return the expected rating (`predicted`) and the most probable level (`label`) of each test unit.

        Units without a text are not learned from; their prediction is missing.

        Raises
        ------
        TableError
            There is no column of texts, no unit to learn from, a truth is not from 1 to 5, or `embed` gives
            no row per text.
        """
        check_arguments(OrdinalRegression.__call__, locals())
        for units in (train, test):
            require_column(units, self.text, frame_name="units")
        train = train[_has_text(train[self.text])]
        if train.empty:
            raise TableError("ordinal regression: expected units with a text to learn from – found none.")
        has_text = _has_text(test[self.text]).to_numpy()
        above = np.full((len(test), LEVELS - 1), np.nan)
        if has_text.any():
            above[has_text] = self._above(train, test[has_text])
        level = np.diff(np.c_[np.ones(len(test)), above, np.zeros(len(test))], axis=1) * -1
        label = np.where(has_text, np.nan_to_num(level).argmax(axis=1) + 1.0, np.nan)
        return pd.DataFrame({"predicted": 1 + above.sum(axis=1), "label": label})

    def _above(self, train: pd.DataFrame, test: pd.DataFrame) -> Floats:
        """Return the probabilities of a level above 1, 2, 3, 4 (test units, 4), never rising."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        levels = levels_of(numbers_of(train["truth"], name="truth"))
        vectors, new = self._vectors(train[self.text]), self._vectors(test[self.text])
        # threadpoolctl comes with scikit-learn. Threads wait for each other in products this small: on two
        # busy processors, one was 20 to 40 times faster.
        with threadpool_limits(1):
            penalty = self._penalty(vectors, levels, train["cluster"])
            return _fit_predict(vectors, levels, new, penalty)

    def _penalty(self, vectors: Floats, levels: npt.NDArray[np.int64], cluster: pd.Series) -> float:
        """Return the penalty with the best ranked probability score in folds of whole clusters."""
        from sklearn.model_selection import GroupKFold

        folds = min(_INNER_FOLDS, cluster.nunique())
        if len(self.penalties) == 1 or folds < 2:
            return self.penalties[len(self.penalties) // 2]
        splits = list(GroupKFold(folds).split(vectors, levels, cluster))
        best, chosen = np.inf, self.penalties[0]
        for penalty in self.penalties:  # from strong to weak: the weak ones take long, and rarely win
            score = sum(
                _ranked_score(_fit_predict(vectors[a], levels[a], vectors[b], penalty), levels[b])
                for a, b in splits
            )
            if score >= best:
                break
            best, chosen = score, penalty
        return chosen

    def _vectors(self, texts: pd.Series) -> Floats:
        """Return one vector per text, each text embedded once however many folds it is in."""
        words = [str(text) for text in texts]
        new = [text for text in dict.fromkeys(words) if text not in self._known]
        if new:
            vectors = np.asarray(self.embed(new), dtype=np.float64)
            if vectors.ndim != 2 or len(vectors) != len(new) or not np.isfinite(vectors).all():
                raise TableError(
                    f"embed: expected {len(new)} rows of finite numbers – found shape {vectors.shape}, "
                    f"{int((~np.isfinite(vectors)).sum())} values not finite – check the model."
                )
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in words])


def ordinal_regression(
    embed: Embed, *, text: str = "text", penalties: tuple[float, ...] = _PENALTIES
) -> OrdinalRegression:
    """Return an ordinal regression on sentence embeddings as a predictor for `cross_validate`.

    One logistic regression per boundary between levels (above 1, above 2 …) on standardised vectors. The
    expected rating is 1 plus the sum of the four probabilities, the level is the most probable one. The
    penalty is chosen inside the units that are learned from, in five folds of whole clusters, by the
    ranked probability score; means and deviations are theirs, too.

    Parameters
    ----------
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`. Vectors are kept in
        memory, so that each text is embedded once.
    text
        The column of texts. A unit without one is predicted as missing.
    penalties
        Inverse strengths of the L2 penalty to choose from, above 0. They are tried from the strongest
        penalty (the smallest number) on, until the next is no better.

    Returns
    -------
    OrdinalRegression

    Raises
    ------
    TableError
        `penalties` is empty or holds something that is not above 0.

    References
    ----------
    Frank & Hall (2001), A simple approach to ordinal classification, ECML, 145–156. Epstein (1969), A
    scoring system for probability forecasts of ranked categories, Journal of Applied Meteorology 8.

    Examples
    --------
    >>> train = pd.DataFrame({"text": list("abcde") * 4, "truth": [1, 2, 3, 4, 5] * 4,
    ...                       "cluster": list("pqrs") * 5})
    >>> predict = ordinal_regression(lambda texts: np.array([[ord(text)] for text in texts]))
    >>> predict(train, pd.DataFrame({"text": ["a", "e", ""]}))["label"].tolist()
    [1.0, 5.0, nan]
    """
    check_arguments(ordinal_regression, locals())
    if not len(penalties) or not all(isinstance(one, int | float) and one > 0 for one in penalties):
        raise TableError("ordinal_regression: expected penalties above 0 – found others – leave them out.")
    return OrdinalRegression(embed=embed, text=text, penalties=tuple(sorted(penalties)))


def _majority(train: pd.DataFrame, test: pd.DataFrame) -> Floats:
    """Return the most frequent level (the lowest of several)."""
    counts = np.bincount(levels_of(numbers_of(train["truth"], name="truth")))
    return np.full(len(test), float(counts.argmax()))


def _mean(train: pd.DataFrame, test: pd.DataFrame) -> Floats:
    return np.full(len(test), float(train["truth"].mean()))


BASELINES: Final[dict[str, Predictor]] = {"majority class": _majority, "mean rating": _mean}
"""The predictors that know nothing of a text; they stand beside every other one."""


def _has_text(texts: pd.Series) -> pd.Series:
    return texts.fillna("").astype(str).str.strip() != ""


def _fit_predict(vectors: Floats, levels: npt.NDArray[np.int64], new: Floats, penalty: float) -> Floats:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scale = StandardScaler().fit(vectors)
    vectors, new = scale.transform(vectors), scale.transform(new)
    above = np.empty((len(new), LEVELS - 1))
    for boundary in range(1, LEVELS):
        higher = levels > boundary
        if higher.all() or not higher.any():  # a level that nobody gave
            above[:, boundary - 1] = float(higher[0])
            continue
        model = LogisticRegression(C=penalty, max_iter=2000).fit(vectors, higher)
        above[:, boundary - 1] = model.predict_proba(new)[:, 1]
    # The four are fitted apart and may cross; a higher boundary is never passed more often than a lower one.
    return np.minimum.accumulate(above, axis=1)


def _ranked_score(above: Floats, levels: npt.NDArray[np.int64]) -> float:
    return float(np.square(above - (levels[:, None] > np.arange(1, LEVELS))).sum())

"""Predictors of a rating from texts, compared on participants whom they have not seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._contract import Column, Contract
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import first_three
from sense7_qual.errors import TableError
from sense7_qual.frames import labels_by_unit, require_column
from sense7_qual.ratings._evaluate import (
    LEVELS,
    cluster_weights,
    evaluate,
    interval,
    levels_of,
    numbers_of,
)
from sense7_qual.ratings._results import COMPARISON, PREDICTED

PUBLISHED: Final = "SENSE-7 paper (published, on its own data)"
"""The name of the row that holds the paper's figures."""
# Suh et al. (2025), arXiv:2509.16437: average over its runs.
_PUBLISHED: Final = {"spearman": 0.369, "accuracy": 0.487}

_PREDICTIONS: Final = Contract(
    "predictions",
    ("predictor", "unit_id"),
    {"predictor, unit_id": Column("id"), "cluster": Column("string"), "fold": Column("integer")},
)
Floats = npt.NDArray[np.float64]
Embed = Callable[[list[str]], npt.NDArray[Any]]
Predictor = Callable[[pd.DataFrame, pd.DataFrame], Any]
_PENALTIES: Final = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_INNER_FOLDS: Final = 5


@PREDICTED.returns
def cross_validate(
    units: pd.DataFrame,
    predictors: Mapping[str, Predictor],
    *,
    rating: str,
    cluster: str,
    unit_id: str = "unit_id",
    folds: int = 10,
    seed: int = 0,
) -> pd.DataFrame:
    """Predict ratings with each predictor for participants that it was not trained on.

    Parameters
    ----------
    units : DataFrame
        One row per unit (a text, or a conversation) with the columns named here and those that the
        predictors use. Units without a rating are left out.
    predictors : mapping of str to function
        Name → function (train, test) → one prediction per row of `test`, from 1 to 5: an array in its
        order, a Series with its index or the unit ids, or a frame with `predicted` and `label` (see
        `evaluate`). `train` has the columns truth and cluster, `test` lacks them and the rating. NaN is a
        missing prediction. A predictor that needs no training ignores `train`. The majority class and the
        mean of the same folds are always added.
    rating : str
        The column of ratings, 1 to 5.
    cluster : str
        The column of the participant: all units of a participant are in the same fold.
    unit_id : str
        The column of the units' ids.
    folds : int
        Number of folds, from 2 to the number of participants.
    seed : int
        The same seed assigns the same participants to the same folds, whatever the order of the rows; 0 or
        more.

    Raises
    ------
    TableError
        A column or a participant is missing, an id is repeated, a rating is not from 1 to 5, there are fewer
        participants than folds, a predictor has the name of a baseline, or its predictions are not one number
        from 1 to 5 per unit.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "case_id": list("ppqqrr"),
    ...                       "empathy": [1, 2, 3, 3, 3, 5]})
    >>> predicted = cross_validate(units, {}, rating="empathy", cluster="case_id", folds=3, seed=7)
    >>> predicted[predicted["predictor"] == "mean rating"].groupby("cluster")["predicted"].first().to_dict()
    {'p': 3.5, 'q': 2.75, 'r': 2.25}
    """
    check_arguments(cross_validate, locals())
    predictors = read_mapping(predictors)
    reserved = [name for name in predictors if name in BASELINES or name == PUBLISHED]
    if reserved:
        raise TableError(
            f"cross_validate: expected names other than those of the baselines – found "
            f"{first_three(reserved)} – rename."
        )
    if not all(callable(predict) for predict in predictors.values()):
        raise TableError(
            "cross_validate: expected predictors to be a mapping of names to functions – found others – "
            "pass {'name': function of (train, test)}."
        )
    rated = _rated(units, rating, cluster, unit_id)
    parts = []
    for number, (train, test) in enumerate(_splits(rated, folds, seed), start=1):
        without_truth = test.drop(columns=["truth", "cluster"])
        for name, predictor in {**predictors, **BASELINES}.items():
            predicted = _checked(predictor(train.copy(), without_truth.copy()), without_truth, unit_id, name)
            truth = test[[unit_id, "cluster", "truth"]].set_axis(["unit_id", "cluster", "truth"], axis=1)
            parts.append(truth.assign(predictor=name, fold=number, **predicted))
    predictions = pd.concat(parts, ignore_index=True)
    order = {name: place for place, name in enumerate({**predictors, **BASELINES})}
    predictions = predictions.sort_values(
        ["predictor", "unit_id"], key=lambda c: c.map(order) if c.name == "predictor" else c
    )
    columns = ["predictor", "unit_id", "cluster", "fold", "truth", "predicted", "label"]
    return predictions[columns].reset_index(drop=True)


@COMPARISON.returns
def compare(
    predictions: pd.DataFrame,
    *,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the measures of each predictor with the majority class, the mean and the published figures.

    Parameters
    ----------
    predictions : DataFrame
        As `cross_validate` returns it, with the rows of the baselines: predictor, unit_id, cluster, fold,
        truth, predicted, label.
    n_boot, confidence_level, seed
        As for `evaluate`.

    Raises
    ------
    TableError
        A column is missing, a predictor has a unit twice, or there are no baselines.
    ArgumentError
        `n_boot`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    A prediction that is constant within each fold has no Spearman correlation (see `evaluate`). Pooling the
    folds also lowers that of other predictors a little. The intervals resample participants with the
    predictions as they are.

    References
    ----------
    Suh et al. (2025), SENSE-7, arXiv:2509.16437.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": [f"u{i:02}" for i in range(40)], "empathy": [1, 2, 3, 3, 5] * 8,
    ...                       "case_id": [f"p{i % 8}" for i in range(40)]})
    >>> perfect = units.set_index("unit_id")["empathy"]
    >>> predicted = cross_validate(units, {"oracle": lambda train, test: perfect.loc[test["unit_id"]]},
    ...                            rating="empathy", cluster="case_id", folds=4, seed=7)
    >>> compare(predicted, n_boot=200, seed=7)[["predictor", "spearman", "accuracy", "mae"]]
                                        predictor  spearman  accuracy   mae
    0                                      oracle     1.000     1.000  0.00
    1                              majority class       NaN     0.400  1.00
    2                                 mean rating       NaN     0.400  1.04
    3  SENSE-7 paper (published, on its own data)     0.369     0.487   NaN
    """
    check_arguments(compare, locals())
    check_resampling("compare", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    checked = _PREDICTIONS.check(predictions)
    for name in ("truth", "predicted", "label"):
        require_column(checked, name, frame_name="predictions")
    absent = [name for name in BASELINES if not (checked["predictor"] == name).any()]
    if absent:
        raise TableError(
            f"predictions: expected the baselines among the predictors – found no {first_three(absent)} – "
            "make the frame with cross_validate, which adds them."
        )
    settings: dict[str, Any] = {"n_boot": n_boot, "confidence_level": confidence_level, "seed": seed}
    majority = checked[checked["predictor"] == next(iter(BASELINES))]
    rows: list[dict[str, Any]] = []
    for name in checked["predictor"].unique():
        own = checked[checked["predictor"] == name]
        evaluation = evaluate(
            own["truth"],
            own["predicted"],
            labels=own["label"],
            fold=own["fold"],
            groups=own["cluster"],
            **settings,
        )
        rows.append({"predictor": name, **dataclasses.asdict(evaluation), **_over(own, majority, **settings)})
    rows.append({"predictor": PUBLISHED, **_PUBLISHED, "reason": "published, on its own data"})
    return COMPARISON.frame(rows)


def _rated(units: pd.DataFrame, rating: str, cluster: str, unit_id: str) -> pd.DataFrame:
    """Return the rated units in the order of their ids, with truth and cluster, without the rating."""
    units = Contract(name="units", key=(unit_id,), columns={unit_id: Column("id")}).check(units)
    for name in (rating, cluster):
        require_column(units, name, frame_name="units")
    truth = numbers_of(units[rating], name=f"column {rating!r}")
    check_groups(units[cluster], name=f"units: column {cluster!r}")
    groups = units[cluster].astype("string").str.strip()
    rated = units.drop(columns=[name for name in ("truth", "cluster", rating) if name in units])
    rated = rated.assign(truth=truth, cluster=groups)[~np.isnan(truth)]
    nobody = rated.loc[rated["cluster"].isna(), unit_id]
    if len(nobody):
        raise TableError(
            f"units: expected a participant in column {cluster!r} for every rated unit – found none for "
            f"{first_three(nobody)} – fill it in."
        )
    return rated.sort_values(unit_id, ignore_index=True)


def _splits(rated: pd.DataFrame, folds: int, seed: int) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the units to learn from and the units to predict; each participant is on one side."""
    from sklearn.model_selection import GroupKFold

    check_resampling("cross_validate", n_boot=1, confidence_level=0.5, seed=seed)
    n_clusters = rated["cluster"].nunique()
    whole = isinstance(folds, int | np.integer) and not isinstance(folds, bool)
    if not whole or not 2 <= folds <= n_clusters:
        raise TableError(
            f"cross_validate: expected folds from 2 to the number of participants with a rating – found "
            f"{folds!r} folds and {n_clusters} participants – choose fewer folds."
        )
    state = int(np.random.default_rng(seed).integers(2**31))
    splitter = GroupKFold(folds, shuffle=True, random_state=state)
    for train, test in splitter.split(rated, groups=rated["cluster"].astype(str).to_numpy()):
        yield rated.iloc[train].reset_index(drop=True), rated.iloc[test].reset_index(drop=True)


def _checked(output: Any, test: pd.DataFrame, unit_id: str, name: str) -> dict[str, npt.NDArray[np.float64]]:
    """Return predicted and label from what a predictor gave, in the order of `test`."""
    n = len(test)
    predicted = output["predicted"] if isinstance(output, pd.DataFrame) else output
    labels = output["label"] if isinstance(output, pd.DataFrame) and "label" in output else np.full(n, np.nan)
    if np.shape(predicted) != (n,):
        raise TableError(
            f"predictor {name!r}: expected one prediction for each of {n} units – found shape "
            f"{np.shape(predicted)} – return them in the order of `test`, NaN where there is none."
        )
    columns = {
        "predicted": (predicted, f"predictor {name!r}"),
        "label": (labels, f"labels of predictor {name!r}"),
    }
    return {
        column: numbers_of(_in_order(values, test, unit_id, what), name=what)
        for column, (values, what) in columns.items()
    }


def _in_order(values: Any, test: pd.DataFrame, unit_id: str, what: str) -> Any:
    """Return a Series in the order of `test`, by its rows' index or its unit ids; an array as it is."""
    if not isinstance(values, pd.Series) or values.index.equals(test.index):
        return values
    if values.index.is_unique and test.index.isin(values.index).all():
        return values.loc[test.index]
    return labels_by_unit(values, pd.Index(test[unit_id]), name=what)


def _over(
    own: pd.DataFrame, majority: pd.DataFrame, *, n_boot: int, confidence_level: float, seed: int
) -> dict[str, float]:
    """Return the gain in accuracy over the majority class, on the units that have both."""
    both = own.merge(majority, on="unit_id", suffixes=("", "_majority"), validate="one_to_one")
    both = both[both[["truth", "predicted", "predicted_majority"]].notna().all(axis=1)]
    if both.empty:
        return {}
    level = levels_of(both["label"].fillna(both["predicted"]).to_numpy(dtype=np.float64))
    true = levels_of(both["truth"].to_numpy(dtype=np.float64))
    known = levels_of(both["predicted_majority"].to_numpy(dtype=np.float64))
    more = (level == true).astype(np.float64) - (known == true)
    cluster, names = pd.factorize(both["cluster"], sort=True)
    columns = {"accuracy_over_majority": float(more.mean())}
    if len(names) >= FEWEST_CLUSTERS:
        drawn = cluster_weights(len(names), n_boot=n_boot, seed=seed)
        differences = drawn @ np.bincount(cluster, more) / (drawn @ np.bincount(cluster))
        low, high = interval(differences, len(names), confidence_level)
        columns |= {"accuracy_over_majority_low": low, "accuracy_over_majority_high": high}
    return columns


@dataclass(frozen=True, slots=True)
class OrdinalRegression:
    """An ordinal regression on sentence vectors as a predictor, made by `ordinal_regression`."""

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
    penalty is chosen within the training units, in five folds of whole clusters, by the ranked probability
    score; means and deviations are also those of the training units.

    Parameters
    ----------
    embed
        A function from a list of texts to an array (n, d), such as `models.embedder()`. Vectors are kept in
        memory, so that each text is embedded once.
    text
        The column of texts. A unit without a text has no prediction.
    penalties
        Inverse strengths of the L2 penalty to choose from, above 0, tried from the strongest penalty (the
        smallest number) until the next is no better.

    Returns
    -------
    OrdinalRegression

    Raises
    ------
    TableError
        `penalties` is empty or contains something not above 0.

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
"""The predictors that do not use the text; they are compared with every other one."""


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

"""A fitted model of ordinal ratings: estimates, their uncertainty, and what went wrong."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import first_three
from sense7_qual._reasons import Caution, Reason
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._inputs import Range, checked_range, refuse_off_scale

_FEW_CLUSTERS: Final = 10
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeModel:
    """A cumulative-link model of a rating: P(rating ≤ j) = F(threshold j − predictors · coefficients − …).

    Attributes
    ----------
    coefficients : Series
        By predictor, on the scale of the link: positive = higher ratings. With the logit link, exp(…) is
        an odds ratio. NaN where `reason` says why.
    standard_errors, p_values : Series
        By predictor. p is two-sided, of the hypothesis that the coefficient is 0, from Student's t.
    thresholds : Series
        By pair of neighbouring levels ("1|2"), rising.
    covariance : DataFrame
        Of thresholds, coefficients and, where they were estimated above 0, cluster_sd and nested_sd.
    moves : DataFrame or None
        How much each cluster (a row, by its label) moves each coefficient: its part of the likelihood's
        gradient times the covariance. None without a likelihood.
    cluster_variance, cluster_sd : float
        Variance, and standard deviation, of the clusters' random intercepts; NaN in a model without them.
    nested_variance, nested_sd : float
        The same for conversations within clusters; NaN in a model without them.
    log_likelihood : float
        NaN where the model has none (estimating equations).
    n, n_missing, n_clusters : int
        Complete rows, rows left out because a value is missing, and clusters of the complete rows.
    n_nested : int or None
        Conversations of the complete rows; None where none were given.
    degrees_of_freedom : float
        Of Student's t: the number of clusters less one.
    converged : bool
        The gradient vanishes at a proper maximum.
    gradient_norm : float
        Largest absolute element of the gradient, predictors in standard deviations.
    boundary : bool
        The clusters' variance is estimated as 0: the model is that without their random intercepts.
    reason : str or None
        Why there are no estimates: `no_complete_rows`, `constant_rating`, `one_cluster`,
        `collinear_predictors` (see `dependent`), `separation` (an estimate would be infinite: the predictors,
        or predictors and clusters, separate some levels perfectly or almost), `not_converged`,
        `no_variation_within_clusters` (every cluster, or every conversation, has only one level: its variance
        would be infinite), `levels_not_separable` (each cluster has one conversation, or each
        conversation one row).
    cautions : tuple of str
        Warnings about the estimates: `few_clusters` (fewer than 10), `clusters_of_one` (no
        cluster has two rows: no random intercept is estimated), `zero_variance` (see `boundary`),
        `zero_nested_variance` (conversations of a cluster differ no more than by chance),
        `laplace_approximation` (in the model with conversations: its variances are somewhat too small where
        conversations have few rows), `coarse_quadrature` (with many more nodes an estimate would move by more
        than a tenth of its standard error: use more).
    dependent : tuple of str
        Predictors that are constant, or linear combinations of those before them.
    link : str
        "logit" or "probit".
    quadrature : int or None
        Nodes per cluster; None where nothing was integrated.
    """

    coefficients: pd.Series
    standard_errors: pd.Series
    p_values: pd.Series
    thresholds: pd.Series
    covariance: pd.DataFrame
    moves: pd.DataFrame | None
    cluster_variance: float
    cluster_sd: float
    nested_variance: float
    nested_sd: float
    log_likelihood: float
    n: int
    n_missing: int
    n_clusters: int
    n_nested: int | None
    degrees_of_freedom: float
    converged: bool
    gradient_norm: float
    boundary: bool
    reason: str | None
    cautions: tuple[str, ...]
    dependent: tuple[str, ...]
    link: str
    quadrature: int | None

    def intervals(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return each predictor's coefficient with its interval, by Student's t.

        Parameters
        ----------
        confidence_level : float
            Between 0 and 1.

        Returns
        -------
        DataFrame
            By predictor: coefficient, standard_error, low, high, p.

        Raises
        ------
        ArgumentError
            `confidence_level` is not between 0 and 1.
        """
        check_arguments(CumulativeModel.intervals, locals())
        from scipy import special

        if not 0 < confidence_level < 1:
            raise ArgumentError(
                f"intervals: expected confidence_level between 0 and 1 – found {confidence_level!r} – 0.95 "
                "is usual."
            )
        t = float(special.stdtrit(self.degrees_of_freedom, (1 + confidence_level) / 2))
        return pd.DataFrame(
            {
                "coefficient": self.coefficients,
                "standard_error": self.standard_errors,
                "low": self.coefficients - t * self.standard_errors,
                "high": self.coefficients + t * self.standard_errors,
                "p": self.p_values,
            }
        )

    def odds_ratios(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Return each predictor's odds ratio of a higher rating with its interval (logit link only).

        Parameters
        ----------
        confidence_level : float
            Between 0 and 1.

        Returns
        -------
        DataFrame
            By predictor: odds_ratio, low, high (above 0), p.

        Raises
        ------
        ArgumentError
            The link is not "logit", or `confidence_level` is not between 0 and 1.
        """
        check_arguments(CumulativeModel.odds_ratios, locals())
        if self.link != "logit":
            raise ArgumentError(
                f"odds_ratios: expected a model with link='logit' – found {self.link!r} – its coefficients "
                "are not log odds ratios; use `intervals`."
            )
        intervals = self.intervals(confidence_level)
        ends = {"odds_ratio": "coefficient", "low": "low", "high": "high"}
        ratios = {name: np.exp(intervals[end].to_numpy()) for name, end in ends.items()}
        return pd.DataFrame(ratios, index=intervals.index).assign(p=intervals["p"])


@dataclass(frozen=True, slots=True)
class Estimates:
    """Thresholds, coefficients and the `sds` named at the maximum, in the predictors' own units."""

    values: Floats
    covariance: Floats
    log_likelihood: float
    gradient_norm: float
    cautions: tuple[str, ...] = ()
    sds: tuple[str, ...] = ()
    moves: Floats | None = None


def fitted(
    rows: Observed, fit: Estimates, *, link: str, quadrature: int | None, random: bool
) -> CumulativeModel:
    """Return the model with its estimates; `random`: with random intercepts (variance 0 or more)."""
    from scipy import special

    names, n_thresholds, q = _pairs(rows), len(rows.labels) - 1, len(rows.names)
    sds = dict(zip(fit.sds, fit.values[n_thresholds + q :].tolist(), strict=True))
    estimates = fit.values[n_thresholds : n_thresholds + q]
    errors = np.sqrt(np.diag(fit.covariance))[n_thresholds : n_thresholds + q]
    degrees = float(len(rows.sizes) - 1)
    labels = [*names, *rows.names, *fit.sds]
    index = pd.Index(rows.names, name="predictor", dtype=object)
    deviation = sds.get("cluster_sd", 0.0) if random else np.nan
    inner = sds.get("nested_sd", 0.0) if rows.nested is not None else np.nan
    cautions = {
        Caution.FEW_CLUSTERS: len(rows.sizes) < _FEW_CLUSTERS,
        Caution.CLUSTERS_OF_ONE: rows.sizes.max() == 1,
        Caution.ZERO_VARIANCE: deviation == 0,
        Caution.ZERO_NESTED_VARIANCE: inner == 0,
        Caution.LAPLACE_APPROXIMATION: inner > 0,
    }
    return dataclasses.replace(
        unfitted(rows, None, link=link, quadrature=quadrature),
        coefficients=pd.Series(estimates, index, name="coefficient"),
        standard_errors=pd.Series(errors, index, name="standard_error"),
        p_values=pd.Series(2 * special.stdtr(degrees, -np.abs(estimates / errors)), index, name="p"),
        thresholds=pd.Series(fit.values[:n_thresholds], pd.Index(names, name="levels"), name="threshold"),
        covariance=pd.DataFrame(fit.covariance, index=labels, columns=labels),
        moves=None if fit.moves is None else pd.DataFrame(fit.moves, rows.clusters, labels)[[*rows.names]],
        cluster_variance=deviation**2,
        cluster_sd=deviation,
        nested_variance=inner**2,
        nested_sd=inner,
        log_likelihood=fit.log_likelihood,
        degrees_of_freedom=degrees,
        converged=True,
        gradient_norm=fit.gradient_norm,
        boundary=deviation == 0,
        cautions=(*(name for name, holds in cautions.items() if holds), *fit.cautions),
    )


def unfitted(rows: Observed, reason: Reason | None, *, link: str, quadrature: int | None) -> CumulativeModel:
    """Return the model without estimates, and why."""
    index, names = pd.Index(rows.names, name="predictor", dtype=object), _pairs(rows)
    labels = [*names, *rows.names]
    return CumulativeModel(
        coefficients=pd.Series(np.nan, index, name="coefficient"),
        standard_errors=pd.Series(np.nan, index, name="standard_error"),
        p_values=pd.Series(np.nan, index, name="p"),
        thresholds=pd.Series(np.nan, pd.Index(names, name="levels", dtype=object), name="threshold"),
        covariance=pd.DataFrame(np.nan, index=labels, columns=labels),
        moves=None,
        cluster_variance=np.nan,
        cluster_sd=np.nan,
        nested_variance=np.nan,
        nested_sd=np.nan,
        log_likelihood=np.nan,
        n=rows.n,
        n_missing=rows.n_missing,
        n_clusters=len(rows.sizes),
        n_nested=None if rows.nested is None else len(np.unique(rows.nested)),
        degrees_of_freedom=np.nan,
        converged=False,
        gradient_norm=np.nan,
        boundary=False,
        reason=reason,
        cautions=(),
        dependent=rows.dependent,
        link=link,
        quadrature=quadrature,
    )


def _pairs(rows: Observed) -> list[str]:
    return [f"{low}|{high}" for low, high in zip(rows.labels, rows.labels[1:], strict=False)]


@dataclass(frozen=True, slots=True)
class Observed:
    """The complete rows: rating level, predictors in their own units, and cluster.

    Attributes
    ----------
    level : array (n,)
        0 … len(labels) − 1, in the order of the labels.
    labels : tuple of str
        The levels that occur, lowest first.
    predictors : array (n, predictors)
    names : tuple of str
    cluster : array (n,)
        0 … n_clusters − 1.
    n_missing : int
        Rows left out because a value is missing.
    nested : array (n,) or None
        0 … n_nested − 1, in the order of the clusters in which they are nested.
    clusters : tuple of str
        What each cluster was called.
    """

    level: Integers
    labels: tuple[str, ...]
    predictors: Floats
    names: tuple[str, ...]
    cluster: Integers
    n_missing: int
    nested: Integers | None = None
    clusters: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Complete rows."""
        return len(self.level)

    @property
    def sizes(self) -> Integers:
        """Rows of each cluster."""
        return np.bincount(self.cluster).astype(np.int64)

    @property
    def scale(self) -> tuple[Floats, Floats]:
        """Mean and standard deviation of each predictor."""
        return self.predictors.mean(axis=0), self.predictors.std(axis=0)

    @property
    def scaled(self) -> Floats:
        """The predictors centred and in standard deviations (n, predictors)."""
        mean, sd = self.scale
        return (self.predictors - mean) / sd

    def unscaling(self, *, extra: int = 0) -> Floats:
        """Return the matrix that takes thresholds, coefficients and `extra` others to the own units."""
        mean, sd = self.scale
        n_thresholds = len(self.labels) - 1
        matrix = np.eye(n_thresholds + len(sd) + extra)
        inner = slice(n_thresholds, n_thresholds + len(sd))
        matrix[inner, inner] = np.diag(1 / sd)
        matrix[:n_thresholds, inner] = mean / sd
        return matrix

    @property
    def dependent(self) -> tuple[str, ...]:
        """Predictors that are constant, or a linear combination of those before them."""
        if not self.n:
            return ()
        centred = self.predictors - self.predictors.mean(axis=0)
        lengths = np.linalg.norm(centred, axis=0)
        dependent, basis = [], np.empty((self.n, 0))
        for name, column, length, largest in zip(
            self.names, centred.T, lengths, np.abs(self.predictors).max(axis=0), strict=True
        ):
            rest = column - basis @ (basis.T @ column)
            rest = rest - basis @ (basis.T @ rest)  # twice is enough for full precision
            if np.linalg.norm(rest) <= 1e-9 * max(length, 1e-3 * largest * np.sqrt(self.n)):
                dependent.append(name)
            else:
                basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
        return tuple(dependent)


def observed(
    function: str,
    rating: pd.Series,
    predictors: pd.DataFrame | pd.Series,
    cluster: pd.Series,
    nested: pd.Series | None = None,
    *,
    rating_range: Range | None = None,
) -> Observed:
    """Return the complete rows of columns or frames with the same rows.

    The rows are sorted, so that the order in which they were given changes no digit of a fitted number.
    """
    frame = _frame(function, predictors)
    inner = cluster if nested is None else nested
    _check_rows(function, rating, frame, cluster, inner)
    values, names_of_levels = levels_of(function, pd.Series(rating), rating_range)
    x = np.column_stack(
        [_numbers(f"{function}: predictor {name!r}", frame.iloc[:, i]) for i, name in enumerate(frame)]
        or [np.empty((len(frame), 0))]
    )
    label, inner_label = (
        pd.Series(column).astype(object).reset_index(drop=True) for column in (cluster, inner)
    )
    labelled = (label.notna() & inner_label.notna()).to_numpy(dtype=np.bool_)
    complete = ~np.isnan(values) & ~np.isnan(x).any(axis=1) & labelled
    distinct, level = np.unique(values[complete], return_inverse=True)
    check_groups(label[complete], name=f"{function}: cluster")
    number, clusters = pd.factorize(label[complete].astype(str), sort=True)
    within = pd.DataFrame({"cluster": number, "nested": inner_label[complete].astype(str).to_numpy()})
    inner_number = within.groupby(["cluster", "nested"]).ngroup().to_numpy().astype(np.int64)
    order = np.lexsort((*x[complete].T, level, inner_number))  # of clusters, too: their numbers come first
    return Observed(
        level=level.astype(np.int64)[order],
        labels=tuple(names_of_levels[value] for value in distinct),
        predictors=x[complete][order],
        names=tuple(str(name) for name in frame.columns),
        cluster=number.astype(np.int64)[order],
        n_missing=int((~complete).sum()),
        nested=None if nested is None else inner_number[order],
        clusters=tuple(str(one) for one in clusters),
    )


def levels_of(
    function: str, rating: pd.Series, rating_range: Range | None = None
) -> tuple[Floats, dict[float, str]]:
    """Return ratings as numbers in their order, NaN where missing, and what each number is called."""
    known = checked_range(rating_range)
    if isinstance(rating.dtype, pd.CategoricalDtype):
        if known is not None:
            raise ArgumentError(
                f"{function}: expected rating_range for numbers – found an ordered Categorical, and its "
                "categories are the levels – leave rating_range out."
            )
        if not rating.cat.ordered:
            raise TableError(
                f"{function}: expected ordinal ratings – found a categorical column without an order – make "
                "it ordered (pandas.Categorical(…, categories=[lowest, …, highest], ordered=True))."
            )
        codes = rating.cat.codes.to_numpy(dtype=np.float64)
        named = {float(code): str(label) for code, label in enumerate(rating.cat.categories)}
        return np.where(codes < 0, np.nan, codes), named
    values = _numbers(f"{function}: rating", rating)
    refuse_off_scale(values, known, what=f"{function}: rating")
    return values, {value: f"{value:g}" for value in np.unique(values[~np.isnan(values)])}


def _frame(function: str, predictors: pd.DataFrame | pd.Series) -> pd.DataFrame:
    if isinstance(predictors, pd.Series):
        predictors = predictors.to_frame(name="predictor" if predictors.name is None else predictors.name)
    if not isinstance(predictors, pd.DataFrame):
        raise TableError(
            f"{function}: expected predictors as a DataFrame, one column each – found "
            f"{type(predictors).__name__} – pass for example units[['applied']]."
        )
    twice = predictors.columns[predictors.columns.duplicated()]
    if len(twice):
        raise TableError(
            f"{function}: expected every predictor once – found twice: {first_three(twice.unique())} – "
            "rename or drop one."
        )
    return predictors


def _check_rows(
    function: str, rating: pd.Series, frame: pd.DataFrame, cluster: pd.Series, nested: pd.Series
) -> None:
    """Refuse columns of different lengths, and pandas columns with different indexes."""
    lengths = {
        "rating": len(rating),
        "predictors": len(frame),
        "groups": len(cluster),
        "nested": len(nested),
    }
    if len(set(lengths.values())) > 1:
        described = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise TableError(
            f"{function}: expected as many ratings as rows of predictors and groups – found {described} – "
            "take all of them from one frame."
        )
    others = [column.index for column in (rating, cluster, nested) if isinstance(column, pd.Series)]
    if any(not frame.index.equals(index) for index in others):
        raise TableError(
            f"{function}: expected rating, predictors and groups with the same index, row by row – found "
            "different ones – take all of them from one frame, or reset the index of each."
        )


def _numbers(what: str, column: pd.Series | Sequence[object]) -> Floats:
    """Return finite numbers (True is 1), NaN where missing; the message names rows, never a value."""
    column = pd.Series(column)
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        bad = np.isinf(values)
    else:
        column = column.astype(object)
        real = column.map(lambda value: isinstance(value, numbers.Real)).to_numpy(dtype=np.bool_)
        values = column.where(real, np.nan).to_numpy(dtype=np.float64)
        bad = (column.notna().to_numpy() & ~real) | np.isinf(values)
    if bad.any():
        raise TableError(
            f"{what}: expected finite numbers – found something else in {int(bad.sum())} rows (first: row "
            f"{first_three(np.flatnonzero(bad))}) – convert them (words in an order: an ordered Categorical "
            "for a rating, a 0/1 column for a predictor), missing where there is none."
        )
    return np.asarray(values, dtype=np.float64)

"""What is likely true where coders err: each unit's probability of a code, and each coder's error rates.

The model itself is in ``_latent_class.py``, how sure its parameters are and where it fails in
``_shared_errors.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._basis import NOT_STATED
from sense7_qual._bootstrap import check_resampling
from sense7_qual._contract import Contract, holding
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.adjudication._latent_class import (
    Parameters,
    Patterns,
    fit_latent_class,
    log_likelihood,
    probabilities,
    refit,
)
from sense7_qual.adjudication._results import DRAWS, ERROR_RATES, FITS, POSTERIOR, PREVALENCE, RESIDUALS
from sense7_qual.adjudication._shared_errors import Draws, residuals
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, clusters_by_unit, labels_by_unit, people, without_models

_FRAMES: Final = (POSTERIOR, DRAWS, ERROR_RATES, PREVALENCE, FITS, RESIDUALS)
_MOST_LEVELS: Final = 20
_NO_LEVEL: Final = "missing"


@dataclass(frozen=True, slots=True)
class TrueCodes:
    """The result of `dawid_skene`: frames `posterior`, `draws`, `coders`, `prevalence`,
    `fits` and `residuals`; and `basis`, which decisions they rest on, in words."""

    posterior: pd.DataFrame
    draws: pd.DataFrame
    coders: pd.DataFrame
    prevalence: pd.DataFrame
    fits: pd.DataFrame
    residuals: pd.DataFrame
    basis: str = NOT_STATED


@dataclass(frozen=True, slots=True)
class _Data:
    """The decisions of one code as patterns, and which unit has which."""

    unit_ids: pd.Index
    coders: list[str]
    n_by_coder: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int64]
    patterns: Patterns
    shared: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Resampling:
    """How often each unit comes in each resample, the number of its cluster, and the level of intervals."""

    weights: list[pd.Series]
    member: pd.Series
    confidence_level: float


@rests_on("decisions")
@holding(
    posterior=POSTERIOR,
    draws=DRAWS,
    coders=ERROR_RATES,
    prevalence=PREVALENCE,
    fits=FITS,
    residuals=RESIDUALS,
)
def dawid_skene(
    decisions: pd.DataFrame,
    *,
    prevalence_by: str | None = None,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_draws: int = 0,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> TrueCodes:
    """Estimate the probability that each code truly applies to each unit, given coders who err.

    The model of Dawid and Skene, for each code separately: a unit truly has the code or not; each coder has a
    sensitivity (finds the code where it applies) and a specificity (leaves it out where it does not), the
    same on all units; given the truth, coders err independently. Coders who settle cases together, or who
    share a misunderstanding of a code, violate the last assumption, and their shared errors are then taken
    for true: `residuals` shows it, with four coders or more. No rate is entered by hand: all are estimated
    from agreement.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that a coder has not decided on is missing, never
        "absent". Decisions of `consensus`, `majority` and `pooled` are left out, and so are those of models,
        with a warning, because their errors are not independent of each other.
    prevalence_by : str, optional
        The column of `units` with a level for each, such as its rating: the prevalence of the code may then
        differ between levels. Needed before `links.corrected`: truth imputed without the rating is related to
        it only through the coders' decisions, which biases a link towards 0. Units without a level, at most
        half of them, form a level of their own. At most 20 levels.
    units : DataFrame, optional
        One row per unit: unit_id and the columns `prevalence_by` and `cluster`.
    cluster : str, optional
        The column of `units` with the participant of each, which the draws resample (default: units).
    n_draws : int
        The number of draws of the parameters, by refitting to resampled participants; 0 for none. From 100
        on (better 400) rates, prevalences and residuals have intervals.
    confidence_level : float
        Level of these intervals, between 0 and 1.
    seed : int
        Seed of the draws. Everything else is deterministic.

    Raises
    ------
    TableError
        `decisions` does not meet its contract; a Series has a unit twice or does not name the units; there
        are too many levels, or most units lack one; a unit has no cluster.
    ArgumentError
        `n_draws`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    Fitted by expectation–maximisation from three starting points, keeping the highest. Half a decision is
    added to each count (the mode under Beta(1.5, 1.5) priors), so that no rate is 0 or 1. The likelihood is
    the same with the two classes exchanged; of the two solutions the one is kept in which coders, weighted by
    their numbers of decisions, do better than chance.

    Intervals of rates and prevalences are the estimate ± widened quantile × standard deviation of the draws,
    on the scale of log odds; those of residuals the same on their own scale, and adjusted for the pairs of a
    code: where `low` is above 0, two coders seem to share errors. Of simulated studies of 12 participants in
    which nobody does, a tenth have such a pair (two fifths without the adjustment). Coverage, and how often
    shared errors are found, is simulated in benchmarks/dawid_skene.md: a residual of 0 is no proof that there
    are none, because the model takes some of them for true.

    References
    ----------
    Dawid & Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm,
    Applied Statistics 28, 20–28. Hui & Walter (1980), Estimating the error rates of diagnostic tests,
    Biometrics 36, 167–171: identifiability. Qu, Tan & Kutner (1996), Random effects models in latent class
    analysis for evaluating accuracy of diagnostic tests, Biometrics 52, 797–810: residuals of pairs.

    Examples
    --------
    Three coders; cleo also applies the code where the others do not:

    >>> decided = {"ana": [1, 1, 1, 1, 0, 0, 0, 0, 0, 0], "ben": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    ...            "cleo": [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]}
    >>> decisions = pd.DataFrame([(f"m{i}", coder, "interest", bool(a)) for coder, values in decided.items()
    ...                           for i, a in enumerate(values)],
    ...                          columns=["unit_id", "coder", "code", "applied"])
    >>> fitted = dawid_skene(decisions)
    >>> fitted.coders[["coder", "sensitivity", "specificity"]].round(2).values.tolist()
    [['ana', 0.86, 0.89], ['ben', 0.71, 0.92], ['cleo', 0.89, 0.49]]
    """
    check_arguments(dawid_skene, locals())
    check_least(dawid_skene, 0, n_draws=n_draws)
    check_resampling("dawid_skene", n_boot=max(n_draws, 1), confidence_level=confidence_level, seed=seed)
    own = people(without_models(DECISIONS.check(decisions), function="dawid_skene"))
    unit_ids = pd.Index(own["unit_id"].unique())
    level, levels = _levels(_of_units(units, prevalence_by), unit_ids)
    member, n_clusters = members(_of_units(units, cluster), unit_ids)
    rng = np.random.default_rng(seed)
    chances = np.full(max(n_clusters, 1), 1 / max(n_clusters, 1))
    weights = [
        pd.Series(times[member], index=unit_ids, dtype="float64")
        for times in rng.multinomial(n_clusters, chances, size=n_draws)
    ]
    parts: dict[str, list[pd.DataFrame]] = {one.name: [] for one in _FRAMES}
    how = _Resampling(weights, pd.Series(member, index=unit_ids), confidence_level)
    for code, of_code in own.groupby("code", sort=False):
        for key, frame in _of_code(of_code, level, levels, how).items():
            parts[key].append(frame.assign(code=code, prevalence_by=prevalence_by))
    frames: dict[str, Any] = {one.name: _frame(one, parts[one.name]) for one in _FRAMES}
    return TrueCodes(**frames)


def _of_code(
    decided: pd.DataFrame, level: pd.Series, levels: list[str], how: _Resampling
) -> dict[str, pd.DataFrame]:
    """Return the rows of one code in each frame of the result."""
    data = _data(decided, level, len(levels))
    counted = np.bincount(data.pattern, minlength=len(data.patterns.stratum)).astype(np.float64)
    reason = _reason(decided, data)
    n_by_level = np.bincount(data.patterns.stratum, counted, len(levels)).astype(int)
    tables = {
        "posterior": pd.DataFrame({"unit_id": data.unit_ids, "n_coders": _n_coders(data)}),
        "draws": pd.DataFrame({"unit_id": []}),
        "coders": pd.DataFrame({"coder": data.coders, "n_units": data.n_by_coder}),
        "prevalence": pd.DataFrame({"level": levels, "n_units": n_by_level}),
    }
    fit_row: dict[str, object] = {
        "n_units": len(data.unit_ids),
        "n_coders": len(data.coders),
        "reason": reason,
        "confidence_level": how.confidence_level,
        "n_draws": len(how.weights),
    }
    tables["residuals"] = residuals(data.patterns, counted, data.coders).assign(reason=reason)
    if reason is None:
        fitted = fit_latent_class(data.patterns, counted)
        parameters = fitted.parameters
        tables["posterior"]["probability"] = probabilities(data.patterns, parameters)[data.pattern]
        draws = _drawn(data, parameters, how)
        tables["draws"] = _draws(data, draws.parameters)
        for name in ("sensitivity", "specificity"):
            rates = {name: getattr(parameters, name), **draws.ends(name, parameters)}
            tables["coders"] = tables["coders"].assign(**rates)
        known = pd.DataFrame({"prevalence": parameters.prevalence, **draws.ends("prevalence", parameters)})
        known[n_by_level == 0] = np.nan
        tables["prevalence"] = tables["prevalence"].join(known)
        tables["residuals"] = residuals(data.patterns, counted, data.coders, parameters, draws)
        height = log_likelihood(data.patterns, counted, parameters)
        fit_row |= {"n_iterations": fitted.n_iterations, "converged": fitted.converged}
        fit_row |= {"log_likelihood": height}
    return {**tables, "fits": pd.DataFrame([fit_row])}


def _data(decided: pd.DataFrame, level: pd.Series, n_levels: int) -> _Data:
    coder, coders = pd.factorize(decided["coder"], sort=True)  # pairs are named alike in any order of rows
    unit, unit_ids = pd.factorize(decided["unit_id"])
    marks = np.full((len(unit_ids), len(coders)), -1, dtype=np.int64)
    marks[unit, coder] = decided["applied"].to_numpy(dtype=np.int64)
    strata = level.loc[unit_ids].to_numpy(dtype=np.int64)
    kinds, pattern = np.unique(np.column_stack([marks, strata]), axis=0, return_inverse=True)
    shown = (marks >= 0).astype(np.float64)
    return _Data(
        unit_ids=pd.Index(unit_ids),
        coders=[str(name) for name in coders],
        n_by_coder=shown.sum(axis=0).astype(np.int64),
        pattern=pattern.reshape(-1),
        patterns=Patterns(
            applied=(kinds[:, :-1] == 1).astype(np.float64),
            absent=(kinds[:, :-1] == 0).astype(np.float64),
            stratum=kinds[:, -1],
            n_strata=n_levels,
        ),
        shared=shown.T @ shown,
    )


def _n_coders(data: _Data) -> npt.NDArray[np.int64]:
    n = (data.patterns.applied + data.patterns.absent).sum(axis=1)
    return np.asarray(n[data.pattern], dtype=np.int64)


def _drawn(data: _Data, parameters: Parameters, how: _Resampling) -> Draws:
    """Return the parameters refitted to each resample of clusters."""
    rows = [
        np.bincount(data.pattern, times.loc[data.unit_ids], len(data.patterns.stratum)).astype(np.float64)
        for times in how.weights
    ]
    refits = [refit(data.patterns, row, parameters, tolerance=1e-6).parameters for row in rows]
    return Draws(rows, refits, how.member.loc[data.unit_ids].nunique(), how.confidence_level)


def _draws(data: _Data, refits: list[Parameters]) -> pd.DataFrame:
    """Return the probabilities under each of the refitted parameters."""
    parts = [pd.DataFrame({"unit_id": []})]
    for draw, refitted in enumerate(refits):
        probability = probabilities(data.patterns, refitted)[data.pattern]
        parts.append(pd.DataFrame({"unit_id": data.unit_ids, "draw": draw, "probability": probability}))
    if len(parts) == 1:
        return parts[0]
    return pd.concat(parts[1:], ignore_index=True).assign(n_coders=np.tile(_n_coders(data), len(refits)))


def _reason(decided: pd.DataFrame, data: _Data) -> Reason | None:
    """Return why the model cannot be fitted."""
    if not decided["applied"].any():
        return Reason.CODE_NEVER_APPLIED
    if decided["applied"].all():
        return Reason.CODE_ALWAYS_APPLIED
    together = (data.shared > 0) & ~np.eye(len(data.coders), dtype=bool)
    triangles = np.trace(np.linalg.matrix_power(together.astype(np.int64), 3))
    return None if triangles > 0 else Reason.NOT_IDENTIFIED


def _of_units(units: pd.DataFrame | None, column: str | None) -> pd.Series | None:
    return None if column is None else clusters_by_unit(units, column)


def _levels(prevalence_by: pd.Series | None, units: pd.Index) -> tuple[pd.Series, list[str]]:
    """Return the number of each unit's level, and the levels in order."""
    if prevalence_by is None:
        return pd.Series(0, index=units), ["all"]
    labels = labels_by_unit(prevalence_by, units, name="prevalence_by")
    number, distinct = pd.factorize(labels, sort=True)
    levels = [str(value) for value in distinct]
    if len(levels) > _MOST_LEVELS:
        raise TableError(
            f"prevalence_by: expected at most {_MOST_LEVELS} levels – found {len(levels)} – group the values "
            "into a few ordered levels first."
        )
    without = int((number < 0).sum())
    if 2 * without > len(units):
        raise TableError(
            f"prevalence_by: expected a level for most of the units that were decided on – found none for "
            f"{without} of {len(units)} (first: {first_three(units[number < 0])}) – index the levels by "
            "unit_id and fill them in, or leave prevalence_by out."
        )
    if without:
        number, levels = np.where(number < 0, len(levels), number), [*levels, _NO_LEVEL]
    return pd.Series(number, index=units), levels


def members(cluster: pd.Series | None, units: pd.Index) -> tuple[npt.NDArray[np.int64], int]:
    """Return the number of each unit's cluster, and how many there are."""
    if cluster is None:
        return np.arange(len(units)), len(units)
    labels = labels_by_unit(cluster, units, name="cluster")
    if labels.isna().any():
        raise TableError(
            f"cluster: expected a label for every unit that was decided on – found none for "
            f"{first_three(units[labels.isna().to_numpy()])} – fill it in."
        )
    number, distinct = pd.factorize(labels.astype("string"), sort=True)
    return np.asarray(number, dtype=np.int64), len(distinct)


def _frame(contract: Contract, parts: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [part.reindex(columns=list(contract.columns)).astype("object") for part in parts if len(part)]
    return contract.frame(pd.concat(filled, ignore_index=True)) if filled else contract.empty()

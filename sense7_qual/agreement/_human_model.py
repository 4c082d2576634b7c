"""Who agrees with whom: every two coders (`pairwise`), humans with humans and with models (`human_model`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import waiting_in
from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement._counts import (
    Pairs,
    binary_alpha,
    binary_kappa,
    chosen_models,
    cluster_numbers,
    own_decisions,
    paired,
)
from sense7_qual.agreement._intervals._bootstrap import (
    FEWEST,
    RESAMPLED_FROM,
    Evidence,
    Resampling,
    cut_off,
    degrees_of_freedom,
    effective_number,
    jackknife_error,
    left_out,
    score_ends,
    summed,
    without_disagreement,
)
from sense7_qual.agreement._results import HUMAN_MODEL, PAIRWISE
from sense7_qual.errors import TableError
from sense7_qual.frames import clusters_by_unit

Floats = npt.NDArray[np.float64]

_EQUAL: Final = 1e-12
Integers = npt.NDArray[np.int64]


@rests_on("decisions", models=True)
@HUMAN_MODEL.returns
def human_model(
    decisions: pd.DataFrame,
    *,
    models: str | Sequence[str] | None = None,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return, for each code, the agreement among humans and that of each model with the humans.

    Use it whenever a model has coded too: a coefficient over humans and models together hides which of them
    disagree, and a second model that copies the first raises it. High agreement of model and humans is no
    permission to replace humans: for that question see `alternative_annotator_test`.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool), of humans and models. Units that a coder has not finished are
        missing. Decisions of `consensus`, `majority` and `pooled` are left out.
    models : str or sequence of str, optional
        The coders that are models; all others are humans. By default those with a name that begins with
        "model-" (`frames.is_model`); if not named here, these are left out and never count as humans.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Raises
    ------
    TableError
        `decisions` breaks its contract, a model has no decisions, there is no human, or a unit has no cluster
        or several.
    ArgumentError
        A setting of the resampling is out of its range.

    Notes
    -----
    The cross-kappa of Wong, Paritosh & Aroyo (2021) is 1 − observed / expected disagreement between two
    groups of coders. Observed: the share of the pairs of a human and the model that differ, averaged over
    units with weights (humans on the unit + 1). Expected: the share that follows from the two groups'
    prevalences. For one human and one model it is Cohen's kappa. It is corrected for chance as alpha is, so
    that the rows of a code can be compared. The interval of alpha is that of `by_code`. That of a cross-kappa
    leaves out each participant in turn and is not resampled: its ends are the coefficients from which the one
    found differs by Student's t standard errors, these growing and shrinking with the coefficient as in
    Bloch and Kraemer (1989). In simulated studies it held the true one in 93 to 97 %
    (benchmarks/model_card_coverage.md).

    References
    ----------
    Wong, Paritosh & Aroyo (2021), Cross-replication reliability: An empirical approach to interpreting
    inter-rater reliability, ACL 2021. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Bloch
    & Kraemer (1989), 2 × 2 kappa coefficients: Measures of agreement or association, Biometrics 45, 269–287.

    Examples
    --------
    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "model-gpt": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> agreement = human_model(decisions, seed=7)
    >>> agreement[["comparison", "statistic", "n_units", "percent", "estimate"]].round(3).values.tolist()
    [['human–human', 'alpha', 0, nan, nan], ['human–model', 'cross_kappa', 10, 0.6, 0.091]]
    """
    check_arguments(human_model, locals())
    check_resampling("human_model", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    models, own = chosen_models(decisions, models, function="human_model")
    humans = own[~own["coder"].isin(models)]
    if not len(humans):
        raise TableError(
            f"decisions: expected decisions of humans – found those of models alone: {first_three(models)} – "
            "name only models in models, or add the humans' decisions."
        )
    among = by_code(
        humans, units=units, cluster=cluster, n_boot=n_boot, confidence_level=confidence_level, seed=seed
    ).set_index("code")
    how, clusters = Resampling(n_boot, confidence_level, seed), clusters_by_unit(units, cluster)
    settings: dict[str, Any] = {"confidence_level": confidence_level, "seed": seed}
    rows: list[dict[str, Any]] = []
    for code in own["code"].unique().tolist():
        rows.append({"code": code} | _among_humans(among, code) | settings)
        for model in models:
            shared = with_model(own[own["code"] == code], models, model, clusters)
            with_humans = cross_row(shared, how)
            rows.append({"code": code, "model": model} | with_humans | settings)
    for one in waiting_in(own):
        row = {"code": one.code, "reason": Reason.WAITING_FOR_REVIEW} | settings
        rows.append(row | {"comparison": "human–human", "statistic": "alpha"})
        crossed = {"comparison": "human–model", "statistic": "cross_kappa"}
        rows += [row | crossed | {"model": model} for model in models]
    return HUMAN_MODEL.frame(rows)


def _among_humans(among: pd.DataFrame, code: str) -> dict[str, Any]:
    """Return the humans' row of a code out of the result of `by_code`."""
    row: dict[str, Any] = {"comparison": "human–human", "statistic": "alpha", "n_units": 0, "n_humans": 0}
    if code not in among.index:
        return row | {"n_clusters": 0, "reason": Reason.NO_PAIRABLE_UNITS}
    names = {
        "n_units": "n_units",
        "n_humans": "n_coders",
        "n_clusters": "n_clusters",
        "prevalence_humans": "prevalence",
        "percent": "percent",
        "estimate": "alpha",
        "low": "alpha_low",
        "high": "alpha_high",
        "n_boot": "n_boot",
        "n_undefined": "n_undefined",
        "reason": "reason",
    }
    return row | {name: among.loc[code, column] for name, column in names.items()}


def with_model(
    of_code: pd.DataFrame, models: Sequence[str], model: str, clusters: pd.Series | None
) -> pd.DataFrame:
    """Return the units that the model and a human decided on: cluster, n_humans, n_applied, by_model."""
    humans = of_code[~of_code["coder"].isin(models)]
    counted = humans.groupby("unit_id")["applied"].agg(n_humans="size", n_applied="sum")
    by_model = of_code[of_code["coder"] == model].set_index("unit_id")["applied"].rename("by_model")
    units = pd.DataFrame(counted.join(by_model, how="inner").astype({"by_model": "bool"}))
    units["cluster"] = cluster_numbers(units.index, clusters)
    decisions = humans[humans["unit_id"].isin(units.index)]
    units.attrs["n_humans"] = decisions["coder"].nunique()
    return units


def cross_row(units: pd.DataFrame, how: Resampling) -> dict[str, Any]:
    """Return the cross-kappa of the humans and a model, with its interval."""
    n, applied, by_model = _columns(units)
    differ = np.divide(np.where(by_model == 1, n - applied, applied), n)
    cluster = units["cluster"].to_numpy(dtype=np.int64)
    n_clusters = len(np.unique(cluster))
    by_unit = cross_parts(units)
    kappa = float(cross_kappa(by_unit.sum(axis=0)))
    row: dict[str, Any] = {
        "comparison": "human–model",
        "statistic": "cross_kappa",
        "n_units": len(units),
        "n_humans": units.attrs["n_humans"],
        "n_clusters": n_clusters,
        "estimate": kappa,
    }
    if len(units):
        row |= {"prevalence_humans": applied.sum() / n.sum(), "prevalence_model": by_model.mean()}
        row |= {"percent": 1 - differ.mean()}
    if np.isnan(kappa):
        return row | {"reason": Reason.NO_VARIATION if len(units) else Reason.NO_PAIRABLE_UNITS}
    return row | _interval(units, by_unit, kappa, how)


def cross_parts(units: pd.DataFrame) -> Floats:
    """Return what each unit adds to the sums of `cross_kappa` (units, 6), by its `weight` if it has one."""
    n, applied, by_model = _columns(units)
    differ = np.divide(np.where(by_model == 1, n - applied, applied), n)
    parts = [(n + 1) * differ, n + 1, applied, n - applied, by_model, 1 - by_model]
    weight = units["weight"].to_numpy(dtype=np.float64) if "weight" in units else np.ones(len(units))
    return np.stack(parts, axis=1) * weight[:, None]


def _columns(units: pd.DataFrame) -> Iterator[Floats]:
    return (units[name].to_numpy(dtype=np.float64) for name in ("n_humans", "n_applied", "by_model"))


def cross_kappa(sums: Floats) -> Floats:
    """Return the cross-kappa (…) of sums of `cross_parts` (…, 6), NaN where no disagreement is expected."""
    differ, weight, applied, absent, by_model, not_by_model = np.moveaxis(sums, -1, 0)
    expected = applied * not_by_model + absent * by_model
    n_pairs = (applied + absent) * (by_model + not_by_model)
    kappa = np.full(np.shape(expected), np.nan)
    np.divide(differ * n_pairs, weight * expected, out=kappa, where=expected > 0)
    return np.asarray(1 - kappa)


def _rests_on(units: pd.DataFrame, sums: Floats) -> Evidence:
    """Return the numbers of clusters with the rarer answer, and with a human and the model sharing it."""
    of_both = np.stack([sums[:, 3] + sums[:, 5], sums[:, 2] + sums[:, 4]], axis=1)  # absent, applied
    rarer = int(of_both.sum(axis=0).argmin())
    by_humans = units["n_applied"] if rarer else units["n_humans"] - units["n_applied"]
    shared = ((by_humans > 0) & (units["by_model"] == bool(rarer))).to_numpy(dtype=np.bool_)
    share_humans, share_model = (sums[:, k].sum() / sums[:, [k, k + 1]].sum() for k in (2, 4))
    return Evidence(
        groups=len(sums),
        other=int((of_both[:, rarer] > 0).sum()),
        agreed=int(units.loc[shared, "cluster"].nunique()),
        n_values=2,
        unequal=share_humans * (1 - share_model) + share_model * (1 - share_humans),
    )


def _interval(units: pd.DataFrame, parts: Floats, kappa: float, how: Resampling) -> dict[str, Any]:
    """Leave out each cluster in turn; no interval where there is no cross-kappa without one of them."""
    cluster = units["cluster"].to_numpy(dtype=np.int64)
    sums = summed(parts, np.arange(len(parts)), cluster)
    if len(sums) == 1:
        return {"reason": Reason.ONE_CLUSTER}
    rests_on = _rests_on(units, sums)
    # As many humans on every unit: then it is a mean of Cohen's kappas, which end at −1.
    smallest = -1.0 if np.ptp(units["n_humans"]) == 0 else -np.inf
    if not sums[:, 0].any():
        ends = without_disagreement(rests_on, how.confidence_level)
        low, high = cut_off(*ends, kappa, smallest)
        return {"low": low, "high": high, "reason": Reason.NO_DISAGREEMENT}
    if rests_on.other < FEWEST:
        return {"reason": Reason.FEW_CLUSTERS}
    times = np.ones(len(sums), dtype=np.int64)
    deviations = left_out(sums, times, cross_kappa)
    if np.isnan(deviations).any():
        return {"reason": Reason.FEW_CLUSTERS}
    error = jackknife_error(deviations, times)
    if error < _EQUAL:
        return {"reason": Reason.ONE_PATTERN}
    effective = effective_number(parts, cluster, cross_kappa)
    degrees = min(degrees_of_freedom(deviations, times), effective, rests_on.other - 1)
    ends = score_ends(kappa, error, degrees, rests_on.unequal, how.confidence_level)
    low, high = cut_off(*ends, kappa, smallest)
    return {
        "low": low,
        "high": high,
        "reason": None if rests_on.other >= RESAMPLED_FROM else Reason.FEW_CLUSTERS,
    }


@rests_on("decisions")
@PAIRWISE.returns
def pairwise(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Return the agreement of every two coders on each code, on the units that both have finished.

    Use it to find the coder who understands a code differently, before retraining or adjudication. It is not
    the reliability of a study: report `by_code`, which uses all coders at once. Pairs with few units in
    common scatter widely.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that one of the two has not finished is missing for that
        pair. Models are left out with a warning.
    with_models : bool
        Whether models count as coders and have pairs of their own.

    Raises
    ------
    TableError
        `decisions` breaks its contract.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement
    20, 37–46. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    The binary example of Krippendorff (2011, section A), published as alpha .095 with 60 % agreement:

    >>> given = {"ana": [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], "ben": [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]}
    >>> decisions = pd.DataFrame([
    ...     {"unit_id": f"m{i}", "coder": coder, "code": "interest", "applied": bool(value)}
    ...     for coder, row in given.items() for i, value in enumerate(row)])
    >>> columns = ["coder_a", "coder_b", "n_units", "percent", "kappa", "alpha"]
    >>> pairwise(decisions)[columns].round(3).values.tolist()
    [['ana', 'ben', 10, 0.6, 0.091, 0.095]]
    """
    check_arguments(pairwise, locals())
    pairs = paired(own_decisions(decisions, function="pairwise", with_models=with_models))
    cells = _cells(pairs)
    one, two = np.triu_indices(len(pairs.coders), k=1)
    neither, only_b, only_a, both = np.moveaxis(cells[:, one, two, :].reshape(-1, 4).astype(np.float64), 1, 0)
    n_units = both + only_a + only_b + neither
    disputed = only_a + only_b
    alpha = binary_alpha(np.stack([2 * disputed, 2 * both + disputed, 2 * neither + disputed], axis=1))
    agreed = np.full(len(n_units), np.nan)
    np.divide(both + neither, n_units, out=agreed, where=n_units > 0)
    reason = np.full(len(n_units), None, dtype=object)
    reason[np.isnan(alpha)] = Reason.NO_VARIATION
    reason[n_units == 0] = Reason.NO_PAIRABLE_UNITS
    columns = {
        "code": np.repeat(pairs.codes, len(one)),
        "coder_a": np.tile(pairs.coders[one], len(pairs.codes)),
        "coder_b": np.tile(pairs.coders[two], len(pairs.codes)),
        "n_units": n_units,
        "n_both": both,
        "n_only_a": only_a,
        "n_only_b": only_b,
        "n_neither": neither,
        "percent": agreed,
        "kappa": binary_kappa(both, only_a, only_b, neither),
        "alpha": alpha,
        "reason": reason,
    }
    return PAIRWISE.frame(columns)


def _cells(pairs: Pairs) -> Integers:
    """Count the units by code, coders and what they decided: (codes, coders, coders, 4).

    The four cells are: neither applied the code, only the second did, only the first, both.
    """
    shape = (len(pairs.codes), len(pairs.coders), len(pairs.coders), 4)
    decided = 2 * pairs.applied_first.astype(np.int64) + pairs.applied_second
    place = ((pairs.code * shape[1] + pairs.first) * shape[2] + pairs.second) * 4 + decided
    return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape)

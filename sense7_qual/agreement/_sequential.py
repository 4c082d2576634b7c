"""Agreement while double coding goes on: an interval that holds at every look, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import waiting_in
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._by_code import code_tables, prevalence_of
from sense7_qual.agreement._intervals._bootstrap import (
    FEWEST,
    Evidence,
    cut_off,
    log_scale_ends,
    without_disagreement,
)
from sense7_qual.agreement._intervals._methods import left_out_error, without_disputes
from sense7_qual.agreement._results import SEQUENTIAL
from sense7_qual.agreement.coefficients._compute import Computed, compute, evidence
from sense7_qual.agreement.coefficients._patterns import Coded
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import DECISIONS, without_models

Coefficient = Literal["krippendorff_alpha", "gwet_ac", "percent_agreement"]
Integers = npt.NDArray[np.int64]
Ends = Callable[[float], tuple[float, float]]

_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "krippendorff_alpha": {"level": "nominal"},
    "gwet_ac": {"categories": [0, 1]},
    "percent_agreement": {},
}
_EQUAL: Final = 1e-12
_MOST: Final = 10**7


@dataclass(frozen=True, slots=True)
class Look:
    """The coefficient after the units so far, its interval, and how many more units are needed."""

    estimate: float
    low: float = math.nan
    high: float = math.nan
    reached: bool = False
    n_more: int | None = None
    reason: str | None = None


@rests_on("decisions")
@SEQUENTIAL.returns
def sequential(
    decisions: pd.DataFrame,
    *,
    width: float,
    coefficient: Coefficient = "krippendorff_alpha",
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Return each code's agreement with an interval valid at every look, and when to stop double coding.

    Use it during double coding, after every ten units or whenever you like, and stop double coding a code
    once its interval is narrow enough. The ordinary interval of `by_code` is valid for one look: over many
    looks one of them is wrong far more often. Choose `width` before the first look and keep it. Units must be
    coded twice in an order that does not depend on their content (a random one).

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool), so far. A unit counts for a code where two or more coders have
        decided on it. Decisions of `consensus`, `majority` and `pooled` are left out.
    width : float
        The width of the interval, high − low, at which double coding stops; above 0 and below 2.
    coefficient : {"krippendorff_alpha", "gwet_ac", "percent_agreement"}
        The coefficient estimated: alpha, AC1, or the share of agreeing pairs of coders.
    units, cluster
        As for `by_code`: whole clusters are left out in turn, and the number of units still needed assumes
        further clusters like those so far.
    confidence_level : float
        Probability that the interval covers the coefficient at all looks together, between 0 and 1.

    Raises
    ------
    TableError
        `decisions` breaks its contract, or a unit has no cluster or several.
    ArgumentError
        `width` or `confidence_level` is out of its range.

    Notes
    -----
    On the scale of log(1 − coefficient) the interval's half width is max(η, (c · SE)² / η): η is the half
    width wanted there, arsinh(width / (2 (1 − coefficient))), SE the jackknife's standard error over
    units or clusters, larger by Student's t for few, and c = 2.345 for 95 %. At half of the information
    needed the interval is twice its final width, and once `width` is reached it stays. The
    units' influences add up to what is approximately a Brownian motion B in the information 1 / SE² (in units
    of that needed: t); the interval fails where B(t) leaves ±c before t = 1, or ±c · t after it, and by
    Doob's inversion of time both have the probability that a Brownian bridge leaves ±c, so that
    1 − Σ over both sides is ∫ p(x)² / φ(x) dx with p(x) = Σ_k (φ(x − 4kc) − φ(x − 2c − 4kc)), from −c to c.
    Before t = 1 it is the boundary of O'Brien and Fleming (1979) as repeated confidence intervals, on the
    scale of information, so that neither the number of looks nor their times need be planned.

    In simulated studies with a look every ten units, prevalences of .02 to .3 and alphas of .3 to .9, the
    interval held at all looks in 95 to 99 %, ordinary 95 % intervals in 81 to 93 %
    (benchmarks/agreement_sequential.md).

    References
    ----------
    Jennison & Turnbull (1989), Interim analyses: the repeated confidence interval approach, Journal of the
    Royal Statistical Society B 51, 305–361. O'Brien & Fleming (1979), A multiple testing procedure for
    clinical trials, Biometrics 35, 549–556. Scharfstein, Tsiatis & Robins (1997), Semiparametric efficiency
    and its implication on the design and analysis of group-sequential studies, JASA 92, 1342–1350. Doob
    (1949), Heuristic approach to the Kolmogorov–Smirnov theorems, Annals of Mathematical Statistics 20,
    393–403. Chow & Robbins (1965), On the asymptotic theory of fixed-width sequential confidence intervals
    for the mean, Annals of Mathematical Statistics 36, 457–462.

    Examples
    --------
    >>> rows = [(f"m{i}", coder, "interest", i % 3 == 0 or (coder == "ben" and i % 11 == 0))
    ...         for i in range(120) for coder in ("ana", "ben")]
    >>> decisions = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    >>> result = sequential(decisions, width=0.3)
    >>> result[["estimate", "low", "high", "reached", "n_more"]].round(2).values.tolist()
    [[0.87, 0.65, 0.95, True, 0]]
    """
    check_arguments(sequential, locals())
    for name, value, fits, allowed in (
        ("width", width, 0.001 <= width < 2, "from 0.001 and below 2"),
        ("confidence_level", confidence_level, 0 < confidence_level < 1, "between 0 and 1"),
    ):
        if not fits:
            raise ArgumentError(f"sequential: expected {name} {allowed} – found {value!r} – correct it.")
    rows = []
    checked = without_models(DECISIONS.check(decisions), function="sequential")
    for code, table, groups in code_tables(checked, units, cluster):
        shown = look(
            table,
            groups if cluster is not None else None,
            coefficient=coefficient,
            width=width,
            confidence_level=confidence_level,
        )
        rows.append(
            {
                "code": code,
                "n_units": table.codes.shape[1],
                "n_coders": int((table.codes > 0).any(axis=1).sum()),
                "n_clusters": len(np.unique(groups)),
                "prevalence": prevalence_of(table),
                "coefficient": coefficient,
                "estimate": shown.estimate,
                "low": shown.low,
                "high": shown.high,
                "reached": shown.reached,
                "n_more": shown.n_more,
                "width": width,
                "confidence_level": confidence_level,
                "reason": shown.reason,
            }
        )
    settings = {"coefficient": coefficient, "width": width, "confidence_level": confidence_level}
    for one in waiting_in(checked):
        rows.append({"code": one.code, "reason": Reason.WAITING_FOR_REVIEW, **settings})
    return SEQUENTIAL.frame(rows)


def look(
    table: Coded, number: Integers | None, *, coefficient: Coefficient, width: float, confidence_level: float
) -> Look:
    """Return a look at a code's units (coders, units), all with two or more values; `number`: of clusters."""
    computed = compute(coefficient, table, _OPTIONS[coefficient], locate=number is not None)
    value, rests_on = computed.coefficient.estimate, computed.rests_on
    if computed.reason is not None:
        return Look(value, reason=computed.reason)
    if number is not None:
        rests_on = evidence(coefficient, table.codes, len(table.categories), number)
    if rests_on.groups < 2:
        return Look(value, reason=Reason.ONE_UNIT if number is None else Reason.ONE_CLUSTER)
    if 1 - value < _EQUAL:
        reason, ends = Reason.NO_DISAGREEMENT, _undisputed(computed, coefficient, rests_on, confidence_level)
    elif rests_on.other < FEWEST:
        return Look(value, reason=Reason.FEW_UNITS if number is None else Reason.FEW_CLUSTERS)
    else:
        error, degrees = left_out_error(computed, number, coefficient)
        if not error:
            return Look(value, reason=Reason.ONE_PATTERN)
        reason, ends = None, _disputed(value, error, degrees, rests_on, width, confidence_level)
    return _look(value, ends, computed.coefficient.smallest(), table.codes.shape[1], width, reason)


def _look(value: float, ends: Ends, smallest: float, n_units: int, width: float, reason: str | None) -> Look:
    """Return a look from the ends now and those after more units."""

    def fits(total: int) -> bool:
        low, high = cut_off(*ends(total / n_units), value, smallest)
        return high - low <= width * (1 + _EQUAL)

    low, high = cut_off(*ends(1), value, smallest)
    below, above = n_units - 1, n_units
    while not fits(above):
        below, above = above, 2 * above
        if above > _MOST:
            return Look(value, low, high, reason=reason)
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if fits(middle) else (middle, above)
    return Look(value, low, high, above == n_units, above - n_units, reason)


def _disputed(
    value: float, error: float, degrees: float, rests_on: Evidence, width: float, confidence_level: float
) -> Ends:
    """Return the ends of the interval after so many times the units."""
    needed = math.asinh(width / (2 * (1 - value)))

    def ends(times: float) -> tuple[float, float]:
        reach = _reach(confidence_level, degrees * times) * error / (1 - value) / math.sqrt(times)
        later = replace(rests_on, other=int(rests_on.other * times))
        return log_scale_ends(value, max(needed, reach**2 / needed), later, confidence_level)

    return ends


def _undisputed(
    computed: Computed, coefficient: Coefficient, rests_on: Evidence, confidence_level: float
) -> Ends:
    """Return the ends where the coders never disagreed, after so many times the units.

    Disagreement that was not seen so far is one event: its limit holds at every look. It gets half the error.
    """
    seen = without_disputes(computed, coefficient, rests_on)
    return lambda times: without_disagreement(
        replace(seen, groups=int(seen.groups * times)), (1 + confidence_level) / 2
    )


def _reach(confidence_level: float, degrees: float) -> float:
    """Return the half width, in standard errors, of the interval at the look that reaches its width."""
    from scipy import special

    normal = _boundary(confidence_level)
    # Student's t at the same tail: for few degrees of freedom the standard error is not known well.
    return float(-special.stdtrit(degrees, float(special.ndtr(-normal))))


@cache
def _boundary(confidence_level: float) -> float:
    """Return c such that |B(t)| stays below c · max(1, t) at all times with this probability.

    Examples
    --------
    >>> round(_boundary(0.95), 3), round(_boundary(0.99), 3)
    (2.345, 2.895)
    """
    from scipy import optimize

    return float(optimize.brentq(lambda c: _stays(c) - min(confidence_level, 1 - 1e-12), 0.1, 40))


def _stays(c: float) -> float:
    """Return the probability that a Brownian motion stays within ± c until 1 and within ± c · t after it."""
    x = np.linspace(-c, c, 1001)
    mirror = np.arange(-40, 41)[:, None] * 4 * c
    # Densities over √φ(x): by themselves they are out of a number's range for large c.
    one, other = (np.exp(np.square(x) / 4 - np.square(x - m) / 2) for m in (mirror, mirror + 2 * c))
    return float(np.trapezoid((one - other).sum(axis=0) ** 2, x) / math.sqrt(2 * math.pi))

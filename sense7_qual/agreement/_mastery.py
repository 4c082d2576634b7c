"""Training to mastery: does a new coder agree with the gold decisions, and is that certain yet?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._absent_rows import unstated
from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._basis import NOT_STATED
from sense7_qual._coder_names import refuse_applied_only
from sense7_qual._contract import holding
from sense7_qual._messages import first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._results import GOLD
from sense7_qual.agreement._what_shows import say_what_shows
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import DECISIONS, without_models

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FEWEST: Final = 15
"""Units before which there is no verdict: the spread between units is not known from fewer."""
_PRIOR_UNITS: Final = 20
"""Weight, in units, of the spread expected halfway between the kappas, against the spread observed."""
_DEPENDENCE: Final = 2.0
"""By how much codes of one unit that go wrong together widen that expected spread."""
_FAILS_FROM, _PASSES_FROM = 1.2815515655446004, 1.6448536269514722
"""z of .90 and .95: at a limit a verdict falls only where the two kappas lie 2 · z standard errors apart."""


@holding(by_code=GOLD)
@dataclass(frozen=True, slots=True)
class Mastery:
    """The verdict on a coder in training, with the evidence for it.

    Parameters
    ----------
    verdict : {"pass", "fail", "go on"}
        The verdict after the units so far; later units do not change a pass or fail.
    probability : float
        The probability of the better kappa rather than the poorer one, 0–1, if both are equally likely
        beforehand: at the verdict, or now. NaN where it cannot be computed.
    decided_after : int or None
        The number of units at the verdict.
    n_units : int
        Units on which the coder decided on every code of the gold decisions.
    kappa, low, high : float
        The pooled kappa of all these units, at most 1, and an interval that is valid however often one looks.
        NaN without a reason to compute them.
    fail_at, pass_at, error, confidence_level : float
        As given.
    reason : str
        Why there is no verdict, or no kappa; None if both exist.
    by_code : DataFrame
    basis : str
        Which decisions it rests on, in words.
    """

    verdict: str
    probability: float
    decided_after: int | None
    n_units: int
    kappa: float
    low: float
    high: float
    fail_at: float
    pass_at: float
    error: float
    confidence_level: float
    reason: str | None
    by_code: pd.DataFrame = field(repr=False, compare=False)
    basis: str = NOT_STATED


class Evidence(NamedTuple):
    """After each unit: pooled kappa, the standard deviation of a unit's share in it, and the log of how much
    more probable the better kappa is than the poorer one. NaN where not computable."""

    kappa: Floats
    spread: Floats
    log_odds: Floats


@rests_on("decisions", "gold")
def mastery(
    decisions: pd.DataFrame,
    *,
    gold: pd.DataFrame,
    order: Sequence[str] | None = None,
    fail_at: float = 0.6,
    pass_at: float = 0.85,
    error: float = 0.05,
    fail_within: int = 40,
    pass_within: int = 60,
    confidence_level: float = 0.95,
) -> Mastery:
    """Decide whether a coder in training agrees with the gold decisions, or needs more units.

    Use it after each text that a trainee finishes, as often as you like. It does not replace the agreement of
    the study itself, which has other texts.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool) of one coder, as first decided, before seeing gold.
    gold : DataFrame
        unit_id, code, applied (bool): the decisions of an expert, or a consensus (a column `coder` must then
        have one value). A unit counts if both have decided on every code of `gold`; others are left out.
    order : sequence of str, optional
        The ids of the units in the order in which they were finished; by default the order of the rows.
    fail_at, pass_at : float
        The two kappas to distinguish: of a coder who needs teaching, and of one who can begin; from 0, below
        1. Coders between them get either verdict.
    error : float
        The probability that the other kappa may have at a verdict before the limits, above 0 and below .5.
    fail_within, pass_within : int
        The number of units after which coders more probably at `fail_at` fail, and after which everybody gets
        a verdict; each only if the units so far can distinguish the two kappas.
    confidence_level : float
        Level of the interval, between 0 and 1.

    Returns
    -------
    Mastery
        The verdict with its probability, kappa with an interval, and the counts of each code.

    Raises
    ------
    TableError
        A frame breaks its contract, `decisions` or `gold` are of several coders, or they have no code in
        common.
    ArgumentError
        A number is out of its range, or `order` lacks a unit.

    Notes
    -----
    Kappa is pooled over the codes: 1 − Σ disagreement / Σ disagreement expected by chance from the shares of
    both in the units so far (De Vries et al. 2008). Its standard error comes from the units' influence on it,
    so that errors on several codes of one text count as one text; for few units it is shrunk towards that of
    a coder halfway between the two kappas. The test is Wald's (1945) for a mean that is approximately
    normal: with the log of the odds L = (pass_at − fail_at) (kappa − their mean) / SE² it is decided once L
    or −L is at least log((1 − error) / error), from 15 units on. The interval is an asymptotic confidence
    sequence.

    In simulated runs with seven codes of prevalence .05 to .5, 96 % of coders with a kappa of .6 fail within
    40 units and 3 % pass; 98 % of those with .85 pass within 60 and 2 % fail. With seven codes of prevalence
    .05 forty texts cannot distinguish the two, and the verdict waits (benchmarks/training.md).

    References
    ----------
    Wald (1945), Sequential tests of statistical hypotheses, Annals of Mathematical Statistics 16, 117–186.
    De Vries, Elliott, Kanouse & Teleki (2008), Using pooled kappa to summarize interrater agreement across
    many items, Field Methods 20, 272–282. Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024), Time-uniform
    central limit theory and asymptotic confidence sequences, Annals of Statistics 52, 2613–2640.

    Examples
    --------
    >>> gold = pd.DataFrame([(f"m{i}", code, (i * k) % 5 < 2) for i in range(30)
    ...                      for k, code in ((2, "interest"), (3, "warmth"))],
    ...                     columns=["unit_id", "code", "applied"])
    >>> result = mastery(gold.assign(coder="ana"), gold=gold)
    >>> result.verdict, result.decided_after, result.kappa
    ('pass', 15, 1.0)
    """
    from scipy import special

    check_arguments(mastery, locals())
    check_least(mastery, 1, fail_within=fail_within, pass_within=pass_within)
    _check(fail_at, pass_at, error, confidence_level)
    theirs, own = _of_one("decisions", decisions), _of_one("gold", gold)
    _refuse_incomparable(theirs, own)
    truth, given, codes = _matched(theirs, own, order)
    shown = evidence(truth, given, fail_at=fail_at, pass_at=pass_at)
    verdict, at, sure = verdict_of(
        shown,
        fail_at=fail_at,
        pass_at=pass_at,
        error=error,
        fail_within=fail_within,
        pass_within=pass_within,
    )
    n = len(truth)
    kappa = float(shown.kappa[-1]) if n else math.nan
    half = _half_width(float(shown.spread[-1]), n, 1 - confidence_level) if n else math.nan
    odds = float(shown.log_odds[at - 1]) if at else (float(shown.log_odds[-1]) if n else math.nan)
    return Mastery(
        verdict=verdict,
        probability=float(special.expit(odds)),
        decided_after=at or None,
        n_units=n,
        kappa=kappa,
        low=float(np.clip(kappa - half, -1, 1)),
        high=float(np.clip(kappa + half, -1, 1)),
        fail_at=float(fail_at),
        pass_at=float(pass_at),
        error=float(error),
        confidence_level=float(confidence_level),
        reason=_reason(n, kappa, sure=sure),
        by_code=_by_code(truth, given, codes),
    )


def evidence(truth: Flags, given: Flags, *, fail_at: float, pass_at: float) -> Evidence:
    """Return the evidence of the first 1, 2 … units; both arrays (units, codes)."""
    n, middle = len(truth), (fail_at + pass_at) / 2
    kappa, spread = np.full(n, np.nan), np.full(n, np.nan)
    apart = (truth != given).sum(axis=1).astype(np.float64)
    for m in range(2, n + 1):
        g, x = truth[:m], given[:m]
        p, q = g.mean(axis=0), x.mean(axis=0)
        chance = float((p * (1 - q) + q * (1 - p)).sum())
        if chance == 0:
            continue
        ratio = apart[:m].mean() / chance
        kappa[m - 1] = 1 - ratio
        influence = (apart[:m] - ratio * (g @ (1 - 2 * q) + x @ (1 - 2 * p))) / chance
        expected = _expected_variance(p, middle)
        observed = float(influence.var(ddof=1))
        variance = (_PRIOR_UNITS * expected + (m - 1) * observed) / (_PRIOR_UNITS + m - 1)
        spread[m - 1] = math.sqrt(variance)
    units = np.arange(1, n + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_odds = units / spread**2 * (pass_at - fail_at) * (kappa - middle)
    return Evidence(kappa, spread, log_odds)


def _expected_variance(shares: Floats, kappa: float) -> float:
    """Return the variance of a unit's disagreement over what chance gives, of a coder with this kappa who
    copies gold with that probability and else guesses at gold's shares."""
    chance = 2 * shares * (1 - shares)
    if not chance.sum():
        return 0.0
    wrong = (1 - kappa) * chance
    return float(_DEPENDENCE * (wrong * (1 - wrong)).sum() / chance.sum() ** 2)


def verdict_of(
    shown: Evidence, *, fail_at: float, pass_at: float, error: float, fail_within: int, pass_within: int
) -> tuple[str, int, bool]:
    """Return the first verdict, the number of units after which it fell (0: none), and whether the units can
    tell the two kappas apart."""
    bound = math.log((1 - error) / error)
    units = np.arange(1, len(shown.kappa) + 1)
    half, standard_error = (pass_at - fail_at) / 2, shown.spread / np.sqrt(units)
    odds = np.nan_to_num(shown.log_odds, nan=0.0, posinf=bound, neginf=-bound)
    passes = (odds >= bound) | ((units >= pass_within) & (standard_error * _PASSES_FROM <= half) & (odds > 0))
    late = (units >= min(fail_within, pass_within)) & (standard_error * _FAILS_FROM <= half)
    fails = (odds <= -bound) | (late & (odds < 0))
    decided = np.flatnonzero((passes | fails) & (units >= FEWEST))
    sure = bool(len(units) < min(fail_within, pass_within) or late[-1])
    if not len(decided):
        return "go on", 0, sure
    at = int(decided[0])
    return ("pass" if passes[at] else "fail"), at + 1, True


def _half_width(spread: float, n: int, error: float) -> float:
    """Return the half width of the confidence sequence, at its narrowest after 40 units."""
    wide = -2 * math.log(error)
    scale = n * (wide + math.log(wide) + 1) / 40
    return spread / math.sqrt(n) * math.sqrt(2 * (scale + 1) / scale * math.log(math.sqrt(scale + 1) / error))


def _reason(n: int, kappa: float, *, sure: bool) -> str | None:
    if not n:
        return Reason.NO_COMPARISON
    if math.isnan(kappa):
        return Reason.NO_VARIATION if n > 1 else Reason.FEW_UNITS
    return None if n >= FEWEST and sure else Reason.FEW_UNITS


def _of_one(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions of one coder."""
    if name == "gold" and isinstance(frame, pd.DataFrame) and "coder" not in frame.columns:
        frame = frame.assign(coder="gold")
    checked = without_models(DECISIONS.check(frame), function="mastery")
    coders = checked["coder"].unique()
    if len(coders) > 1:
        raise TableError(
            f"{name}: expected the decisions of one coder – found those of {first_three(coders)} – choose "
            f"one: {name}[{name}['coder'] == {coders[0]!r}]."
        )
    return checked


def _refuse_incomparable(theirs: pd.DataFrame, own: pd.DataFrame) -> None:
    """Refuse decisions, or gold, that lack what was absent of the codes that both have."""
    name = str(next(iter(theirs["coder"]), "coder"))
    standard = "gold" if name != "gold" else "gold decisions"
    both = pd.concat([theirs.assign(coder=name), own.assign(coder=standard)])
    shared = set(theirs["code"]) & set(own["code"])
    both = both[both["code"].isin(shared)]
    refuse_applied_only(both, frame_name="decisions and gold")
    # Of a record, that decisions run against gold is what a training finds out, and no slip of a sheet.
    if unstated(theirs).any():
        say_what_shows(both, function="mastery", named=both["coder"].unique())


def _matched(
    theirs: pd.DataFrame, own: pd.DataFrame, order: Sequence[str] | None
) -> tuple[Flags, Flags, list[str]]:
    """Return gold and the coder's decisions (units, codes) on units with all codes of gold, in order."""
    codes = [code for code in own["code"].unique() if code in set(theirs["code"])]
    if not codes and len(theirs) and len(own):
        raise TableError(
            f"gold: expected codes that the coder decided on – found {first_three(own['code'].unique())} – "
            "pass decisions under the same codebook."
        )
    ids = list(dict.fromkeys(theirs["unit_id"])) if order is None else _ordered(order, theirs)
    if not codes:
        return np.zeros((0, 0), dtype=bool), np.zeros((0, 0), dtype=bool), list(own["code"].unique())
    wide = [
        frame.pivot_table(index="unit_id", columns="code", values="applied", aggfunc="first").reindex(
            index=ids, columns=codes
        )
        for frame in (own, theirs)
    ]
    whole = wide[0].notna().all(axis=1) & wide[1].notna().all(axis=1)
    truth, given = (one[whole].to_numpy(dtype=np.bool_) for one in wide)
    return truth, given, codes


def _ordered(order: Sequence[str], theirs: pd.DataFrame) -> list[str]:
    ids = list(dict.fromkeys(map(str, order)))
    missing = sorted(set(theirs["unit_id"]) - set(ids))
    if missing:
        raise ArgumentError(
            f"mastery: expected every unit of `decisions` in `order` – found none of {first_three(missing)} "
            "– name all of them as they were finished, or leave `order` out."
        )
    return ids


def _by_code(truth: Flags, given: Flags, codes: Iterable[str]) -> pd.DataFrame:
    rows = []
    for at, code in enumerate(codes):
        g, x = (truth[:, at], given[:, at]) if truth.size else (np.zeros(0, bool), np.zeros(0, bool))
        p, q = (float(g.mean()), float(x.mean())) if len(g) else (0.0, 0.0)
        chance = p * (1 - q) + q * (1 - p)
        kappa = 1 - float((g != x).mean()) / chance if chance else math.nan
        counts = (int((g & x).sum()), int((g & ~x).sum()), int((~g & x).sum()))
        rows.append((code, len(g), int(g.sum()), *counts, kappa))
    return GOLD.frame(rows)


def _check(fail_at: float, pass_at: float, error: float, confidence_level: float) -> None:
    for name, value, fits, allowed in (
        ("fail_at", fail_at, 0 <= fail_at < pass_at, "from 0 and below pass_at"),
        ("pass_at", pass_at, pass_at < 1, "below 1"),
        ("error", error, 0 < error < 0.5, "above 0 and below .5"),
        ("confidence_level", confidence_level, 0 < confidence_level < 1, "between 0 and 1"),
    ):
        if not fits:
            raise ArgumentError(f"mastery: expected {name} {allowed} – found {value!r} – correct it.")

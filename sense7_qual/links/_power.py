"""Before the study: how many participants a link of a given size takes, by simulation."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual.errors import ArgumentError
from sense7_qual.links._resample import rank_biserial
from sense7_qual.links._results import POWER

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

_LOGISTIC: Final = math.pi**2 / 3  # variance of the standard logistic distribution
_CELLS: Final = 4_000_000
_EVEN: Final = (0.2, 0.2, 0.2, 0.2, 0.2)


@POWER.returns
def power(
    *,
    participants: int | Sequence[int] | None = None,
    target: float | None = None,
    units_per_participant: float,
    prevalence: float,
    icc: float,
    rank_biserial: float | None = None,
    odds_ratio: float | None = None,
    code_icc: float = 0.3,
    between: float = 0.0,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    agreement: float | None = None,
    rating_shares: Sequence[float] = _EVEN,
    significance: float = 0.05,
    n_simulations: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate by simulation the power of `code_to_rating` to find a link of a given size.

    Give numbers of participants, or the power wanted (`target`) to search for the number needed.

    Parameters
    ----------
    participants : int, or sequence of int, optional
        Numbers of participants with coded texts, 2 to 20,000 each.
    target : float, optional
        Instead of `participants`: the power wanted, above 0 and below 1; .80 is customary.
    units_per_participant : float
        Mean number of rated and coded texts of a participant, 1 or more: one plus a Poisson number.
    prevalence : float
        Share of the texts to which the code truly applies, above 0 and below 1.
    icc : float
        Intraclass correlation of the ratings, 0 or more and below 1: the share of the latent rating's
        variance that lies between participants, apart from the code.
    rank_biserial : float, optional
        The true size of the link, over all texts and apart from `between`: above −1 and below 1. The
        rank-biserial correlation is then what is tested. 0 gives the test's rate of false positives.
    odds_ratio : float, optional
        Instead of `rank_biserial`: of a rating above any level, for a text with the code against a text of
        the same participant without it, above 0. The odds ratio of own texts is then what is tested.
        1 gives the test's rate of false positives.
    code_icc : float
        How much participants differ in how often the code applies to their texts, 0 or more and below 1:
        the intraclass correlation of the code.
    between : float
        How strongly participants who use the code more rate higher throughout, above −1 and below 1: the
        correlation of the participants' use of the code (in normal scores) with their latent rating.
    sensitivity, specificity : float
        Of the coder: the share of texts with the code that get it, and of those without it that do not.
    agreement : float, optional
        Instead of both: Krippendorff's alpha between two coders like this one, above 0, at most 1. They are
        assumed to apply the code as often as it is true.
    rating_shares : sequence of float
        Share of the ratings on each level, without the code; above 0, adding up to 1.
    significance : float
        A link is found if p is below it; above 0 and below 1.
    n_simulations : int
        Simulated studies per number of participants, 1 or more.
    seed : int
        The same seed simulates the same studies.

    Raises
    ------
    ArgumentError
        A number is out of its range; not exactly one of `participants` and `target`, or of `rank_biserial`
        and `odds_ratio`, is given; `agreement` comes with a sensitivity or specificity; or `target` comes
        with no link (rank_biserial 0, odds_ratio 1).

    Notes
    -----
    Ratings follow the cumulative-link mixed model, the participants' use of the code a beta distribution, and
    coders err at random. The p is that of one code; where several codes are tested, plan with a smaller
    `significance`. Real coders err less at random than that.

    With `odds_ratio`, texts are compared with the same participant's other texts, as `code_to_rating` does
    by default: degrees of freedom are the participants with both, less one, and fewer than six give no p. To
    be fast, the code less its participant's share is tested in a linear model of the ratings' ranks with an
    intercept for each participant, in place of the cumulative-link model. With `rank_biserial`, the
    rank-biserial correlation over its jackknife standard error is tested, as in `code_to_rating`: it compares
    participants as well, so that with `between` it finds differences that are not of own texts.

    For `agreement` α, coders with sensitivity 1 − (1 − √α)(1 − prevalence) and specificity
    1 − (1 − √α) · prevalence apply the code as often as it is true, and agree with each other by α.

    References
    ----------
    Arnold, Hogan, Colford & Hubbard (2011), Simulation methods to estimate design power: an overview for
    applied research, BMC Medical Research Methodology 11, 94.

    Examples
    --------
    >>> plan = power(participants=[40, 80], units_per_participant=6, prevalence=0.2, icc=0.4,
    ...     rank_biserial=0.25, agreement=0.7, n_simulations=200, seed=7)
    >>> plan["power"].is_monotonic_increasing, plan.loc[0, ["sensitivity", "specificity"]].round(3).tolist()
    (True, [0.869, 0.967])
    >>> tried = power(target=0.8, units_per_participant=6, prevalence=0.3, icc=0.4, rank_biserial=0.4,
    ...     n_simulations=200, seed=7)
    >>> 20 <= int(tried[tried["enough"]].iloc[0]["participants"]) <= 40
    True
    """
    check_arguments(power, locals())
    check_least(power, 1, n_simulations=n_simulations)
    study = _study(
        rank_biserial,
        odds_ratio,
        prevalence,
        units_per_participant,
        icc,
        code_icc,
        sensitivity,
        specificity,
        agreement,
        rating_shares,
        significance,
        between,
    )
    check_resampling("power", n_boot=n_simulations, confidence_level=1 - significance, seed=seed)
    if participants is None and target is not None:
        return POWER.frame(_until_enough(study, target, n_simulations, seed))
    if participants is None or target is not None:
        problem = "neither" if target is None else "both"
        raise ArgumentError(f"power: expected participants or target – found {problem} – give one.")
    chosen = list(participants) if isinstance(participants, Sequence | np.ndarray) else [participants]
    for n in chosen:
        _check_whole("participants", n)
    rows = [_row(study, int(n), n_simulations, seed) for n in chosen]
    return POWER.frame(rows).drop(columns="enough")


def _until_enough(study: _Study, target: float, n_simulations: int, seed: int) -> list[dict[str, object]]:
    """Return a row for each number of participants that was tried on the way to the target."""
    _check_share("target", target)
    if study.shift == 0:
        raise ArgumentError(
            "power: expected a link to be found – found a rank_biserial of 0, or an odds_ratio of 1 – "
            "give the smallest link that matters."
        )
    tried: dict[int, dict[str, object]] = {}

    def enough(n: int) -> bool:
        tried[n] = _row(study, n, n_simulations, seed)
        tried[n]["enough"] = bool(float(str(tried[n]["power"])) >= target)
        return bool(tried[n]["enough"])

    below, above = FEWEST_CLUSTERS, 2 * FEWEST_CLUSTERS
    while not enough(above) and above < _MOST_PARTICIPANTS:
        below, above = above, min(2 * above, _MOST_PARTICIPANTS)
    while tried[above]["enough"] and above - below > max(1, round(0.03 * above)):
        middle = (below + above) // 2
        below, above = (below, middle) if enough(middle) else (middle, above)
    return [tried[n] for n in sorted(tried)]


_MOST_PARTICIPANTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class _Study:
    """The population that studies are drawn from, and the test; `sd` is that of the participants' ratings."""

    shift: float
    sd: float
    thresholds: Floats
    prevalence: float
    code_icc: float
    units_per_participant: float
    sensitivity: float
    specificity: float
    significance: float
    between: float
    tests_within: bool

    @property
    def effect(self) -> float:
        """The rank-biserial correlation in truth."""
        return _effect_of(self.shift, self.sd, self.thresholds)

    @property
    def share_coded(self) -> float:
        """The share of texts that a coder gives the code."""
        return self.prevalence * self.sensitivity + (1 - self.prevalence) * (1 - self.specificity)


def _check_between(between: float, icc: float, code_icc: float) -> None:
    _check("between", between, lambda x: -1 < x < 1, "above −1 and below 1")
    if between and not (icc and code_icc):
        raise ArgumentError(
            f"power: expected participants who differ in rating and in use of the code – found between "
            f"{between}, icc {icc} and code_icc {code_icc} – give an icc and a code_icc above 0."
        )


def _study(
    rank_biserial: float | None,
    odds_ratio: float | None,
    prevalence: float,
    units_per_participant: float,
    icc: float,
    code_icc: float,
    sensitivity: float,
    specificity: float,
    agreement: float | None,
    rating_shares: Sequence[float],
    significance: float,
    between: float = 0.0,
) -> _Study:
    _check_share("prevalence", prevalence)
    _check_share("significance", significance)
    for name, value in (("icc", icc), ("code_icc", code_icc)):
        _check(name, value, lambda x: 0 <= x < 1, "0 or more and below 1")
    _check_between(between, icc, code_icc)
    _check("units_per_participant", units_per_participant, lambda x: 1 <= x <= 1000, "1 to 1000")
    if agreement is not None:
        if (sensitivity, specificity) != (1, 1):
            raise ArgumentError(
                "power: expected agreement, or sensitivity and specificity – found both – give one."
            )
        _check("agreement", agreement, lambda x: 0 < x <= 1, "above 0 and at most 1")
        lost = 1 - math.sqrt(agreement)
        sensitivity, specificity = 1 - lost * (1 - prevalence), 1 - lost * prevalence
    for name, value in (("sensitivity", sensitivity), ("specificity", specificity)):
        _check(name, value, lambda x: 0 <= x <= 1, "0 to 1")
    if sensitivity + specificity <= 1:
        raise ArgumentError(
            f"power: expected coding better than chance – found sensitivity {sensitivity} and "
            f"specificity {specificity} – they must add up to more than 1."
        )
    sd = math.sqrt(icc / (1 - icc) * _LOGISTIC)
    thresholds = _thresholds(rating_shares, sd)
    return _Study(
        shift=_shift(rank_biserial, odds_ratio, sd, thresholds),
        sd=sd,
        thresholds=thresholds,
        prevalence=float(prevalence),
        code_icc=float(code_icc),
        units_per_participant=float(units_per_participant),
        sensitivity=float(sensitivity),
        specificity=float(specificity),
        significance=float(significance),
        between=float(between),
        tests_within=odds_ratio is not None,
    )


def _check(name: str, value: object, fits: Callable[[float], bool], allowed: str) -> None:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not fits(float(str(value))):
        raise ArgumentError(f"power: expected {name} {allowed} – found {value!r} – correct it.")


def _check_share(name: str, value: object) -> None:
    _check(name, value, lambda x: 0 < x < 1, "above 0 and below 1")


def _check_whole(name: str, value: object) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or not 2 <= int(str(value)) <= _MOST_PARTICIPANTS:
        raise ArgumentError(
            f"power: expected {name} to be a whole number from 2 to {_MOST_PARTICIPANTS} – found "
            f"{value!r} – correct it."
        )


# The population


def _nodes() -> tuple[Floats, Floats]:
    """Return nodes and weights that integrate over a standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return nodes, weights / weights.sum()


def _below(thresholds: Floats, shift: float, sd: float) -> Floats:
    """Return the share of ratings at or below each threshold, over all participants."""
    from scipy import special

    nodes, weights = _nodes()
    return np.asarray(special.expit(thresholds[:, None] - shift - sd * nodes) @ weights)


def _thresholds(rating_shares: Sequence[float], sd: float) -> Floats:
    from scipy import optimize

    shares = np.asarray(rating_shares, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-6:
        raise ArgumentError(
            f"power: expected the share of each rating level, two or more, above 0 and adding up to 1 – "
            f"found {rating_shares!r} – leave out levels that do not occur."
        )
    bound = 50 + 10 * sd
    return np.array(
        [
            optimize.brentq(
                lambda at, share=share: float(_below(np.array([at]), 0.0, sd)[0]) - share, -bound, bound
            )
            for share in np.cumsum(shares / shares.sum())[:-1]
        ]
    )


def _effect_of(shift: float, sd: float, thresholds: Floats) -> float:
    """Return the rank-biserial correlation over all texts from the shift of the latent rating."""
    shares = [np.diff(_below(thresholds, by, sd), prepend=0.0, append=1.0) for by in (shift, 0.0)]
    return float(rank_biserial(shares[0], shares[1]))


def _shift(effect: float | None, odds_ratio: float | None, sd: float, thresholds: Floats) -> float:
    """Return the log odds ratio of the link."""
    from scipy import optimize

    if (effect is None) == (odds_ratio is None):
        problem = "neither" if effect is None else "both"
        raise ArgumentError(f"power: expected rank_biserial or odds_ratio – found {problem} – give one.")
    if odds_ratio is not None:
        _check("odds_ratio", odds_ratio, lambda x: 0 < x <= 1000, "above 0 and at most 1000")
        return math.log(odds_ratio)
    _check("rank_biserial", effect, lambda x: -1 < x < 1, "above −1 and below 1")
    target, bound = float(str(effect)), 50 + 10 * sd
    low, high = (_effect_of(by, sd, thresholds) for by in (-bound, bound))
    if not low < target < high:
        raise ArgumentError(
            f"power: expected a rank_biserial that these rating_shares allow, above {low:.2f} and below "
            f"{high:.2f} – found {effect!r} – plan a smaller link."
        )
    if target == 0:
        return 0.0
    return float(optimize.brentq(lambda by: _effect_of(by, sd, thresholds) - target, -bound, bound))


# Studies


def _row(study: _Study, participants: int, n_simulations: int, seed: int) -> dict[str, object]:
    rng = np.random.default_rng([seed, participants])
    levels = len(study.thresholds) + 1
    size = max(1, int(_CELLS // (participants * max(study.units_per_participant * 3, 2 * levels))))
    p, effects, n_both = [], [], []
    for start in range(0, n_simulations, size):
        counts = _simulated(study, participants, min(size, n_simulations - start), rng)
        effect, p_of_rank = _tested(counts)
        effects.append(effect)
        n_both.append(_n_both(counts))
        p.append(_tested_within(counts) if study.tests_within else p_of_rank)
    tested = np.concatenate(p)
    share = float((tested < study.significance).mean())
    observed = np.concatenate(effects)
    units = participants * study.units_per_participant
    return {
        "participants": participants,
        "units": units,
        "n_with": units * study.share_coded,
        "n_clusters_both": float(np.median(np.concatenate(n_both))),
        "power": share,
        "standard_error": math.sqrt(share * (1 - share) / n_simulations),
        "undefined": float(np.isnan(tested).mean()),
        "odds_ratio": math.exp(study.shift),
        "rank_biserial": study.effect,
        "observed": float(np.nanmean(observed)) if not np.isnan(observed).all() else np.nan,
        "sensitivity": study.sensitivity,
        "specificity": study.specificity,
        "significance": study.significance,
        "n_simulations": n_simulations,
        "seed": seed,
    }


def _simulated(study: _Study, participants: int, studies: int, rng: np.random.Generator) -> Floats:
    """Return counts of texts (studies, participants, with and without the code, rating levels)."""
    n_people, levels = studies * participants, len(study.thresholds) + 1
    if study.code_icc > 0:
        strength = 1 / study.code_icc - 1
        uses = rng.beta(study.prevalence * strength, (1 - study.prevalence) * strength, n_people)
    else:
        uses = np.full(n_people, study.prevalence)
    person = np.repeat(np.arange(n_people), 1 + rng.poisson(study.units_per_participant - 1, n_people))
    true = rng.random(len(person)) < uses[person]
    coded = rng.random(len(person)) < np.where(true, study.sensitivity, 1 - study.specificity)
    latent = _intercepts(study, uses, rng)[person] + rng.logistic(size=len(person))
    level = np.searchsorted(study.thresholds, latent + study.shift * true)
    cell = (2 * person + ~coded) * levels + level
    counts = np.bincount(cell, minlength=n_people * 2 * levels)
    return counts.reshape(studies, participants, 2, levels).astype(np.float64)


def _intercepts(study: _Study, uses: Floats, rng: np.random.Generator) -> Floats:
    """Return the participants' latent ratings, which go with their use of the code as `between` says."""
    from scipy import special

    apart = rng.standard_normal(len(uses))
    if study.between == 0:
        return np.asarray(study.sd * apart)
    strength = 1 / study.code_icc - 1
    rank = special.betainc(study.prevalence * strength, (1 - study.prevalence) * strength, uses)
    use = special.ndtri(np.clip(rank, 1e-9, 1 - 1e-9))
    return np.asarray(study.sd * (study.between * use + math.sqrt(1 - study.between**2) * apart))


def _n_both(counts: Floats) -> Integers:
    """Return each study's number of participants who have texts with the code and texts without it."""
    return np.asarray((counts.sum(axis=3) > 0).all(axis=2).sum(axis=1), dtype=np.int64)


def _tested_within(counts: Floats) -> Floats:
    """Return the p of each study's own-text comparison; NaN with fewer than six participants who have both.

    The ratings' ranks are regressed on the code, both less their participant's mean.
    """
    from scipy import special

    of_level = counts.sum(axis=(1, 2))
    rank = np.cumsum(of_level, axis=1) - of_level / 2
    rank = rank - of_level.sum(axis=1, keepdims=True) / 2
    n, n_with = counts.sum(axis=(2, 3)), counts[:, :, 0].sum(axis=2)
    by_person = counts.sum(axis=2)
    ranks = np.einsum("spl,sl->sp", by_person, rank)
    ranks_with = np.einsum("spl,sl->sp", counts[:, :, 0], rank)
    squares = np.einsum("spl,sl->s", by_person, rank**2) - (ranks**2 / n).sum(axis=1)
    of_code = (n_with * (n - n_with) / n).sum(axis=1)
    product = (ranks_with - n_with * ranks / n).sum(axis=1)
    n_both = _n_both(counts)
    left = n.sum(axis=1) - counts.shape[1] - 1
    usable = (n_both >= FEWEST_CLUSTERS) & (left > 0)
    p = np.full(len(counts), np.nan)
    slope = product[usable] / of_code[usable]
    variance = (squares[usable] - slope * product[usable]) / left[usable] / of_code[usable]
    t = np.divide(
        slope, np.sqrt(np.maximum(variance, 0)), out=np.full(len(slope), np.nan), where=variance > 1e-12
    )
    p[usable] = 2 * special.stdtr(n_both[usable] - 1, -np.abs(t))
    return p


def _tested(counts: Floats) -> tuple[Floats, Floats]:
    """Return the effect of each study and its p, NaN where `code_to_rating` gives none."""
    from scipy import special

    total = counts.sum(axis=1)
    effect = rank_biserial(total[:, 0], total[:, 1])
    without = total[:, None] - counts
    left_out = rank_biserial(without[:, :, 0], without[:, :, 1])
    n = counts.shape[1]
    around = left_out - left_out.mean(axis=1, keepdims=True)
    error = np.sqrt((n - 1) / n * np.square(around).sum(axis=1))
    fewest = (counts.sum(axis=3) > 0).sum(axis=1).min(axis=1)
    usable = (fewest >= FEWEST_CLUSTERS) & (np.abs(effect) < 1) & (error > 1e-12)
    p = np.full(len(counts), np.nan)
    p[usable] = 2 * special.stdtr(fewest[usable] - 1, -np.abs(effect[usable]) / error[usable])
    return effect, p

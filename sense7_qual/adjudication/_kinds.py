"""The mixture behind `profile`: texts read alike, ambiguous texts, and texts that a coder reads otherwise.

Each unit × code is in one class: all coders read it alike, as absent or as present; or it is ambiguous, and
each reading is as likely, of each coder and again when they decide again; or some coders read it otherwise
than the others, and do so again. A decision is the coder's reading, turned round by a slip. Drawn by Gibbs
sampling; units × codes that were decided on alike form one row, so that sums run over few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import count, product
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["KINDS", "Drawn", "Rows", "draw", "end_errors"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

KINDS: Final = ("slip", "ambiguous_text", "stance")
_SLIP, _AMBIGUOUS, _STANCE = range(3)

_BURN_IN: Final = 300
_BATCHES, _MOST_TIMES, _SMALL_ERROR = 8, 8, 0.02
"""The error of an interval's end is seen from so many parts of the draws. While it is not small, as many
draws are added as were asked for, up to so many times."""
_READ_ALIKE, _READ_OTHERWISE = 1.0, 0.05
"""Pseudo-units of each code: for absent and for present, and for all stances together. So few of these,
because most coders have no stance on most codes: what is spread is held to be slips."""
_MEANS, _STRENGTHS = np.geomspace(5e-4, 0.3, 24), np.array([10.0, 50.0, 250.0])
"""What the rates of slips, of all coders, and of ambiguous texts, of all codes, may be on average, each step
as likely as the next; and how much alike they are, as so many decisions would tell."""
_MOST_SLIPS: Final = 0.4
_MOST_CODERS: Final = 5
"""Of so many coders any group may share a stance; of more, which would be too many groups, one alone."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Ways of deciding on a unit × code, first and again; there are `n` (rows,) of each.

    `code` (rows,) numbers the codes from 0; `applied` and `absent` (rows, coders) count a coder's decisions,
    0 to 2; `counted` (rows,) says where first decisions differ, and no person called it
    something else; `possible` (rows, 3) which of `KINDS` it can
    be after what a person said of it.
    """

    code: Integers
    n: Integers
    applied: Floats
    absent: Floats
    counted: Truths
    possible: Truths


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is probable: of each row the kinds of its disagreement (rows, 3), and how large a share of the
    coders read the code there (rows,); and by draw how many of the
    counted are of each kind (draws, codes, 3), and how often coders slip (draws, coders, 2): apply
    what they do not read, and leave out what they do."""

    probability: Floats
    read: Floats
    counts: Floats
    slips: Floats


def draw(rows: Rows, *, shared: bool, n_draws: int, seed: int, level: float) -> Drawn:
    """Draw classes and rates from their posterior; with `shared`, a stance may be that of several coders.

    Draws are added until chance moves no end of the intervals of the shares noticeably (`end_errors`).
    """
    rng = np.random.default_rng(seed)
    readings = _readings(rows.applied.shape[1], shared=shared)
    kind = _kind(rows, readings)
    closed = ~np.take_along_axis(rows.possible, kind, axis=1)
    in_code = np.equal.outer(np.arange(int(rows.code.max()) + 1), rows.code).astype(np.float64)
    share = np.tile(np.append(_pseudo(readings), 0.1), (len(in_code), 1))
    slips = np.full((rows.applied.shape[1], 2), 0.02)
    of_kind = [rows.counted[:, None] & (kind == each) for each in range(len(KINDS))]
    chances = np.zeros(kind.shape)
    counts: list[Floats] = []
    rates: list[Floats] = []
    for step in count(-_BURN_IN):
        if step > 0 and step % n_draws == 0 and _enough(counts, step // n_draws, level):
            break
        chance = _chances(rows, readings, share, slips, closed)
        drawn = rng.multinomial(rows.n, chance).astype(np.float64)
        share = _class_shares(in_code @ drawn, readings, rng)
        slips = _slips(rows, readings, drawn, rng)
        if step >= 0:
            chances += chance
            counts.append(in_code @ np.stack([(drawn * each).sum(axis=1) for each in of_kind], axis=1))
            rates.append(slips)
    probability = np.stack([(chances * (kind == each)).sum(axis=1) for each in range(len(KINDS))], axis=1)
    read = chances @ np.append(readings.mean(axis=1), 0.5)
    return Drawn(probability / len(counts), read / len(counts), np.stack(counts), np.stack(rates))


def _enough(counts: list[Floats], times: int, level: float) -> bool:
    """Return True if no end of the shares of all disagreements would move noticeably with other draws."""
    of_kind = np.stack(counts).sum(axis=1)
    if times == _MOST_TIMES or len(counts) < _BATCHES or not of_kind[0].any():
        return True
    return bool((end_errors(of_kind / of_kind[0].sum(), level) < _SMALL_ERROR).all())


def end_errors(draws: Floats, level: float) -> Floats:
    """Return the Monte-Carlo standard errors of the ends of intervals (2, …) from draws (n_draws, …).

    From batches (Flegal & Jones 2010), since each draw is like the one before it; NaN for too few draws.
    """
    if len(draws) < _BATCHES:
        return np.full((2, *draws.shape[1:]), np.nan)
    tails = [(1 - level) / 2, (1 + level) / 2]
    ends = np.stack([np.quantile(batch, tails, axis=0) for batch in np.array_split(draws, _BATCHES)])
    return np.asarray(ends.std(axis=0, ddof=1) / np.sqrt(_BATCHES))


def _readings(n_coders: int, *, shared: bool) -> Floats:
    """Return what coders read (classes, coders): all absent, all present, and then where they differ."""
    if shared and n_coders <= _MOST_CODERS:
        every = np.array(list(product((0.0, 1.0), repeat=n_coders)))
        differing = every[1:-1]
    else:
        alone = np.eye(n_coders)
        differing = np.unique(np.concatenate([alone, 1 - alone]), axis=0)
    return np.concatenate([np.zeros((1, n_coders)), np.ones((1, n_coders)), differing])


def _kind(rows: Rows, readings: Floats) -> Integers:
    """Return of which kind a disagreement on a row is, were it of a class (rows, classes + 1)."""
    decided = ((rows.applied + rows.absent) > 0).astype(np.float64)
    differ = (decided @ readings.T > 0) & (decided @ (1 - readings).T > 0)
    kind = np.where(differ, _STANCE, _SLIP)
    return np.column_stack([kind, np.full(len(rows.n), _AMBIGUOUS)]).astype(np.int64)


def _chances(rows: Rows, readings: Floats, share: Floats, slips: Floats, closed: Truths) -> Floats:
    """Return the probability of each class for each row, given the rates."""
    applied = np.where(readings == 1, 1 - slips[:, 1], slips[:, 0])
    read = rows.applied @ np.log(applied).T + rows.absent @ np.log1p(-applied).T
    either = (rows.applied + rows.absent).sum(axis=1) * np.log(0.5)
    log = np.column_stack([read, either]) + np.log(np.maximum(share, 1e-300))[rows.code]
    log[closed] = -np.inf
    chance = np.exp(log - log.max(axis=1, keepdims=True))
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))


def _pseudo(readings: Floats) -> Floats:
    """Return the pseudo-units of each class that is not ambiguous."""
    pseudo = np.full(len(readings), _READ_OTHERWISE / max(len(readings) - 2, 1))
    pseudo[:2] = _READ_ALIKE
    return pseudo


def _class_shares(units: Floats, readings: Floats, rng: np.random.Generator) -> Floats:
    """Draw how large a share of each code's units each class has, given the units (codes, classes)."""
    weights = rng.standard_gamma(_pseudo(readings) + units[:, :-1])
    clear = weights / weights.sum(axis=1, keepdims=True)
    ambiguous = _rates(units[:, -1], units[:, :-1].sum(axis=1), rng)[:, None]
    return np.concatenate([clear * (1 - ambiguous), ambiguous], axis=1)


def _slips(rows: Rows, readings: Floats, drawn: Floats, rng: np.random.Generator) -> Floats:
    """Draw how often each coder slips in both directions, given the classes (coders, 2)."""
    present, absent = drawn[:, :-1] @ readings, drawn[:, :-1] @ (1 - readings)
    added = _rates((absent * rows.applied).sum(axis=0), (absent * rows.absent).sum(axis=0), rng)
    missed = _rates((present * rows.absent).sum(axis=0), (present * rows.applied).sum(axis=0), rng)
    return np.minimum(np.stack([added, missed], axis=1), _MOST_SLIPS)


def _rates(yes: Floats, no: Floats, rng: np.random.Generator) -> Floats:
    """Draw rates (n,) that are alike as far as these counts let them be: first what they have in common."""
    from scipy import special

    a, b, constant = _candidates()
    log = special.betaln(yes[:, None] + a, no[:, None] + b).sum(axis=0) - len(yes) * constant
    up_to = np.exp(log - log.max()).cumsum()
    chosen = np.searchsorted(up_to, rng.random() * up_to[-1])
    return np.asarray(rng.beta(yes + a[chosen], no + b[chosen]).clip(1e-6, 1 - 1e-6))


@cache
def _candidates() -> tuple[Floats, Floats, Floats]:
    """Return the beta distributions that rates may come from: both parameters, and the log beta function."""
    from scipy import special

    mean, strength = (axis.ravel() for axis in np.meshgrid(_MEANS, _STRENGTHS))
    a, b = mean * strength, (1 - mean) * strength
    return a, b, np.asarray(special.betaln(a, b))

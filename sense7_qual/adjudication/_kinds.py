"""What `profile` is computed from: evidence on each disagreement, a mixture of kinds, each coder's view.

Evidence tells kinds of disagreement apart: decisions made again, many coders on a text, reasons given.

In the mixture each unit × code is in one class: all coders read it alike, as absent or as present; or it is
ambiguous, and each reading is as likely, for each coder and again when they decide again; or some coders read
it otherwise than the others, and do so again. A decision is the coder's reading, reversed by a slip. It is
drawn by Gibbs sampling; units × codes that were decided on alike form one row, so that sums run over few.

A coder's view is how often they apply a code, find it and leave it out, compared with the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import count, product
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import codings
from sense7_qual._bootstrap import FEWEST_CLUSTERS, paired_interval, share_interval
from sense7_qual._reasons import Reason
from sense7_qual.adjudication._results import CODERS
from sense7_qual.errors import TableError

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
    """Return the readings of coders (classes, coders): all absent, all present, then those that differ."""
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


_CHUNK: Final = 50


def coder_views(
    own: pd.DataFrame,
    ruled: pd.DataFrame,
    clusters: pd.Series,
    *,
    n_boot: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Return one row per coder × code; `ruled` as `overruled` gives it, `clusters` numbers by unit_id."""
    keys = own[["coder", "code"]].drop_duplicates()
    keys = keys.assign(order=pd.factorize(keys["code"])[0]).sort_values(["coder", "order"], kind="stable")
    against = against_others(own)
    place = pd.MultiIndex.from_frame(keys[["coder", "code"]])
    at = place.get_indexer(pd.MultiIndex.from_frame(against[["coder", "code"]]))
    cluster = clusters.loc[against["unit_id"]].to_numpy(dtype=np.int64)
    n_clusters = int(clusters.max()) + 1 if len(clusters) else 0
    cells = np.zeros((n_clusters, len(keys), 4))
    np.add.at(
        cells, (cluster, at, 2 * (1 - against["others"]) + (against["others"] != against["applied"])), 1
    )
    resampled = _resampled(cells, n_boot, seed)
    tested = max(1, int(((cells.sum(axis=2) > 0).sum(axis=0) >= FEWEST_CLUSTERS).sum()))
    rows = [_view(cells[:, i], resampled[:, i], confidence_level, tested) for i in range(len(keys))]
    counts = ruled.groupby(["coder", "code"])["overruled"].agg(n_ruled="size", n_overruled="sum")
    frame = keys[["coder", "code"]].reset_index(drop=True).join(pd.DataFrame(rows))
    frame = frame.merge(counts.reset_index(), how="left", on=["coder", "code"])
    frame[["n_ruled", "n_overruled"]] = frame[["n_ruled", "n_overruled"]].fillna(0)
    return CODERS.frame(frame)


def against_others(own: pd.DataFrame) -> pd.DataFrame:
    """Return each decision with that of most of the other coders; ties of the others are left out."""
    tally = codings.tally(own)
    both = own.merge(tally, on=["unit_id", "code"])
    applied = both["applied"].astype("int64")
    twice = 2 * (both["n_applied"] - applied) - (both["n_coders"] - 1)
    is_clear = (both["n_coders"] >= 2) & (twice != 0)
    both = both.assign(applied=applied, others=(twice > 0).astype("int64"))
    return both.loc[is_clear, ["unit_id", "coder", "code", "applied", "others"]]


def _resampled(cells: Floats, n_boot: int, seed: int) -> Floats:
    """Return the sums of resampled clusters (n_boot, coders × codes, 4)."""
    n_clusters = len(cells)
    if n_clusters < FEWEST_CLUSTERS:
        return np.zeros((0, *cells.shape[1:]))
    rng, flat = np.random.default_rng(seed), cells.reshape(n_clusters, -1)
    parts = []
    for start in range(0, n_boot, _CHUNK):
        size = min(_CHUNK, n_boot - start)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=size)
        parts.append(drawn @ flat)
    return np.concatenate(parts).reshape(n_boot, *cells.shape[1:])


def _view(cells: Floats, resampled: Floats, level: float, tested: int) -> dict[str, object]:
    """Return the numbers of a coder on a code from its counts (clusters, 4), in the order hit, missed,
    absent alike, added, and their resampled sums (n_boot, 4)."""
    hit, missed, alike, added = sums = cells.sum(axis=0)
    n = sums.sum()
    view: dict[str, object] = {"n_units": n, "n_present": hit + missed, "n_absent": alike + added}
    if not n:
        return view | {"reason": Reason.NO_PAIRABLE_UNITS}
    view |= {
        "prevalence": (hit + added) / n,
        "others": (hit + missed) / n,
        "difference": (added - missed) / n,
    }
    filled = (cells.sum(axis=1) > 0).sum()
    if filled >= FEWEST_CLUSTERS:
        spread = _variance(resampled[:, 3] - resampled[:, 1], resampled.sum(axis=1))
        paired = (added / n, missed / n, spread, n, int(filled))
        low, high = paired_interval(*paired, level)
        surely = paired_interval(*paired, 1 - (1 - level) / tested)
        view |= {"difference_low": low, "difference_high": high}
        view["leans"] = "more" if surely[0] > 0 else "less" if surely[1] < 0 else None
    few = filled < FEWEST_CLUSTERS
    for name, right, wrong in (("sensitivity", 0, 1), ("specificity", 2, 3)):
        n_of, whole = sums[right] + sums[wrong], resampled[:, [right, wrong]].sum(axis=1)
        if n_of:
            view[name] = sums[right] / n_of
        having = int((cells[:, [right, wrong]].sum(axis=1) > 0).sum())
        few |= having < FEWEST_CLUSTERS
        if having >= FEWEST_CLUSTERS:
            spread = _variance(resampled[:, right], whole)
            ends = share_interval(sums[right] / n_of, spread, n_of, having, level)
            view[f"{name}_low"], view[f"{name}_high"] = ends
    return view | ({"reason": Reason.FEW_CLUSTERS} if few else {})


def _variance(part: Floats, whole: Floats) -> float:
    """Return the variance of a share over resamples, of those with any units."""
    filled = whole > 0
    return float(np.var(part[filled] / whole[filled]))


_FEWEST_AGAIN: Final = 20
"""Texts that a coder must have decided on again before their disagreements are told."""
_MANY_CODERS: Final = 4
"""Coders on one text from which an ambiguous one looks otherwise than one coder's slip or stance."""
_FEWEST_BY_MANY: Final = 50
"""Texts of so many coders before ambiguous ones are told without repeats."""

_KEY: Final = ["unit_id", "coder", "code"]
_CELL: Final = ["unit_id", "code"]
_SAYS_ANY, _SAYS_SLIP, _SAYS_AMBIGUOUS, _SAYS_NO_SLIP = range(4)
_POSSIBLE: Final = np.array(
    [[True, True, True], [True, False, False], [False, True, False], [False, True, True]]
)
"""Which kinds a disagreement can be of (slip, ambiguous text, stance), after what a person said of it."""
_AFTER: Final = {
    "slip": _SAYS_SLIP,
    "ambiguous_text": _SAYS_AMBIGUOUS,
    "unclear_rule": _SAYS_NO_SLIP,
    "missing_code": _SAYS_NO_SLIP,
    "different_reading": _SAYS_NO_SLIP,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows of the model, and of each unit × code (`cells`: unit_id, code, row, disputed) which
    is its own.

    `repeats` says whether the coders (in the rows' order) decided again; else only ambiguous texts are told.
    """

    repeats: bool
    coders: list[str] = field(repr=False)
    codes: list[str] = field(repr=False)
    rows: Rows = field(repr=False)
    cells: pd.DataFrame = field(repr=False)


def made_again(own: pd.DataFrame, repeats: pd.DataFrame) -> pd.DataFrame:
    """Return the second decisions of coders on what they decided on before: the columns of `own`."""
    both = own[[*_KEY, "applied"]].merge(repeats[[*_KEY, "applied"]], on=_KEY, suffixes=("_first", ""))
    if len(repeats) and both.empty:
        raise TableError(
            f"repeats: expected decisions that coders made again – found {len(repeats)}, none of them by the "
            "coder of a decision on the same unit and code – pass the decisions of another round, such as "
            'store.decisions(round="again"), with the same units and coders.'
        )
    if len(both) >= 50 and (both["applied_first"] == both["applied"]).all():
        warnings.warn(
            f"repeats: none of {len(both)} decisions differs from the first. If they are the same decisions, "
            "no slip is found: store.decisions() has the last round's, so name a round for both.",
            RuntimeWarning,
            stacklevel=3,
        )
    return both[[*_KEY, "applied"]]


def evidence(
    own: pd.DataFrame, again: pd.DataFrame, reasons: Mapping[tuple[str, str], str]
) -> Evidence | None:
    """Collect the evidence on kinds from decisions, repeated ones, and reasons by unit_id and code."""
    texts = again.groupby("coder")["unit_id"].nunique()
    steady = set(texts.index[texts >= _FEWEST_AGAIN])
    by_them = own[own["coder"].isin(steady)]
    if by_them.groupby(_CELL)["coder"].size().ge(2).any():
        return _evidence_of_code(by_them, again[again["coder"].isin(steady)], reasons, repeats=True)
    by_many = own[own.groupby(_CELL)["coder"].transform("size") >= _MANY_CODERS]
    if by_many["unit_id"].nunique() >= _FEWEST_BY_MANY:
        return _evidence_of_code(by_many, again.iloc[:0], reasons, repeats=False)
    return None


def _evidence_of_code(
    own: pd.DataFrame, again: pd.DataFrame, reasons: Mapping[tuple[str, str], str], *, repeats: bool
) -> Evidence:
    coders, codes = sorted(own["coder"].unique()), sorted(own["code"].unique())
    cells = own[_CELL].drop_duplicates(ignore_index=True)
    first = _counted(own, cells, coders)
    both = first + _counted(again, cells, coders)
    disputed = np.asarray((first > 0).any(axis=2).all(axis=0))
    keys = zip(cells["unit_id"], cells["code"], strict=True)
    possible = np.where(disputed, [_AFTER.get(reasons.get(key, ""), _SAYS_ANY) for key in keys], _SAYS_ANY)
    number = pd.Index(codes).get_indexer(pd.Index(cells["code"]))
    counted = disputed & (possible != _SAYS_NO_SLIP)
    table = np.column_stack([number, counted, possible, both[1], both[0]]).astype(np.int64)
    ways, row, n = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    rows = Rows(
        code=ways[:, 0],
        n=n,
        applied=ways[:, 3 : 3 + len(coders)].astype(np.float64),
        absent=ways[:, 3 + len(coders) :].astype(np.float64),
        counted=ways[:, 1].astype(np.bool_),
        possible=_POSSIBLE[ways[:, 2]],
    )
    cells = cells.assign(row=row.reshape(-1), disputed=disputed)
    return Evidence(repeats, list(map(str, coders)), list(map(str, codes)), rows, cells)


def _counted(decided: pd.DataFrame, cells: pd.DataFrame, coders: list[str]) -> Floats:
    """Count the decisions of each coder to leave out and to apply the code (2, cells, coders)."""
    at = pd.MultiIndex.from_frame(cells).get_indexer(pd.MultiIndex.from_frame(decided[_CELL]))
    times = np.zeros((2, len(cells), len(coders)))
    by = pd.Index(coders).get_indexer(pd.Index(decided["coder"]))
    np.add.at(times, (decided["applied"].to_numpy(dtype=np.int64), at, by), 1)
    return times

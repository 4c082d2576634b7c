"""Counts of decisions: how many coders applied each code to each unit, and what pairs of coders decided.

Computed decisions (`consensus`, `majority`, `pooled`) are not coders and are left out everywhere; so are
models, unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.agreement._what_shows import say_what_shows
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, is_model, labels_by_unit, people, without_models

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


def own_decisions(decisions: pd.DataFrame, *, function: str, with_models: bool = False) -> pd.DataFrame:
    """Return the checked decisions of people, without computed ones; models, if asked for, count as people.

    Models that are left out are named in a warning of `function`.
    """
    checked = DECISIONS.check(decisions)
    if not with_models:
        checked = without_models(checked, function=function)
    own = people(checked, with_models=with_models).reset_index(drop=True)
    say_what_shows(own, function=function)
    return own


def chosen_models(
    decisions: pd.DataFrame, models: str | Sequence[str] | None, *, function: str
) -> tuple[list[str], pd.DataFrame]:
    """Return the models that are compared with people, and the decisions of these models and of people.

    Without a choice they are all coders with the name of a model; with one, models that are not chosen are
    left out, which a warning of `function` says. Raises `TableError` where a chosen one has no decision, or
    there is no model.
    """
    return choose(people(DECISIONS.check(decisions), with_models=True), models, function=function)


def choose(
    own: pd.DataFrame, models: str | Sequence[str] | None, *, function: str
) -> tuple[list[str], pd.DataFrame]:
    """Return the same for rows of any coders."""
    named = [str(name) for name in own["coder"].unique() if is_model(str(name))]
    chosen = [models] if isinstance(models, str) else list(dict.fromkeys(named if models is None else models))
    if models is None and not named:
        raise TableError(
            "decisions: expected decisions of a model (a coder named 'model-…') – found none – name "
            "the coders that are models (models=…), or rename them: frames.as_models."
        )
    require_coders(chosen, own, what="model")
    return chosen, without_models(own, function=function, but=chosen).reset_index(drop=True)


def require_coders(coders: Iterable[str], decisions: pd.DataFrame, *, what: str) -> None:
    """Raise `TableError` where one of `coders` has no decision; `what` says what they are taken for."""
    known = [str(name) for name in decisions["coder"].unique()]
    unknown = [coder for coder in coders if coder not in known]
    if unknown:
        raise TableError(
            f"decisions: expected decisions of each {what} – found none of {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], known)}"
        )


def cluster_numbers(unit_ids: pd.Index, cluster: pd.Series | None) -> Integers:
    """Return the number of each unit's cluster; without clusters each unit is its own."""
    if cluster is None:
        return np.arange(len(unit_ids), dtype=np.int64)
    labels = labels_by_unit(cluster, unit_ids, name="cluster")
    missing = labels.index[labels.isna()]
    if len(missing):
        raise TableError(
            f"cluster: expected a label for every unit that was decided on – found none for "
            f"{first_three(missing)} – index the labels by unit_id and fill them in."
        )
    numbers, _ = pd.factorize(labels.astype("string"), sort=True)
    return np.asarray(numbers, dtype=np.int64)


def value_tables(own: pd.DataFrame) -> Iterator[tuple[str, Floats]]:
    """Yield each code, in the order of first appearance, with its values (coders, units): 1, 0 or NaN.

    Coders and units are those with a decision on the code, sorted.
    """
    for code in own["code"].unique():
        chosen = own[own["code"] == code]
        coder, coders = pd.factorize(chosen["coder"], sort=True)
        unit, units = pd.factorize(chosen["unit_id"], sort=True)
        values = np.full((len(coders), len(units)), np.nan)
        values[coder, unit] = chosen["applied"].to_numpy(dtype=np.float64)
        yield str(code), values


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """How many coders decided on each unit × code with two or more of them, and how many applied the code.

    `codes` (K,) in the order of first appearance and `units` (U,) sorted are the labels; the others have
    one entry per unit × code.
    """

    codes: npt.NDArray[np.object_]
    units: npt.NDArray[np.object_]
    code: Integers
    unit: Integers
    n_coders: Integers
    n_applied: Integers

    @property
    def disagreement(self) -> Floats:
        """Distances between the decisions on each unit × code, by its number of coders − 1."""
        return np.asarray(2 * self.n_applied * (self.n_coders - self.n_applied) / (self.n_coders - 1))

    def totals(self) -> Floats:
        """Return, for each code, the summed disagreement and the decisions applied and not (K, 3)."""
        absent = self.n_coders - self.n_applied
        sums = [
            np.bincount(self.code, column, minlength=len(self.codes))
            for column in (self.disagreement, self.n_applied, absent)
        ]
        return np.stack(sums, axis=1)


def unit_counts(own: pd.DataFrame) -> UnitCounts:
    """Count the coders of each unit × code in decisions as `own_decisions` returns them."""
    code, codes = pd.factorize(own["code"])
    unit, units = pd.factorize(own["unit_id"], sort=True)
    cells, place = np.unique(code * max(len(units), 1) + unit, return_inverse=True)
    n_coders = np.bincount(place, minlength=len(cells))
    n_applied = np.bincount(place[own["applied"].to_numpy(dtype=np.bool_)], minlength=len(cells))
    has_pairs = n_coders >= 2
    return UnitCounts(
        codes=np.asarray(codes, dtype=object),
        units=np.asarray(units, dtype=object),
        code=cells[has_pairs] // max(len(units), 1),
        unit=cells[has_pairs] % max(len(units), 1),
        n_coders=n_coders[has_pairs],
        n_applied=n_applied[has_pairs],
    )


@dataclass(frozen=True, slots=True)
class Pairs:
    """The decisions of every two coders on each unit × code that both decided on: one entry per pair.

    `codes` in the order of first appearance, `units` and `coders` sorted; `first` < `second`.
    """

    codes: npt.NDArray[np.object_]
    units: npt.NDArray[np.object_]
    coders: npt.NDArray[np.object_]
    code: Integers
    unit: Integers
    first: Integers
    second: Integers
    applied_first: Truths
    applied_second: Truths


def paired(own: pd.DataFrame) -> Pairs:
    """Pair the coders of each unit × code in decisions as `own_decisions` returns them."""
    code, codes = pd.factorize(own["code"])
    unit, units = pd.factorize(own["unit_id"], sort=True)
    coder, coders = pd.factorize(own["coder"], sort=True)
    order = np.lexsort((coder, unit, code))
    code, unit, coder = code[order], unit[order], coder[order]
    applied = own["applied"].to_numpy(dtype=np.bool_)[order]
    start = [rows for rows, _ in _neighbours(code * max(len(units), 1) + unit)]
    other = [rows + lag for lag, rows in enumerate(start, start=1)]
    one = np.concatenate([np.empty(0, dtype=np.int64), *start])
    two = np.concatenate([np.empty(0, dtype=np.int64), *other])
    return Pairs(
        codes=np.asarray(codes, dtype=object),
        units=np.asarray(units, dtype=object),
        coders=np.asarray(coders, dtype=object),
        code=code[one],
        unit=unit[one],
        first=coder[one],
        second=coder[two],
        applied_first=applied[one],
        applied_second=applied[two],
    )


def _neighbours(group: Integers) -> Iterator[tuple[Integers, int]]:
    """Yield the rows that have a row of their sorted group 1 further on, then 2 further on, and so forth."""
    for lag in range(1, len(group)):
        rows = np.flatnonzero(group[:-lag] == group[lag:])
        if not len(rows):
            return
        yield rows, lag


def binary_alpha(totals: npt.ArrayLike) -> Floats:
    """Return Krippendorff's nominal alpha (…) of a code from its totals (…, 3).

    The totals are the summed disagreement of the units and the numbers of decisions applied and not.
    NaN where every decision was the same, or there is none.
    """
    disagreement, applied, absent = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    expected = 2 * applied * absent
    ratio = np.full(expected.shape, np.nan)
    np.divide((applied + absent - 1) * disagreement, expected, out=ratio, where=expected > 0)
    return np.asarray(1 - ratio)


def binary_kappa(both: Floats, only_first: Floats, only_second: Floats, neither: Floats) -> Floats:
    """Return Cohen's kappa (…) of two coders from the four numbers of units; NaN where it is not defined."""
    chance = (both + only_first) * (only_first + neither) + (both + only_second) * (only_second + neither)
    kappa = np.full(np.shape(chance), np.nan)
    np.divide(2 * (both * neither - only_first * only_second), chance, out=kappa, where=chance > 0)
    return kappa

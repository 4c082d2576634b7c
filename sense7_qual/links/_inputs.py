"""The inputs of every link, checked: rated units, and the decisions of each source.

Every statistic of `links` reads its two frames through this module, so that all of them refuse the same
inputs in the same words and leave out the same units.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._contract import Column, Contract
from sense7_qual._decisions import majority, tally
from sense7_qual._group_labels import check_groups
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._rating_values import SENSE7_DIMENSIONS, codes_for_missing, counted, zeros_for_missing
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import DECISIONS, is_model, people, require_column, without_models

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_UNIT_IDS: Final = Contract(name="units", key=("unit_id",), columns={"unit_id": Column("id")})


def checked_units(units: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the units with their ids typed, or say which column is missing."""
    units = _UNIT_IDS.check(units)
    for column in columns:
        require_column(units, column, frame_name="units")
    return units


def numbered(units: pd.DataFrame, column: str) -> Integers:
    """Return the labels of a column as numbers 0, 1 …; a missing label is refused."""
    blank = units[column].isna() | units[column].astype("string").str.strip().eq("").fillna(False)
    unlabelled = units.loc[blank.astype(bool), "unit_id"]
    if len(unlabelled):
        raise TableError(
            f"units: expected a label in column {column!r} for every unit used – found none for "
            f"{first_three(unlabelled)} – fill it in."
        )
    check_groups(units[column], name=f"units: column {column!r}")
    number, _ = pd.factorize(units[column].astype("string").str.strip(), sort=True)
    return np.asarray(number, dtype=np.int64)


def numbers_of(units: pd.DataFrame, column: str) -> Floats:
    """Return a column as floats, NaN where missing; words, and numbers written as text, are refused."""
    values = units[column].astype(object)
    is_number = values.map(lambda value: isinstance(value, numbers.Real) and not isinstance(value, bool))
    floats = values.where(is_number, np.nan).to_numpy(dtype=np.float64)
    bad = values.notna().to_numpy() & ~np.isfinite(floats)
    if bad.any():
        raise TableError(
            f"units: expected finite numbers in column {column!r} – found something else in {int(bad.sum())} "
            f"rows (units {first_three(units.loc[bad, 'unit_id'])}) – convert them to numbers, missing where "
            "there is none."
        )
    return np.asarray(floats)


def ratings_of(
    units: pd.DataFrame, column: str, rating_range: RatingRange, *, is_rating: bool = True
) -> Floats:
    """Return a column of ratings as floats, NaN where missing; what is off their scale is refused.

    With `is_rating` False the column is another variable, with a range that only a mapping can state.
    """
    values = numbers_of(units, column)
    known = range_in(units, column, rating_range, is_rating=is_rating)
    refuse_off_scale(values, known, what=f"units: column {column!r}", is_rating=is_rating)
    return values


def checked_decisions(
    decisions: pd.DataFrame, sources: Sequence[str] | None, *, function: str, with_models: bool = False
) -> pd.DataFrame:
    """Return decisions with the rows of those models alone that are named in `sources`.

    A warning of `function` says which others are left out, where people together are a source: what one coder
    decided, no model changes.
    """
    checked = DECISIONS.check(decisions)
    if with_models:
        return checked
    named = {sources} if isinstance(sources, str) else set(sources or ())
    if sources is None or named & {"majority", "pooled"}:
        return without_models(checked, function=function, but=named)
    is_other = checked["coder"].map(lambda name: is_model(name) and name not in named).astype(bool)
    return checked[~is_other]


def coders_of(decisions: pd.DataFrame, *, with_models: bool = False) -> list[str]:
    """Return the people who decided, in the order in which they first appear; models, if they count."""
    own = people(decisions, with_models=with_models)["coder"]
    return [str(name) for name in own.unique()]


def known_sources(decisions: pd.DataFrame, *, with_models: bool = False) -> list[str]:
    """Return every source that `decisions` give: coders, majority, consensus, pooled; last, models."""
    coders, names = coders_of(decisions, with_models=with_models), set(decisions["coder"])
    known = list(coders)
    known += ["majority"] if coders or "majority" in names else []
    known += ["consensus"] if "consensus" in names else []
    known += ["pooled"] if coders else []
    return [*known, *(name for name in coders_of(decisions, with_models=True) if name not in coders)]


def chosen_sources(
    decisions: pd.DataFrame, sources: Sequence[str] | None, *, with_models: bool = False
) -> list[str]:
    """Return the sources asked for; by default all except models, majority and pooled from two coders on."""
    known = known_sources(decisions, with_models=with_models)
    if sources is None:
        coders = coders_of(decisions, with_models=with_models)
        together = ["consensus"] if len(coders) == 1 else ["majority", "consensus", "pooled"]
        return [name for name in known if name in coders or name in together]
    chosen = [sources] if isinstance(sources, str) else list(sources)
    for name in chosen:
        if name not in known:
            raise TableError(
                f"decisions: expected source {name!r} – found {first_three(known) or 'none'} – "
                f"{did_you_mean(str(name), known)}"
            )
    return chosen


def by_source(
    decisions: pd.DataFrame, sources: Sequence[str], *, with_models: bool = False
) -> dict[str, pd.DataFrame]:
    """Return the decisions (unit_id, code, applied) of each source but `pooled`, which has none of its own.

    Where coders decided, the majority is counted from their decisions; a `majority` in `decisions` is used
    only where there are none.
    """
    parts = {str(name): part for name, part in decisions.groupby("coder", sort=False)}
    own = people(decisions, with_models=with_models)
    if "majority" in sources and len(own):
        parts["majority"] = majority(own, with_models=with_models)
    return {name: parts[name][["unit_id", "code", "applied"]] for name in sources if name != "pooled"}


def tied(decisions: pd.DataFrame, source: str, *, with_models: bool = False) -> pd.DataFrame | None:
    """Return the units × codes (unit_id, code) that the majority leaves out because its coders are tied.

    None for other sources, and where the majority is not counted here but given as such.
    """
    own = people(decisions, with_models=with_models)
    if source != "majority" or own.empty:
        return None
    counts = tally(own, with_models=with_models)
    return counts.loc[2 * counts["n_applied"] == counts["n_coders"], ["unit_id", "code"]]


def rated_units(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    rating: str,
    cluster: str,
    nested: str | None = None,
    *,
    rating_range: RatingRange,
) -> pd.DataFrame:
    """Return unit_id, rating, cluster and nested (numbered by label) of the decided units with a rating."""
    rated = decided_ratings(decisions, units, rating, cluster, nested, rating_range=rating_range)
    return rated[rated["rating"].notna()]


def decided_ratings(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    rating: str,
    cluster: str,
    nested: str | None = None,
    *,
    rating_range: RatingRange,
) -> pd.DataFrame:
    """Return unit_id, rating (NaN where missing), cluster and nested, numbered, of the decided units."""
    units = checked_units(units, rating, cluster, *([] if nested is None else [nested]))
    decided = decided_units(decisions, units)
    values = ratings_of(units, rating, rating_range)
    used = units["unit_id"].isin(decided).to_numpy(dtype=np.bool_)
    units = units[used]
    rated = units[["unit_id"]].assign(rating=values[used], cluster=numbered(units, cluster))
    if nested is not None:
        rated["nested"] = numbered(units, nested)
    return rated


Range = tuple[float, float]
RatingRange = Range | Mapping[str, Range] | None

_SENSE7: Final = (1.0, 5.0)


def decided_units(decisions: pd.DataFrame, units: pd.DataFrame) -> pd.Index:
    """Return the ids of the units decided on; ids that are not in `units` are refused."""
    decided: pd.Index = pd.Index(decisions["unit_id"].unique())
    unknown = decided[~decided.isin(units["unit_id"])]
    if len(unknown):
        raise TableError(
            f"decisions: expected units of the frame `units` – found others: {first_three(unknown)} – "
            "pass the units that the decisions are about."
        )
    return decided


def range_in(
    units: pd.DataFrame, column: str, rating_range: RatingRange, *, is_rating: bool = True
) -> Range | None:
    """Return the range of one column: as stated, or that of SENSE-7's ratings; None where it is unknown.

    A pair is the range of all ratings; a mapping names columns, also those that are no ratings.
    """
    if isinstance(rating_range, Mapping):
        for name in rating_range:
            if name not in units:
                raise TableError(
                    f"rating_range: expected columns of `units` – found {name!r} – "
                    f"{did_you_mean(str(name), [str(known) for known in units.columns])}"
                )
        stated = checked_range(rating_range[column]) if column in rating_range else None
    else:
        stated = checked_range(rating_range) if is_rating else None
    own = set(SENSE7_DIMENSIONS)
    of_sense7 = column in {*own, "EmpathyOverall"} and own <= set(units.columns)
    return _SENSE7 if stated is None and of_sense7 else stated


def checked_range(rating_range: Range | None) -> Range | None:
    """Return the lowest and the highest rating as floats, or refuse anything else."""
    if rating_range is None:
        return None
    pair = list(rating_range) if isinstance(rating_range, tuple | list) else []
    real = [isinstance(end, numbers.Real) and not isinstance(end, bool) for end in pair]
    if len(pair) != 2 or not all(real) or not np.isfinite(pair).all() or pair[0] >= pair[1]:
        raise ArgumentError(
            "rating_range: expected the lowest and the highest rating, such as (1, 5) – found "
            f"{rating_range!r} – correct it."
        )
    return float(pair[0]), float(pair[1])


def refuse_off_scale(values: Floats, known: Range | None, *, what: str, is_rating: bool = True) -> None:
    """Raise `TableError` where values are outside the known range, or look like codes for missing.

    `what` names the column; with `is_rating` False a 0 is never taken for a code.
    """
    levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if known is not None:
        bad = (levels < known[0]) | (levels > known[1])
        expected, remedy = f"from {known[0]:g} to {known[1]:g}", "correct rating_range, if these are ratings"
    else:
        bad = codes_for_missing(levels)
        if is_rating:
            bad[~bad] = zeros_for_missing(levels[~bad])
        expected, remedy = "without codes for missing", "state their range, if these count: rating_range"
    if bad.any():
        others = f", next to {levels[~bad][0]:g} to {levels[~bad][-1]:g}" if not bad.all() else ""
        raise TableError(
            f"{what}: expected numbers {expected} – found {counted(levels[bad], counts[bad])}{others} – "
            f"make codes for missing values missing (NaN), or {remedy}."
        )

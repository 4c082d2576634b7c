"""What the columns of a sheet show: a coder whose blanks are a value, and two coders who are one."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from sense7_qual._coder_names import applied_only
from sense7_qual._messages import first_three, outside
from sense7_qual.agreement._what_shows import against

_FEWEST_BLANKS = 4
_MOSTLY, _MORE = 0.5, 0.4
"""Share of a value in the others' cells where a coder has blanks; by how much it is less where not."""
_FEWEST_SHARED = 20
_COINCIDENCE = 0.01
_MANY_CODERS, _TIMES_THE_UNITS = 10, 4
_NUMBERED = re.compile(r"\D*\d+")


def only_one_of_two(columns: Mapping[str, pd.Series]) -> list[str]:
    """Return the columns that have one of two values, and blanks for the other: "yes" and nothing."""
    known = {value for column in columns.values() for value in column}
    if len(known) != 2:
        return []
    found: set[str] = set()
    for value in known - {0}:
        decided = [
            pd.DataFrame(
                {"unit_id": column.index, "coder": name, "code": "", "applied": column.eq(value).array}
            )
            for name, column in columns.items()
        ]
        found.update(applied_only(pd.concat(decided)))
    return sorted(found)


def say_what_shows(columns: Mapping[str, pd.Series]) -> None:
    """Warn of blanks in place of a value, and of columns that are the same."""
    for what in (*_blanks(columns), *_copies(columns), *_reversed(columns)):
        warnings.warn(f"from_wide: {what}", UserWarning, stacklevel=outside())


def _blanks(columns: Mapping[str, pd.Series]) -> Iterator[str]:
    """Say which coder has blanks where the others have a value that this one never gave."""
    if len({value for column in columns.values() for value in column}) > 20:
        return
    for name, column in columns.items():
        others = pd.concat([pd.Series(dtype=object), *(columns[of] for of in columns if of != name)])
        blank = others[~others.index.isin(column.index)]
        there = others[others.index.isin(column.index)]
        if len(blank) < _FEWEST_BLANKS or not len(there):
            continue
        usual = blank.value_counts().index[0]
        share = float(blank.eq(usual).mean())
        if usual in set(column) or share < _MOSTLY or share - float(there.eq(usual).mean()) < _MORE:
            continue
        yield (
            f"coder {name!r} has blanks where others have one value, which {name!r} never gave. If a blank "
            "means this value, fill it in."
        )


def _copies(columns: Mapping[str, pd.Series]) -> Iterator[str]:
    """Say which two columns are the same in every cell, by no coincidence."""
    wide = pd.DataFrame(dict(columns))
    for one, other in itertools.combinations(wide.columns, 2):
        values = wide[one].dropna()
        if len(values) < _FEWEST_SHARED or values.nunique() < 2 or not wide[one].equals(wide[other]):
            continue
        others = [wide[of].reindex(values.index).dropna() for of in wide if of not in (one, other)]
        rest = [values.reindex(of.index).eq(of) for of in others]
        alike = float(pd.concat(rest).mean()) if rest else 0.0
        if alike ** len(values) < _COINCIDENCE:
            yield (
                f"{first_three([one, other])} are the same in all {len(values)} cells. If one is a copy of "
                "the other, leave it out."
            )


def _reversed(columns: Mapping[str, pd.Series]) -> Iterator[str]:
    """Say whose numbers run against those of all others."""
    numbers = pd.DataFrame({name: pd.to_numeric(one, errors="coerce") for name, one in columns.items()})
    numbers = numbers.dropna(axis="columns", how="all").astype("float64")
    for name in numbers if numbers.shape[1] > 1 else ():
        others = numbers.drop(columns=name).mean(axis="columns")
        both = numbers[name].notna() & others.notna()
        if against(numbers[name][both], others[both]):
            yield (
                f"the values of coder {name!r} run against those of the others. If their scale is reversed, "
                "turn it round."
            )
            return  # of two coders it cannot be told which


def warn_of_names(coders: Sequence[str], units: Sequence[str]) -> None:
    """Warn where there are many more coders than units, and the coders are numbered as units are."""
    many = len(coders) > _MANY_CODERS and len(coders) >= _TIMES_THE_UNITS * len(units)
    if many and all(map(_NUMBERED.fullmatch, coders)) and not any(map(_NUMBERED.fullmatch, units)):
        warnings.warn(
            f"from_wide: read as {len(coders)} coders ({coders[0]!r} …) of {len(units)} units "
            f"({first_three(units)}). If these are the coders, they are in the other axis.",
            UserWarning,
            stacklevel=outside(),
        )

"""What decisions show of mistakes that cannot be refused, because they may be as they are: warnings."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from sense7_qual._absent_rows import unstated
from sense7_qual._messages import first_three, outside
from sense7_qual._suspicious_names import is_known, likely_models, likely_results

_FEWEST_TEXTS = 5
"""Texts that a coder has, and lacks, from which the two are compared."""
_APART = 3.3
"""Standard errors between them: p < .001, of one coder."""
_SOMEWHAT_APART = 1.645
_FEWEST_SHARED = 20
"""Decisions that two coders share, before they can be called copies."""
_COINCIDENCE = 0.01
_CLEARLY = 0.5
"""The correlation, with the opposite sign, of a coder who has a scale the other way round."""


def say_what_shows(own: pd.DataFrame, *, function: str, named: Collection[str] = ()) -> None:
    """Warn, in the name of `function`, of coders who are likely nobody, and of rows that were left out.

    `own` are the decisions of people; `named` are coders whom the caller has named as what they are. In a
    record each coder made each decision, and `report.review` has what looks odd in it: where all decisions
    state their basis, only the coders' names are asked about.
    """
    said = [*who_is_no_person([str(name) for name in own["coder"].unique() if name not in named])]
    if unstated(own).any():
        said += [*_copies(own), *_missing_by_value(own), *_reversed(own)]
    for what in said:
        warnings.warn(f"{function}: {what}", UserWarning, stacklevel=outside())


def who_is_no_person(names: list[str]) -> Iterator[str]:
    """Say which coders have the name of a model, or of what people decided together."""
    names = [name for name in names if not is_known(name)]
    if models := likely_models(names):
        yield (
            f"{first_three(models)} counts as a person. If it is a model, say so: frames.as_models(…, "
            f"[{models[0]!r}]); if it is a person: frames.as_people(…, [{models[0]!r}])."
        )
    if results := [name for name in likely_results(names) if name not in models]:
        yield (
            f"{first_three(results)} counts as a person. If it is what others decided together, leave it "
            f"out, or call it 'consensus'; if it is a person: frames.as_people(…, [{results[0]!r}])."
        )


def _copies(own: pd.DataFrame) -> Iterator[str]:
    """Say which two of three or more coders have the same decision everywhere, by no coincidence."""
    wide = own.pivot_table(index=["unit_id", "code"], columns="coder", values="applied", aggfunc="first")
    if wide.shape[1] < 3:  # of two coders, the result itself says that they never disagreed
        return
    values = wide.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    for one, other in itertools.combinations(range(values.shape[1]), 2):
        both = values[:, [one, other]]
        same = (both[:, 0] == both[:, 1]) | np.isnan(both).all(axis=1)
        shared = ~np.isnan(both).any(axis=1)
        if not same.all() or shared.sum() < _FEWEST_SHARED:
            continue
        others = np.delete(values, [one, other], axis=1)[shared]
        there = ~np.isnan(others)
        alike = (others == both[shared, :1])[there]
        if len(alike) and alike.mean() ** shared.sum() < _COINCIDENCE:
            names = first_three(wide.columns[[one, other]])
            yield (
                f"{names} have the same decision in all {int(shared.sum())} cases, and others do not. If one "
                "is a copy of the other, leave it out."
            )


def _reversed(own: pd.DataFrame) -> Iterator[str]:
    """Say whose decisions run against those of all others."""
    wide = own.pivot_table(index=["unit_id", "code"], columns="coder", values="applied", aggfunc="mean")
    for name in wide if wide.shape[1] > 1 else ():
        others = wide.drop(columns=name).mean(axis="columns")
        both = wide[name].notna() & others.notna()
        if against(wide[name][both], others[both]):
            yield (
                f"the decisions of {str(name)!r} run against those of the others. If applied and absent are "
                "exchanged, correct them."
            )
            return


def against(one: pd.Series, others: pd.Series) -> bool:
    """Return True if values are the less the greater those of the others are, by no coincidence."""
    if len(one) < _FEWEST_SHARED or one.nunique() < 2 or others.nunique() < 2:
        return False
    return float(np.corrcoef(one.astype(float), others.astype(float))[0, 1]) < -_CLEARLY


def _missing_by_value(own: pd.DataFrame) -> Iterator[str]:
    """Say which coders lack texts on which others applied less: texts without a code may be left out."""
    found = [str(name) for name in own["coder"].unique() if _lacks_absent_texts(own, str(name))]
    if not found and _no_text_without_a_code(own):
        found = [str(name) for name in own["coder"].unique()]
    if found:
        yield (
            f"{first_three(found)} decided on texts to which codes were applied more often than to others. "
            "If texts without a code were left out, add their rows (applied=False); if the texts were drawn "
            "so, pass inclusion= to by_code."
        )


def _lacks_absent_texts(own: pd.DataFrame, coder: str) -> bool:
    others = own[own["coder"] != coder]
    applied = others.groupby("unit_id")["applied"].mean()
    there = applied.index.isin(own.loc[own["coder"] == coder, "unit_id"].unique())
    return _is_higher(applied[there], applied[~there], by=_APART)


def _no_text_without_a_code(own: pd.DataFrame) -> bool:
    """Return True if every coder has a code on each text, and fewer on texts that others do not have."""
    of_text = own.groupby(["unit_id", "coder"])["applied"].agg(["sum", "size"]).reset_index()
    if own["code"].nunique() < 2 or own["coder"].nunique() < 2 or (of_text["sum"] == 0).any():
        return False
    n_coders = of_text.groupby("unit_id")["coder"].transform("size")
    shared, alone = of_text.loc[n_coders > 1, "sum"], of_text.loc[n_coders == 1, "sum"]
    few = len(alone) < len(shared) / 2 and len(alone) >= 2
    return few and _is_higher(shared, alone, by=_SOMEWHAT_APART, fewest=2)


def _is_higher(one: pd.Series, other: pd.Series, *, by: float, fewest: int = _FEWEST_TEXTS) -> bool:
    """Return True if the mean of one is higher than that of the other by so many standard errors."""
    if min(len(one), len(other)) < fewest:
        return False
    together = np.concatenate([one, other]).astype(np.float64)
    error = float(together.std(ddof=1)) * np.sqrt(1 / len(one) + 1 / len(other))
    return bool(error > 0 and float(one.mean()) - float(other.mean()) > by * error)

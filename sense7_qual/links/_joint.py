"""Codes together: which of them occur together, and all of them in one model of a rating."""

from __future__ import annotations

import itertools
import numbers
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._reasons import Caution, Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.links._inputs import RatingRange, checked_decisions, checked_units, rated_units, tied
from sense7_qual.links._odds import LogOdds
from sense7_qual.links._pooled import alone, columns_of
from sense7_qual.links._resample import decided_by, with_adjusted
from sense7_qual.links._results import CO_OCCURRENCE, JOINT
from sense7_qual.links._shares import n_with_both, parts_of, too_few
from sense7_qual.links.models._model import CumulativeModel
from sense7_qual.links.models._ordinal import cumulative_mixed

_DEPENDENT: Final = 1e-9
_RATIO: Final = ("odds_ratio", "odds_ratio_low", "odds_ratio_high")


@rests_on("decisions")
@JOINT.returns
def joint(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    source: str,
    interaction: str | None = None,
    nested: str | None = None,
    quadrature: int = 10,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Return each code's odds ratio of a higher rating, adjusted for all other codes, from one model.

    As in `code_to_rating`, a participant's own texts are compared: the model has each code less the
    participant's share of texts with it, and these shares. A share that follows from the others is left out,
    which changes nothing. With `interaction`, conditions and the code in each of them are split alike.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit counts if the source has decided on every code that it
        has used at all.
    units : DataFrame
        unit_id and the columns named by `rating`, `cluster` and `interaction`. A unit without a rating is
        left out.
    rating, cluster : str
        The columns of ordinal numbers, and of participants.
    source : str
        One coder, "majority" or "consensus".
    interaction : str, optional
        A column of conditions (the system, for example). Then each code's odds ratio is also compared between
        conditions, in a model per code: all codes, the conditions, and that code in each condition. A unit
        without a condition is left out there.
    nested : str, optional
        The column of the conversation, where participants have several: a random intercept for it as well.
    rating_range, confidence_level
        As for `code_to_rating`.
    quadrature : int
        As in `cumulative_mixed`.

    Raises
    ------
    TableError
        A column is missing or of the wrong type, the source is unknown, or there is only one condition.
    ArgumentError
        `confidence_level` or `quadrature` is out of its range.

    See Also
    --------
    cumulative_mixed : the model. co_occurrence : which codes occur together.

    Examples
    --------
    >>> rng = np.random.default_rng(7)
    >>> units = pd.DataFrame({"unit_id": [f"u{i}" for i in range(240)],
    ...                       "case_id": np.repeat([f"p{i}" for i in range(40)], 6)})
    >>> applied = {code: rng.random(240) < 0.4 for code in ("interest", "prosocial")}
    >>> latent = 1.5 * applied["interest"] + np.repeat(rng.standard_normal(40), 6) + rng.logistic(size=240)
    >>> units["empathy"] = np.digitize(latent, [-1, 0, 1, 2])
    >>> decisions = pd.concat([pd.DataFrame({"unit_id": units["unit_id"], "coder": "ana", "code": code,
    ...                                      "applied": values}) for code, values in applied.items()])
    >>> ratios = joint(decisions, units, rating="empathy", cluster="case_id", source="ana")
    >>> ratios[["code", "n", "n_with"]].values.tolist()
    [['interest', 240, 91], ['prosocial', 240, 92]]
    >>> (ratios["p_holm"] < 0.05).tolist()
    [True, False]
    """
    check_arguments(joint, locals())
    _check_level("joint", confidence_level)
    units = checked_units(units, *([] if interaction is None else [interaction]))
    decided = decided_by(decisions, units, source, function="joint")
    rated = rated_units(decided, units, rating, cluster, nested, rating_range=rating_range)
    study = _studied(*_rows_of(decided, rated))
    model = _model(study.rows, study.used, quadrature)
    rows = [_main(code, model, study, confidence_level) for code in study.counts]
    table = _adjusted(pd.DataFrame(rows, columns=list(JOINT.columns)), f"codes of {source}")
    if interaction is not None:
        condition = units.set_index("unit_id")[interaction].reindex(study.rows["unit_id"])
        compared = _compared(study, condition.set_axis(study.rows.index), quadrature, confidence_level)
        family = f"codes of {source} by {interaction}"
        table = pd.concat([table, _adjusted(pd.DataFrame(compared, columns=list(JOINT.columns)), family)])
    n_tied = _tied(decisions, source, units.loc[units[rating].notna(), "unit_id"])
    if n_tied:
        table["caution"] = [
            str.join(" ", filter(pd.notna, (known, Caution.TIES_LEFT_OUT))) for known in table["caution"]
        ]
    table = table.assign(source=source, confidence_level=confidence_level, n_tied=n_tied)
    return JOINT.frame(table).reset_index(drop=True)


def _tied(decisions: pd.DataFrame, source: str, rated: pd.Series) -> int | None:
    """Count the rated units (unit_id) that the majority leaves out; None for other sources."""
    left_out = tied(checked_decisions(decisions, [source], function="joint"), source)
    return None if left_out is None else int(rated.isin(left_out["unit_id"]).sum())


def _check_level(function: str, confidence_level: float) -> None:
    if not isinstance(confidence_level, numbers.Real) or not 0 < confidence_level < 1:
        raise ArgumentError(
            f"{function}: expected confidence_level between 0 and 1 – found {confidence_level!r} – 0.95 is "
            "usual."
        )


def _rows_of(decided: pd.DataFrame, rated: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rated units on which every code was decided, and the codes (0 or 1) in the same rows."""
    wide = by_unit(decided).dropna()
    rows = rated[rated["unit_id"].isin(wide.index)].reset_index(drop=True)
    return rows, wide.loc[rows["unit_id"]].reset_index(drop=True).astype(np.float64)


@dataclass(frozen=True, slots=True)
class _Study:
    """The units of the model, the codes in it, and why others are not.

    `counts`: units with each code, of all rated ones; `inflation`: by code in `used`.
    """

    rows: pd.DataFrame
    used: pd.DataFrame
    counts: dict[str, int]
    inflation: dict[str, float]
    reasons: dict[str, Reason]

    def n_with(self, code: str, where: pd.Series | None = None) -> int | None:
        """Return the units with the code, of the model's or of all rated ones; or, if given, there."""
        if code not in self.used:
            return self.counts[code] if where is None else None
        return int(self.used.loc[slice(None) if where is None else where, code].sum())


def _studied(rows: pd.DataFrame, codes: pd.DataFrame) -> _Study:
    """Leave out the codes that no model can hold.

    Where all units with a code (or without it) are at one end of the rating, its coefficient grows for ever
    and the probability of those units goes to 1: the likelihood's supremum is the maximum without them.
    """
    counts = {str(code): int(n) for code, n in codes.sum().items()}
    codes = codes[sorted(codes, key=str)]  # which of them comes first changes nothing in the model
    reasons = {code: Reason.CODE_NEVER_APPLIED for code, n in counts.items() if n == 0}
    reasons |= {code: Reason.CODE_ALWAYS_APPLIED for code, n in counts.items() if n == len(codes)}
    if codes.empty:
        reasons = dict.fromkeys(counts, Reason.NO_RATED_UNITS)
    while (separating := _separating(rows["rating"], codes.drop(columns=list(reasons)))) is not None:
        reasons[separating[0]] = Reason.SEPARATION
        rows, codes = rows[~separating[1]], codes[~separating[1]]
    used = codes.drop(columns=list(reasons))
    inflation = _inflation(parts_of(used, rows["cluster"])[0])
    reasons |= {code: Reason.COLLINEAR_CODES for code, value in inflation.items() if np.isinf(value)}
    return _Study(rows, used, counts, inflation, reasons)


def _separating(rating: pd.Series, codes: pd.DataFrame) -> tuple[str, pd.Series] | None:
    """Return a code all units with which, or without which, are at one end, and those units."""
    if rating.nunique() < 2:
        return None
    for code in codes:
        for value in (0.0, 1.0):
            units = codes[code] == value
            if rating[units].isin([rating.min()]).all() or rating[units].isin([rating.max()]).all():
                return str(code), units
    return None


def _inflation(codes: pd.DataFrame) -> dict[str, float]:
    """Return the variance inflation factor of each code's part within participants, given the others'."""
    x = (codes - codes.mean()).to_numpy()
    factors = {}
    for i, code in enumerate(codes):
        rest = np.delete(x, i, axis=1)
        residual = x[:, i] - rest @ np.linalg.lstsq(rest, x[:, i], rcond=None)[0] if rest.size else x[:, i]
        share = float(residual @ residual) / float(x[:, i] @ x[:, i])
        factors[str(code)] = 1 / share if share > _DEPENDENT else np.inf
    return factors


def _independent(codes: pd.DataFrame) -> pd.DataFrame:
    """Leave out columns that those before them determine; the model adjusts for all of them all the same."""
    independent: list[str] = []
    for code in codes:
        tried = codes[[*independent, code]]
        if not np.isinf(_inflation(tried)[str(code)]):
            independent.append(str(code))
    return codes[independent]


def _model(rows: pd.DataFrame, columns: pd.DataFrame, quadrature: int) -> CumulativeModel:
    """Fit each column less its participants' means, and these means."""
    nested = rows.get("nested")
    within, shares = parts_of(columns, rows["cluster"])
    predictors = pd.concat([_independent(within), shares], axis=1)
    levels = rows["rating"].rank(method="dense")  # only their order enters; their scale has been checked
    return cumulative_mixed(levels, predictors, groups=rows["cluster"], nested=nested, quadrature=quadrature)


def _main(code: str, model: CumulativeModel, study: _Study, confidence_level: float) -> dict[str, object]:
    """Return the row of one code."""
    n_both = n_with_both(study.used[code], study.rows["cluster"]) if code in study.used else 0
    reason = study.reasons.get(code) or model.reason or too_few(n_both)
    row = {
        "code": code,
        "effect": "code",
        "n": model.n,
        "n_with": study.n_with(code),
        "n_clusters": model.n_clusters,
        "n_clusters_both": n_both,
        "variance_inflation": study.inflation.get(code, np.nan),
        "reason": reason,
    }
    there = code in model.coefficients and code not in study.reasons and model.reason is None
    return row | (_estimate(model, code, n_both, confidence_level) if there else {})


def _estimate(model: CumulativeModel, name: str, n_both: int, confidence_level: float) -> dict[str, object]:
    """Return the odds ratio; without interval and p where fewer than six participants have both."""
    error = np.nan if too_few(n_both) else float(model.standard_errors[name])
    own = LogOdds(float(model.coefficients[name]), error, n_both - 1.0)
    columns = columns_of("odds_ratio", alone(own), confidence_level)
    ratio: dict[str, object] = {name: columns[name] for name in _RATIO}
    return ratio | {"p": own.p, "caution": " ".join(model.cautions) or None}


def _compared(
    study: _Study, condition: pd.Series, quadrature: int, confidence_level: float
) -> list[dict[str, object]]:
    """Return a row per code and condition but the first."""
    known = condition.notna()
    labels = condition[known].astype("string")
    levels = sorted(labels.unique())
    if isinstance(condition.dtype, pd.CategoricalDtype):
        levels = [str(level) for level in condition.dtype.categories if str(level) in levels]
    if len(levels) < 2:
        raise TableError(
            f"units: expected two conditions or more in column {condition.name!r} – found {len(levels)} – "
            "leave `interaction` out, or choose another column."
        )
    study = replace(study, rows=study.rows[known], used=study.used[known])
    each = [_by_condition(code, study, labels, levels, quadrature, confidence_level) for code in study.counts]
    return [row for rows in each for row in rows]


def _by_condition(
    code: str,
    study: _Study,
    labels: pd.Series,
    levels: list[str],
    quadrature: int,
    confidence_level: float,
) -> list[dict[str, object]]:
    """Return the rows of one code: its odds ratio in each condition over that in the first."""
    reasons = {level: study.reasons.get(code) or _lacking(study, code, labels == level) for level in levels}
    n_both = {level: _n_both(study, code, labels == level) for level in levels}
    compared = [level for level in levels[1:] if not (reasons[levels[0]] or reasons[level])]
    model = None
    if compared:
        crossed = _crossed(study.used, code, labels, levels[1:], compared)
        model = _model(study.rows, crossed, quadrature)
    rows = []
    for level in levels[1:]:
        row: dict[str, object] = {"code": code, "effect": "interaction", "level": level}
        row |= {"reference": levels[0], "n": len(study.rows), "n_clusters": study.rows["cluster"].nunique()}
        row |= {"n_with": study.n_with(code, labels == level)}
        n = min(n_both[levels[0]], n_both[level])
        row |= {"reason": reasons[levels[0]] or reasons[level] or (model.reason if model else None)}
        if model is not None and row["reason"] is None:
            row |= {"n_clusters_both": n, "reason": too_few(n) or _dependent(model, level)}
            if n and _term(level) in model.coefficients:
                fewest = min(n_both[one] for one in (levels[0], *compared))
                row |= _estimate(model, _term(level), n, confidence_level)
                row |= {"joint_p": _joint_p(model, compared, fewest)}
        rows.append(row)
    return rows


def _n_both(study: _Study, code: str, where: pd.Series) -> int:
    """Count the participants with texts with the code and without it in one condition."""
    if code not in study.used:
        return 0
    return n_with_both(study.used.loc[where, code], study.rows.loc[where, "cluster"])


def _dependent(model: CumulativeModel, level: str) -> Reason | None:
    """Return the reason if the code in one condition follows from the other columns of the model."""
    return None if _term(level) in model.coefficients else Reason.COLLINEAR_CODES


def _lacking(study: _Study, code: str, where: pd.Series) -> Reason | None:
    """Return the reason if the code has no odds ratio in one condition."""
    applied = study.used.loc[where, code]
    if not applied.any():
        return Reason.CODE_NEVER_APPLIED
    return Reason.CODE_ALWAYS_APPLIED if applied.all() else None


def _term(level: str) -> str:
    return f"interaction with {level}"


def _crossed(
    codes: pd.DataFrame, code: str, labels: pd.Series, levels: list[str], compared: list[str]
) -> pd.DataFrame:
    """Return codes, conditions, and the code in each condition, under names that nothing has twice."""
    columns = {f"code {name}": codes[name] for name in codes}
    columns |= {f"condition {level}": (labels == level).astype(np.float64) for level in levels}
    columns |= {_term(level): (labels == level).astype(np.float64) * codes[code] for level in compared}
    return pd.DataFrame(columns)


def _joint_p(model: CumulativeModel, levels: list[str], n_both: int) -> float:
    """Return p of Wald's F test that the code's coefficient is the same in all conditions.

    `n_both` participants have both, where they are fewest; NaN where these are too few, or a condition's
    coefficient could not be estimated.
    """
    from scipy import special

    terms = [_term(level) for level in levels]
    if too_few(n_both) or any(term not in model.coefficients for term in terms):
        return float("nan")
    estimates = model.coefficients[terms].to_numpy(dtype=np.float64)
    covariance = model.covariance.loc[terms, terms].to_numpy(dtype=np.float64)
    f = float(estimates @ np.linalg.solve(covariance, estimates)) / len(terms)
    return float(special.fdtrc(len(terms), n_both - 1, f))


def _adjusted(table: pd.DataFrame, family: str) -> pd.DataFrame:
    """Fill in p adjusted over the rows that have one, and name the family."""
    return with_adjusted(table, "p").assign(family=family)


@rests_on("decisions")
@CO_OCCURRENCE.returns
def co_occurrence(decisions: pd.DataFrame, *, source: str) -> pd.DataFrame:
    """Count how often each two codes are applied to the same unit, and compare with chance.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    source : str
        One coder, "majority" or "consensus".

    Raises
    ------
    TableError
        A column is missing or of the wrong type, or the source is unknown.

    Notes
    -----
    phi = (n · n_both − n_code · n_other) / √(n_code (n − n_code) n_other (n − n_other)), Pearson's
    correlation of two truth values. It describes these units and has no interval, because units of one
    participant are not independent.

    Examples
    --------
    >>> applied = {"interest": [True, True, False, False], "prosocial": [True, False, False, False]}
    >>> decisions = pd.concat([pd.DataFrame({"unit_id": list("abcd"), "coder": "ana", "code": code,
    ...                                      "applied": values}) for code, values in applied.items()])
    >>> pairs = co_occurrence(decisions, source="ana")
    >>> pairs[["code", "other", "n_both", "phi", "lift"]].round(3).values.tolist()
    [['interest', 'prosocial', 1, 0.577, 2.0]]
    """
    check_arguments(co_occurrence, locals())
    decided = decided_by(decisions, decisions, source, function="co_occurrence")
    wide = by_unit(decided)
    pairs = itertools.combinations(wide, 2)
    rows = [
        {"code": a, "other": b, "source": source, **_together(wide[[a, b]].dropna().to_numpy(dtype=bool))}
        for a, b in pairs
    ]
    return CO_OCCURRENCE.frame(rows)


def by_unit(decided: pd.DataFrame) -> pd.DataFrame:
    """Return a row per unit and a column per code, in the order in which they first appear."""
    wide = decided.set_index(["unit_id", "code"])["applied"].unstack("code")  # noqa: PD010 – keys are unique
    return wide.reindex(columns=[str(code) for code in decided["code"].unique()])


def _together(applied: Any) -> dict[str, object]:
    """Return counts, phi and lift of two codes (units, 2)."""
    n, both = len(applied), int(applied.all(axis=1).sum())
    one, other = (int(column.sum()) for column in applied.T)
    spread = float(one * (n - one)) * float(other * (n - other))
    reason = (
        None if spread else Reason.CODE_NEVER_APPLIED if 0 in (one, other) else Reason.CODE_ALWAYS_APPLIED
    )
    return {
        "n": n,
        "n_code": one,
        "n_other": other,
        "n_both": both,
        "phi": (n * both - one * other) / np.sqrt(spread) if spread else np.nan,
        "lift": n * both / (one * other) if one and other else np.nan,
        "reason": reason if n else Reason.NO_COMMON_UNITS,
    }

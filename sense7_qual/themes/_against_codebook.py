"""Themes beside a codebook: which of them it already speaks of."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._present import Reason
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, TableError
from sense7_qual.tables import DECISIONS
from sense7_qual.themes._themes import Themes

__all__ = ["against_codebook", "codes_by_theme"]


def against_codebook(
    themes: Themes,
    decisions: pd.DataFrame,
    codebook: Codebook,
    *,
    covered: float = 2 / 3,
    uncovered: float = 1 / 3,
    min_units: int = 5,
) -> pd.DataFrame:
    """Return for each theme whether the codebook already speaks of it, from what coders decided on its units.

    A decision here is one coder's finished unit. A theme is *covered* where at least `covered` of the
    decisions on its units apply some code, *uncovered* where fewer than `uncovered` do (its typical
    quotes are where to look for a missing code), *partly* in between. Units nobody finished say nothing.

    Parameters
    ----------
    themes
        The result of `fit`.
    decisions
        The `decisions` frame; rows of units outside the themes are left out. Every coder in it counts,
        the consensus too: pass one or the other.
    codebook
        The codebook that the decisions are of; its codable codes count.
    covered, uncovered
        The thresholds, 0 … 1.
    min_units
        With fewer decided units a theme gets no verdict.

    Returns
    -------
    pandas.DataFrame
        One row per theme: `theme`, `label`, `verdict` (missing where not computable), `n_units`,
        `n_decided` (units that someone finished), `n_decisions` (unit × coder), `share_any_code`
        (0 … 1), `best_code` (the code with the largest share; ties: the first in the codebook; missing
        where none was applied), `best_share`, `best_lift` (see `codes_by_theme`), `reason`
        ("not_decided" or "few_decided"; missing where there is a verdict).

    Raises
    ------
    TableError
        Not a `decisions` frame; thresholds out of order; decisions, but on none of the themes' units.
    CodebookError
        A decision on a code that the codebook does not have.

    Examples
    --------
    >>> themes = Themes(
    ...     assignments=pd.DataFrame({"unit_id": ["a", "b", "c"], "theme": [0, 0, 0]}),
    ...     terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0], "label": ["queue, slow"], "n_units": [3]}))
    >>> decisions = pd.DataFrame({"unit_id": ["a", "b"], "coder": "ana", "code": "interest",
    ...     "applied": [True, True]})
    >>> from sense7_qual.codebook import Code
    >>> book = Codebook(name="one", codes=(Code(id="interest", label="Interest"),))
    >>> against_codebook(themes, decisions, book, min_units=2)[["verdict", "n_decided", "best_code"]]
       verdict  n_decided best_code
    0  covered          2  interest
    """
    check_arguments(against_codebook, locals())
    check_least(against_codebook, 1, min_units=min_units)
    if not 0 <= uncovered <= covered <= 1:
        raise TableError(
            f"against_codebook: expected 0 ≤ uncovered ≤ covered ≤ 1 – found {uncovered:g} and {covered:g} – "
            "pass shares in this order."
        )
    placed = _placed(themes, decisions, codebook)
    any_code = placed.groupby(["theme", "unit_id", "coder"])["applied"].any().groupby("theme").mean()
    counts = _counts(placed, ["theme"])
    result = themes.summary[["theme", "label", "n_units"]].set_index("theme")
    result = result.join(counts).fillna({"n_decided": 0, "n_decisions": 0})
    result = result.astype({"n_decided": "int64", "n_decisions": "int64"})
    result["share_any_code"] = any_code.reindex(result.index).astype(float)
    result = result.join(_best(_shares(themes, placed, codebook)))
    few, none = result["n_decided"] < min_units, result["n_decided"] == 0
    share = result["share_any_code"]
    verdict = np.select([share >= covered, share < uncovered], ["covered", "uncovered"], "partly")
    result["verdict"] = pd.Series(verdict, index=result.index, dtype="string").mask(few | none)
    reason = pd.Series(
        np.where(none, Reason.NOT_DECIDED, Reason.FEW_DECIDED), index=result.index, dtype="string"
    )
    result["reason"] = reason.where(few | none)
    columns = ["theme", "label", "verdict", "n_units", "n_decided", "n_decisions", "share_any_code"]
    return result.reset_index()[[*columns, "best_code", "best_share", "best_lift", "reason"]]


def codes_by_theme(themes: Themes, decisions: pd.DataFrame, codebook: Codebook) -> pd.DataFrame:
    """Return, for each theme and code, the share of the decisions on the theme's units that apply it.

    Parameters
    ----------
    themes, decisions, codebook
        As in `against_codebook`.

    Returns
    -------
    pandas.DataFrame
        One row per theme and code, in the codebook's order: `theme`, `code`, `n_units` (of the theme),
        `n_decided` (its units that someone decided on for this code), `n_decisions` (unit × coder),
        `share` (of those decisions, applied; 0 … 1; NaN where there are none), `overall_share` (the same
        over all units that the themes were computed from, those in no theme too), `lift` (share /
        overall_share; 1 = no more than elsewhere; NaN where the code was applied nowhere).

    Raises
    ------
    TableError, CodebookError
        As in `against_codebook`.

    Examples
    --------
    >>> from sense7_qual.codebook import Code
    >>> themes = Themes(
    ...     assignments=pd.DataFrame({"unit_id": ["a", "b", "c"], "theme": [0, 1, 1]}),
    ...     terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0, 1], "label": ["slow", "kind"], "n_units": [1, 2]}))
    >>> decisions = pd.DataFrame({"unit_id": ["a", "b", "c"], "coder": "ana", "code": "interest",
    ...     "applied": [False, True, False]})
    >>> book = Codebook(name="one", codes=(Code(id="interest", label="Interest"),))
    >>> codes_by_theme(themes, decisions, book)[["theme", "code", "n_decided", "share", "lift"]]
       theme      code  n_decided  share  lift
    0      0  interest          1    0.0   0.0
    1      1  interest          2    0.5   1.5
    """
    check_arguments(codes_by_theme, locals())
    shares = _shares(themes, _placed(themes, decisions, codebook), codebook)
    return shares[["theme", "code", "n_units", "n_decided", "n_decisions", "share", "overall_share", "lift"]]


def _placed(themes: Themes, decisions: pd.DataFrame, codebook: Codebook) -> pd.DataFrame:
    """Return the decisions on the themes' units, each with its unit's theme."""
    decisions = DECISIONS.check(decisions)
    codes = [code.id for code in codebook.codable]
    unknown = sorted(set(decisions["code"]) - set(codes))
    if unknown:
        raise CodebookError(
            f"against_codebook: expected codable codes of the codebook – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], codes)}"
        )
    placed = decisions.merge(themes.assignments[["unit_id", "theme"]].astype({"unit_id": "string"}))
    if len(decisions) and not len(placed):
        raise TableError(
            "against_codebook: expected decisions on the themes' units – found none among "
            f"{first_three(decisions['unit_id'].unique())} – use the units that the themes were fitted on."
        )
    return placed


def _counts(placed: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    pairs = placed.drop_duplicates([*by, "unit_id", "coder"]).groupby(by)["unit_id"]
    return pd.DataFrame({"n_decided": pairs.nunique(), "n_decisions": pairs.size()})


def _shares(themes: Themes, placed: pd.DataFrame, codebook: Codebook) -> pd.DataFrame:
    codes = pd.DataFrame({"code": pd.array([code.id for code in codebook.codable], dtype="string")})
    rows = themes.summary[["theme", "n_units"]].merge(codes, how="cross")
    counts = _counts(placed, ["theme", "code"])
    counts["share"] = placed.groupby(["theme", "code"])["applied"].mean()
    overall = placed.groupby("code")["applied"].mean().rename("overall_share")
    rows = rows.join(counts, on=["theme", "code"]).join(overall, on="code")
    rows[["n_decided", "n_decisions"]] = rows[["n_decided", "n_decisions"]].fillna(0).astype("int64")
    rows[["share", "overall_share"]] = rows[["share", "overall_share"]].astype(float)
    return rows.assign(lift=rows["share"] / rows["overall_share"].replace(0.0, np.nan))


def _best(shares: pd.DataFrame) -> pd.DataFrame:
    applied = shares[shares["share"] > 0].sort_values(
        ["theme", "share"], ascending=[True, False], kind="stable"
    )
    best = applied.drop_duplicates("theme").set_index("theme")[["code", "share", "lift"]]
    return best.rename(columns={"code": "best_code", "share": "best_share", "lift": "best_lift"})

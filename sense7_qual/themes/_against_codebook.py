"""Which themes the codebook already covers, and how often each code occurs in each theme."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import FEWEST_CLUSTERS
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, CodebookError, TableError
from sense7_qual.frames import DECISIONS, clusters_by_unit, without_models
from sense7_qual.themes._results import AGAINST_CODEBOOK, CODES
from sense7_qual.themes._themes import Themes


@rests_on("decisions")
@AGAINST_CODEBOOK.returns
def against_codebook(
    themes: Themes,
    decisions: pd.DataFrame,
    codebook: Codebook,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    share: float = 1 / 3,
    lift: float = 1.5,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Find the themes that the codebook does not cover, from coders' decisions on their units.

    A theme is *covered* if one code is applied in at least `share` of the decisions on its units, and `lift`
    times as often as in all units, so that a code on most texts of the study does not cover every theme. All
    other themes are *uncovered*: look for a missing code in their typical quotes. A decision here is one
    coder's finished unit; units that nobody finished do not count. If the themes were fitted with the
    codebook, `expected` has the code with its definition and examples near a theme: where people applied
    another code to it, or none, read both again.

    Parameters
    ----------
    themes
        The result of `fit`.
    decisions
        The `decisions` frame; rows of units outside the themes are left out. Every coder in it counts,
        including consensus: pass either people's decisions or the consensus.
    codebook
        The codebook of the decisions; its codable codes count.
    units, cluster
        One row per unit, and the column of its participant, by which intervals are clustered. A unit without
        one is a cluster of its own, and so are all if these are left out, which makes a verdict look clearer
        than it is if participants differ.
    share
        The least share of the decisions, 0 … 1.
    lift
        The least ratio to the share in all units, 0 or more; with 0 a broad code covers any theme.
    confidence_level
        Level of the limits to one side for `clear`, between 0 and 1.

    Raises
    ------
    TableError
        Not a `decisions` frame; no decision is on a unit of the themes.
    ArgumentError
        A threshold or the level is out of range; `units` without `cluster`.
    CodebookError
        A decision is on a code that the codebook lacks.

    Notes
    -----
    The best code is chosen from the data, so its limits are too favourable; a `clear` "uncovered" is not
    affected, since every code must lie below.

    Examples
    --------
    >>> from sense7_qual.codebook import Code
    >>> themes = Themes(
    ...     assignments=pd.DataFrame({"unit_id": list("abcdefgh"), "theme": [0] * 6 + [-1] * 2}),
    ...     terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={},
    ...     summary=pd.DataFrame({"theme": [0], "label": ["queue, slow"], "n_units": [6]}))
    >>> decisions = pd.DataFrame({"unit_id": list("abcdefgh"), "coder": "ana", "code": "interest",
    ...     "applied": [True] * 4 + [False] * 4})
    >>> book = Codebook(name="one", codes=(Code(id="interest", label="Interest"),))
    >>> against_codebook(themes, decisions, book)[["verdict", "n_decided", "best_code", "best_lift"]]
         verdict  n_decided best_code  best_lift
    0  uncovered          6  interest   1.333333
    """
    check_arguments(against_codebook, locals())
    if not (0 <= share <= 1 and lift >= 0):
        raise ArgumentError(
            f"against_codebook: expected share between 0 and 1 and lift from 0 – found {share:g}, {lift:g} "
            "– use 1/3 and 1.5."
        )
    placed = _placed(themes, decisions, codebook, clusters_by_unit(units, cluster))
    check_level("against_codebook", confidence_level)
    # Limits to one side: a verdict is about one side of a threshold.
    shares = _shares(themes, placed, codebook, max(2 * confidence_level - 1, 1e-9))
    result = themes.summary.reindex(columns=["theme", "label", "n_units", "expected"]).set_index("theme")
    result["expected"] = result["expected"].astype("string")
    result = result.join(_counts(placed)).fillna({"n_decided": 0, "n_decisions": 0, "n_clusters": 0})
    result = result.astype(dict.fromkeys(["n_decided", "n_decisions", "n_clusters"], "int64"))
    result = result.join(_verdicts(shares, share, lift))
    few, none = result["n_clusters"] < FEWEST_CLUSTERS, result["n_decided"] == 0
    result[["verdict", "clear"]] = result[["verdict", "clear"]].mask(few, pd.NA)
    reason = pd.Series(
        np.where(none, Reason.NOT_DECIDED, Reason.FEW_DECIDED), index=result.index, dtype="string"
    )
    result["reason"] = reason.where(few)
    columns = ["theme", "label", "verdict", "clear", "n_units", "n_decided", "n_decisions", "n_clusters"]
    return result.reset_index()[[*columns, "best_code", "best_share", "best_lift", "expected", "reason"]]


@rests_on("decisions")
@CODES.returns
def codes_by_theme(
    themes: Themes,
    decisions: pd.DataFrame,
    codebook: Codebook,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compute the share of decisions on each theme's units that apply each code.

    Parameters
    ----------
    themes, decisions, codebook, units, cluster, confidence_level
        As for `against_codebook`.

    Raises
    ------
    TableError, ArgumentError, CodebookError
        As for `against_codebook`.

    References
    ----------
    Korn & Graubard (1998), Survey Methodology 24, 193–201: the effective sample size.

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
    placed = _placed(themes, decisions, codebook, clusters_by_unit(units, cluster))
    shares = _shares(themes, placed, codebook, confidence_level)
    ends = ["share", "share_low", "share_high", "overall_share", "lift", "lift_low", "lift_high"]
    return shares[["theme", "code", "n_units", "n_decided", "n_decisions", "n_clusters", *ends]]


def _placed(
    themes: Themes, decisions: pd.DataFrame, codebook: Codebook, cluster: pd.Series | None
) -> pd.DataFrame:
    """Return the decisions on the themes' units, each with its unit's theme and participant."""
    decisions = without_models(DECISIONS.check(decisions), function="codes of themes")
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
    own = placed["unit_id"]
    placed["cluster"] = own if cluster is None else own.map(cluster).astype("string").fillna("\0" + own)
    return placed


def _counts(placed: pd.DataFrame) -> pd.DataFrame:
    pairs = placed.drop_duplicates(["theme", "unit_id", "coder"]).groupby("theme")
    counted = {"n_decided": pairs["unit_id"].nunique(), "n_decisions": pairs["unit_id"].size()}
    return pd.DataFrame(counted | {"n_clusters": pairs["cluster"].nunique()})


def _shares(themes: Themes, placed: pd.DataFrame, codebook: Codebook, level: float) -> pd.DataFrame:
    check_level("against_codebook", level)
    shares = code_shares(placed, themes.summary["theme"], [code.id for code in codebook.codable], level)
    return shares.merge(themes.summary[["theme", "n_units"]], on="theme")


def _verdicts(shares: pd.DataFrame, share: float, lift: float) -> pd.DataFrame:
    """Return by theme its verdict, whether it is clear, and the code that comes nearest to covering it."""
    covers = shares["share"].ge(share) & shares["lift"].ge(lift)
    surely = shares["share_low"].ge(share) & shares["lift_low"].ge(lift)
    surely_not = shares["share_high"].lt(share) | shares["lift_high"].lt(lift)
    covers, surely, maybe = (each.groupby(shares["theme"]).any() for each in (covers, surely, ~surely_not))
    verdict = covers.map({True: "covered", False: "uncovered"}).astype("string")
    clear = pd.Series(np.where(covers, surely, ~maybe), index=covers.index, dtype="boolean")
    with np.errstate(divide="ignore"):
        near = np.minimum(shares["share"] / np.float64(share), shares["lift"] / np.float64(lift))
    applied = shares.assign(near=near)[shares["share"] > 0]
    applied = applied.sort_values(["theme", "near", "share"], ascending=[True, False, False], kind="stable")
    best = applied.drop_duplicates("theme").set_index("theme")[["code", "share", "lift"]]
    best = best.rename(columns={"code": "best_code", "share": "best_share", "lift": "best_lift"})
    return pd.DataFrame({"verdict": verdict, "clear": clear}).join(best)


Floats = npt.NDArray[np.float64]

INTERVALS: Final = ["share_low", "share_high", "lift_low", "lift_high"]


def check_level(function: str, level: float) -> None:
    """Refuse a confidence level outside 0 … 1, in the name of `function`."""
    if not 0 < level < 1:
        raise ArgumentError(
            f"{function}: expected confidence_level between 0 and 1 – found {level!r} – use 0.95."
        )


def code_shares(placed: pd.DataFrame, themes: pd.Series, codes: list[str], level: float) -> pd.DataFrame:
    """Return a row per theme and code, with share and lift and their intervals.

    `placed` has a row per decision: theme (−1 for none), code, unit_id, coder, cluster, applied. The result
    has the columns of `codes_by_theme` but `n_units`.
    """
    numbers = pd.concat([themes, pd.Series(placed["theme"].unique())]).drop_duplicates()
    theme = pd.Categorical(placed["theme"], numbers).codes
    cluster, clusters = pd.factorize(placed["cluster"])
    rows = []
    for code in codes:
        of_code = (placed["code"] == code).to_numpy()
        place = (theme[of_code], cluster[of_code])
        decided = np.zeros((len(numbers), len(clusters)))
        np.add.at(decided, place, 1)
        applied = np.zeros_like(decided)
        np.add.at(applied, place, placed["applied"].to_numpy(dtype=float)[of_code])
        found = estimates(applied, decided, level)
        n_decided = placed[of_code].groupby("theme")["unit_id"].nunique().reindex(numbers, fill_value=0)
        rows.append(
            pd.DataFrame(
                {"theme": numbers.to_numpy(), "code": code, "n_decided": n_decided.to_numpy(), **found}
            )
        )
    wanted = pd.MultiIndex.from_product([themes, codes], names=["theme", "code"])
    table = pd.concat(rows).astype({"code": "string"})
    return table.set_index(["theme", "code"]).reindex(wanted).reset_index().astype({"code": "string"})


def estimates(applied: Floats, decided: Floats, level: float) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of one code, from its counts by theme and cluster, whatever stands in their rows."""
    n, n_clusters = decided.sum(axis=1), (decided > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = applied.sum(axis=1) / n
        overall = applied.sum() / decided.sum()
        residual = np.nan_to_num(applied - share[:, None] * decided)
        own = residual / n[:, None]
        # How many texts are of each theme is taken as given.
        everywhere = residual.sum(axis=0) / decided.sum()
        relative = own - share[:, None] * everywhere / overall if overall else own
        found = {
            "n_decisions": n.astype(np.int64),
            "n_clusters": n_clusters,
            "share": share,
            "overall_share": np.full(len(n), overall),
            "lift": share / overall if overall else np.full(len(n), np.nan),
        }
        ends = [
            *_interval(share, own, n, n_clusters, level),
            *_interval(share, relative, n, n_clusters, level),
        ]
        ends[2:] = [end / overall if overall else np.full(len(n), np.nan) for end in ends[2:]]
    return found | dict(zip(INTERVALS, ends, strict=True))


def _interval(
    share: Floats, influence: Floats, n: Floats, n_clusters: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a share, for as many texts as its variance between clusters is worth.

    Korn and Graubard's effective sample size; where the variance is 0 (all or none applied), the number of
    clusters. Missing where there are too few clusters for an interval.
    """
    from scipy import special

    variance = (influence**2).sum(axis=1) * n_clusters / (n_clusters - 1)
    worth = np.where(variance > 0, share * (1 - share) / variance, n_clusters)
    worth = np.clip(worth, 1, n)
    z = special.stdtrit(np.maximum(n_clusters - 1, 1), (1 + level) / 2)
    middle = (share + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * np.sqrt(share * (1 - share) / worth + z**2 / (4 * worth**2))
    enough = n_clusters >= FEWEST_CLUSTERS
    low = np.where(enough, np.maximum(middle - half, 0), np.nan)
    return low, np.where(enough, np.minimum(middle + half, 1), np.nan)

"""The multiverse: each link under all reasonable combinations of source, analysis and exclusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import pandas as pd

from sense7_qual import _decisions
from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._messages import did_you_mean
from sense7_qual._reasons import Reason
from sense7_qual.errors import TableError
from sense7_qual.frames import people
from sense7_qual.links import _inputs
from sense7_qual.links._code_to_rating import code_to_rating
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._results import MULTIVERSE

# Each model's columns in the result of `code_to_rating`: the effect, its p, and why there is none.
_ANALYSES: Final = {
    "rank_biserial": ("rank_biserial", "p", "reason"),
    "mixed": ("odds_ratio", "odds_ratio_p", "odds_ratio_reason"),
    "within": ("within_odds_ratio", "within_odds_ratio_p", "odds_ratio_reason"),
    "gee": ("gee_odds_ratio", "gee_odds_ratio_p", "odds_ratio_reason"),
}


@MULTIVERSE.returns
def multiverse(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    sources: Sequence[str] | None = None,
    analyses: Sequence[str] = ("rank_biserial", "mixed", "within"),
    exclusions: Sequence[str] = ("none", "single_texts", "disputed", "single_coder"),
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> pd.DataFrame:
    """Estimate each link under all combinations of source, analysis and exclusion (specification curve).

    Parameters
    ----------
    decisions, units, rating, cluster, rating_range, sources
        As for `code_to_rating`.
    analyses : sequence of str
        "rank_biserial"; "mixed" (odds ratio of the mixed model), "within" (its part within participants) and
        "gee" (ordinal estimating equations). There is no test that treats a participant's units as
        independent, because it would be wrong.
    exclusions : sequence of str
        "none"; "single_texts" (without participants with one rated unit); "disputed" (without each unit ×
        code on which its coders disagree); "single_coder" (without each unit × code that only one coder
        decided on). They are not combined.
    n_boot, confidence_level, seed, progress
        As for `code_to_rating`.

    Raises
    ------
    TableError
        As for `code_to_rating`; or an analysis or an exclusion is unknown.

    References
    ----------
    Simonsohn, Simmons & Nelson (2020), Specification curve analysis, Nature Human Behaviour 4, 1208–1214.
    Steegen, Tuerlinckx, Gelman & Vanpaemel (2016), Increasing transparency through a multiverse analysis,
    Perspectives on Psychological Science 11, 702–712.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "empathy": [5, 4, 3, 4, 2, 1],
    ...                       "case_id": ["p1", "p1", "p2", "p2", "p3", "p3"]})
    >>> decisions = pd.DataFrame({"unit_id": list("abcdef"), "coder": "ana", "code": "prosocial",
    ...                           "applied": [True, True, True, False, False, False]})
    >>> curve = multiverse(decisions, units, rating="empathy", cluster="case_id", seed=7,
    ...                    analyses=["rank_biserial"], exclusions=["none", "single_texts"])
    >>> curve[["exclusion", "estimate", "n_units", "reason"]].round(3).values.tolist()
    [['none', 0.667, 6, 'few_clusters'], ['single_texts', 0.667, 6, 'few_clusters']]
    """
    check_arguments(multiverse, locals())
    _check_words("analyses", analyses, _ANALYSES)
    _check_words("exclusions", exclusions, _EXCLUSIONS)
    decisions = _inputs.checked_decisions(decisions, sources, function="multiverse")
    rated = _inputs.rated_units(decisions, units, rating, cluster, rating_range=rating_range)
    chosen = _inputs.chosen_sources(decisions, sources)
    codes = [str(code) for code in decisions["code"].unique()]
    every = pd.MultiIndex.from_product([codes, chosen], names=["code", "source"])
    parts, asked = [], list(dict.fromkeys(exclusions))
    with reporting(progress, len(asked), doing="multiverse", unit="exclusion") as tell:
        for done, exclusion in enumerate(asked, 1):
            included = _EXCLUSIONS[exclusion](decisions, rated)
            remaining = _inputs.known_sources(included)
            table = code_to_rating(
                included,
                units,
                rating=rating,
                cluster=cluster,
                rating_range=rating_range,
                sources=[name for name in chosen if name in remaining],
                odds_ratios=bool({"mixed", "within"} & set(analyses)),
                sensitivity="gee" in analyses,
                n_boot=n_boot,
                confidence_level=confidence_level,
                seed=seed,
                details=True,
            )
            for analysis in dict.fromkeys(analyses):
                parts.append(_specifications(table, analysis, every).assign(exclusion=exclusion))
            tell(done, len(asked))
    whole = pd.concat(parts, ignore_index=True) if parts else MULTIVERSE.empty()
    return _curve(whole.assign(confidence_level=confidence_level), codes)


def _specifications(table: pd.DataFrame, analysis: str, every: pd.MultiIndex) -> pd.DataFrame:
    """Return the rows of one analysis out of a table of links, one for every code and source."""
    effect, p, reason = _ANALYSES[analysis]
    table = table.set_index(["code", "source"]).reindex(every).reset_index()
    numbers = ["n_with", "n_without", "n_clusters"]
    unrated = table["n_with"].isna()
    table = table.assign(**{name: table[name].fillna(0).astype("int64") for name in numbers})
    table[reason] = table[reason].mask(unrated, Reason.NO_RATED_UNITS)
    rows = table[["code", "source", "n_clusters"]].assign(
        analysis=analysis,
        effect="rank_biserial" if effect == "rank_biserial" else "odds_ratio",
        estimate=table[effect],
        low=table[f"{effect}_low"],
        high=table[f"{effect}_high"],
        p=table[p],
        n_units=table["n_with"] + table["n_without"],
        reason=table[reason],
    )
    unexplained = rows["estimate"].isna() & rows["reason"].isna()
    rows["reason"] = rows["reason"].mask(
        unexplained, Reason.CODE_VARIES_BETWEEN_ONLY if analysis == "within" else Reason.NOT_ESTIMATED
    )
    return rows


def _curve(whole: pd.DataFrame, codes: list[str]) -> pd.DataFrame:
    """Order the specifications of each code and effect by their estimates, and number them."""
    place = whole["code"].map({code: place for place, code in enumerate(codes)})
    by = ["place", "effect", "estimate", "analysis", "exclusion", "source"]
    ordered = whole.assign(place=place).sort_values(
        by, ascending=[one != "effect" for one in by], na_position="last"
    )
    rank = ordered.groupby(["code", "effect"])["estimate"].rank(method="first")
    return MULTIVERSE.frame(ordered.assign(rank=rank)).reset_index(drop=True)


def _without_single_texts(decisions: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    n = rated.groupby("cluster")["unit_id"].transform("size")
    return decisions[decisions["unit_id"].isin(rated.loc[n >= 2, "unit_id"])]


def _without_disputed(decisions: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    tally = _decisions.tally(people(decisions))
    return _without(decisions, tally[(tally["n_applied"] > 0) & (tally["n_applied"] < tally["n_coders"])])


def _without_single_coders(decisions: pd.DataFrame, rated: pd.DataFrame) -> pd.DataFrame:
    tally = _decisions.tally(people(decisions))
    return _without(decisions, tally[tally["n_coders"] == 1])


def _without(decisions: pd.DataFrame, out: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions without those on the units × codes of `out`."""
    pairs = pd.MultiIndex.from_frame(decisions[["unit_id", "code"]])
    return decisions[~pairs.isin(pd.MultiIndex.from_frame(out[["unit_id", "code"]]))]


def _check_words(name: str, chosen: Sequence[str], known: Iterable[str]) -> None:
    words = list(known)
    for word in [chosen] if isinstance(chosen, str) else chosen:
        if word not in words:
            raise TableError(
                f"multiverse: expected {name} among {', '.join(words)} – found {word!r} – "
                f"{did_you_mean(str(word), words)}"
            )


_EXCLUSIONS: Final[dict[str, Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame]]] = {
    "none": lambda decisions, rated: decisions,
    "single_texts": _without_single_texts,
    "disputed": _without_disputed,
    "single_coder": _without_single_coders,
}

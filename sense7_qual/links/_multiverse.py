"""The multiverse: each link under all reasonable combinations of source, analysis and exclusion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _decisions
from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._messages import did_you_mean
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import TableError
from sense7_qual.frames import people
from sense7_qual.links import _inputs
from sense7_qual.links._code_to_rating import code_to_rating
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._results import MULTIVERSE
from sense7_qual.links._whole_error import as_decisions, read_arms, whole_p, whole_rows
from sense7_qual.links.models._by_hand import Inclusion

# Each model's columns in the result of `code_to_rating`: the effect, its p, and why there is none.
_ANALYSES: Final = {
    "rank_biserial": ("rank_biserial", "p", "reason"),
    "within": ("odds_ratio", "odds_ratio_p", "odds_ratio_reason"),
    "mixed": ("mixed_odds_ratio", "mixed_odds_ratio_p", "odds_ratio_reason"),
    "gee": ("gee_odds_ratio", "gee_odds_ratio_p", "odds_ratio_reason"),
}


@rests_on("decisions")
@MULTIVERSE.returns
def multiverse(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    sources: Sequence[str] | None = None,
    analyses: Sequence[str] = ("rank_biserial", "within"),
    exclusions: Sequence[str] = ("none", "single_texts", "disputed", "single_coder"),
    arms: Mapping[str, pd.DataFrame] | None = None,
    inclusion: Inclusion | None = None,
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
        "rank_biserial" (all texts); "within" (odds ratio of a participant's own texts); "mixed" (one odds
        ratio within and between participants, another estimand where they differ) and "gee" (ordinal
        estimating equations). There is no test that treats a participant's units as independent, because it
        would be wrong.
    exclusions : sequence of str
        "none"; "single_texts" (without participants with one rated unit); "disputed" (without each unit ×
        code on which its coders disagree); "single_coder" (without each unit × code that only one coder
        decided on). They are not combined.
    arms : mapping of str to DataFrame, optional
        The answers of a model to each of its prompts and runs, ``{run.coder: run.answers}``
        (`coders.code` with a plan of `coders.variants`). Each arm is a source, "model-a: base", on the texts
        that it was asked about, and the rows of the whole error are added: see Notes. A text that is an
        example of the code in the codebook is left out; so is one with a true `learned`, a column to add
        where the model learned from the text or its participant. Texts must have been coded by hand before
        any suggestion: ``store.decisions()``.
    inclusion : "equal" or DataFrame
        With `arms`: how the texts coded by hand were drawn, as for `models.with_model`.
    n_boot, confidence_level, seed, progress
        As for `code_to_rating`.

    Raises
    ------
    TableError
        As for `code_to_rating`; an analysis or an exclusion is unknown; or, with `arms`, as for
        `models.with_model`.
    ArgumentError
        `arms` without `inclusion`, or of someone who is not called ``model-…``.

    Notes
    -----
    `whole_p` tests all rank-biserial rows of a code together, so that nothing was chosen among them: ratings
    are permuted within participants `n_boot` times, and the mean effect over sources and exclusions is
    compared with those of the permutations. Differences between participants play no part in it.

    With `arms`, three rows per code have the analysis "whole", on Fisher's z of the rank-biserial effect:

    - "human": people's link, over participants and coders (as `pooled`, on texts drawn with `inclusion`);
    - the model's name: the link of its codes, over participants and prompts like these. Prompts are compared
      on the texts that all were asked about; what the base says about all texts makes their mean more
      precise. Another run of a prompt is no other prompt. It is the model's link, not people's;
    - the model's name with "+ human": people's link, over participants, coders and prompts. What the base
      prompt gets wrong is measured on the texts coded by hand and taken out (`models.with_model`), whichever
      prompt it is. It is never wider than "human". This is the row to report.

    Coders, and prompts, are taken as drawn from others like them: with two of them an interval that rests on
    their difference is very wide, and one alone says nothing of others (`n_coders`, `n_prompts`). In
    simulated studies with prompts that differ, the intervals held what they estimate as often as they say;
    that of one prompt alone often did not (benchmarks/whole_error.md).

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
    people = _inputs.checked_decisions(decisions, sources, function="multiverse")
    own, answered = _inputs.chosen_sources(people, sources), read_arms(arms, inclusion)
    chosen = [*own, *(arm.source for one in answered for arm in one.arms)]
    decisions = pd.concat([people, *map(as_decisions, answered)], ignore_index=True)
    rated = _inputs.rated_units(decisions, units, rating, cluster, rating_range=rating_range)
    shared: dict[str, Any] = {
        "rating": rating,
        "cluster": cluster,
        "rating_range": rating_range,
        "n_boot": n_boot,
        "confidence_level": confidence_level,
        "seed": seed,
        "details": True,
        "odds_ratios": bool({"mixed", "within"} & set(analyses)),
        "sensitivity": "gee" in analyses,
    }
    codes = [str(code) for code in decisions["code"].unique()]
    every = pd.MultiIndex.from_product([codes, chosen], names=["code", "source"])
    tried: list[pd.DataFrame] = []
    parts, asked = [MULTIVERSE.empty()], list(dict.fromkeys(exclusions))
    with reporting(progress, len(asked), doing="multiverse", unit="exclusion") as tell:
        for done, exclusion in enumerate(asked, 1):
            included = _EXCLUSIONS[exclusion](decisions, rated)
            remaining = [name for name in _inputs.known_sources(included) if name in chosen]
            table = code_to_rating(included, units, sources=remaining, **shared)
            for analysis in dict.fromkeys(analyses):
                parts.append(_specifications(table, analysis, every).assign(exclusion=exclusion))
            tried += _inputs.by_source(included, remaining).values()
            tell(done, len(asked))
    curve = _curve(pd.concat(parts, ignore_index=True), codes)
    if answered:
        whole = whole_rows(answered, _coded_by(people, own), rated, confidence_level)
        curve = pd.concat([curve, MULTIVERSE.frame(whole)], ignore_index=True)
        curve = curve.iloc[curve["code"].map(codes.index).argsort(kind="stable")]
    p = {code: whole_p(tried, code, rated, n=n_boot, seed=seed) for code in codes}
    return MULTIVERSE.frame(curve.assign(whole_p=curve["code"].map(p), confidence_level=confidence_level))


def _coded_by(people: pd.DataFrame, sources: Sequence[str]) -> Mapping[str, pd.DataFrame]:
    """Return the decisions of each coder among the sources, or, without one, of the first source."""
    coders = set(_inputs.coders_of(people))
    chosen = [name for name in sources if name in coders] or [name for name in sources if name != "pooled"][
        :1
    ]
    if not chosen:
        raise TableError(
            "multiverse: expected people's decisions with arms – found none – pass store.decisions(…) of the "
            "texts coded by hand."
        )
    return _inputs.by_source(people, chosen)


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
    # The reason for odds ratios is that of the one within participants: others may be there without it.
    rows["reason"] = rows["reason"].mask(rows["low"].notna())
    unexplained = rows["estimate"].isna() & rows["reason"].isna()
    rows["reason"] = rows["reason"].mask(unexplained, Reason.NOT_ESTIMATED)
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

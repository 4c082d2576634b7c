"""Links: the statistical association of each code with a rating, whole participants at a time.

A link says that units with a code are rated higher or lower than units without it. It does not say why.
Each source of decisions (a coder, the majority, the consensus) gets its own rows; sources are never pooled
by counting a unit more than once.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual import _decisions
from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._basis import waiting_in
from sense7_qual._bootstrap import FEWEST_CLUSTERS, check_resampling
from sense7_qual._messages import word
from sense7_qual._reasons import Caution, Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import MODEL_PREFIX, RESERVED_CODERS, people
from sense7_qual.links import _inputs, _resample
from sense7_qual.links._family import (
    Adjustment,
    Margin,
    adjusted,
    check_margin,
    equivalence_p,
    of_margin,
)
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._odds import EFFECTS, Hypothesis, LogOdds, Moves, log_odds, population_averaged
from sense7_qual.links._pooled import (
    Analysis,
    Pooling,
    RankEffect,
    alone,
    analysed,
    columns_of,
    pooled_analysis,
)
from sense7_qual.links._resample import jackknife_interval, left_out
from sense7_qual.links._results import LINKS

Floats = npt.NDArray[np.float64]


@rests_on("decisions")
@LINKS.returns
def code_to_rating(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    cluster: str,
    rating_range: RatingRange = None,
    sources: Sequence[str] | None = None,
    nested: str | None = None,
    odds_ratios: bool = True,
    sensitivity: bool = False,
    pooling: Pooling = "joint",
    adjust: Adjustment = "bh",
    equivalence: Margin | None = None,
    hypothesis: Hypothesis = "within",
    with_models: bool = False,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
    details: bool = False,
    progress: Progress | bool | None = None,
) -> pd.DataFrame:
    """Compare the ratings of units with and without each code, for each source of decisions.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that a source has not decided on is missing for that
        source; it never counts as "without the code".
    units : DataFrame
        unit_id and the columns named by `rating` and `cluster`. A unit without a rating is left out.
    rating : str
        The column of numeric ratings. Only their order enters the effects and p; the means use their values.
    cluster : str
        The column that says which units belong together: the participant. No label may be missing.
    rating_range : pair of numbers, or mapping of str to pair, optional
        The lowest and the highest rating, such as (1, 5), or those of each column. Other values are refused.
        Without it, customary codes for missing far from the other values (−99, −1, 9) are refused, and 0 next
        to 1 to 5 or 1 to 7; SENSE-7's seven ratings are from 1 to 5.
    sources : sequence of str, optional
        Coders, "majority" (more than half of the coders who decided on the unit; ties are missing),
        "consensus" (if `decisions` contain it) or "pooled" (each coder is analysed separately and the
        estimates are combined). By default all of them; majority and pooled need two coders.
    nested : str, optional
        The column of the conversation, where participants have several: the mixed models then have a random
        intercept for it as well. All other intervals allow for conversations in any case.
    odds_ratios : bool
        Whether to fit the mixed models; without them the table takes a tenth of the time.
    sensitivity : bool
        Whether to add gee_odds_ratio, the odds ratio averaged over the population of participants.
    pooling : {"joint", "rubin"}
        How the coders' estimates are combined: see Notes.
    adjust : {"bh", "max-t"}
        How p is adjusted: over the codes of each source (Benjamini–Hochberg), or over all codes × sources of
        the table, so that the chance of any false link in it is 5 %: see Notes.
    hypothesis : {"within", "between"}
        Whether the hypothesis is about a participant's own texts (`odds_ratio`) or about participants
        (`between_odds_ratio`). Both are in the table in any case; a margin of an odds ratio, and the tables'
        adjusted p, are of this one.
    equivalence : pair of str and float, optional
        The largest effect that would not matter, named before the results are seen: ("rank_biserial", 0.2),
        or ("odds_ratio", 1.5) for odds ratios between 1 / 1.5 and 1.5. Adds the p of being at it or beyond.
    with_models : bool
        Whether models (`frames.is_model`) count as coders: they then have rows by default, and are in
        `majority` and `pooled`. Otherwise they are left out with a warning. A model named in `sources` has
        rows in either case.
    n_boot : int
        Number of bootstrap resamples of clusters.
    confidence_level : float
        Level of every interval, between 0 and 1.
    seed : int
        The same seed gives the same intervals; no p, and no interval of an odds ratio, depends on it.
    details : bool
        Whether to add the 29 columns marked with a star. Tables and figures print the 33 others.
    progress : bool or callable, optional
        True shows a bar; a function is told (done, total).

    Raises
    ------
    TableError
        A column is missing, the rating contains something other than numbers or numbers off its scale, a unit
        of `decisions` is not in `units` or has no cluster, or a source is unknown.
    ArgumentError
        `pooling`, `adjust`, `equivalence`, `n_boot`, `confidence_level` or `seed` is out of its range.

    Notes
    -----
    The effect is that of the Mann–Whitney test, 2U / (n_with · n_without) − 1. Units of one participant are
    not independent, so the test's own p is wrong: in simulated studies without any effect (ICC of ratings
    .4, participants using a code to different degrees) it fell below .05 in 8 to 30 % of them. Here p is a
    t test on the effect's delete-one-cluster jackknife standard error, which did so in 3 to 6 %. The
    interval is the expanded percentile bootstrap of Hesterberg (2015) over clusters, which covered the true
    effect in 92 to 97 % (20 to 60 participants, ten units each: benchmarks/links_designs.py). Both use k − 1
    degrees of freedom, k being the number of clusters on the rarer side (with the code, or without it),
    because those few carry the uncertainty. Nothing makes p and the interval agree
    exactly: near the edge one may exclude 0 and the other not (benchmarks/links_coverage.py).

    Where there is an odds ratio, it is the result to report: it compares a participant's own texts, and takes
    out how participants differ, which rank_biserial does not. The model has the code less the participant's
    share of texts with it, and that share (Neuhaus & Kalbfleisch 1998): one coefficient for both, as in a
    mixed model of the code alone, finds links within that are between participants (p below .05 in 20 to 26 %
    of simulated studies without any within, 4 % here: benchmarks/links_within.md). Only participants with
    both carry it, so its degrees of freedom are their number less one; those of the odds ratio between
    participants are those of rank_biserial. Both are R's `clmm` to four decimals.

    Pooled rows estimate the mean, over coders like these, of the effect of the code as a coder applies it (on
    Fisher's z, and on the log odds ratio). They do not correct for coders' errors; `corrected` does.
    `pooling="joint"` takes the covariance of the coders' estimates from leaving out each participant in all
    of them at once, adds the variance between coders beyond that, and counts each source of variance once,
    also where coders coded different units. A coder with fewer units has less weight. It assumes that a
    coder's units are not chosen by how the code and the rating are related. `pooling="rubin"` treats each
    coder as one imputation of the codes (Rubin's rules: the mean of the coders' variances and (1 + 1/m) times
    the variance between them). Where coders err independently part of the variance is then counted twice:
    fewer links are found than by one coder alone (benchmarks/links_pooling.md).

    Pooled intervals and p are both computed on Fisher's z or the log odds ratio, so they agree.

    `adjust="max-t"` (Westfall & Young's step-down) asks how often one of all codes × sources would have a p
    as small if there were no link. How tests go together comes from leaving out each participant in all of
    them at once, so that a coder and the majority, or two codes that occur together, hardly count twice. An
    adjusted p is never above Holm's, and does not depend on `seed`.

    `equivalence` is tested by two one-sided t tests, with the standard errors and degrees of freedom of p, on
    Fisher's z or the log odds ratio (Schuirmann 1987). Below .05 the link is smaller than the margin either
    way; a link can be that and differ from 0, too. A large p of `p` alone never says so. How often each is
    wrong: benchmarks/links_family.md.

    For the odds ratios, ratings with more than twelve levels are merged into about ten; the estimand stays
    the same. Every statistic here also takes decisions by a facet (`Store.decisions`, facet="valence").

    References
    ----------
    Kerby (2014), The simple difference formula: the rank-biserial correlation, Comprehensive Psychology 3.
    Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53, 567–578: why the
    clusters, not the units, are what varies. Hesterberg (2015), What teachers should know about the
    bootstrap, The American Statistician 69, 371–386. Benjamini & Hochberg (1995), Journal of the Royal
    Statistical Society B 57, 289–300. Holm (1979), Scandinavian Journal of Statistics 6, 65–70. Rubin (1987),
    Multiple imputation for nonresponse in surveys. Neuhaus & Kalbfleisch (1998), Between- and within-cluster
    covariate effects in the analysis of clustered data, Biometrics 54, 638–645. Westfall & Young (1993),
    Resampling-based multiple testing, Wiley. Schuirmann (1987), A comparison of the two one-sided tests
    procedure and the power approach, Journal of Pharmacokinetics and Biopharmaceutics 15, 657–680.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcdef"), "empathy": [5, 4, 3, 4, 2, 1],
    ...                       "case_id": ["p1", "p2", "p3", "p4", "p5", "p6"]})
    >>> decisions = pd.DataFrame({"unit_id": list("abcdef"), "coder": "ana", "code": "prosocial",
    ...                           "applied": [True, True, True, False, False, False]})
    >>> found = code_to_rating(decisions, units, rating="empathy", cluster="case_id", seed=7)
    >>> found[["n_with", "n_without", "mean_difference", "rank_biserial", "reason"]].round(3).values.tolist()
    [[3, 3, 1.667, 0.667, 'few_clusters']]
    """
    check_arguments(code_to_rating, locals())
    check_resampling("code_to_rating", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    if pooling not in ("joint", "rubin"):
        raise ArgumentError(
            f"code_to_rating: expected pooling 'joint' or 'rubin' – found {pooling!r} – 'joint' is usual."
        )
    if hypothesis not in get_args(Hypothesis):
        raise ArgumentError(
            f"code_to_rating: expected hypothesis 'within' or 'between' – found {word(str(hypothesis))} – "
            "'within' compares a participant's own texts, 'between' compares participants."
        )
    check_margin(equivalence, odds_ratios=odds_ratios)
    decisions = _inputs.checked_decisions(
        decisions, sources, function="code_to_rating", with_models=with_models
    )
    chosen = _inputs.chosen_sources(decisions, sources, with_models=with_models)
    weights = functools.cache(functools.partial(_resample.cluster_weights, n_boot=n_boot, seed=seed))
    settings = _Settings(
        weights, confidence_level, seed, odds_ratios, sensitivity, pooling, equivalence, hypothesis
    )
    study = _Study(
        decisions,
        _inputs.rated_units(decisions, units, rating, cluster, nested, rating_range=rating_range),
        with_models,
    )
    coders = _inputs.coders_of(decisions, with_models=with_models) if "pooled" in chosen else []
    analyses = _analyses(study, list(dict.fromkeys([*chosen, *coders])), settings, progress)
    rows = [row for source in chosen for row in _with_waiting(source, study, coders, analyses, settings)]
    table = adjusted(LINKS.frame([row for row, _ in rows]), [moves for _, moves in rows], adjust)
    table = LINKS.frame(table.reset_index(drop=True))
    table["hypothesis"] = hypothesis
    more = {
        "gee_": sensitivity,
        "equivalence_": equivalence is not None,
        "adjustment": adjust != "bh",
        "hypothesis": hypothesis != "within",
        "between_odds_ratio_p_adjusted": hypothesis != "within",
    }
    asked = [name for name in LINKS.columns if any(on and name.startswith(of) for of, on in more.items())]
    return table if details else table[[name for name in table if name in (*LINKS.printed, *asked)]]


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of a table."""

    weights: _resample.Weights
    confidence_level: float
    seed: int
    odds_ratios: bool
    sensitivity: bool
    pooling: Pooling
    equivalence: Margin | None
    hypothesis: Hypothesis


@dataclass(frozen=True, slots=True)
class _Study:
    """The decisions, and the decided units that have a rating (unit_id, rating, cluster, perhaps nested).

    `with_models` says whether models are among the coders of `majority` and `pooled`.
    """

    decisions: pd.DataFrame
    rated: pd.DataFrame
    with_models: bool

    @property
    def codes(self) -> list[str]:
        """The codes, in the order in which they first appear."""
        return [str(code) for code in self.decisions["code"].unique()]

    @property
    def coders(self) -> pd.DataFrame:
        """The decisions of those who count in `majority` and `pooled`."""
        return people(self.decisions, with_models=self.with_models)

    def of_source(self, source: str) -> pd.DataFrame:
        """Return the decisions of a source, or those of the coders from which it is computed."""
        own = self.decisions[self.decisions["coder"] == source]
        return self.coders if source in ("majority", "pooled") and len(self.coders) else own

    def with_caution(self, caution: object, code: str) -> str | None:
        """Return a row's cautions with that of the models, where one is among the coders of the code."""
        names = self.coders.loc[self.coders["code"] == code, "coder"]
        models = Caution.MODELS_COUNTED if names.str.startswith(MODEL_PREFIX).any() else ""
        return ", ".join(str(each) for each in (caution, models) if each) or None

    def ties(self, source: str) -> pd.Series | None:
        """Return the rated units of each code that the majority leaves out; None for other sources."""
        left_out = _inputs.tied(self.decisions, source, with_models=self.with_models)
        if left_out is None:
            return None
        return left_out.loc[left_out["unit_id"].isin(self.rated["unit_id"]), "code"].value_counts()

    def shares(self) -> pd.DataFrame:
        """Return each rated unit × code with the share of coders who apply it, and how many decided."""
        tally = _decisions.tally(self.coders, with_models=self.with_models)
        tally = tally.assign(share=tally["n_applied"] / tally["n_coders"])
        return tally.merge(self.rated, on="unit_id", how="inner")


def _analyses(
    study: _Study, sources: list[str], settings: _Settings, progress: Progress | bool | None
) -> dict[tuple[str, str], Analysis]:
    """Analyse every source that has decisions of its own, code by code."""
    analyses: dict[tuple[str, str], Analysis] = {}
    by_source = _inputs.by_source(study.decisions, sources, with_models=study.with_models)
    total = len(by_source) * len(study.codes)
    with reporting(progress, total, doing="links", unit="code") as tell:
        for source, decided in by_source.items():
            decided = decided.merge(study.rated, on="unit_id", how="inner")
            for code in study.codes:
                analyses[source, code] = _analysis(decided[decided["code"] == code], settings)
                tell(len(analyses), total)
    return analyses


def _analysis(decided: pd.DataFrame, settings: _Settings) -> Analysis:
    """Analyse one code and source from its rated units: applied, rating, cluster, and perhaps nested."""
    applied = decided["applied"].to_numpy(dtype=np.bool_)
    ratings = decided["rating"].to_numpy(dtype=np.float64)
    cluster = decided["cluster"].to_numpy(dtype=np.int64)
    counts = _resample.count(applied, ratings, cluster)
    effect, without = _resample.effect_of(counts), _resample.jackknifed_effects(counts)
    reason = _resample.reason_of(applied, counts, effect, without)
    row: dict[str, object] = {
        **_described(applied, ratings, counts),
        "rank_biserial": np.nan if reason == Reason.CONSTANT_RATING else effect,
        "reason": reason,
    }
    rank = None
    if reason is None:
        rank = RankEffect(effect, without, counts.clusters, counts.fewest_clusters)
        row |= _inferred(counts, rank, settings)
    nested = decided["nested"].to_numpy(dtype=np.int64) if "nested" in decided else None
    odds = _odds(applied, ratings, cluster, nested, counts, reason, settings)
    for name in (name for name in EFFECTS if name in odds):
        row |= columns_of(name, alone(odds[name]), settings.confidence_level)
    own = odds.get("odds_ratio", LogOdds(reason=reason if settings.odds_ratios else None))
    cautions = [] if np.isnan(effect) else _cautions(counts, own)
    row |= {"odds_ratio_reason": own.reason, "caution": ", ".join(cautions) or None}
    row["contextual_p"] = odds["contextual"].p if "contextual" in odds else np.nan
    return analysed(row, rank, odds)


def _described(
    applied: _resample.Truths, ratings: npt.NDArray[np.float64], counts: _resample.Counts
) -> dict[str, object]:
    """Return the numbers of units and clusters, and the means."""
    mean_with = ratings[applied].mean() if applied.any() else np.nan
    mean_without = ratings[~applied].mean() if not applied.all() else np.nan
    return {
        "n_with": int(applied.sum()),
        "n_without": int((~applied).sum()),
        "n_clusters": counts.shape[0],
        "n_clusters_with": counts.sides[0],
        "n_clusters_without": counts.sides[1],
        "n_clusters_both": counts.n_both,
        "mean_with": mean_with,
        "mean_without": mean_without,
        "mean_difference": mean_with - mean_without,
        "varies": counts.varies,
    }


def _inferred(counts: _resample.Counts, rank: RankEffect, settings: _Settings) -> dict[str, object]:
    """Return the interval of the rank-biserial effect, its p, and the resamples."""
    resampled = _resample.resampled_effects(counts, settings.weights(counts.shape[0]))
    defined = resampled[~np.isnan(resampled)]
    low, high = _resample.percentile_interval(defined, rank.fewest, settings.confidence_level)
    return {
        "rank_biserial_low": low,
        "rank_biserial_high": high,
        "p": _resample.t_test(rank.effect, _resample.jackknife_error(rank.without), rank.fewest - 1),
        "n_boot": len(resampled),
        "n_undefined": len(resampled) - len(defined),
    }


def _odds(
    applied: _resample.Truths,
    ratings: npt.NDArray[np.float64],
    cluster: npt.NDArray[np.int64],
    nested: npt.NDArray[np.int64] | None,
    counts: _resample.Counts,
    reason: str | None,
    settings: _Settings,
) -> dict[str, LogOdds]:
    """Return the odds ratios that were asked for, where there is a code and a rating to relate."""
    if reason in (
        Reason.NO_RATED_UNITS,
        Reason.CODE_NEVER_APPLIED,
        Reason.CODE_ALWAYS_APPLIED,
        Reason.CONSTANT_RATING,
    ):
        return {}
    fewest, estimates = counts.fewest_clusters, {}
    if settings.odds_ratios:
        estimates = log_odds(applied, ratings, cluster, nested=nested)
    if settings.sensitivity:
        estimates["gee_odds_ratio"] = population_averaged(applied, ratings, cluster, fewest=fewest)
    return estimates


def _cautions(counts: _resample.Counts, odds: LogOdds) -> list[Caution]:
    tested = np.isfinite(odds.standard_error)
    fewest = min(counts.fewest_clusters, counts.n_both) if tested else counts.fewest_clusters
    cautions = [Caution.FEWER_THAN_10_CLUSTERS] if fewest < _resample.MANY_CLUSTERS else []
    cautions += [Caution.VARIES_BETWEEN_ONLY] if counts.varies == "between" else []
    of_model = (Caution.CLUSTERS_OF_ONE, Caution.WITHIN_AND_BETWEEN_DIFFER)
    return cautions + [Caution(caution) for caution in odds.cautions if caution in of_model]


def _with_waiting(
    source: str,
    study: _Study,
    coders: list[str],
    analyses: dict[tuple[str, str], Analysis],
    settings: _Settings,
) -> list[tuple[dict[str, object], dict[str, Moves]]]:
    """Return the rows of one source, those last of codes without a figure until their texts are reviewed."""
    waiting = [one.code for one in waiting_in(study.of_source(source))]
    rows = _rows(source, study, coders, analyses, settings)
    with_figure = [(row, moves) for row, moves in rows if row["code"] not in waiting]
    reasons: dict[str, object] = {"reason": Reason.WAITING_FOR_REVIEW}
    reasons |= {"odds_ratio_reason": Reason.WAITING_FOR_REVIEW} if settings.odds_ratios else {}
    stated = reasons | {"confidence_level": settings.confidence_level, "seed": settings.seed}
    no_moves: dict[str, Moves] = {}
    return with_figure + [({"code": code, "source": source} | stated, no_moves) for code in waiting]


def _rows(
    source: str,
    study: _Study,
    coders: list[str],
    analyses: dict[tuple[str, str], Analysis],
    settings: _Settings,
) -> list[tuple[dict[str, object], dict[str, Moves]]]:
    """Return the rows of one source, a code each, and how much each cluster moves its effects."""
    shares = study.shares() if source in ("majority", "pooled") else None
    ties, rows = study.ties(source), []
    for code in study.codes:
        of_code = None if shares is None else shares[shares["code"] == code]
        if source == "pooled" and of_code is not None:
            found = _pooled([analyses[coder, code] for coder in coders], of_code, settings)
            row = found.row
        else:
            found = analyses[source, code]
            row = dict(found.row)
            row["n_coders"] = _n_coders(source, code, study)
            row |= {} if ties is None else _without_ties(row, int(ties.get(code, 0)))
        if of_code is not None:
            row |= share_columns(of_code, settings.confidence_level)
            row["caution"] = study.with_caution(row.get("caution"), code)
        if settings.equivalence is not None:
            effect, margin = settings.equivalence
            tested = found.tested.get(of_margin(settings.equivalence, settings.hypothesis))
            p = equivalence_p(tested, settings.equivalence)
            row |= {"equivalence_effect": effect, "equivalence_margin": margin, "equivalence_p": p}
        row |= {
            "code": code,
            "source": source,
            "confidence_level": settings.confidence_level,
            "seed": settings.seed,
        }
        rows.append((row, found.moves))
    return rows


def _without_ties(row: dict[str, object], n_tied: int) -> dict[str, object]:
    """Return the number of tied units, and the row's cautions with that of the ties."""
    cautions = [row["caution"] or "", Caution.TIES_LEFT_OUT if n_tied else ""]
    return {"n_tied": n_tied, "caution": ", ".join(str(each) for each in cautions if each) or None}


def _pooled(analyses: list[Analysis], shares: pd.DataFrame, settings: _Settings) -> Analysis:
    """Return one code pooled over coders; its numbers of units count each unit once."""
    applied = (shares["n_applied"] > 0).to_numpy(dtype=np.bool_)
    ratings, cluster = (shares[name].to_numpy() for name in ("rating", "cluster"))
    counts = _resample.count(applied, ratings, cluster)
    described = _described(applied, ratings, counts)
    row = {name: value for name, value in described.items() if not name.startswith("mean")}
    used = [analysis for analysis in analyses if len(analysis.row)]
    found = pooled_analysis(used, pooling=settings.pooling, confidence_level=settings.confidence_level)
    row |= found.row | {"pooling": settings.pooling}
    if row["reason"] is None:
        cautions = str.join(", ", (str(a.row["caution"] or "") for a in analyses if a.rank)).split(", ")
        cautions += [Caution.CODERS_LEFT_OUT] if any(analysis.rank is None for analysis in analyses) else []
        row["caution"] = ", ".join(dict.fromkeys(filter(None, cautions))) or None
    elif settings.odds_ratios:
        row["odds_ratio_reason"] = row["reason"]
    return replace(found, row=row)


def _n_coders(source: str, code: str, study: _Study) -> int | None:
    """Count the coders with decisions on a code in a source; missing where that is not known."""
    if source not in RESERVED_CODERS:
        return 1
    own = study.coders
    n = own.loc[own["code"] == code, "coder"].nunique()
    return int(n) if source == "majority" and n else None


def share_columns(shares: pd.DataFrame, confidence_level: float) -> dict[str, float]:
    """Return spearman and its interval from units with a share, a rating and a cluster.

    The interval is that of Fisher's z with its delete-one-cluster jackknife standard error; without one where
    there are fewer than six clusters, or the correlation is ±1.
    """
    tables = _tables(shares)
    rho = float(spearman(tables.sum(axis=0))) if len(tables) else np.nan
    if len(tables) < FEWEST_CLUSTERS:
        return {"spearman": rho}
    without = left_out(
        tables.reshape(len(tables), -1), lambda sums: spearman(sums.reshape(-1, *tables.shape[1:]))
    )
    low, high = jackknife_interval(rho, without, confidence_level, onto=np.arctanh, back=np.tanh)
    return {"spearman": rho, "spearman_low": low, "spearman_high": high}


def spearman(tables: Floats) -> Floats:
    """Return Spearman's rank correlation (…) of counts (…, shares, levels), NaN if one margin is constant.

    >>> round(float(spearman(np.array([[2.0, 1.0], [0.0, 3.0]]))), 6)  # Pearson's phi of the table
    0.707107
    """
    n = tables.sum(axis=(-2, -1))[..., None]
    ranks = []
    for axis in (-1, -2):
        margin = tables.sum(axis=axis)
        ranks.append(np.cumsum(margin, axis=-1) - margin / 2 - n / 2)
    products = np.einsum("...s,...sl,...l->...", ranks[0], tables, ranks[1])
    squares = [
        (np.square(rank) * tables.sum(axis=axis)).sum(axis=-1)
        for rank, axis in zip(ranks, (-1, -2), strict=True)
    ]
    scale = np.sqrt(squares[0] * squares[1])
    return np.asarray(np.divide(products, scale, out=np.full(np.shape(scale), np.nan), where=scale > 0))


def _tables(shares: pd.DataFrame) -> Floats:
    """Return the counts of units by cluster, share and rating level (clusters, shares, levels)."""
    index = [np.unique(shares[name], return_inverse=True)[1] for name in ("cluster", "share", "rating")]
    shape = tuple(int(part.max()) + 1 if len(part) else 0 for part in index)
    tables = np.zeros(shape)
    np.add.at(tables, tuple(index), 1)
    return tables

"""Links from a model's codes on all texts and people's on some, right whatever errors the model makes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._debias import Debiased, debiased, model_codes
from sense7_qual._reasons import Caution, Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.errors import TableError
from sense7_qual.frames import indexed_by_unit, is_model
from sense7_qual.links import _inputs, _resample
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._odds import LogOdds, log_odds, population_averaged
from sense7_qual.links._pooled import (
    MeanEffect,
    Pooled,
    RankEffect,
    alone,
    columns_of,
    covariance_of,
    covariance_of_moves,
)
from sense7_qual.links._resample import with_adjusted
from sense7_qual.links.models._by_hand import Inclusion, Texts, read, refuse_picked
from sense7_qual.links.models._results import WITH_MODEL

Floats = npt.NDArray[np.float64]

Row = dict[str, Any]

_SOURCES: Final = ("human", "model", "model + human")
_DIFFERS: Final = 0.05
_NO_EFFECT: Final = (
    Reason.NO_RATED_UNITS,
    Reason.CODE_NEVER_APPLIED,
    Reason.CODE_ALWAYS_APPLIED,
    Reason.CONSTANT_RATING,
)


@rests_on("decisions", "model", called=("people", "model"))
@WITH_MODEL.returns
def with_model(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    model: pd.DataFrame,
    inclusion: Inclusion,
    rating: str,
    cluster: str,
    source: str | None = None,
    shown: pd.Series | None = None,
    rating_range: RatingRange = None,
    odds_ratios: bool = True,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Estimate each link from a model's codes on all texts, corrected by people's codes on a random sample.

    People's codes are the standard. A model may err in any way, also where errors go with the rating: the
    link of its codes alone is then wrong, and its interval too narrow. Here people's link on the texts coded
    by hand is made more precise by the difference between the model's links on all texts and on the same
    texts. The better the model, the narrower the interval; it is never wider than that of people alone.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool): people's decisions on texts that were drawn, made without seeing
        the model's codes: ``store.decisions()``.
    units : DataFrame
        All texts: unit_id and the columns named by `rating` and `cluster`. One without a rating is left out.
    model : DataFrame
        The model's codes on all texts: decisions of one model coder ("model-…"), or suggestions as
        `suggestions.suggest` returns them. A text that the model does not decide on is missing for the model,
        not "without the code". A column `learned` (of suggestions required) is True where the model learned
        from the text or its participant: such texts are left out.
    inclusion : "equal" or DataFrame
        How the texts coded by hand were drawn: "equal" if each text, or each participant, had the same
        probability; else what `corpus.hand_sample` or `corpus.inclusion` returns. There is no default, since
        texts that were picked by what is in them give a wrong link.
    rating, cluster : str
        The column of numeric ratings, and that of the participant.
    source : str, optional
        Whose decisions: a coder, "majority" or "consensus". By default the consensus if there is one, else
        the majority.
    shown : Series, optional
        `suggestions.shown`, where decisions were made after suggestions: True by unit_id where the model's
        suggestions were shown. These decisions are left out.
    rating_range
        As for `code_to_rating`.
    odds_ratios : bool
        Whether to compute odds ratios: of the mixed model where whole participants were coded by hand,
        averaged over the population where texts were drawn, none where probabilities were unequal.
    confidence_level : float
        Level of every interval, between 0 and 1.

    Raises
    ------
    TableError
        A frame lacks what is named here; `inclusion` does not cover every text coded by hand, or says that it
        was not drawn, or more texts than its probabilities allow; the model's codes, or the ratings, show
        that texts were not drawn with these probabilities (a code, or a rating, is much commoner, or rarer,
        in the texts coded by hand: p < .001 over participants, and codes or ratings; below .05 for ratings
        there is a caution); the model has learned from all participants coded by hand.
    ArgumentError
        `confidence_level` is out of its range.

    Notes
    -----
    Predict-then-debias: h + w (a − p), where a is the effect of the model's codes on all texts, h and p the
    effects of people's and the model's on the texts coded by hand, weighted by 1 / probability. Leaving out
    each participant in all three at once gives their covariance, and with it the best weight w, shrunk
    towards 0 and cut to 0 … 1 (`model_weight`). Rank-biserial on Fisher's z; the mean difference has a weight
    of its own; odds ratios take the correlations of the rank-biserial effects. Student's t with k − 1 degrees
    of freedom, k being the participants with, or without, the code by hand, whichever are fewer. With fewer
    than six of them there is no interval; if that holds of the model's codes, it is not used.

    In simulated studies 95 % intervals held the true effect in 94 to 98 %, those of the model alone in 0 to
    96 % (benchmarks/links_with_model.md). What narrows the interval most is to code texts of all
    participants. The correction needs texts drawn at random, and the model's codes on all texts made in the
    same way, without seeing ratings. `corrected` is for another case: no standard, several coders who err
    independently.

    References
    ----------
    Kluger, Lu, Zrnic, Wang & Bates (2025), Prediction-powered inference with imputed covariates and
    nonuniform sampling, arXiv 2501.18577. Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023),
    Prediction-powered inference, Science 382, 669–674. Egami, Hinck, Stewart & Wei (2023), Using imperfect
    surrogates for downstream inference, NeurIPS 36: the same problem by another estimator. Baumann et al.
    (2025), Large language model hacking, arXiv 2509.08825: what a model's codes alone lead to.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> case, true = np.repeat(np.arange(60), 8), rng.random(480) < 0.3
    >>> units = pd.DataFrame({"unit_id": [f"u{i:03}" for i in range(480)], "case_id": case,
    ...                       "empathy": np.clip(np.round(3.5 - true + rng.normal(size=480)), 1, 5)})
    >>> of = {"unit_id": units["unit_id"], "code": "continuity"}
    >>> model = pd.DataFrame({**of, "coder": "model-a", "applied": true ^ (rng.random(480) < 0.1)})
    >>> people = pd.DataFrame({**of, "coder": "ana", "applied": true})[::4]  # two texts of each participant
    >>> linked = with_model(people, units, model=model, inclusion="equal", rating="empathy",
    ...                     cluster="case_id", odds_ratios=False).set_index("source")
    >>> linked["rank_biserial"].round(2).to_dict()
    {'human': -0.47, 'model': -0.31, 'model + human': -0.52}
    >>> bool(linked.loc["model + human", "width_ratio"] < 0.9)
    True
    """
    check_arguments(with_model, locals())
    check_resampling("with_model", n_boot=1, confidence_level=confidence_level, seed=0)
    made, learned = model_codes(model, function="with_model")
    checked = _inputs.checked_decisions(decisions, [source] if source else None, function="with_model")
    if source is not None and is_model(source):
        raise TableError(
            f"with_model: expected people's decisions as source – found the model {source!r} – people's "
            "codes are the standard here; pass the model's codes as model."
        )
    name = source or ("consensus" if (checked["coder"] == "consensus").any() else "majority")
    people = _resample.decided_by(checked, units, name, function="with_model")
    rated = _inputs.rated_units(pd.concat([people, made]), units, rating, cluster, rating_range=rating_range)
    people = people[people["unit_id"].isin(rated["unit_id"])]
    out = left_out(people, learned, shown, function="with_model")
    known = rated[~rated["unit_id"].isin(learned)]
    texts = read(known, people[~out], made, inclusion, function="with_model")
    is_other = refuse_picked(texts, rating=rating, function="with_model") < _DIFFERS
    linked = [_links(one, odds_ratios=odds_ratios) for one in texts]
    table = _table(linked, _tied(checked, name, rated), confidence_level)
    if is_other:
        table = _cautioned(table, table["source"] != "model", Caution.SAMPLE_DIFFERS)
    n_left_out = table["code"].map(people.loc[out, "code"].value_counts())
    return WITH_MODEL.frame(table.assign(n_left_out=n_left_out.fillna(0)))


def left_out(people: pd.DataFrame, learned: pd.Index, shown: pd.Series | None, *, function: str) -> pd.Series:
    """Mark the decisions on texts from which the model has learned, or with suggestions seen; not on all."""
    out = people["unit_id"].isin(learned)
    if shown is not None:
        seen = indexed_by_unit(shown, name="shown")
        if not seen.isin([True, False]).all():
            raise TableError("shown: expected True or False by unit – found other values – True means shown.")
        out |= people["unit_id"].isin(seen.index[seen.astype(bool)])
    if len(people) and out.all():
        raise TableError(
            f"{function}: expected texts coded by hand without seeing suggestions, of participants from whom "
            f"the model has not learned – found none among {people['unit_id'].nunique()} – code texts of "
            "other participants (corpus.hand_sample draws them), or let the model learn from others."
        )
    return out


def _tied(decisions: pd.DataFrame, source: str, rated: pd.DataFrame) -> pd.Series | None:
    """Count the rated texts that the majority leaves out, by code; None for other sources."""
    ties = _inputs.tied(decisions, source)
    if ties is None:
        return None
    return ties.loc[ties["unit_id"].isin(rated["unit_id"]), "code"].value_counts()


@dataclass(frozen=True, slots=True)
class Link:
    """The link of some codes on some texts: its columns, and its effects where they have an interval."""

    row: Row
    varies: str | None
    fewest: int
    effects: dict[str, RankEffect | MeanEffect] = field(repr=False)


def link_of(texts: Texts, codes: Floats, weight: Floats) -> Link:
    """Return the link of codes (1, 0, NaN: none), each text counting by its weight."""
    there = ~np.isnan(codes)
    applied, ratings, cluster = codes[there] == 1, texts.rating[there], texts.cluster[there]
    counts = _resample.count(applied, ratings, cluster, weight[there])
    effect, without = _resample.effect_of(counts), _resample.jackknifed_effects(counts)
    reason = _resample.reason_of(applied, counts, effect, without)
    fewest, (n_clusters_with, n_clusters_without) = counts.fewest_clusters, counts.sides
    terms = np.column_stack([applied * ratings, applied, ~applied * ratings, ~applied])
    sums = _resample.cluster_sums(weight[there, None] * terms, np.searchsorted(counts.clusters, cluster))
    difference = float(_difference(sums.sum(axis=0)))
    row = {
        "n_with": int(applied.sum()),
        "n_without": int((~applied).sum()),
        "n_clusters": len(counts.clusters),
        "n_clusters_with": n_clusters_with,
        "n_clusters_without": n_clusters_without,
        "n_clusters_both": counts.n_both,
        "mean_difference": difference,
        "reason": reason,
        "rank_biserial": np.nan if reason == Reason.CONSTANT_RATING else effect,
    }
    effects: dict[str, RankEffect | MeanEffect] = {}
    if reason is None:
        effects["rank"] = RankEffect(effect, without, counts.clusters, fewest)
        means = _resample.left_out(sums, _difference)
        effects["mean"] = MeanEffect(difference, means, counts.clusters, fewest)
    return Link(row, counts.varies, fewest, effects)


def _difference(sums: Floats) -> Floats:
    """Return the difference of the means (…) from the sums of ratings and of weights with and without."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])


@dataclass(frozen=True, slots=True)
class _Links:
    """Of one code: the link of people, of the model on all texts, and of the model on those of people."""

    texts: Texts
    human: Link
    model: Link
    same: Link
    odds: Mapping[str, dict[str, LogOdds]]

    def covariance(self, name: str) -> Floats | None:
        """Return the covariance (3, 3) of the effects of the model, of people, of the model on the same."""
        three = [link.effects.get(name) for link in (self.model, self.human, self.same)]
        known = [one for one in three if one is not None]
        return covariance_of(known) if len(known) == 3 else None

    def debiased(self, name: str) -> Debiased:
        """Return people's effect corrected by the model's, or alone where the model's has no interval."""
        own, covariance = self.human.effects[name], self.covariance(name)
        alone = Debiased(own.estimate, _alone(own).standard_error ** 2, 0.0, np.nan)
        if covariance is None:
            return alone
        estimates = [link.effects[name].estimate for link in (self.model, self.human, self.same)]
        found = debiased(np.array(estimates), covariance, own.fewest)
        return found if found.weight else replace(alone, worth=found.worth)


def _links(texts: Texts, *, odds_ratios: bool) -> _Links:
    human = link_of(texts, texts.human, texts.weight)
    model = link_of(texts, texts.model, np.ones(len(texts.model)))
    same = link_of(texts, _on_same(texts), texts.weight)
    linked = _Links(texts, human, model, same, {source: {} for source in _SOURCES})
    return replace(linked, odds=_odds(linked)) if odds_ratios else linked


def _on_same(texts: Texts) -> Floats:
    """Return the model's codes on the texts coded by hand."""
    return np.where(texts.by_hand, texts.model, np.nan)


def _odds(linked: _Links) -> dict[str, dict[str, LogOdds]]:
    """Return the log odds ratios of each source that the draw allows.

    A mixed model's odds ratio under misread codes depends on how many texts a participant has, so that it is
    one thing on all texts and another on a few of each participant; averaged over the population it is not.
    """
    texts = linked.texts
    of_model, of_human = (
        partial(_log_odds, texts, *one) for one in ((linked.model, texts.model), (linked.human, texts.human))
    )
    if texts.unequal:
        none = LogOdds(reason=Reason.UNEQUAL_INCLUSION)
        return {
            "human": {"odds_ratio": none},
            "model": {"odds_ratio": of_model("odds_ratio")},
            "model + human": {"odds_ratio": none},
        }
    names = ["odds_ratio"] if texts.whole else ["odds_ratio", "gee_odds_ratio"]
    human, model = ({name: one(name) for name in names} for one in (of_human, of_model))
    same = _log_odds(texts, linked.same, _on_same(texts), names[-1])
    both = {"odds_ratio": LogOdds(reason=human["odds_ratio"].reason or Reason.TEXTS_DRAWN)}
    both[names[-1]] = _debiased_odds(linked, model[names[-1]], human[names[-1]], same)
    return {"human": human, "model": model, "model + human": both}


def _log_odds(texts: Texts, link: Link, codes: Floats, name: str) -> LogOdds:
    """Return the log odds ratio of codes: of the mixed model, or averaged over the population."""
    if link.row["reason"] in _NO_EFFECT:
        return LogOdds(reason=link.row["reason"])
    there = ~np.isnan(codes)
    read = (codes[there] == 1, texts.rating[there], texts.cluster[there])
    if name == "gee_odds_ratio":
        return population_averaged(*read, fewest=link.fewest)
    return log_odds(*read, mixed=False)["odds_ratio"]


def _debiased_odds(linked: _Links, model: LogOdds, human: LogOdds, same: LogOdds) -> LogOdds:
    """Correct people's log odds ratio by the model's; they go together as each participant moves them.

    Those averaged over the population have no such moves: they go together as the rank-biserial effects do.
    """
    three = (model, human, same)
    errors = np.array([one.standard_error for one in three])
    covariance = linked.covariance("rank")
    if not np.isfinite(errors).all() or covariance is None:
        return human
    moves = [one.moves for one in three if one.moves is not None]
    if len(moves) == len(three):
        covariance = covariance_of_moves(moves, errors)
    else:
        scale = np.sqrt(np.diag(covariance))
        covariance = covariance / np.outer(scale, scale) * np.outer(errors, errors)
    found = debiased(np.array([one.estimate for one in three]), covariance, human.df + 1)
    return replace(human, estimate=found.estimate, standard_error=float(np.sqrt(found.variance)))


def _alone(effect: RankEffect | MeanEffect) -> Pooled:
    error = float(np.sqrt(np.square(effect.deviations).sum()))
    return _pooled(effect.estimate, error, effect.fewest)


def _pooled(estimate: float, standard_error: float, fewest: int) -> Pooled:
    return Pooled(estimate, standard_error, fewest - 1, between_share=np.nan, n=1)


def _table(linked: list[_Links], ties: pd.Series | None, confidence_level: float) -> pd.DataFrame:
    """Return the rows of all codes, source by source."""
    tables = []
    for source in _SOURCES:
        rows = [_row(one, source, None if source == "model" else ties, confidence_level) for one in linked]
        table = WITH_MODEL.frame([row | {"source": source, "n_left_out": 0} for row in rows])
        for name in ("p", "odds_ratio_p", "differs_p"):
            table = with_adjusted(table, name)
        tables.append(table.assign(family=f"codes of {source}"))
    table = pd.concat(tables, ignore_index=True)
    differs = (table["differs_p_holm"] < _DIFFERS).to_numpy(dtype=np.bool_)
    return _cautioned(table, pd.Series(differs, index=table.index), Caution.MODEL_DIFFERS)


def _cautioned(table: pd.DataFrame, rows: pd.Series, caution: Caution) -> pd.DataFrame:
    """Return the table with a further caution in some rows."""
    told = table["caution"].where(~rows, table["caution"].fillna("") + f", {caution}")
    return table.assign(caution=told.str.removeprefix(", "))


def _row(linked: _Links, source: str, ties: pd.Series | None, confidence_level: float) -> Row:
    """Return one row: the numbers and effects, the interval, and what there is of this source alone."""
    link = linked.model if source == "model" else linked.human
    row = link.row | {"code": linked.texts.code, "confidence_level": confidence_level}
    row["n_by_hand"] = int(linked.texts.by_hand.sum())
    row["n_tied"] = None if ties is None else int(ties.get(linked.texts.code, 0))
    cautions = _cautions(linked, link, source)
    cautions += [Caution.TIES_LEFT_OUT] if row["n_tied"] else []
    if link.effects:
        effects = {name: _alone(effect) for name, effect in link.effects.items()}
        if source == "model + human":
            found = {name: linked.debiased(name) for name in effects}
            effects = {
                name: _pooled(one.estimate, float(np.sqrt(one.variance)), link.fewest)
                for name, one in found.items()
            }
            row |= _gain(linked, found["rank"])
            cautions += [] if found["rank"].weight else [Caution.MODEL_NOT_USED]
        row |= _intervals(effects, confidence_level)
    if source == "model":
        row |= _differs(linked)
    for name, odds in linked.odds[source].items():
        row |= columns_of(name, alone(odds), confidence_level)
        row |= {"odds_ratio_reason": odds.reason} if name == "odds_ratio" else {}
    return row | {"caution": ", ".join(dict.fromkeys(cautions)) or None}


def _intervals(effects: Mapping[str, Pooled], confidence_level: float) -> Row:
    rank, mean = effects["rank"], effects["mean"]
    low, high = np.tanh(rank.interval(confidence_level))
    mean_low, mean_high = mean.interval(confidence_level)
    return {
        "rank_biserial": float(np.tanh(rank.estimate)),
        "rank_biserial_low": low,
        "rank_biserial_high": high,
        "mean_difference": mean.estimate,
        "mean_difference_low": mean_low,
        "mean_difference_high": mean_high,
        "p": rank.p,
    }


def _gain(linked: _Links, found: Debiased) -> Row:
    """Return the gain from the model for people's rank-biserial effect, and the covariances behind it."""
    own = _alone(linked.human.effects["rank"]).standard_error ** 2
    row: Row = {"model_weight": found.weight, "worth": found.worth, "var_human": own}
    row["width_ratio"] = float(np.sqrt(found.variance / own))
    covariance = linked.covariance("rank")
    if covariance is None:
        return row
    names = ("model", "human", "same")
    row |= {f"var_{one}": covariance[i, i] for i, one in enumerate(names)}
    pairs = itertools.combinations(enumerate(names), 2)
    return row | {f"cov_{one}_{other}": covariance[i, j] for (i, one), (j, other) in pairs}


def _differs(linked: _Links) -> Row:
    """Return the difference of the model's link from people's on the same texts, and its p."""
    covariance = linked.covariance("rank")
    if covariance is None:
        return {}
    human, same = (one.effects["rank"] for one in (linked.human, linked.same))
    variance = covariance[1, 1] + covariance[2, 2] - 2 * covariance[1, 2]
    error = np.sqrt(variance) if variance > 1e-12 else 0.0
    found = _pooled(same.estimate - human.estimate, error, min(human.fewest, same.fewest))
    return {"differs": found.estimate, "differs_p": found.p}


def _cautions(linked: _Links, link: Link, source: str) -> list[Caution]:
    cautions = []
    if not np.isnan(link.row["rank_biserial"]):
        cautions += [Caution.FEWER_THAN_10_CLUSTERS] if link.fewest < _resample.MANY_CLUSTERS else []
        cautions += [Caution.VARIES_BETWEEN_ONLY] if link.varies == "between" else []
    odds = linked.odds[source].get("odds_ratio", LogOdds())
    of_model = (Caution.CLUSTERS_OF_ONE, Caution.WITHIN_AND_BETWEEN_DIFFER)
    cautions += [Caution(one) for one in odds.cautions if one in of_model]
    undecided = source != "model" and (linked.texts.drawn & ~linked.texts.by_hand).any()
    return cautions + ([Caution.DRAWN_NOT_CODED] if undecided else [])

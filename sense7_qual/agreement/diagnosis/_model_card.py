"""What a model that codes is worth, code by code: its card, and the word that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import (
    FEWEST_CLUSTERS,
    check_resampling,
    holm,
    paired_interval,
    share_interval,
)
from sense7_qual._debias import (
    debiased,
    drawn_texts,
    model_codes,
    refuse_not_drawn,
    refuse_other_values,
)
from sense7_qual._decisions import majority
from sense7_qual._reasons import Reason
from sense7_qual._rests_on import rests_on
from sense7_qual.agreement._by_code import by_code, code_tables, row_of_table, weighted_alpha
from sense7_qual.agreement._counts import cluster_numbers
from sense7_qual.agreement._difference import apart_on_log_scale
from sense7_qual.agreement._human_model import cross_kappa, cross_parts, cross_row, with_model
from sense7_qual.agreement._intervals._bootstrap import Resampling
from sense7_qual.agreement._results import MODEL_CARD
from sense7_qual.agreement.diagnosis._alternative_annotator_test import alternative_annotator_test
from sense7_qual.agreement.diagnosis._model_texts import (
    Floats,
    Row,
    Texts,
    group_rows,
    independent,
    known,
    ratio,
)
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, clusters_by_unit, indexed_by_unit, people, without_models

_SUGGESTIONS: Final = "model-suggestions"
_UNQUOTED: Final = ("quote_not_in_text", "no_quote")
_ARMS: Final = ("run", "wording", "order")
_PER_BIN: Final = 20


@rests_on("decisions", "model", called=("people", "model"))
@MODEL_CARD.returns
def model_card(
    decisions: pd.DataFrame,
    *,
    model: pd.DataFrame,
    units: pd.DataFrame,
    cluster: str,
    inclusion: Literal["equal"] | pd.DataFrame,
    by: Sequence[str] = (),
    answers: pd.DataFrame | None = None,
    shown: pd.Series | None = None,
    epsilon: float | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure a model that codes against people, code by code, on texts drawn with known probabilities.

    Use it before a model's codes are used for anything. People's codes are the standard: their consensus if
    there is one, else their majority; texts without one (ties) are left out.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool): people's decisions on texts that were drawn, made without seeing
        the model's codes.
    model : DataFrame
        The model's codes on all texts: decisions of one model coder ("model-…"), or suggestions as
        `suggestions.suggest` returns them. A text that it does not decide on is missing, not "without the
        code". Texts that the model learned from (`learned`) are left out.
    units : DataFrame
        All texts that the model was asked about: unit_id and the columns named by `cluster` and `by`.
    cluster : str
        The column of the participant.
    inclusion : "equal" or DataFrame
        How the texts coded by hand were drawn, as for `links.models.with_model`. There is no default: texts
        that were picked by what is in them flatter or harm the model.
    by : sequence of str
        Columns of `units` with the groups to compare, such as condition, language or rating. A column of
        numbers with more than two values is cut at its median; of more than two groups each is compared with
        all others.
    answers : DataFrame, optional
        The answers of a model that was asked several times (``Run.answers``): for what is missing and why,
        quotes that are not in the text, and how much runs, wordings and orders agree. A text that is an
        example in the codebook (`in_the_codebook`) is left out of everything for that code.
    shown : Series, optional
        `suggestions.shown`, where decisions were made after suggestions: these texts are left out.
    epsilon : float, optional
        With it, `alternative_annotator_test` is made.
    n_boot, confidence_level, seed
        As for `by_code`, for the rows of agreement.

    Raises
    ------
    TableError
        A frame lacks what is named here; a text coded by hand was not drawn, or more were coded than the
        probabilities allow; the model's codes, or numbers in a column of `by`, show that texts were picked
        (as in `links.models.with_model`); no text coded by hand is left.
    ArgumentError
        A setting is out of its range.

    Notes
    -----
    Each text counts by 1 / probability. Shares have Wilson's interval for the number of independent texts
    that they are worth, given their jackknife variance over participants, with Satterthwaite's degrees of
    freedom (Franco et al. 2019); the difference of the two prevalences has that of Bonett and Price (2012).
    There is no interval with fewer than six participants to count. The prevalence in all texts corrects
    people's share by the model's (`links.models.with_model` describes how). The difference of cross-kappa and
    alpha is as far from its ends as the two are from theirs (Zou 2007). Differences of groups take Student's
    t over participants, and have at least the interval and p of independent texts; p is adjusted by Holm for
    all of them. They find little: with 80 participants, sensitivities of .8 and .6 were told apart in 17 %
    of the studies where a code was on 20 % of the texts, in 38 % where it was on 40 %. Read the interval; a
    large p says nothing. In simulated studies 95 % intervals held the truth in 92 to 99 %
    (benchmarks/model_card_coverage.md).

    References
    ----------
    Franco, Little, Louis & Slud (2019), Comparative study of confidence intervals for proportions in complex
    sample surveys, Journal of Survey Statistics and Methodology 7, 334–364. Bonett & Price (2012), Journal of
    Educational and Behavioral Statistics 37, 479–488. Zou (2007), Toward using confidence intervals to
    compare correlations, Psychological Methods 12, 399–413. Wong, Paritosh & Aroyo (2021), Cross-replication
    reliability, ACL.
    Kluger et al. (2025), arXiv 2501.18577 (prevalence in all texts). Kumar, Liang & Ma (2019), Verified
    uncertainty calibration, NeurIPS 32. Barrie, Palaiologou & Törnberg (2024), Prompt stability scoring,
    arXiv 2407.02039.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> case, true = np.repeat(np.arange(40), 6), rng.random(240) < 0.3
    >>> units = pd.DataFrame({"unit_id": [f"u{i:03}" for i in range(240)], "case_id": case})
    >>> of = {"unit_id": units["unit_id"], "code": "interest"}
    >>> model = pd.DataFrame({**of, "coder": "model-a", "applied": true & (rng.random(240) < 0.8)})
    >>> people = pd.DataFrame({**of, "coder": "ana", "applied": true})[::2]  # three texts of each
    >>> card = model_card(people, model=model, units=units, cluster="case_id", inclusion="equal")
    >>> row = card.set_index("measure").loc["sensitivity"]
    >>> int(row["n_units"]), row[["value", "low", "high"]].astype(float).round(2).tolist()
    (38, [0.82, 0.67, 0.91])
    """
    check_arguments(model_card, locals())
    check_resampling("model_card", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    how = Resampling(n_boot, confidence_level, seed)
    clusters = cast(pd.Series, clusters_by_unit(units, cluster))  # both are given
    name = str(model["coder"].iloc[0]).strip() if "coder" in model and len(model) else _SUGGESTIONS
    made, learned = model_codes(model, function="model_card")
    kept = clusters.index[~clusters.index.isin(_out(learned, shown))]
    own = without_models(DECISIONS.check(decisions), function="model_card")
    own = own[own["unit_id"].isin(kept)]
    weight = _weights(inclusion, own)
    study = _Study(name, own, made[made["unit_id"].isin(kept)], clusters.loc[kept], weight, how)
    study.refuse_picked_by(units, by)
    rows = []
    for code in study.codes:
        texts = study.texts(code, _examples(answers, code))
        rows += [
            {"code": code, "model": name} | row
            for row in (
                *_accuracy(texts),
                *_prevalence(texts),
                *_agreement(study, texts),
                *_annotator(study, texts, epsilon),
                *_missing(texts, answers),
                *_steady(texts, answers, how),
                *_calibrated(texts, model),
                *group_rows(texts, units, by),
            )
        ]
    return _with_holm(rows, how)


def _out(learned: pd.Index, shown: pd.Series | None) -> list[str]:
    """Return the units from which the model has learned, or with suggestions that were seen."""
    if shown is None:
        return list(learned)
    seen = indexed_by_unit(shown, name="shown")
    if not seen.isin([True, False]).all():
        raise TableError("shown: expected True or False by unit – found other values – True means shown.")
    return [*learned, *seen.index[seen.astype(bool)]]


def _weights(inclusion: Literal["equal"] | pd.DataFrame, own: pd.DataFrame) -> pd.Series:
    """Return 1 / probability of each unit coded by hand."""
    by_hand = pd.Index(own["unit_id"].unique())
    if not len(by_hand):
        raise TableError(
            "model_card: expected texts coded by hand without seeing suggestions, of participants from whom "
            "the model has not learned – found none – code texts of other participants "
            "(corpus.hand_sample draws them)."
        )
    if not isinstance(inclusion, pd.DataFrame):
        return pd.Series(1.0, index=by_hand)
    chance, _ = drawn_texts(inclusion, by_hand, function="model_card")
    weight = 1 / chance.reindex(by_hand)
    return weight / weight.mean()


def _examples(answers: pd.DataFrame | None, code: str) -> list[str]:
    """Return the units that are examples of the code in the codebook."""
    if answers is None or "in_the_codebook" not in answers:
        return []
    there = answers["code"].eq(code) & answers["in_the_codebook"].astype(bool)
    return list(answers.loc[there, "unit_id"])


@dataclass(frozen=True, slots=True)
class _Study:
    """People's and the model's decisions on the texts that count, and the participant of each text."""

    name: str
    own: pd.DataFrame
    made: pd.DataFrame
    clusters: pd.Series
    weight: pd.Series
    how: Resampling

    @property
    def codes(self) -> list[str]:
        """The codes that people decided on."""
        return [str(code) for code in self.own["code"].unique()]

    def refuse_picked_by(self, units: pd.DataFrame, by: Sequence[str]) -> None:
        """Raise `TableError` if a column of numbers, such as a rating, shows that texts were picked by it."""
        rows = units.assign(unit_id=units["unit_id"].astype("string").str.strip()).set_index("unit_id")
        weight = self.weight.reindex(self.clusters.index).fillna(0.0).to_numpy(dtype=np.float64)
        cluster = cluster_numbers(self.clusters.index, self.clusters)
        for name in (name for name in by if pd.api.types.is_numeric_dtype(units[name].dtype)):
            values = rows[name].reindex(self.clusters.index).to_numpy(dtype=np.float64, na_value=np.nan)
            refuse_other_values(name, values, weight, cluster, function="model_card")

    def texts(self, code: str, out: list[str]) -> Texts:
        """Return the texts of a code; refuse some that were picked."""
        unit_id = self.clusters.index[~self.clusters.index.isin(out)]
        settled = self.own[self.own["coder"] == "consensus"]
        settled = settled if len(settled) else majority(people(self.own))
        human, model = (_applied(frame, code, unit_id) for frame in (settled, self.made))
        weight = self.weight.reindex(unit_id).to_numpy(dtype=np.float64)
        cluster = cluster_numbers(unit_id, self.clusters)
        by_hand = np.where(np.isnan(human), 0.0, np.nan_to_num(weight))
        refuse_not_drawn(code, model, by_hand, cluster, len(self.codes), function="model_card")
        return Texts(code, unit_id, cluster, human, model, weight, self.how.confidence_level)


def _applied(decided: pd.DataFrame, code: str, unit_id: pd.Index) -> Floats:
    applied = decided[decided["code"] == code].set_index("unit_id")["applied"].astype("float64")
    return np.asarray(applied.reindex(unit_id), dtype=np.float64)


def _accuracy(texts: Texts) -> Iterator[Row]:
    """Yield sensitivity, specificity and precision."""
    human, model, both = texts.human == 1, texts.model == 1, texts.both
    yield texts.share("sensitivity", model, both & human)
    yield texts.share("specificity", ~model, both & ~human)
    yield texts.share("precision", human, both & model)


def _prevalence(texts: Texts) -> Iterator[Row]:
    """Yield how often people and the model apply the code, their difference, and the share in all texts."""
    human, model, both = texts.human == 1, texts.model == 1, texts.both
    rows = [texts.share("prevalence_people", human, both), texts.share("prevalence_model", model, both)]
    yield from rows
    apart = {"measure": "prevalence_difference"} | {key: rows[0][key] for key in ("n_units", "n_clusters")}
    if pd.isna(rows[0].get("low")):
        yield apart | {"reason": rows[0]["reason"]}
        return
    weight, cluster = texts.weight[both], texts.cluster[both]
    value, moved = ratio(weight * (texts.model - texts.human)[both], weight, cluster)
    more, less = (float(weight @ one[both] / weight.sum()) for one in (model & ~human, human & ~model))
    alone = independent((texts.model - texts.human)[both] - value, weight)
    n = (more + less - value**2) / alone if alone > 0 else len(weight)
    ends = paired_interval(more, less, float(np.square(moved).sum()), n, known(moved), texts.level)
    yield apart | {"value": value, "low": ends[0], "high": ends[1]}
    yield from _everywhere(texts)


def _everywhere(texts: Texts) -> Iterator[Row]:
    """Yield the prevalence in all texts, people's corrected by the model's, and what the model is worth."""
    by_hand, said = ~np.isnan(texts.human), ~np.isnan(texts.model)
    held = texts.cluster[by_hand]
    sides = [len(np.unique(held[texts.human[by_hand] == one])) for one in (1, 0)]
    row = {"n_units": len(texts.human), "n_clusters": len(np.unique(texts.cluster))}
    if min(sides) < FEWEST_CLUSTERS:
        yield row | {"measure": "prevalence_all", "reason": Reason.FEW_CLUSTERS}
        yield row | {"measure": "worth", "reason": Reason.FEW_CLUSTERS}
        return
    moved = np.zeros((3, int(texts.cluster.max()) + 1))
    values = np.zeros(3)
    chosen = (
        (texts.model, said, np.ones(len(said))),
        (texts.human, by_hand, texts.weight),
        (texts.model, texts.both, texts.weight),
    )
    for place, (codes, there, weight) in enumerate(chosen):
        cluster = texts.cluster[there]
        values[place], own = ratio(weight[there] * codes[there], weight[there], cluster)
        moved[place, np.unique(cluster)] = own
    found = debiased(values, moved @ moved.T, min(sides))
    value = min(max(found.estimate, 0.0), 1.0)
    together = (moved[1] + found.weight * (moved[0] - moved[2]))[np.unique(held)]
    clear = min(known(together), min(sides))
    low, high = share_interval(value, found.variance, len(texts.human), clear, texts.level)
    yield row | {"measure": "prevalence_all", "value": value, "low": low, "high": high}
    yield row | {"measure": "worth", "value": None if np.isnan(found.worth) else min(found.worth, 1.0)}


def _agreement(study: _Study, texts: Texts) -> Iterator[Row]:
    """Yield people's agreement, the model's with people, and the difference of the two on the same texts."""
    own = people(study.own[study.own["code"] == texts.code])
    own = own[own["unit_id"].isin(texts.unit_id)]
    chance = (1 / study.weight).rename("probability").rename_axis("unit_id").reset_index()
    chance = chance.assign(probability=chance["probability"] / chance["probability"].max(), drawn=True)
    units = study.clusters.rename("cluster").rename_axis("unit_id").reset_index()
    unequal = np.ptp(study.weight) > 1e-9
    row = by_code(
        own,
        units=units,
        cluster="cluster",
        inclusion=chance if unequal else None,
        n_boot=study.how.n_boot,
        confidence_level=texts.level,
        seed=study.how.seed,
    ).iloc[0]
    sizes = {name: int(row[name]) for name in ("n_units", "n_clusters")}
    pairs = own.groupby("unit_id")["applied"].agg(["size", "sum"]).query("size > 1")
    few = not pd.isna(row["alpha"]) and _few(
        pairs["sum"], pairs["size"], cluster_numbers(pairs.index, study.clusters)
    )
    ends = (
        {"reason": Reason.FEW_CLUSTERS}
        if few
        else {"low": row["alpha_low"], "high": row["alpha_high"], "reason": row["reason"]}
    )
    yield sizes | {"measure": "alpha_people", "value": row["alpha"]} | ends
    lacking = Reason.NO_PAIRABLE_UNITS if not sizes["n_units"] else Reason.CODE_NEVER_APPLIED
    agreed = row["positive_agreement"]
    yield sizes | {
        "measure": "positive_agreement",
        "value": agreed,
        "reason": lacking if pd.isna(agreed) else None,
    }
    made = study.made[study.made["code"] == texts.code].assign(coder=study.name)
    shared = with_model(pd.concat([own, made]), [study.name], study.name, study.clusters)
    shared["weight"] = study.weight.reindex(shared.index).to_numpy()
    yield _crossed(shared, study.how)
    yield _beside(shared[shared["n_humans"] >= 2], texts.level)


def _crossed(shared: pd.DataFrame, how: Resampling) -> Row:
    """Return the cross-kappa of the model and people."""
    crossed = cross_row(shared, how)
    row = {"measure": "kappa_model", "value": crossed["estimate"]}
    row |= {name: crossed.get(name) for name in ("n_units", "n_clusters", "low", "high", "reason")}
    if _few(shared["n_applied"], shared["n_humans"], shared["cluster"]) and not pd.isna(row["value"]):
        return row | {"low": None, "high": None, "reason": Reason.FEW_CLUSTERS}
    return row


def _few(n_applied: pd.Series, n_decided: pd.Series, cluster: Any) -> bool:
    """Whether people gave one of their two answers in texts of too few participants for an interval."""
    number = np.asarray(cluster)
    sides = (n_applied > 0).to_numpy(dtype=np.bool_), (n_applied < n_decided).to_numpy(dtype=np.bool_)
    return min(len(np.unique(number[side])) for side in sides) < FEWEST_CLUSTERS


def _beside(shared: pd.DataFrame, level: float) -> Row:
    """Return cross-kappa of the model less alpha among people, on texts with two people or more."""
    row: Row = {"measure": "agreement_difference", "n_units": len(shared), "n_clusters": 0}
    if not len(shared):
        return row | {"reason": Reason.NO_PAIRABLE_UNITS}
    n, applied, weight = (
        shared[name].to_numpy(dtype=np.float64) for name in ("n_humans", "n_applied", "weight")
    )
    apart = 2 * applied * (n - applied) / (n - 1)
    own = np.stack([weight * apart, weight * applied, weight * (n - applied), weight**2 * n], axis=1)
    parts, number = (
        np.concatenate([own, cross_parts(shared)], axis=1),
        np.unique(shared["cluster"], return_inverse=True)[1],
    )

    def kappa(sums: Floats) -> Floats:
        return cross_kappa(sums[..., 4:])

    def alpha(sums: Floats) -> Floats:
        return weighted_alpha(sums[..., :4])

    value = float(kappa(parts.sum(axis=0)) - alpha(parts.sum(axis=0)))
    row |= {"n_clusters": int(number.max()) + 1, "value": value}
    if np.isnan(value):
        return row | {"reason": Reason.NO_VARIATION}
    if _few(shared["n_applied"], shared["n_humans"], number):
        return row | {"reason": Reason.FEW_CLUSTERS}
    return row | apart_on_log_scale(parts, number, level, (kappa, (8, 9)), (alpha, (1, 2)))


def _annotator(study: _Study, texts: Texts, epsilon: float | None) -> Iterator[Row]:
    """Yield the winning rate of the alternative annotator test."""
    if epsilon is None:
        return
    of_code = [frame[frame["code"] == texts.code] for frame in (people(study.own), study.made)]
    both = pd.concat([of_code[0], of_code[1].assign(coder=study.name)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the reason says it
        test = alternative_annotator_test(
            both[both["unit_id"].isin(texts.unit_id)], models=study.name, epsilon=epsilon
        ).results.iloc[0]
    row = {"measure": "winning_rate", "value": test["winning_rate"], "reason": test["reason"]}
    n_clusters = len(np.unique(texts.cluster[~np.isnan(texts.human)]))
    yield row | {"n_units": int(test["n_units"]), "n_clusters": n_clusters}


def _missing(texts: Texts, answers: pd.DataFrame | None) -> Iterator[Row]:
    """Yield the share of texts without a decision of the model, why, and the share of quotes that fail."""
    everywhere = np.ones(len(texts.model), dtype=np.bool_)
    yield texts.share("missing", np.isnan(texts.model), everywhere, equal=True)
    if answers is None:
        return
    base = answers[answers["variant"].eq(answers["variant"].iloc[0]) & answers["code"].eq(texts.code)]
    base = base.set_index("unit_id").reindex(texts.unit_id)
    for why in sorted(base["reason"].dropna().unique()):
        there = base["reason"].eq(why).fillna(False).to_numpy(dtype=np.bool_)
        yield texts.share("missing", there, everywhere, equal=True, group=str(why))
    yes = base["verdict"].eq("yes").fillna(False).to_numpy(dtype=np.bool_)
    failed = base["reason"].isin(list(_UNQUOTED)).to_numpy(dtype=np.bool_)
    yield texts.share("failed_quotes", failed, yes | failed, equal=True)


def _steady(texts: Texts, answers: pd.DataFrame | None, how: Resampling) -> Iterator[Row]:
    """Yield alpha over runs, wordings and orders, and the share of texts on which an answer changed."""
    if answers is None:
        return
    own = answers[answers["code"].eq(texts.code) & answers["unit_id"].isin(texts.unit_id)]
    first = answers.iloc[0]
    units = pd.DataFrame({"unit_id": texts.unit_id, "cluster": texts.cluster})
    for name in _ARMS:
        others = [one for one in _ARMS if one != name]
        arms = own[(own[others] == first[others]).all(axis=1) & own["reason"].isna()]
        if arms["variant"].nunique() < 2:
            continue
        decided = arms[["unit_id", "code"]].assign(coder=arms["variant"], applied=arms["verdict"].eq("yes"))
        _, table, groups = next(code_tables(decided, units, "cluster"))
        row = row_of_table(table, groups, how.n_boot, how.confidence_level, how.seed)
        found = {"measure": "retest", "group": name, "value": row["alpha"]}
        found |= {key: row[key] for key in ("n_units", "n_clusters", "reason")}
        yield found | {"low": row["alpha_low"], "high": row["alpha_high"]}
        said = decided.groupby("unit_id")["applied"].agg(["size", "nunique"]).reindex(texts.unit_id)
        twice, changed = ((said[one] > 1).to_numpy(dtype=np.bool_) for one in ("size", "nunique"))
        yield texts.share("changed", changed, twice, equal=True, group=name)


def _calibrated(texts: Texts, model: pd.DataFrame) -> Iterator[Row]:
    """Yield the share of texts with the code in each part of the probabilities, and the error of these."""
    if "probability" not in model:
        return
    of_code = model[model["code"].astype("string").str.strip() == texts.code].set_index("unit_id")[
        "probability"
    ]
    chance = of_code.reindex(texts.unit_id).to_numpy(dtype=np.float64, na_value=np.nan)
    there = np.flatnonzero(~np.isnan(texts.human) & ~np.isnan(chance))
    row = {"n_units": len(there), "n_clusters": len(np.unique(texts.cluster[there]))}
    if len(there) < _PER_BIN:
        yield row | {"measure": "calibration_error", "reason": Reason.FEW_UNITS}
        return
    bins = np.array_split(there[np.argsort(chance[there], kind="stable")], min(10, len(there) // _PER_BIN))
    total, squared = texts.weight[there].sum(), 0.0
    for place, one in enumerate(bins, 1):
        weight, inside = texts.weight[one], np.isin(np.arange(len(chance)), one)
        told = float(weight @ chance[one] / weight.sum())
        share = texts.share(
            "calibration", texts.human == 1, inside, group=f"{place} of {len(bins)}: {told:.2f}"
        )
        n = weight.sum() ** 2 / np.square(weight).sum()
        seen = share["value"]
        squared += weight.sum() / total * ((told - seen) ** 2 - seen * (1 - seen) / (n - 1))
        yield share
    yield row | {"measure": "calibration_error", "value": float(np.sqrt(max(squared, 0.0)))}


def _with_holm(rows: list[Row], how: Resampling) -> pd.DataFrame:
    """Return the card, with p adjusted for all differences of groups."""
    card = MODEL_CARD.frame(
        [row | {"confidence_level": how.confidence_level, "seed": how.seed} for row in rows]
    )
    tested = (card["p"].notna() & card["group"].notna()).to_numpy(dtype=np.bool_)
    if tested.any():
        card.loc[tested, "p_holm"] = holm(card.loc[tested, "p"].to_numpy(dtype=np.float64))
    return card

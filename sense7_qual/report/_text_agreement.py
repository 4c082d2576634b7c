"""Sentences on agreement between coders, and on how disagreements were settled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from sense7_qual._present import reason_words
from sense7_qual.acts import REASONS
from sense7_qual.report._sentences import (
    Phrase,
    coefficient,
    count,
    listed,
    named,
    percent,
    phrase,
    plural,
    sentence,
)
from sense7_qual.report._text import Number, Sentence
from sense7_qual.report._text_record import Record
from sense7_qual.report._traced import Traced

__all__ = ["agreement_by_code", "agreement_method", "discussions", "settled", "settling"]

_TENTATIVE: Final = 0.667  # Krippendorff (2004, p. 241)
_GOOD: Final = 0.8


def agreement_method(record: Record) -> Iterator[Sentence]:
    """Yield how agreement was computed, and on which decisions."""
    if not record.n_double.value:
        yield sentence("No text was coded by two coders, so there is no agreement to report.")
        return
    alphas = record.alphas
    yield sentence(
        "Agreement was computed for each code on {n} that two or more coders had decided on, as "
        "Krippendorff's alpha for nominal data (code applied or not), with {intervals}.",
        n=plural(record.n_double, "text"), intervals=_intervals(record),
    )  # fmt: skip
    yield sentence(
        "It takes decisions as they were before any discussion and before a model's suggestions for the text "
        "were shown: rulings, what was revised in a round of discussion, and what a coder decided after "
        "suggestions do not enter it."
    )
    if alphas["reason"].eq("few_clusters").value.any():
        yield sentence(
            "Where fewer than ten {clusters} had the rarer answer, the interval is from leaving out one of "
            "them at a time.",
            clusters=record.clusters,
        )
    yield sentence(
        "Krippendorff's (2004) conventions, .800, and .667 for tentative conclusions, are given as points of "
        "reference, not as verdicts."
    )


def _intervals(record: Record) -> Phrase:
    alphas = record.alphas
    level = percent_whole(alphas["confidence_level"].max())
    if not alphas["n_boot"].notna().value.any():
        return phrase("{level} % confidence intervals over {clusters}", level=level, clusters=record.clusters)
    return phrase(
        "{level} % confidence intervals from {n} bootstrap resamples of {clusters} (seed {seed})",
        level=level, n=count(alphas["n_boot"].max()), clusters=f"whole {record.clusters}",
        seed=named(alphas["seed"].max()),
    )  # fmt: skip


def percent_whole(share: Traced) -> Number:
    """Return a confidence level as a percentage, with as many decimals as it has."""
    return Number(f"{100 * share.value:.10g}", float(share.value), share.call, share.where)


def agreement_by_code(record: Record) -> Iterator[Sentence]:
    """Yield the agreement on each code, and how many codes reach a convention."""
    if not record.n_double.value:
        return
    rows = record.alphas.set_index("code")
    known = [code for code in record.labels() if code in rows.value.index]
    defined = [code for code in known if not pd.isna(rows.value.loc[code, "alpha"])]
    if defined:
        yield from _range(record, defined)
        for code in defined:
            yield _of_code(rows, code, named(record.labels()[code]))
    for code in known:
        if code not in defined:
            reason = rows.loc[code, "reason"]
            yield sentence(
                "For “{label}” alpha could not be computed: {reason}.",
                label=named(record.labels()[code]),
                reason=Number(reason_words(reason.value), reason.value, reason.call, reason.where),
            )
    yield from _overall(record)


def _range(record: Record, defined: list[str]) -> Iterator[Sentence]:
    alpha = record.alphas["alpha"]
    if len(defined) > 1:
        yield sentence(
            "Over {n}, alpha was between {low} and {high} (median {median}).",
            n=plural(alpha.notna().sum(), "code"), low=_beside_conventions(alpha.min()),
            high=_beside_conventions(alpha.max()), median=_beside_conventions(alpha.median()),
        )  # fmt: skip
    yield sentence(
        "It was .800 or more for {good}, and at least .667 but below .800 for {tentative}.",
        good=plural(alpha.ge(_GOOD).sum(), "code"),
        tentative=plural(alpha.between(_TENTATIVE, _GOOD, inclusive="left").sum(), "code"),
    )


def _of_code(rows: Traced, code: str, label: Number) -> Sentence:
    cells = rows.loc
    interval: Phrase = ("without an interval",)
    if not pd.isna(rows.value.loc[code, "alpha_low"]):
        interval = phrase(
            "{level} % CI [{low}, {high}]",
            level=percent_whole(cells[code, "confidence_level"]),
            low=coefficient(cells[code, "alpha_low"]), high=coefficient(cells[code, "alpha_high"]),
        )  # fmt: skip
    return sentence(
        "For “{label}” alpha was {alpha}, {interval}; {percent} % of the pairs of decisions were alike, and "
        "the code was applied in {prevalence} % of the decisions on {n}.",
        label=label, alpha=_beside_conventions(cells[code, "alpha"]), interval=interval,
        percent=percent(cells[code, "percent"]), prevalence=percent(cells[code, "prevalence"]),
        n=plural(cells[code, "n_units"], "text"),
    )  # fmt: skip


def _beside_conventions(alpha: Traced) -> Number:
    """Return alpha with a third decimal where it would else reach a convention by rounding alone."""
    near = any(alpha.value < convention <= round(alpha.value, 2) for convention in (0.67, _GOOD))
    return coefficient(alpha, 3 if near or round(alpha.value, 2) == round(_TENTATIVE, 2) else 2)


def _overall(record: Record) -> Iterator[Sentence]:
    if len(record.labels()) < 2:
        return
    both = record["agreement"].overall(record.independent, distance="masi", **record.resampling)
    row = both.value.iloc[0]
    if pd.isna(row["alpha"]) or pd.isna(row["alpha_low"]):
        return
    yield sentence(
        "Of the sets of codes that coders gave to a text, alpha with MASI distance was {alpha}, {level} % CI "
        "[{low}, {high}].",
        alpha=coefficient(both["alpha"].iloc[0]), level=percent_whole(both["confidence_level"].iloc[0]),
        low=coefficient(both["alpha_low"].iloc[0]), high=coefficient(both["alpha_high"].iloc[0]),
    )  # fmt: skip


def settling(record: Record) -> Iterator[Sentence]:
    """Yield by what way disagreements were settled."""
    if not record.n_double.value:
        return
    talks = [place for place, one in enumerate(record.store.rounds.value) if one.discusses]
    for place in talks:
        one = record.store.rounds[place]
        yield sentence(
            "In the round “{name}”, {coders} discussed {n} of the unblinded round “{of}” and could revise "
            "their own decisions; agreement leaves these revisions out.",
            name=named(one.name), coders=plural(one.coders.how_many(), "coder"),
            n=plural(one.units.how_many(), "text"), of=named(one.discusses),
        )  # fmt: skip
    queue = _queue(record)
    ruled = queue["settled"].notna()
    if ruled.value.any():
        yield sentence(
            "Disagreements were settled one by one: {people} ruled on them, and coders' own decisions "
            "stayed as they were.",
            people=plural(queue["ruled_by"].nunique(), "adjudicator"),
        )
        own = record["report"].review(record.store, n_boot=2).frame.set_index("kind")["n"].get("ruled_own", 0)
        if own.value:
            yield sentence("{n} made by somebody who had coded the text.",
                           n=plural(own, "ruling was", "rulings were"))  # fmt: skip
    yield sentence(
        "What counts as present or absent in the end is what all coders of a text had decided alike or what "
        "was ruled; where one coder alone had coded a text, it is that coder's decision."
    )


def settled(record: Record) -> Iterator[Sentence]:
    """Yield how many disagreements there were, and what became of them."""
    if not record.n_double.value:
        return
    queue = _queue(record)
    if not len(queue.value):
        yield sentence("Coders disagreed about no code on any text.")
        return
    state = queue["settled"]
    both = state.eq("differing").sum()
    stand = phrase(", in {n} both readings were ruled to stand", n=count(both)) if both.value else ()
    yield sentence(
        "Coders disagreed {n}, about one code on one text each; {ruled} settled by a ruling{stand}, and "
        "{open} not ruled on.",
        n=plural(queue.shape[0], "time"), stand=stand,
        ruled=plural(state.isin(["applied", "absent"]).sum(), "was", "were"),
        open=plural(state.isna().sum(), "was", "were"),
    )  # fmt: skip
    given = [key for key in REASONS if queue.value["reason"].eq(key).any()]
    if given:
        reasons = [
            phrase("“{words}” {n}", words=REASONS[key], n=plural(queue["reason"].eq(key).sum(), "time"))
            for key in given
        ]
        yield sentence("The reason given was {reasons}.", reasons=listed(reasons))


def discussions(record: Record) -> Iterator[Sentence]:
    """Yield what each discussion changed."""
    for place, one in enumerate(record.store.rounds.value):
        if one.discusses:
            yield from _changed(record, one.discusses, record.store.rounds[place])


def _changed(record: Record, before: str, talk: Traced) -> Iterator[Sentence]:
    decisions = record.store.decisions
    done = decisions(round=before), decisions(round=talk.value.name)
    if not all(len(each.value) for each in done):
        return
    change = record["agreement"].before_after(*done, **record.resampling)
    yield sentence(
        "In the discussion “{name}”, {n} revised; the median of alpha over codes was {before} before it and "
        "{after} after it, which is no measure of independent coding.",
        name=named(talk.name), n=plural(change["n_revised"].sum(), "decision was", "decisions were"),
        before=coefficient(change["before"].median()), after=coefficient(change["after"].median()),
    )  # fmt: skip


def _queue(record: Record) -> Traced:
    return record["adjudication"].queue(record.decisions, rulings=record.store.rulings())

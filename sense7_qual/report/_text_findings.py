"""Sentences on what was found: how often codes were applied, with which ratings, and what was still new."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from sense7_qual._present import caution_words, p_value, reason_words
from sense7_qual.report._sentences import (
    Phrase,
    coefficient,
    count,
    date,
    listed,
    named,
    number,
    percent,
    phrase,
    plural,
    sentence,
)
from sense7_qual.report._text import Number, Sentence
from sense7_qual.report._text_agreement import percent_whole
from sense7_qual.report._text_record import Record
from sense7_qual.report._traced import Traced

__all__ = [
    "applied_codes", "frequencies", "link_method", "links_found", "saturation_found", "saturation_method",
    "themes_recorded",
]  # fmt: skip


def frequencies(record: Record) -> Iterator[Sentence]:
    """Yield in how many texts of how many participants each code is present, by consensus."""
    agreed = record.agreed
    if not len(agreed.value):
        return
    rows = agreed.groupby("code")["applied"]
    sizes = rows.size()
    yield sentence(
        "Of {n} the presence of every code or of some of them is settled.",
        n=plural(agreed["unit_id"].nunique(), "text"),
    )
    people = _people(record, agreed.query("applied"))
    for code, label in record.labels().items():
        if code in sizes.value.index:
            yield sentence(
                "“{label}” is present in {n} ({share} % of those settled for it){people}.",
                label=named(label), n=plural(rows.sum()[code], "text"), share=percent(rows.mean()[code]),
                people=_of(people, code),
            )  # fmt: skip


def applied_codes(record: Record) -> Iterator[Sentence]:
    """Yield how often each code was applied, without any comparison of coders."""
    codings = _codings(record)
    if not len(codings.value):
        return
    texts, times = codings.groupby("code")["unit_id"].nunique(), codings.groupby("code").size()
    people = _people(record, codings.drop_duplicates(["unit_id", "code"]))
    for code, label in record.labels().items():
        if code not in times.value.index:
            yield sentence("“{label}” was not applied.", label=named(label))
            continue
        yield sentence(
            "“{label}” was applied {times}, in {texts}{people}.",
            label=named(label), times=plural(times[code], "time"), texts=plural(texts[code], "text"),
            people=_of(people, code),
        )  # fmt: skip


def _people(record: Record, applied: Traced) -> Traced | None:
    """Return how many participants have each code; None where not every text has one."""
    if record.store.units["case_id"].isna().value.any():
        return None
    cases = record.store.units[["unit_id", "case_id"]]
    return applied.merge(cases, on="unit_id").groupby("code")["case_id"].nunique()


def _of(people: Traced | None, code: str) -> Phrase:
    if people is None:
        return ()
    return phrase(" of {n}", n=plural(people.get(code, 0), "participant"))


def link_method(record: Record) -> Iterator[Sentence]:
    """Yield how the association of codes with a rating was computed."""
    links = _links(record)
    if links is None:
        return
    yield sentence(
        "Whether texts with a code were rated higher than texts without it was computed as the rank-biserial "
        "correlation with “{rating}”, with {level} % intervals from {n} bootstrap resamples of whole "
        "{clusters} (seed {seed}) and p adjusted over codes by Benjamini and Hochberg's method; it is an "
        "association, and says nothing of what causes it.",
        rating=_rating(record), level=percent_whole(links["confidence_level"].max()),
        n=count(links["n_boot"].max()) if links["n_boot"].notna().value.any() else "no",
        clusters=record.clusters, seed=named(links["seed"].max()),
    )  # fmt: skip


def links_found(record: Record) -> Iterator[Sentence]:
    """Yield the association of each code with the rating."""
    links = _links(record)
    if links is None:
        return
    rows = links.set_index("code")
    for code, label in record.labels().items():
        if code in rows.value.index:
            yield _link(rows, code, named(label))


def _link(rows: Traced, code: str, label: Number) -> Sentence:
    cells = rows.loc
    if pd.isna(rows.value.loc[code, "p_adjusted"]):
        reason = cells[code, "reason"]
        words = Number(reason_words(reason.value), reason.value, reason.call, reason.where)
        return sentence("For “{label}” no test could be computed: {words}.", label=label, words=words)
    p = cells[code, "p_adjusted"]
    printed = p_value(p.value)
    equals = "" if printed.startswith(("<", ">")) else "= "
    caution: Phrase = ()
    if not pd.isna(rows.value.loc[code, "caution"]):
        said = cells[code, "caution"]
        words = Number("; ".join(caution_words(said.value)), said.value, said.call, said.where)
        caution = phrase(" (to be read with caution: {words})", words=words)
    return sentence(
        "Between {n} with “{label}” and {others} without it the mean difference in rating was {d} points: "
        "rank-biserial r = {r}, {level} % CI [{low}, {high}], p {equals}{p}{caution}.",
        label=label, n=plural(cells[code, "n_with"], "text"), others=count(cells[code, "n_without"]),
        d=number(cells[code, "mean_difference"]),
        r=coefficient(cells[code, "rank_biserial"]), level=percent_whole(cells[code, "confidence_level"]),
        low=coefficient(cells[code, "rank_biserial_low"]),
        high=coefficient(cells[code, "rank_biserial_high"]),
        equals=equals, p=Number(printed, float(p.value), p.call, p.where), caution=caution,
    )  # fmt: skip


def _links(record: Record) -> Traced | None:
    if record.rating is None or record.cluster is None or not len(record.agreed.value):
        return None
    return record["links"].code_to_rating(
        record.agreed, record.store.units, rating=record.rating, cluster=record.cluster,
        sources=["consensus"], odds_ratios=False, n_boot=record.n_boot, seed=record.seed,
    )  # fmt: skip


def _rating(record: Record) -> Number:
    place = list(record.store.units.value.columns).index(record.rating)
    return named(record.store.units.columns[place])


def saturation_method(record: Record) -> Iterator[Sentence]:
    """Yield how saturation was looked at, or why it was not."""
    found = _new_information(record)
    if found is None or not len(found.value):
        return
    yield sentence(
        "Saturation of the codes that emerged was assessed after Guest, Namey and Chen (2020): "
        "the share of new codes in runs of {run} participants, relative to those of the first {base}, with "
        "a threshold of {threshold} %, in the order in which participants were coded and in {n} random "
        "orders of them (seed {seed}).",
        run=count(found["run_length"].iloc[0]), base=count(found["place"].iloc[0]),
        threshold=percent_whole(found["threshold"].iloc[0]), n=count(found["n_orders"].iloc[0]),
        seed=named(found["seed"].iloc[0]),
    )  # fmt: skip


def saturation_found(record: Record) -> Iterator[Sentence]:
    """Yield where the threshold was reached, over other orders too, and what is expected to be still new."""
    found = _new_information(record)
    if found is None:
        yield sentence(
            "No code emerged from the texts, so that there is nothing of which saturation could be shown."
        )
        return
    if not len(found.value):
        yield sentence("There are too few participants to assess saturation of the codes that emerged.")
        return
    yield _reached(found)
    more = record["codings"].saturation(
        _codings(record), record.store.units, cluster=record.cluster, coverage=record.store.coverage(),
        emerged=_emerged(record), more=[5],
    )  # fmt: skip
    if not pd.isna(more.value["high"].iloc[0]):
        yield sentence(
            "From how rare the codes so far are, {k} further participants are expected to bring {n} new "
            "codes ({level} % interval {low} to {high}).",
            k=count(more["n_more"].iloc[0]), n=number(more["new_codes"].iloc[0], 1),
            level=percent_whole(more["confidence_level"].iloc[0]), low=number(more["low"].iloc[0], 1),
            high=number(more["high"].iloc[0], 1),
        )  # fmt: skip
    if not pd.isna(more.value["total_at_least"].iloc[0]):
        yield sentence(
            "In all there are at least {n} at the same level of confidence; nothing bounds them from above.",
            n=plural(more["total_at_least"].iloc[0], "such code"),
        )  # fmt: skip


def _reached(found: Traced) -> Sentence:
    if not found.value["reached"].any():
        last = found.tail(1)
        return sentence(
            "The threshold was not reached: the last run brought {n} (ratio {ratio}; over other orders {low} "
            "to {high}), and it was reached at all in {share} % of the orders.",
            n=plural(last["n_new"].iloc[0], "new code"), ratio=number(last["ratio"].iloc[0]),
            low=number(last["ratio_low"].iloc[0]), high=number(last["ratio_high"].iloc[0]),
            share=percent(last["share_reached"].iloc[0]),
        )  # fmt: skip
    first = found.query("reached").head(1)
    return sentence(
        "The threshold was reached at participant {place} with a run of {run} (ratio {ratio}; over other "
        "orders {low} to {high}); in {share} % of the orders it was reached by then.",
        place=count(first["place"].iloc[0]), run=count(first["run_length"].iloc[0]),
        ratio=number(first["ratio"].iloc[0]), low=number(first["ratio_low"].iloc[0]),
        high=number(first["ratio_high"].iloc[0]), share=percent(first["share_reached"].iloc[0]),
    )  # fmt: skip


def _codings(record: Record) -> Traced:
    """Return the codings on finished texts, in the codes of the present codebook."""
    store = record.store
    if not store.revisions().value:
        return record["codings"].of_round(store.codings(), store.coverage())[0]
    return record["codings"].carried(
        store.codings(), store.coverage(), store.codebook, revisions=store.revisions()
    )[0]


def _emerged(record: Record) -> Traced:
    return record["revisions"].emerged(record.store.revisions(), record.store.codebooks)


def _new_information(record: Record) -> Traced | None:
    emerged = _emerged(record)
    if not emerged.value or record.cluster is None or not len(_codings(record).value):
        return None
    return record["codings"].new_information(
        _codings(record), record.store.units, cluster=record.cluster, coverage=record.store.coverage(),
        codes=emerged, seed=record.seed,
    )  # fmt: skip


def themes_recorded(record: Record) -> Iterator[Sentence]:
    """Yield how often themes were recorded and worked on, and which headings group the codes."""
    runs, edits = record.store.acts(kind="record_themes"), record.store.acts(kind="edit_theme")
    if runs.value:
        yield sentence(
            "Themes that a topic model had proposed were recorded {n} (last on {at}) as starting points for "
            "reading, and people then named, merged, split or dismissed them in {edits}.",
            n=plural(runs.how_many(), "time"), at=date(runs[-1].at), edits=plural(edits.how_many(), "step"),
        )  # fmt: skip
    book = record.store.codebook
    heads = [code.id for code in book.value.codes if not code.codable]
    if heads:
        names = listed([phrase("“{name}”", name=named(book[each].label)) for each in heads])
        n = book.given("sum(not code.codable for code in store.codebook.codes)", len(heads))
        yield sentence("The codes are arranged under {n}: {names}.", n=plural(n, "heading"), names=names)

"""Sentences on what was found: how often codes were applied, and what was still new."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pandas as pd

from sense7_qual._basis import Basis
from sense7_qual.report._text import (
    Number,
    Phrase,
    Sentence,
    Traced,
    count,
    date,
    level,
    listed,
    named,
    number,
    percent,
    phrase,
    plural,
    quoted,
    sentence,
    times,
)
from sense7_qual.report._text_basis import settled_rests_on, to_review
from sense7_qual.report._text_record import Record


def counting(record: Record) -> Iterator[Sentence]:
    """Yield how codes were counted where coders differ, and how many decisions were settled and left out."""
    if len(record.coders) < 2:
        return
    nobody_ruled = record.settled_by == "rulings" and not record.is_ruled
    yield sentence(_NOBODY_RULED if nobody_ruled else _COUNTED[record.settled_by])
    yield from settled_rests_on(record)
    yield from to_review(record, record.settled)


_NOBODY_RULED: Final = (
    "Codes were counted, and linked to ratings, as what all coders of a text had decided alike, or as the "
    "one coder of a text had decided; nobody ruled on the rest, which was left out."
)
_COUNTED: Final[Mapping[str, str]] = {
    "rulings": "Codes were counted, and linked to ratings, as what all coders of a text had decided alike, "
    "as the one coder of a text had decided, or as was ruled.",
    "discussion": "Codes were counted, and linked to ratings, as what all coders of a text had decided alike "
    "in the end, discussions included, or as the one coder of a text had decided.",
    "majority": "A code was counted as present in a text where more than half of the text's coders had "
    "applied it; texts on which they were tied were left out.",
    "any": "A code was counted as present in a text where at least one of its coders had applied it.",
    "nothing": "Disagreements were not settled: codes were counted as the mean over the coders of a text, by "
    "each coder's own last decisions.",
}


def frequencies(record: Record) -> Iterator[Sentence]:
    """Yield the most and least frequent codes and the absent ones, as in the table of codes.

    Codes with decisions to be reviewed are not ranked.
    """
    counts = record.shares
    if not len(counts.value):
        return
    rows = counts.groupby("code")["applied"]
    shares = rows.mean().value
    known = {code: named(label) for code, label in record.labels().items()}
    ranked = [code for code in known if code in shares.index and code not in record.waiting]
    absent = [code for code in ranked if not shares[code]]
    present = sorted((code for code in ranked if shares[code]), key=lambda code: -shares[code])
    if present:
        yield _extremes(record, rows, present, known, is_any_absent=bool(absent))
    if absent:
        yield sentence(
            "{labels} {verb} not present in any text.",
            labels=quoted([known[code] for code in absent]),
            verb="was" if len(absent) == 1 else "were",
        )
    yield from to_review(record, record.settled)


def _extremes(
    record: Record,
    rows: Traced,
    present: Sequence[str],
    labels: Mapping[str, Number],
    *,
    is_any_absent: bool,
) -> Sentence:
    """Return the sentence on the most and the least frequent of the codes that were found, most first."""
    shares = rows.mean().value
    most, least = present[0], present[-1]
    if len(present) == 1:
        return sentence(
            "“{label}” was present in {where}.", label=labels[most], where=_where(record, rows, most)
        )
    if shares[most] == shares[least]:
        return sentence(
            "{labels} were equally frequent, each present in {share}% of the texts{mean}.",
            labels=quoted([labels[code] for code in present]),
            mean=_mean(record),
            share=percent(rows.mean()[most]),
        )
    return sentence(
        "The most frequent code was “{most}”, present in {there}; the least frequent{of} was “{least}”, "
        "present in {elsewhere}{mean}.",
        most=labels[most],
        there=_where(record, rows, most),
        least=labels[least],
        mean=_mean(record),
        of=" of those found" if is_any_absent else "",
        elsewhere=_where(record, rows, least),
    )


def _mean(record: Record) -> str:
    return ", as the mean over the coders of a text" if record.is_pooled else ""


def _where(record: Record, rows: Traced, code: str) -> Phrase:
    """Return in how many texts of how many, and participants, a code is; of coders' own only the share."""
    if record.is_pooled:
        return phrase(
            "{share}% of {all}", share=percent(rows.mean()[code]), all=plural(rows.size()[code], "text")
        )
    there, n = count(rows.sum()[code]), rows.size()[code]
    people: Phrase = ()
    if record.people is not None:
        people = phrase("from {n}", n=_people(record, record.people.get(code, 0)))
    if rows.mean().value[code] == 1:
        every = phrase("all {n} texts", n=there) if n.value > 1 else phrase("the {n} text", n=there)
        return phrase("{every} ({people})", every=every, people=people) if people else every
    return phrase(
        "{n} of {all} ({share}%{people})",
        n=there,
        all=plural(n, "text"),
        share=percent(rows.mean()[code]),
        people=(", ", *people) if people else (),
    )


def _people(record: Record, n: Traced) -> Phrase:
    return plural(n, record.clusters.removesuffix("s"))


def applied_codes(record: Record) -> Iterator[Sentence]:
    """Yield the codes applied most, least and never, without comparing coders."""
    codings = _codings(record)
    if not len(codings.value):
        return
    often = codings.groupby("code").size().value
    known = {code: named(label) for code, label in record.labels().items()}
    absent = [code for code in known if code not in often.index]
    applied = sorted((one for one in known if one not in absent), key=lambda code: -often[code])
    if len(applied) == 1:
        yield sentence(
            "“{label}” was applied {times}.",
            label=known[applied[0]],
            times=_times(record, codings, applied[0]),
        )
    elif applied:
        yield sentence(
            "The code applied most often was “{most}” ({often}); the one applied least often{of} was "
            "“{least}” ({seldom}).",
            most=known[applied[0]],
            often=_times(record, codings, applied[0]),
            least=known[applied[-1]],
            of=" of those applied" if absent else "",
            seldom=_times(record, codings, applied[-1]),
        )
    if absent:
        yield sentence(
            "{labels} {verb} not applied.",
            labels=quoted([known[code] for code in absent]),
            verb="was" if len(absent) == 1 else "were",
        )


def _times(record: Record, codings: Traced, code: str) -> Phrase:
    texts = codings.groupby("code")["unit_id"].nunique()
    people: Phrase = ()
    if not record.store.units["case_id"].isna().value.any():
        cases = record.store.units[["unit_id", "case_id"]]
        each = codings.drop_duplicates(["unit_id", "code"]).merge(cases, on="unit_id")
        people = phrase(
            " of {n}", n=plural(each.groupby("code")["case_id"].nunique().get(code, 0), "participant")
        )
    return phrase(
        "{times} in {texts}{people}",
        times=times(codings.groupby("code").size()[code]),
        texts=plural(texts[code], "text"),
        people=people,
    )


def saturation_method(record: Record) -> Iterator[Sentence]:
    """Yield the method of assessing saturation."""
    found = _new_information(record)
    if found is None or not len(found.value):
        return
    yield sentence(
        "Saturation of the codes that emerged was assessed following Guest, Namey and Chen (2020): "
        "the share of new codes in runs of {run} participants, relative to those of the first {base}, with "
        "a threshold of {threshold}%, in the order in which participants were coded and in {n} random "
        "orders of them (seed {seed}).",
        run=count(found["run_length"].iloc[0]),
        base=count(found["place"].iloc[0]),
        threshold=level(found["threshold"].iloc[0]),
        n=count(found["n_orders"].iloc[0]),
        seed=named(found["seed"].iloc[0]),
    )


def saturation_found(record: Record) -> Iterator[Sentence]:
    """Yield the place of saturation, also over other orders, and the number of codes still expected."""
    found = _new_information(record)
    every = record["codebook"].emerged(record.store.revisions, record.store.codebooks).value
    waiting = [named(label) for code, label in record.labels().items() if code in {*every} & _waiting(record)]
    if waiting:
        yield sentence(
            "Saturation leaves out {labels}, until all texts are reviewed for {it}.",
            labels=quoted(waiting),
            it="it" if len(waiting) == 1 else "them",
        )
    if found is None:
        if not waiting:
            yield sentence("No codes emerged from the texts, so saturation could not be assessed.")
        return
    if not len(found.value):
        yield sentence("There are too few participants to assess saturation of the codes that emerged.")
        return
    yield _reached(found)
    more = record["codings"].saturation(
        _codings(record),
        record.store.units,
        cluster=record.cluster,
        coverage=record.store.coverage(),
        emerged=_emerged(record),
        more=[5],
    )
    if not pd.isna(more.value["high"].iloc[0]):
        yield sentence(
            "Given how rare the codes found so far are, {k} further participants are expected to add {n} new "
            "codes ({level}% CI [{low}, {high}]).",
            k=count(more["n_more"].iloc[0]),
            n=number(more["new_codes"].iloc[0], 1),
            level=level(more["confidence_level"].iloc[0]),
            low=number(more["low"].iloc[0], 1),
            high=number(more["high"].iloc[0], 1),
        )
    if not pd.isna(more.value["total_at_least"].iloc[0]):
        yield sentence(
            "In total, there are at least {n} at the same level of confidence; the data give no upper limit.",
            n=plural(more["total_at_least"].iloc[0], "such code"),
        )


def _reached(found: Traced) -> Sentence:
    if not found.value["reached"].any():
        last = found.tail(1)
        return sentence(
            "The threshold was not reached: the last run brought {n} (ratio {ratio}; {low} to {high} "
            "over other orders), and it was reached at all in {share}% of the orders.",
            n=plural(last["n_new"].iloc[0], "new code"),
            ratio=number(last["ratio"].iloc[0]),
            low=number(last["ratio_low"].iloc[0]),
            high=number(last["ratio_high"].iloc[0]),
            share=percent(last["share_reached"].iloc[0]),
        )
    first = found.query("reached").head(1)
    return sentence(
        "The threshold was reached at participant {place} with a run of {run} (ratio {ratio}; {low} to "
        "{high} over other orders); in {share}% of the orders it was reached by then.",
        place=count(first["place"].iloc[0]),
        run=count(first["run_length"].iloc[0]),
        ratio=number(first["ratio"].iloc[0]),
        low=number(first["ratio_low"].iloc[0]),
        high=number(first["ratio_high"].iloc[0]),
        share=percent(first["share_reached"].iloc[0]),
    )


def _codings(record: Record) -> Traced:
    """Return the codings on finished texts, in the codes of the present codebook."""
    store = record.store
    if not store.revisions.value:
        return record["codings"].of_round(store.codings(), store.coverage())[0]
    return record["codings"].carried(
        store.codings(), store.coverage(), store.codebook, revisions=store.revisions
    )[0]


def _emerged(record: Record) -> list[str]:
    """Return the codes that emerged but those that wait for review, whose texts would count as without."""
    every = record["codebook"].emerged(record.store.revisions, record.store.codebooks).value
    return [code for code in every if code not in _waiting(record)]


def _waiting(record: Record) -> set[str]:
    return {one.code for one in Basis.of(record.last.value).waiting}


def _new_information(record: Record) -> Traced | None:
    emerged = _emerged(record)
    if not emerged or record.cluster is None or not len(_codings(record).value):
        return None
    return record["codings"].new_information(
        _codings(record),
        record.store.units,
        cluster=record.cluster,
        coverage=record.store.coverage(),
        codes=emerged,
        seed=record.seed,
    )


def themes_recorded(record: Record) -> Iterator[Sentence]:
    """Yield the work on themes, and the headings of codes."""
    runs, edits = record.store.acts(kind="record_themes"), record.store.acts(kind="edit_theme")
    if runs.value:
        worked: Phrase = ()
        if edits.value:
            worked = phrase(
                ", and people then named, merged, split or dismissed them in {n}",
                n=plural(edits.how_many(), "step"),
            )
        yield sentence(
            "Themes that a topic model had proposed were recorded {n} ({last}on {at}) as starting points for "
            "reading{worked}.",
            n=times(runs.how_many()),
            at=date(runs[-1].at),
            worked=worked,
            last="last " if len(runs.value) > 1 else "",
        )
        yield from expected_themes(record)
    book = record.store.codebook
    heads = [code.id for code in book.value.codes if not code.codable]
    if heads:
        names = listed([phrase("“{name}”", name=named(book[each].label)) for each in heads])
        n = book.given("sum(not code.codable for code in store.codebook.codes)", len(heads))
        yield sentence("The codes are arranged under {n}: {names}.", n=plural(n, "heading"), names=names)


def expected_themes(record: Record) -> Iterator[Sentence]:
    """Yield what the last run found of the codes, if it was given the codebook."""
    runs = record.store.acts(kind="record_themes")
    content = json.loads(str(runs.value[-1].text)) if runs.value else {}
    if "expected" not in content:
        return
    read = f"json.loads({runs.expression}[-1].text)"
    found, absent = content["expected"], content["parameters"]["codes_not_shown"]
    n_new = len(content["summary"]["theme"]) - len(found)
    new = runs.given(f'len({read}["summary"]["theme"]) - len({read}["expected"])', n_new)
    yield sentence(
        "A topic model looked for the codes, by their definitions and examples, and for new themes: {n} had "
        "a theme, {absent} seemed to be in no text, and {new} near no code.",
        n=plural(runs.given(f'len({read}["expected"])', len(found)), "code"),
        absent=plural(runs.given(f'len({read}["parameters"]["codes_not_shown"])', len(absent)), "code"),
        new=plural(new, "theme was", "themes were"),
    )

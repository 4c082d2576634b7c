"""Sentences on missing ratings: how many there are, and what they could change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from sense7_qual.report._text import (
    Phrase,
    Sentence,
    Traced,
    coefficient,
    count,
    named,
    number,
    percent,
    phrase,
    plural,
    sentence,
)
from sense7_qual.report._text_links import NOTABLE, adjusted_p
from sense7_qual.report._text_record import Record


def missing_method(record: Record) -> Iterator[Sentence]:
    """Yield how many ratings are missing, and how it was examined what they could change."""
    if record.links is None or not record.unrated.value.any():
        return
    yield sentence(
        "The rating was missing for {n} of {all} ({share}%), which the comparisons of ratings leave out.",
        n=count(record.unrated.sum()),
        all=plural(record.unrated.shape[0], "coded text"),
        share=percent(record.unrated.mean()),
    )
    if record.missing is None:
        yield sentence(
            "What missing ratings could change was not bounded, since coders' own links were pooled: bounds "
            "would be those of another link."
        )
        return
    yield sentence(
        "What missing ratings could change was examined by bounds, over all values from the lowest to the "
        "highest rating (Horowitz & Manski, 2000), and by a pattern-mixture model in which they differ from "
        "the observed ones by δ points on average (Little, 1993)."
    )


def missing_found(record: Record) -> Iterator[Sentence]:
    """Yield for each notable link between what bounds missing ratings leave it, and what would undo it."""
    links, missing = record.links, record.missing
    if links is None or missing is None:
        return
    p = links.set_index("code").value[adjusted_p(links)]
    rows = missing.query("delta == 0 and direction == 'opposite'").set_index("code")
    for code, label in record.labels().items():
        if code in p.index and p[code] < NOTABLE and code in rows.value.index:
            own = rows.loc[code]
            if own.value["n_missing_with"] + own.value["n_missing_without"]:
                yield sentence(
                    "Over all coded texts, the rank-biserial correlation of “{label}” lies between {low} and "
                    "{high}, wherever on the scale the missing ratings are{tipping}.",
                    label=named(label),
                    low=coefficient(own["lowest"]),
                    high=coefficient(own["highest"]),
                    tipping=_tipping(own),
                )


def _tipping(own: Traced) -> Phrase:
    """Return what differences of the missing ratings would bring 0 into an interval that excludes it."""
    if not own.value["p"] < 1 - own.value["confidence_level"]:
        return ()
    delta = own["delta_interval"]
    if pd.isna(delta.value):
        return ("; no difference in opposite directions with and without it would bring its interval to 0",)
    ways = ("lower", "higher") if delta.value < 0 else ("higher", "lower")
    return phrase(
        "; its interval would reach 0 if they were on average {delta} points {one} than observed ones with "
        "it and as much {other} without it",
        delta=replace(number(delta), printed=number(delta).printed.lstrip("−")),
        one=ways[0],
        other=ways[1],
    )

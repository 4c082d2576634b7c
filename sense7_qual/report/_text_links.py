"""Sentences on which codes go with a rating: the frame, the source and the test are those of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._reasons import caution_words, reason_words
from sense7_qual.report._sentences import (
    Phrase,
    Traced,
    coefficient,
    count,
    grouped,
    interval,
    level,
    named,
    number,
    p_value,
    phrase,
    plural,
    quoted,
    sentence,
)
from sense7_qual.report._text import Number, Sentence
from sense7_qual.report._text_record import Record
from sense7_qual.report.tables._link import has_odds

__all__ = ["link_method", "links_found"]

_NOTABLE: Final = 0.05  # adjusted p below which a code is named in the text


def link_method(record: Record) -> Iterator[Sentence]:
    """Yield how the association of codes with a rating was computed, as the table of links has it."""
    links = record.links
    if links is None:
        return
    yield sentence(
        "Ratings (“{rating}”) of texts with and without each code were compared{whose}.",
        rating=_rating(record), whose=_whose(record),
    )  # fmt: skip
    if _with_odds(links):
        yield sentence(
            "The odds ratio of a higher rating with the code was estimated with a cumulative-link mixed "
            "model with random intercepts for {clusters}, and tested with Student's t.",
            clusters=record.clusters,
        )
        if links["caution"].str.contains("clusters_of_one", na=False).value.any():
            yield sentence(
                "Where none of the {clusters} had two texts, the model has no random intercepts.",
                clusters=record.clusters,
            )
    yield _of_ranks(record, links)
    if record.linked == "pooled":
        scale = "the log odds ratio and on Fisher's z" if _with_odds(links) else "Fisher's z"
        yield sentence(
            "The coders' estimates were pooled on {scale} from their joint variance, so that intervals allow "
            "for the differences between coders too; texts with a code are then those to which any coder "
            "applied it.",
            scale=scale,
        )
    n_tests = links[_adjusted(links)].notna().sum()
    if n_tests.value > 1:
        yield sentence(
            "P values were adjusted over the {n} codes by the method of Benjamini and Hochberg (1995).",
            n=count(n_tests),
        )
    yield sentence("These are associations, which do not show what raised or lowered a rating.")


def _of_ranks(record: Record, links: Traced) -> Sentence:
    resampled = links["n_boot"].notna().value.any()
    how: Phrase = ()
    if resampled and record.linked != "pooled":
        how = phrase(
            ", with {level}% confidence intervals from {n} bootstrap resamples of whole {clusters} (seed "
            "{seed})",
            level=level(links["confidence_level"].max()), n=count(links["n_boot"].max()),
            clusters=record.clusters, seed=named(links["seed"].max()),
        )  # fmt: skip
    elif record.linked == "pooled":
        how = phrase(
            ", with {level}% confidence intervals over {clusters}",
            level=level(links["confidence_level"].max()), clusters=record.clusters,
        )  # fmt: skip
    first = "The rank-biserial correlation gives the size of the difference without a model"
    alone = (
        "The difference was measured as the rank-biserial correlation, tested with Student's t on its "
        f"jackknife standard error over {record.clusters}"
    )
    return sentence("{what}{how}.", what=first if _with_odds(links) else alone, how=how)


def _whose(record: Record) -> Phrase:
    if record.linked == "pooled":
        return (" for each coder's own decisions",)
    if record.linked == "consensus":
        return (" by the consensus of the coders",)
    if record.linked == "majority":
        return (" by the majority of the coders of each text, ties left out",)
    return () if len(record.coders) == 1 else phrase(" by the decisions of “{name}”", name=record.linked)


def links_found(record: Record) -> Iterator[Sentence]:
    """Yield the range of the associations, those that stand out, and those that could not be computed."""
    links = record.links
    if links is None:
        return
    p, rows = _adjusted(links), links.set_index("code")
    known = [code for code in record.labels() if code in rows.value.index]
    tested = [code for code in known if pd.notna(rows.value.loc[code, p])]
    notable = [code for code in tested if rows.value.loc[code, p] < _NOTABLE]
    rest = [code for code in tested if code not in notable]
    if len(tested) > 1:
        yield sentence(
            "Of {n} tested, {k} associated with “{rating}” at an adjusted p below .05.",
            n=plural(links[p].notna().sum(), "code"), rating=_rating(record),
            k=plural(links[p].lt(_NOTABLE).sum(), "was", "were", none="none"),
        )  # fmt: skip
    for code in [*notable, *(rest if len(rest) == 1 else [])]:
        yield _of_code(links, code, named(record.labels()[code]))
    if len(rest) > 1:
        yield _of_the_others(links, others=bool(notable))
    yield from _not_computable(record, links, [code for code in known if code not in tested])


def _of_code(links: Traced, code: str, label: Number) -> Sentence:
    cells, p = links.set_index("code").loc, _adjusted(links)
    size = "odds_ratio" if _with_odds(links) else "rank_biserial"
    row = cells.value[code]
    higher = row[size] > (1 if size == "odds_ratio" else 0)
    direction = "higher" if higher else "lower"
    verb = f"were rated {direction}" if row[p] < _NOTABLE else "were not rated demonstrably higher or lower"
    odds: Phrase = ()
    if _with_odds(links):
        odds = phrase("odds ratio {odds}, ", odds=_with_interval(links, code, "odds_ratio"))
    return sentence(
        "Texts with “{label}” ({n}, against {others} without it) {verb}: {odds}{ranks}, adjusted p "
        "{p}{caution}.",
        label=label, n=count(cells[code, "n_with"]), others=count(cells[code, "n_without"]), verb=verb,
        odds=odds, ranks=phrase("rank-biserial r = {r}", r=_with_interval(links, code, "rank_biserial")),
        p=p_value(cells[code, p]), caution=_caution(cells, code),
    )  # fmt: skip


def _with_interval(links: Traced, code: str, name: str) -> Phrase:
    cells = links.set_index("code").loc
    printed = number if name == "odds_ratio" else coefficient
    if pd.isna(cells.value[code, f"{name}_low"]):
        return phrase("{at} (no interval)", at=printed(cells[code, name]))
    low, high = (printed(cells[code, f"{name}_{end}"]) for end in ("low", "high"))
    between = interval(cells[code, "confidence_level"], low, high)
    return phrase("{at}, {between}", at=printed(cells[code, name]), between=between)


def _caution(cells: Traced, code: str) -> Phrase:
    if pd.isna(cells.value[code, "caution"]):
        return ()
    said = cells[code, "caution"]
    words = Number("; ".join(caution_words(said.value)), said.value, said.call, said.where)
    return phrase(" (to be read with caution: {words})", words=words)


def _of_the_others(links: Traced, *, others: bool) -> Sentence:
    """Return the range of what is not below the limit."""
    p = _adjusted(links)
    rest = links.query(f"{p} >= {_NOTABLE}")
    ranks = phrase(
        "rank-biserial correlations were between {low} and {high}",
        low=coefficient(rest["rank_biserial"].min()), high=coefficient(rest["rank_biserial"].max()),
    )  # fmt: skip
    if _with_odds(links):
        ranks = phrase(
            "odds ratios were between {low} and {high} and rank-biserial correlations between {r_low} and "
            "{r_high}",
            low=number(rest["odds_ratio"].min()), high=number(rest["odds_ratio"].max()),
            r_low=coefficient(rest["rank_biserial"].min()), r_high=coefficient(rest["rank_biserial"].max()),
        )  # fmt: skip
    which = "For the others" if others else "Over all of them"
    return sentence("{which}, {ranks} (smallest adjusted p {p}).",
                    which=which, ranks=ranks, p=p_value(rest[p].min()))  # fmt: skip


def _not_computable(record: Record, links: Traced, codes: Sequence[str]) -> Iterator[Sentence]:
    cells = links.set_index("code").loc
    column = "odds_ratio_reason" if _with_odds(links) else "reason"
    why = [(str(cells.value[code, column]), named(record.labels()[code])) for code in codes]
    for reason, labels in grouped(why).items():
        place = next(code for code in codes if str(cells.value[code, column]) == reason)
        said = cells[place, column]
        words = Number(reason_words(said.value), said.value, said.call, said.where)
        yield sentence("For {labels} no test could be computed: {words}.", labels=quoted(labels), words=words)


def _with_odds(links: Traced) -> bool:
    return has_odds(links.value.to_dict("records"))


def _adjusted(links: Traced) -> str:
    return "odds_ratio_p_adjusted" if _with_odds(links) else "p_adjusted"


def _rating(record: Record) -> Any:
    place = list(record.store.units.value.columns).index(record.rating)
    return named(record.store.units.columns[place])

"""Sentences on links with a rating: how they were computed and adjusted, and what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._reasons import caution_words, reason_words
from sense7_qual.report._text import (
    Number,
    Phrase,
    Sentence,
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
from sense7_qual.report._text_record import Record
from sense7_qual.report.tables._links import has_odds, margin_words, of_hypothesis

NOTABLE: Final = 0.05
"""The adjusted p below which a code is named in the text."""


def link_method(record: Record) -> Iterator[Sentence]:
    """Yield the method of linking codes to a rating, as in the table of links."""
    links = record.links
    if links is None:
        return
    yield sentence(
        "Ratings (“{rating}”) of texts with and without each code were compared{whose}.",
        rating=_rating(record),
        whose=_whose(record),
    )
    if _with_odds(links):
        yield sentence(
            "A cumulative-link mixed model with random intercepts for {clusters} gave two odds ratios of a "
            "higher rating: of texts with the code against the same writer's texts without it, and of "
            "writers with it in all of their texts against those with it in none. Both were tested with "
            "Student's t, the former with as many degrees of freedom as {clusters} wrote both, less one. "
            "The hypothesis is {about}.",
            clusters=record.clusters,
            about=_about(links),
        )
        if links["caution"].str.contains("clusters_of_one", na=False).value.any():
            yield sentence(
                "Where none of the {clusters} had two texts, the model has no random intercepts.",
                clusters=record.clusters,
            )
    elif _without_odds(links):
        yield sentence(
            "There is no odds ratio of a participant's own texts: {why}.",
            why=_reason_of(links.query("p >= 0")),
        )
    yield _of_ranks(record, links)
    if record.is_pooled:
        scale = "the log odds ratio and on Fisher's z" if _with_odds(links) else "Fisher's z"
        yield sentence(
            "The coders' estimates were pooled on {scale} from their joint variance, so that intervals allow "
            "for the differences between coders too; texts with a code are then those to which any coder "
            "applied it.",
            scale=scale,
        )
    yield from _adjustment(record, links)
    yield sentence("These are associations, which do not show what raised or lowered a rating.")


def _adjustment(record: Record, links: Traced) -> Iterator[Sentence]:
    """Yield how p was adjusted, and the margin of equivalence."""
    every, then = record.every_link or links, "adjusted in the same way"
    n_tests = every[adjusted_p(links)].notna().sum()
    if record.adjust == "max-t":
        then = "adjusted over these by the method of Holm (1979)"
        yield sentence(
            "P values were adjusted across all {n} of codes and {sources} of decisions by the step-down "
            "max-T method (Westfall & Young, 1993), the correlation of the tests being that over {clusters}.",
            n=plural(n_tests, "test"),
            sources=plural(every["source"].nunique(), "source"),
            clusters=record.clusters,
        )
    elif n_tests.value > 1:
        yield sentence(
            "P values were adjusted across the {n} codes by the method of Benjamini and Hochberg (1995).",
            n=count(n_tests),
        )
    if record.equivalence:
        yield sentence(
            "Whether an association is too small to matter was tested by two one-sided t tests (Schuirmann, "
            "1987) at the margin of {margin}, with p {then}.",
            margin=_margin(links),
            then=then,
        )


def _margin(links: Traced) -> Number:
    """Return what lies within the margin of equivalence."""
    effect, of = links["equivalence_effect"].iloc[0], links["equivalence_margin"].iloc[0]
    return Number(margin_words(effect.value, of.value), float(of.value), of.call, of.where)


def whole_error_method(record: Record) -> Iterator[Sentence]:
    """Yield how the multiverse was made, and over what its whole error is."""
    every = record.multiverse
    if every is None:
        return
    choices = every.query("analysis != 'whole'")[["source", "analysis", "exclusion"]].drop_duplicates()
    yield sentence(
        "Each link was also estimated under {n} of source, analysis and exclusion (a specification curve; "
        "Simonsohn, Simmons & Nelson, 2020). For each code, all of them were tested together by permuting "
        "the ratings within {clusters}.",
        n=plural(choices.shape[0], "combination"),
        clusters=record.clusters,
    )
    whole = every.query("analysis == 'whole'")
    if len(whole.value):
        yield sentence(
            "The whole error is over {clusters}, {coders} and {prompts}: what a prompt gets wrong was "
            "measured on texts coded by hand, and taken out (Kluger, Lu, Zrnic, Wang & Bates, 2025).",
            clusters=record.clusters,
            coders=plural(whole["n_coders"].max(), "coder"),
            prompts=plural(whole["n_prompts"].max(), "prompt"),
        )


def whole_error_found(record: Record) -> Iterator[Sentence]:
    """Yield each code's link over participants, coders and prompts, and p over all choices."""
    every = record.multiverse
    if every is None:
        return
    labels = record.labels()
    for code in every.value["code"].unique():
        rows = every.query(f"code == {code!r}")
        whole = rows.query("analysis == 'whole' and source.str.endswith(' + human')", engine="python")
        p = rows["whole_p"].iloc[0]
        if pd.notna(p.value):
            yield sentence(
                "All choices together gave p {p} for the link of “{label}”{whole}.",
                label=named(labels[code]) if code in labels else code,
                p=p_value(p),
                whole=_whole(whole.iloc[0]) if len(whole.value) else (),
            )


def _whole(row: Traced) -> Phrase:
    if pd.isna(row.value["low"]):
        return ()
    low, high = (coefficient(row[name]) for name in ("low", "high"))
    return phrase(
        "; the rank-biserial correlation, with its whole error, was {at}, {between}",
        at=coefficient(row["estimate"]),
        between=interval(row["confidence_level"], low, high),
    )


def _of_ranks(record: Record, links: Traced) -> Sentence:
    resampled = links["n_boot"].notna().value.any()
    how: Phrase = ()
    if resampled and not record.is_pooled:
        how = phrase(
            ", with {level}% confidence intervals from {n} bootstrap resamples of whole {clusters} (seed "
            "{seed})",
            level=level(links["confidence_level"].max()),
            n=count(links["n_boot"].max()),
            clusters=record.clusters,
            seed=named(links["seed"].max()),
        )
    elif record.is_pooled:
        how = phrase(
            ", with {level}% confidence intervals over {clusters}",
            level=level(links["confidence_level"].max()),
            clusters=record.clusters,
        )
    first = "The rank-biserial correlation gives the size of the difference without a model"
    alone = (
        "The difference was measured as the rank-biserial correlation, tested with Student's t on its "
        f"jackknife standard error over {record.clusters}"
    )
    return sentence("{what}{how}.", what=first if _with_odds(links) else alone, how=how)


def _whose(record: Record) -> Phrase:
    if record.is_pooled:
        return (" for each coder's own decisions",)
    if len(record.coders) == 1:
        return ()
    nobody_ruled = record.settled_by == "rulings" and not record.is_ruled
    return (_NOBODY_RULED if nobody_ruled else _BY[record.settled_by],)


_NOBODY_RULED: Final = " by what the coders agreed on, or one alone decided"
_BY: Final[Mapping[str, str]] = {
    "rulings": " by what the coders agreed on, one alone decided, or was ruled",
    "discussion": " by what the coders agreed on in the end, or one alone decided",
    "majority": " by the majority of the coders of each text, ties left out",
    "any": ", a text having a code where any coder had applied it",
}


def links_found(record: Record) -> Iterator[Sentence]:
    """Yield the notable associations, the range of the others, and those not computable."""
    links = record.links
    if links is None:
        return
    p, rows = adjusted_p(links), links.set_index("code")
    known = [code for code in record.labels() if code in rows.value.index]
    tested = [code for code in known if pd.notna(rows.value.loc[code, p])]
    notable = [code for code in tested if rows.value.loc[code, p] < NOTABLE]
    rest = [code for code in tested if code not in notable]
    if len(tested) > 1:
        yield sentence(
            "Of {n} tested, {k} associated with “{rating}” at an adjusted p below .05.",
            n=plural(links[p].notna().sum(), "code"),
            rating=_rating(record),
            k=plural(links[p].lt(NOTABLE).sum(), "was", "were", none="none"),
        )
    for code in [*notable, *(rest if len(rest) == 1 else [])]:
        yield _of_code(links, code, named(record.labels()[code]))
    if len(rest) > 1:
        yield _of_the_others(links, others=bool(notable))
    if record.equivalence:
        yield from _equivalent(record, links, rest)
    left = [code for code in known if code not in tested and code not in record.waiting]
    yield from _not_computable(record, links, left)


def _of_code(links: Traced, code: str, label: Number) -> Sentence:
    cells, p = links.set_index("code").loc, adjusted_p(links)
    size = _of_hypothesis(links) if _with_odds(links) else "rank_biserial"
    row = cells.value[code]
    higher = row[size] > (0 if size == "rank_biserial" else 1)
    direction = "higher" if higher else "lower"
    verb = f"were rated {direction}" if row[p] < NOTABLE else "were not rated reliably higher or lower"
    than = " than the same participants' other texts" if size == "odds_ratio" else ""
    whose = " of participants who use it more" if size == "between_odds_ratio" else ""
    return sentence(
        "Texts with “{label}”{whose} {verb}{than}{odds}. Over all texts ({n} with it, {others} without), "
        "{ranks}{caution}.",
        label=label,
        whose=whose,
        verb=verb,
        than=than,
        odds=_odds_of(links, code) if size != "rank_biserial" else (),
        n=count(cells[code, "n_with"]),
        others=count(cells[code, "n_without"]),
        ranks=_rank(links, code),
        caution=_caution(cells, code),
    )


def _odds_of(links: Traced, code: str) -> Phrase:
    """Return both odds ratios, that of the hypothesis first, each with its interval and p."""
    cells = links.set_index("code").loc
    is_own = _of_hypothesis(links) == "odds_ratio"
    of: Phrase = ()
    if pd.notna(cells.value[code, "odds_ratio_df"]):
        of = phrase(
            "; {both} of {n} participants wrote both",
            both=count(cells[code, "n_clusters_both"]),
            n=count(cells[code, "n_clusters"]),
        )
    first, second = ("odds_ratio", "between_odds_ratio")[:: 1 if is_own else -1]
    other: Phrase = ()
    if pd.notna(cells.value[code, second]):
        what = "between participants" if is_own else "of their own texts"
        other = phrase(
            "; the odds ratio {what} was {odds}{p}",
            what=what,
            odds=_with_interval(links, code, second),
            p=_own_p(cells, code, f"{second}_p"),
        )
    return phrase(
        " (odds ratio {odds}{p}, adjusted p {adjusted}{of}{other})",
        odds=_with_interval(links, code, first),
        p=_own_p(cells, code, f"{first}_p"),
        adjusted=p_value(cells[code, f"{first}_p_adjusted"]),
        of=of,
        other=other,
    )


def _own_p(cells: Traced, code: str, name: str) -> Phrase:
    return phrase(", p {p}", p=p_value(cells[code, name])) if pd.notna(cells.value[code, name]) else ()


def _rank(links: Traced, code: str) -> Phrase:
    """Return the rank-biserial correlation with its own interval and p, adjusted if it has the test."""
    cells = links.set_index("code").loc
    adjusted: Phrase = ()
    if not _with_odds(links):
        adjusted = phrase(", adjusted p {p}", p=p_value(cells[code, "p_adjusted"]))
    own = _own_p(cells, code, "p")
    if own:
        own = phrase("{own}{adjusted}", own=own, adjusted=adjusted)
    return phrase("rank-biserial r = {r}{own}", r=_with_interval(links, code, "rank_biserial"), own=own)


def _with_interval(links: Traced, code: str, name: str) -> Phrase:
    cells = links.set_index("code").loc
    printed = coefficient if name == "rank_biserial" else number
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
    p = adjusted_p(links)
    rest = links.query(f"{p} >= {NOTABLE}")
    ranks = phrase(
        "rank-biserial correlations were between {low} and {high}",
        low=coefficient(rest["rank_biserial"].min()),
        high=coefficient(rest["rank_biserial"].max()),
    )
    if _with_odds(links):
        name = _of_hypothesis(links)
        ranks = phrase(
            "odds ratios {what} were between {low} and {high} (smallest adjusted p {p}), and rank-biserial "
            "correlations over all texts between {r_low} and {r_high} (smallest p {p_of_r})",
            what="of own texts" if name == "odds_ratio" else "between participants",
            low=number(rest[name].min()),
            high=number(rest[name].max()),
            p=p_value(rest[p].min()),
            r_low=coefficient(rest["rank_biserial"].min()),
            r_high=coefficient(rest["rank_biserial"].max()),
            p_of_r=p_value(rest["p"].min()),
        )
    else:
        ranks = phrase("{ranks} (smallest adjusted p {p})", ranks=ranks, p=p_value(rest[p].min()))
    which = "For the others" if others else "Across all of them"
    return sentence("{which}, {ranks}.", which=which, ranks=ranks)


def _equivalent(record: Record, links: Traced, rest: Sequence[str]) -> Iterator[Sentence]:
    """Yield which codes are within the margin, and for which neither a link nor its absence is shown."""
    rows, labels = links.set_index("code"), record.labels()
    p = rows.value["equivalence_p_adjusted"]
    within = [code for code in labels if code in p.index and p[code] < NOTABLE]
    if within:
        largest = links.query(f"equivalence_p_adjusted < {NOTABLE}")["equivalence_p_adjusted"].max()
        yield sentence(
            "Within the margin ({margin}) {verb} {labels} ({which} p {p}).",
            margin=_margin(links),
            verb="was" if len(within) == 1 else "were",
            labels=quoted([named(labels[code]) for code in within]),
            which="adjusted" if len(within) == 1 else "largest adjusted",
            p=p_value(largest),
        )
    else:
        yield sentence("No code was shown to be within the margin ({margin}).", margin=_margin(links))
    left_open = [named(labels[code]) for code in rest if code not in within]
    if left_open:
        yield sentence(
            "For {labels} neither an association nor its absence was shown.", labels=quoted(left_open)
        )


def _not_computable(record: Record, links: Traced, codes: Sequence[str]) -> Iterator[Sentence]:
    cells = links.set_index("code").loc
    column = "odds_ratio_reason" if _with_odds(links) else "reason"
    why = [(str(cells.value[code, column]), named(record.labels()[code])) for code in codes]
    for reason, labels in grouped(why).items():
        place = next(code for code in codes if str(cells.value[code, column]) == reason)
        yield sentence(
            "For {labels} no {what} could be computed: {words}.",
            labels=quoted(labels),
            what="odds ratio" if _with_odds(links) else "test",
            words=_words(cells[place, column]),
        )
    if _with_odds(links):
        for code in (code for code in codes if pd.notna(cells.value[code, "p"])):
            yield sentence(
                "For texts with “{label}”, {ranks}.",
                label=named(record.labels()[code]),
                ranks=_rank(links, code),
            )


def _words(said: Traced) -> Number:
    return Number(reason_words(said.value), said.value, said.call, said.where)


def _reason_of(links: Traced) -> Number:
    """Return why the first of the links has no odds ratio, in words."""
    return _words(links["odds_ratio_reason"].iloc[0])


def _without_odds(links: Traced) -> bool:
    """Return True if odds ratios were asked for, and r alone could be tested."""
    return not _with_odds(links) and bool(links.value["odds_ratio_reason"].notna().any())


def _with_odds(links: Traced) -> bool:
    return has_odds(links.value.to_dict("records"))


def adjusted_p(links: Traced) -> str:
    """Return the column of the adjusted p that counts: that of the hypothesis, where it has any."""
    return f"{_of_hypothesis(links)}_p_adjusted" if _with_odds(links) else "p_adjusted"


def _of_hypothesis(links: Traced) -> str:
    return of_hypothesis(links.value.to_dict("records"))


def _about(links: Traced) -> str:
    is_own = _of_hypothesis(links) == "odds_ratio"
    return "about a participant's own texts" if is_own else "about differences between participants"


def _rating(record: Record) -> Any:
    place = list(record.store.units.value.columns).index(record.rating)
    return named(record.store.units.columns[place])

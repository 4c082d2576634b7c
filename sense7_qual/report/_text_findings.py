"""Sentences on what was found: how often codes were applied, what was still new, links with a rating."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
    date,
    grouped,
    interval,
    level,
    listed,
    named,
    number,
    p_value,
    percent,
    phrase,
    plural,
    quoted,
    sentence,
    times,
)
from sense7_qual.report._text_record import Record
from sense7_qual.report.tables._links import has_odds


def counting(record: Record) -> Iterator[Sentence]:
    """Yield the sentence that names the decisions counted."""
    if len(record.coders) < 2:
        return
    if record.counted == "consensus":
        yield sentence(
            "Codes were counted by consensus: what all coders of a text had decided alike or a ruling had "
            "settled, and, where one coder alone had coded a text, that coder's decision."
        )
    elif record.counted == "majority":
        yield sentence(
            "A code was counted as present in a text where the majority of the text's coders had applied it; "
            "texts on which they were tied were left out."
        )
    else:
        yield sentence("Codes were counted as “{name}” had applied them.", name=record.counted)


def frequencies(record: Record) -> Iterator[Sentence]:
    """Yield the most and least frequent codes and the absent ones, as in the table of codes."""
    counts = record.counts
    if not len(counts.value):
        return
    rows = counts.groupby("code")["applied"]
    shares = rows.mean().value
    known = {code: named(label) for code, label in record.labels().items() if code in shares.index}
    absent = [code for code in known if not shares[code]]
    present = sorted((code for code in known if shares[code]), key=lambda code: -shares[code])
    if len(present) == 1:
        yield sentence("“{label}” was present in {where}.", label=known[present[0]],
                       where=_where(record, rows, present[0]))  # fmt: skip
    elif present and shares[present[0]] == shares[present[-1]]:
        yield sentence("{labels} were equally frequent, each present in {share}% of the texts.",
                       labels=quoted([known[code] for code in present]),
                       share=percent(rows.mean()[present[0]]))  # fmt: skip
    elif present:
        most, least = present[0], present[-1]
        yield sentence(
            "The most frequent code was “{most}”, present in {there}; the least frequent{of} was “{least}”, "
            "present in {elsewhere}.",
            most=known[most], there=_where(record, rows, most), least=known[least],
            of=" of those found" if absent else "", elsewhere=_where(record, rows, least),
        )  # fmt: skip
    if absent:
        yield sentence("{labels} {verb} not present in any text.",
                       labels=quoted([known[code] for code in absent]),
                       verb="was" if len(absent) == 1 else "were")  # fmt: skip


def _where(record: Record, rows: Traced, code: str) -> Phrase:
    """Return in how many texts of how many, and participants, a code is."""
    there, n = count(rows.sum()[code]), rows.size()[code]
    people: Phrase = ()
    if record.people is not None:
        people = phrase("from {n}", n=_people(record, record.people.get(code, 0)))
    if rows.mean().value[code] == 1:
        every = phrase("all {n} texts", n=there) if n.value > 1 else phrase("the {n} text", n=there)
        return phrase("{every} ({people})", every=every, people=people) if people else every
    return phrase(
        "{n} of {all} ({share}%{people})",
        n=there, all=plural(n, "text"), share=percent(rows.mean()[code]),
        people=(", ", *people) if people else (),
    )  # fmt: skip


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
        yield sentence("“{label}” was applied {times}.", label=known[applied[0]],
                       times=_times(record, codings, applied[0]))  # fmt: skip
    elif applied:
        yield sentence(
            "The code applied most often was “{most}” ({often}); the one applied least often{of} was "
            "“{least}” ({seldom}).",
            most=known[applied[0]], often=_times(record, codings, applied[0]), least=known[applied[-1]],
            of=" of those applied" if absent else "", seldom=_times(record, codings, applied[-1]),
        )  # fmt: skip
    if absent:
        yield sentence("{labels} {verb} not applied.", labels=quoted([known[code] for code in absent]),
                       verb="was" if len(absent) == 1 else "were")  # fmt: skip


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
        times=times(codings.groupby("code").size()[code]), texts=plural(texts[code], "text"),
        people=people,
    )  # fmt: skip


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
        run=count(found["run_length"].iloc[0]), base=count(found["place"].iloc[0]),
        threshold=level(found["threshold"].iloc[0]), n=count(found["n_orders"].iloc[0]),
        seed=named(found["seed"].iloc[0]),
    )  # fmt: skip


def saturation_found(record: Record) -> Iterator[Sentence]:
    """Yield the place of saturation, also over other orders, and the number of codes still expected."""
    found = _new_information(record)
    if found is None:
        yield sentence("No codes emerged from the texts, so saturation could not be assessed.")
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
            "Given how rare the codes found so far are, {k} further participants are expected to add {n} new "
            "codes ({level}% CI [{low}, {high}]).",
            k=count(more["n_more"].iloc[0]), n=number(more["new_codes"].iloc[0], 1),
            level=level(more["confidence_level"].iloc[0]), low=number(more["low"].iloc[0], 1),
            high=number(more["high"].iloc[0], 1),
        )  # fmt: skip
    if not pd.isna(more.value["total_at_least"].iloc[0]):
        yield sentence(
            "In total, there are at least {n} at the same level of confidence; the data give no upper limit.",
            n=plural(more["total_at_least"].iloc[0], "such code"),
        )  # fmt: skip


def _reached(found: Traced) -> Sentence:
    if not found.value["reached"].any():
        last = found.tail(1)
        return sentence(
            "The threshold was not reached: the last run brought {n} (ratio {ratio}; {low} to {high} "
            "over other orders), and it was reached at all in {share}% of the orders.",
            n=plural(last["n_new"].iloc[0], "new code"), ratio=number(last["ratio"].iloc[0]),
            low=number(last["ratio_low"].iloc[0]), high=number(last["ratio_high"].iloc[0]),
            share=percent(last["share_reached"].iloc[0]),
        )  # fmt: skip
    first = found.query("reached").head(1)
    return sentence(
        "The threshold was reached at participant {place} with a run of {run} (ratio {ratio}; {low} to "
        "{high} over other orders); in {share}% of the orders it was reached by then.",
        place=count(first["place"].iloc[0]), run=count(first["run_length"].iloc[0]),
        ratio=number(first["ratio"].iloc[0]), low=number(first["ratio_low"].iloc[0]),
        high=number(first["ratio_high"].iloc[0]), share=percent(first["share_reached"].iloc[0]),
    )  # fmt: skip


def _codings(record: Record) -> Traced:
    """Return the codings on finished texts, in the codes of the present codebook."""
    store = record.store
    if not store.revisions.value:
        return record["codings"].of_round(store.codings(), store.coverage())[0]
    return record["codings"].carried(
        store.codings(), store.coverage(), store.codebook, revisions=store.revisions
    )[0]


def _emerged(record: Record) -> Traced:
    return record["codebook"].emerged(record.store.revisions, record.store.codebooks)


def _new_information(record: Record) -> Traced | None:
    emerged = _emerged(record)
    if not emerged.value or record.cluster is None or not len(_codings(record).value):
        return None
    return record["codings"].new_information(
        _codings(record), record.store.units, cluster=record.cluster, coverage=record.store.coverage(),
        codes=emerged, seed=record.seed,
    )  # fmt: skip


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
            n=times(runs.how_many()), at=date(runs[-1].at), worked=worked,
            last="last " if len(runs.value) > 1 else "",
        )  # fmt: skip
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
        "A topic model looked for the codes, by their definitions and examples, and for new themes: {n} had a "
        "theme, {absent} seemed to be in no text, and {new} near no code.",
        n=plural(runs.given(f'len({read}["expected"])', len(found)), "code"),
        absent=plural(runs.given(f'len({read}["parameters"]["codes_not_shown"])', len(absent)), "code"),
        new=plural(new, "theme was", "themes were"),
    )


_NOTABLE: Final = 0.05  # adjusted p below which a code is named in the text


def link_method(record: Record) -> Iterator[Sentence]:
    """Yield the method of linking codes to a rating, as in the table of links."""
    links = record.links
    if links is None:
        return
    yield sentence(
        "Ratings (“{rating}”) of texts with and without each code were compared{whose}.",
        rating=_rating(record), whose=_whose(record),
    )  # fmt: skip
    if record.missing is not None:
        yield from _missing_method(record)
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
            "P values were adjusted across the {n} codes by the method of Benjamini and Hochberg (1995).",
            n=count(n_tests),
        )
    yield sentence("These are associations, which do not show what raised or lowered a rating.")


def _missing_method(record: Record) -> Iterator[Sentence]:
    """Yield how many ratings are missing, and how it was examined what they could change."""
    yield sentence(
        "The rating was missing for {n} of {all} ({share}%), which these comparisons leave out.",
        n=count(record.unrated.sum()), all=plural(record.unrated.shape[0], "coded text"),
        share=percent(record.unrated.mean()),
    )  # fmt: skip
    yield sentence(
        "What missing ratings could change was examined by bounds, over all values from the lowest to the "
        "highest rating (Horowitz & Manski, 2000), and by a pattern-mixture model in which they differ from "
        "the observed ones by δ points on average (Little, 1993){whose}.",
        whose=" (decisions: the majority of the coders)" if record.linked == "pooled" else "",
    )


def missing_found(record: Record) -> Iterator[Sentence]:
    """Yield for each notable link between what bounds missing ratings leave it, and what would undo it."""
    links, missing = record.links, record.missing
    if links is None or missing is None:
        return
    p = links.set_index("code").value[_adjusted(links)]
    rows = missing.query("delta == 0 and direction == 'opposite'").set_index("code")
    for code, label in record.labels().items():
        if code in p.index and p[code] < _NOTABLE and code in rows.value.index:
            own = rows.loc[code]
            if own.value["n_missing_with"] + own.value["n_missing_without"]:
                yield sentence(
                    "Over all coded texts, the rank-biserial correlation of “{label}” lies between {low} and "
                    "{high}, wherever on the scale the missing ratings are{tipping}.",
                    label=named(label), low=coefficient(own["lowest"]), high=coefficient(own["highest"]),
                    tipping=_tipping(own),
                )  # fmt: skip


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
        delta=replace(number(delta), printed=number(delta).printed.lstrip("−")), one=ways[0], other=ways[1],
    )  # fmt: skip


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
        n=plural(choices.shape[0], "combination"), clusters=record.clusters,
    )  # fmt: skip
    whole = every.query("analysis == 'whole'")
    if len(whole.value):
        yield sentence(
            "The whole error is over {clusters}, {coders} and {prompts}: what a prompt gets wrong was "
            "measured on texts coded by hand, and taken out (Kluger, Lu, Zrnic, Wang & Bates, 2025).",
            clusters=record.clusters, coders=plural(whole["n_coders"].max(), "coder"),
            prompts=plural(whole["n_prompts"].max(), "prompt"),
        )  # fmt: skip


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
                label=named(labels[code]) if code in labels else code, p=p_value(p),
                whole=_whole(whole.iloc[0]) if len(whole.value) else (),
            )  # fmt: skip


def _whole(row: Traced) -> Phrase:
    if pd.isna(row.value["low"]):
        return ()
    low, high = (coefficient(row[name]) for name in ("low", "high"))
    return phrase(
        "; the rank-biserial correlation, with its whole error, was {at}, {between}",
        at=coefficient(row["estimate"]), between=interval(row["confidence_level"], low, high),
    )  # fmt: skip


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
    """Yield the notable associations, the range of the others, and those not computable."""
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
    verb = f"were rated {direction}" if row[p] < _NOTABLE else "were not rated reliably higher or lower"
    odds: Phrase = ()
    if _with_odds(links):
        odds = phrase("odds ratio {odds}, ", odds=_with_interval(links, code, "odds_ratio"))
    return sentence(
        "Texts with “{label}” ({n}, compared with {others} without it) {verb}: {odds}{ranks}, adjusted p "
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
    which = "For the others" if others else "Across all of them"
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

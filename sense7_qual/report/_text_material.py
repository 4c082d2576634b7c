"""Sentences on what was coded, with which codebook, by whom, and in what order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sense7_qual._messages import did_you_mean
from sense7_qual.errors import ArgumentError
from sense7_qual.report._text import (
    Number,
    Phrase,
    Sentence,
    Traced,
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
from sense7_qual.report._text_record import Record

_PSEUDONYM: Final = r"\[[A-Z]{2,20}-[0-9a-f]{1,16}\]"  # as redact.apply leaves them
_CHANGES: Final = {
    "add": "added",
    "rename": "renamed",
    "move": "moved in the tree",
    "redefine": "redefined",
    "narrow": "narrowed",
    "widen": "widened",
    "merge": "merged into another",
    "split": "split",
    "retire": "retired",
}
_MOST_ROUNDS: Final = 4
_MOST_VARIABLES: Final = 12
_CONTRACTED: Final = ("unit_id", "text", "document_id", "case_id", "position", "context")


def material(record: Record) -> Iterator[Sentence]:
    """Yield the material and the unit of analysis."""
    units = record.store.units
    if not len(units.value):
        return
    cases, missing = units["case_id"].nunique(), units["case_id"].isna().sum()
    documents = units["document_id"].nunique()
    of: Phrase = ()
    if cases.value:
        of = phrase(" by {cases}", cases=plural(cases, "participant"))
    if documents.value:
        several = "conversations or documents"
        of += phrase(", from {n}", n=plural(documents, "conversation or document", several))
    yield sentence("The material comprised {n}{of}.", n=plural(units.shape[0], "text"), of=of)
    if cases.value and missing.value:
        yield sentence("For {n} the record names no participant.", n=plural(missing, "text"))
    elif missing.value:
        yield sentence("The record names no participants.")
    yield _lengths(units["text"].str.len())
    yield from _variables(record)
    if record.with_agreement:
        yield sentence(
            "The unit of analysis was the text: a coder who had finished a text had decided on every code of "
            "the codebook for it, and a text that a coder had not finished counts as missing for that coder, "
            "never as a text without the code."
        )
    else:
        yield sentence("The unit of analysis was the text.")


def _lengths(length: Traced) -> Sentence:
    if length.value.min() == length.value.max():
        what = "It had" if len(length.value) == 1 else "Each text had"
        return sentence("{what} {n}.", what=what, n=plural(length.max(), "character"))
    return sentence(
        "Texts had between {low} and {high} characters (median {median}).",
        low=count(length.min()),
        high=count(length.max()),
        median=number(length.median(), 1),
    )


def _variables(record: Record) -> Iterator[Sentence]:
    """Yield the other columns of the study, where a sentence can name them."""
    columns = record.store.units.columns
    own = [place for place, name in enumerate(columns.value) if name not in _CONTRACTED]
    if 0 < len(own) <= _MOST_VARIABLES:
        names = listed([phrase("“{name}”", name=named(columns[place])) for place in own])
        yield sentence("In addition to the texts, the data include {names}.", names=names)


def conversations(record: Record) -> Iterator[Sentence]:
    """Yield the number of conversations per participant."""
    each = record.store.units.groupby("case_id")["document_id"].nunique()
    several = "conversations or documents"
    if not len(each.value) or not each.value.max():
        return
    if each.value.min() == each.value.max():
        yield sentence(
            "The texts of each participant are from {n}.",
            n=plural(each.max(), "conversation or document", several),
        )
    else:
        yield sentence(
            "A participant has texts from between {low} and {high} conversations or documents (median "
            "{median}).",
            low=count(each.min()),
            high=count(each.max()),
            median=number(each.median(), 1),
        )


def origins(record: Record) -> Iterator[Sentence]:
    """Yield the number of codes from before coding."""
    emerged = record["codebook"].emerged(record.store.revisions, record.store.codebooks)
    yield sentence(
        "Of {n} in the codebook, {emerged} added after its first version.",
        n=plural(record.store.codebook.codable.how_many(), "code"),
        emerged=plural(emerged.how_many(), "was", "were", none="none"),
    )
    book = record.store.codebook
    if unstated := sum(not code.origin for code in book.value.codable):
        n = book.given("sum(not code.origin for code in store.codebook.codable)", unstated)
        yield sentence("The codebook does not state the origin of {n}.", n=plural(n, "code"))


def redaction(record: Record) -> Iterator[Sentence]:
    """Yield the number of pseudonyms in the texts, if any."""
    found = record.store.units["text"].str.count(_PSEUDONYM)
    if found.value.sum():
        yield sentence(
            "Direct identifiers had been replaced by pseudonyms in brackets before coding ({n} in {texts}).",
            n=plural(found.sum(), "pseudonym"),
            texts=plural(found.gt(0).sum(), "text"),
        )


def codebook(record: Record) -> Iterator[Sentence]:
    """Yield the codebook and its revisions."""
    book = record.store.codebook
    groups = [code for code in book.value.codes if not code.codable]
    under: Phrase = ()
    if groups:
        n = book.given("sum(not code.codable for code in store.codebook.codes)", len(groups))
        under = phrase(" under {n}", n=plural(n, "heading"))
    facets: Phrase = ()
    if book.value.facets:
        names = listed([named(book.facets[place].label) for place in range(len(book.value.facets))])
        facets = phrase(", and each coding could also record {names}", names=names)
    yield sentence(
        "The codebook, “{name}” (fingerprint {print}), had {codes}{under}{facets}.",
        name=named(book.title if book.value.title else book.name),
        print=named(book.fingerprint[:12]),
        codes=plural(book.codable.how_many(), "code"),
        under=under,
        facets=facets,
    )
    yield from _revisions(record)


def _revisions(record: Record) -> Iterator[Sentence]:
    revisions = record.store.revisions
    if not revisions.value:
        yield sentence("It remained unchanged throughout coding.")
        return
    when = _when(date(revisions[0].at), date(revisions[-1].at))
    yield sentence(
        "It was revised in {n} {when}, each with its reason on record; in total, {changes}.",
        n=plural(revisions.how_many(), "step"),
        when=when,
        changes=_changes(record),
    )
    emerged = record["codebook"].emerged(revisions, record.store.codebooks)
    if emerged.value:
        yield sentence(
            "Of the present codes, {n} added after its first version.",
            n=plural(emerged.how_many(), "was", "were"),
        )
    else:
        yield sentence("All of the present codes had been in its first version.")
    yield sentence(
        "Codings under earlier versions were carried over where the meaning of the code had stayed the same, "
        "and were marked for review where it had changed."
    )
    yield from _claims(record)
    stale = record.objected("stale_open")
    if stale.value:
        yield sentence(
            "Of these, {n} still open and not part of any result.",
            n=plural(stale, "decision is", "decisions are"),
        )


_CLAIMS: Final = {
    "reword": "{{codes}} {were} reworded, in the lead’s judgement without a change of meaning.",
    "narrow": "In the lead’s judgement, {{codes}} {were} narrowed: only where coders had applied "
    "{them} was the decision marked for review.",
    "widen": "In the lead’s judgement, {{codes}} {were} widened: only where coders had not applied "
    "{them} was the decision marked for review.",
}


def _claims(record: Record) -> Iterator[Sentence]:
    """Yield what was claimed about the meaning of codes with a changed definition or rule."""
    revisions = record.store.revisions
    books = record.store.codebooks.value
    for kind, words in _CLAIMS.items():
        labels = dict.fromkeys(
            f"“{books[step.codebook][change.code].label}”"
            for step in revisions.value
            for change in step.changes
            if change.kind == kind
        )
        if not labels:
            continue
        call = (
            '", ".join(dict.fromkeys(f"“{store.codebooks[step.codebook][change.code].label}”" for step in '
            f'store.revisions for change in step.changes if change.kind == "{kind}"))'
        )
        were, them = ("was", "it") if len(labels) == 1 else ("were", "them")
        yield sentence(
            words.format(were=were, them=them), codes=named(revisions.given(call, ", ".join(labels)))
        )


def _changes(record: Record) -> Phrase:
    revisions = record.store.revisions
    made = [change.kind for step in revisions.value for change in step.changes]
    words = []
    for kind, word in _CHANGES.items():
        if kind in made:
            call = f'sum(change.kind == "{kind}" for step in store.revisions for change in step.changes)'
            n = revisions.given(call, made.count(kind))
            words.append(phrase("{n} {word}", n=plural(n, "code was", "codes were"), word=word))
    return listed(words) if words else ("only what surrounds the codes was changed",)


def coding(record: Record) -> Iterator[Sentence]:
    """Yield the coders, the assignment of texts, and the codings marked as unsure."""
    if not record.n_coded.value:
        yield sentence("No text has been finished by a coder yet.")
        return
    coverage = record.store.coverage()
    yield sentence(
        "In total, {n} coded by {coders}, {when}.",
        coders=plural(record.n_coders, "coder"),
        n=plural(record.n_coded, "text was", "texts were"),
        when=_when(date(coverage["first_finished_at"].min()), date(coverage["finished_at"].max())),
    )
    yield from _models(record)
    yield from _dealing(record)
    yield from _double(record)
    codings = record.store.codings()
    if len(codings.value):
        yield _on_record(codings)
    unfinished = record.objected("unfinished")
    if unfinished.value:
        yield sentence(
            "{n} not finished.",
            n=plural(unfinished, "assigned coding of a text was", "assigned codings of a text were"),
        )


def _models(record: Record) -> Iterator[Sentence]:
    """Yield the models that coded, too, with a note that no number here counts them."""
    coverage = record.store.coverage(models=True).query('coder.str.startswith("model-")', engine="python")
    names = coverage["coder"].unique()
    if len(names.value):
        yield sentence(
            "In addition, {models} coded {n}; no number on people's coding counts a model as a coder.",
            models=listed([phrase("“{name}”", name=named(names[n])) for n in range(len(names.value))]),
            n=plural(coverage["unit_id"].nunique(), "text"),
        )
        yield from _measured(record)


def _measured(record: Record) -> Iterator[Sentence]:
    """Yield how far each model found what people had coded, over codes: the ends of its card's columns."""
    if not record.with_agreement or record.round is not None:
        return
    for model in record.models:
        card = record.card(model)
        if isinstance(card, str):
            continue
        rows = [card.query(f"measure == {name!r}")["value"] for name in ("sensitivity", "specificity")]
        if any(row.value.isna().all() for row in rows):
            continue
        texts = card.query("measure == 'prevalence_people'")["n_units"]
        yield sentence(
            "On {n} that people had coded, too, the sensitivity of “{model}” was between {low} and {high} "
            "across codes, its specificity between {least} and {most} (see its card).",
            n=plural(texts.max(), "text"),
            model=named(card["model"].iloc[0]),
            low=coefficient(rows[0].min()),
            high=coefficient(rows[0].max()),
            least=coefficient(rows[1].min()),
            most=coefficient(rows[1].max()),
        )


def _double(record: Record) -> Iterator[Sentence]:
    """Yield the number of texts that several coded, if there are several coders."""
    if record.n_coders.value < 2:
        return
    shown = record.store.acts(kind="show_suggestions").value
    before = " before a model's suggestions were shown" if shown else ""
    if not record.n_double.value:
        yield sentence("No text was coded by two or more coders{before}.", before=before)
    elif record.n_double.value == record.n_coded.value:
        yield sentence("Each text was coded by two or more coders{before}.", before=before)
    else:
        yield sentence(
            "Two or more coders coded {n} ({share}%){before}.",
            before=before,
            n=plural(record.n_double, "text"),
            share=percent(record.n_double / record.n_coded),
        )


def _on_record(codings: Traced) -> Sentence:
    spans, unsure = codings["start"].notna().sum(), codings["confidence"].eq("unsure").sum()
    searched = codings["found_by"].eq("search").sum()
    where: Phrase = (" on whole texts",)
    if spans.value == len(codings.value):
        where = (" on passages of texts",)
    elif spans.value:
        where = phrase(
            ", {n} on a passage and {others} on a whole text",
            n=count(spans),
            others=count(codings["start"].isna().sum()),
        )
    noted: Phrase = ()
    if unsure.value:
        noted = phrase("; coders marked {n} as unsure", n=count(unsure))
    if searched.value:
        noted = (
            *noted,
            *phrase(
                "; {n} made at once for the results of a search",
                n=plural(searched, "coding was", "codings were"),
            ),
        )
    return sentence(
        "The record holds {n}{where}{noted}.", n=plural(codings.shape[0], "coding"), where=where, noted=noted
    )


def _dealing(record: Record) -> Iterator[Sentence]:
    dealt = record["rounds"].assignments(record.store.acts())
    if not dealt.value or not dealt.value[-1][1].coders:
        return
    last, plan = dealt[-1][1], dealt.value[-1][1]
    strata: Phrase = ()
    if plan.stratify:
        names = listed([named(last.stratify[place]) for place in range(len(plan.stratify))])
        strata = phrase(" within strata of {names}", names=names)
    weighted = " with unequal probabilities" if plan.weights else ""
    yield sentence(
        "The texts were assigned to {n} at random{weighted}{strata} (seed {seed}){share}.",
        n=plural(last.coders.how_many(), "coder"),
        weighted=weighted,
        strata=strata,
        seed=named(last.seed),
        share=_overlap(last),
    )
    if plan.calibration:
        yield sentence("All of them coded the same {n} first.", n=plural(last.calibration.how_many(), "text"))


def _overlap(last: Traced) -> Phrase:
    """Return the share of texts by their number of coders."""
    plan = last.value
    if len(plan.coders) < 2:
        return ()
    each: Phrase = ("all coders",)
    if plan.coders_per_unit:
        each = plural(last.coders_per_unit, "coder")
    if plan.overlap in (0, 1):
        return phrase(", each of them to {each}", each=each if plan.overlap else "one coder")
    return phrase(", {share}% of them to {each}", share=percent(last.overlap), each=each)


def training(record: Record) -> Iterator[Sentence]:
    """Yield the rounds of training."""
    rounds = record.store.rounds
    for place, one in enumerate(rounds.value):
        if one.is_training and not one.of_models:
            yield sentence(
                "In the training round “{name}”, {coders} coded {n} and were shown after each text where "
                "they had differed from an expert's decisions; these codings are not part of the data.",
                name=named(rounds[place].name),
                coders=plural(rounds[place].coders.how_many(), "coder"),
                n=plural(rounds[place].units.how_many(), "text"),
            )


def blinding(record: Record) -> Iterator[Sentence]:
    """Yield the blinding of coders, and where it was broken."""
    if record.n_coders.value > 1:
        yield from _of_rounds(record)
        for kind, one, several, told in (
            (
                "no_round",
                "text",
                "texts",
                "The record does not show whether coders were blind to each other for {n} that several coded "
                "outside rounds.",
            ),
            (
                "finished_after_unblinding",
                "text was",
                "texts were",
                "{n} first finished after the round had been unblinded, and therefore not blind.",
            ),
            (
                "changed_after_unblinding",
                "coding of a text was",
                "codings of a text were",
                "{n} changed in a round after it had been unblinded.",
            ),
        ):
            n = record.objected(kind)
            if n.value:
                yield sentence(told, n=plural(n, one, several))
    first = record.objected("suggestions_first")
    if first.value:
        yield sentence(
            "A model's suggestions were shown before {n}.",
            n=plural(first, "coding of a text", "codings of a text"),
        )
    if record.objected("rating_seen").value:
        yield sentence("Coders saw the participants' ratings next to the texts while they coded.")


def _of_rounds(record: Record) -> Iterator[Sentence]:
    rounds = record.store.rounds
    blind = [
        n
        for n, one in enumerate(rounds.value)
        if not one.is_training and not one.discusses and not one.of_models
    ]
    for place in blind[:_MOST_ROUNDS]:
        until: Phrase = ("; the round has not been unblinded",)
        if rounds.value[place].unblinded_at is not None:
            until = phrase(" until the round was unblinded on {at}", at=date(rounds[place].unblinded_at))
        yield sentence(
            "In the round “{name}”, {coders} were given {n} to code blind to each other{until}.",
            name=named(rounds[place].name),
            coders=plural(rounds[place].coders.how_many(), "coder"),
            n=plural(rounds[place].units.how_many(), "text"),
            until=until,
        )
    if len(blind) > _MOST_ROUNDS:
        call = "sum(not one.is_training and not one.discusses and not one.of_models for one in store.rounds)"
        yield sentence("In total, there were {n} such rounds.", n=count(rounds.given(call, len(blind))))


def memos(record: Record) -> Iterator[Sentence]:
    """Yield the number of memos and their subjects."""
    written = record.store.memos()
    if not len(written.value):
        return
    kinds = {"unit": "whole texts", "span": "passages", "code": "codes", "study": "the study as a whole"}
    there = set(written.value["target_kind"])
    on = [
        phrase("{n} on {what}", n=count(written["target_kind"].eq(kind).sum()), what=what)
        for kind, what in kinds.items()
        if kind in there
    ]
    yield sentence(
        "During the analysis, {n} written ({on}), {when}.",
        n=plural(written.shape[0], "memo was", "memos were"),
        on=listed(on),
        when=_when(date(written["at"].min()), date(written["at"].max())),
    )


def _when(first: Number, last: Number) -> Phrase:
    if str(first) == str(last):
        return phrase("on {first}", first=first)
    return phrase("between {first} and {last}", first=first, last=last)


def software(record: Record) -> Iterator[Sentence]:
    """Yield the software and the record."""
    acts = record.store.acts().how_many()
    yield sentence(
        "Coding and analysis were done with sense7_qual {version}, which records every step of every coder "
        "as an act that is never changed{acts}, so that each number can be traced back to the texts.",
        version=named(record["metadata"].version("sense7_qual")),
        acts=phrase(" ({n} in this study)", n=count(acts)) if acts.value else "",
    )


def reflexivity(record: Record) -> Iterator[Sentence]:
    """Yield the researchers' own part in the analysis: memos and proposals."""
    yield from memos(record)
    proposed = record.store.proposals()
    by_people = proposed.query("origin.isna()", engine="python")
    by_models = proposed.query("origin.notna()", engine="python")
    if len(by_people.value):
        yield sentence(
            "During coding, {n} proposed, each with the passage that prompted it.",
            n=plural(by_people.shape[0], "code was", "codes were"),
        )
    if len(by_models.value):
        yield sentence(
            "From themes found by a topic model, {n} proposed, each with texts that illustrate it.",
            n=plural(by_models.shape[0], "code was", "codes were"),
        )


def positionality_memo(record: Record, memo_id: str) -> Sentence:
    """Return a memo on the study in its own words."""
    written = record.store.memos()
    known = written.value.loc[written.value["target_kind"] == "study", "memo_id"].tolist()
    if memo_id not in known:
        hint = did_you_mean(memo_id, known) if known else "write one with acts.memo(…) that names no text."
        raise ArgumentError(
            f"methods: expected positionality to be the memo_id of a memo on the study – found {memo_id!r} – "
            f"{hint}"
        )
    return sentence("{words}", words=named(written.set_index("memo_id").loc[memo_id, "text"]))

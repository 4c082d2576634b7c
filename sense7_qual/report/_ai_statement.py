"""What a paper states on the use of AI, from the record of suggestions, themes and models that code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean
from sense7_qual._reasons import reason_words
from sense7_qual.acts.contents import settings_of
from sense7_qual.errors import ArgumentError
from sense7_qual.frames import is_model
from sense7_qual.report._review_facts import Study
from sense7_qual.report._text import (
    Paragraph,
    Phrase,
    Sentence,
    Text,
    Traced,
    coefficient,
    count,
    date,
    listed,
    named,
    percent,
    phrase,
    plural,
    sentence,
    times,
)
from sense7_qual.report._text_record import Record, record_of
from sense7_qual.rounds import coders_named

_SHOWN = {"finished": "once the coder had finished the text", "shown": "from the start"}
_ANSWERS = {
    "agreed": "matched a code that the coder had already applied",
    "withdrawn": "matched a code that the coder then removed",
    "accepted": "{were} accepted on the words suggested",
    "edited": "{were} accepted on other words",
    "rejected": "{were} rejected",
    "none": "{were} left unanswered",
}


def ai_statement(
    store: Study,
    *,
    models: Sequence[str] = (),
    with_agreement: bool = True,
    n_boot: int = 2000,
    seed: int = 0,
) -> Text:
    """Write a paper's statement on the use of AI in the coding, from the study's record.

    It reports suggestions (what was shown to whom, when, and what became of it), themes that a topic model
    proposed, and models that coded, with their agreement with people. If the record has none of these, the
    text says so, and it asks about what no record of coding holds.

    Parameters
    ----------
    store : Store
        The study.
    models : sequence of str
        Further coders that are models, not people, in addition to those called ``model-…``
        (`frames.is_model`).
    with_agreement : bool
        Whether the agreement of these models with people is stated.
    n_boot, seed
        Of its intervals, as for `agreement.human_model`.

    Returns
    -------
    Text
        As of `methods`.

    Raises
    ------
    ArgumentError
        `store` is no open study, nobody of this name has coded, or a setting is out of its range.

    Examples
    --------
    ``report.ai_statement(store).write("ai.docx")``
    """
    check_arguments(ai_statement, locals(), but=("store",))
    record = record_of(
        store, function="ai_statement", with_agreement=with_agreement, n_boot=n_boot, seed=seed
    )
    coded = record.store.decisions(models=True).value["coder"].unique().tolist()
    for name in models:
        if name not in coded:
            raise ArgumentError(
                f"ai_statement: expected models to be coders of the study – found {name!r} – "
                f"{did_you_mean(name, coded)}"
            )
    return ai_statement_of(record, models)


def ai_statement_of(record: Record, models: Sequence[str] = ()) -> Text:
    """Write the statement on AI from a record."""
    said = tuple(ai_used(record, models))
    asked = [
        "Was AI used for anything but the coding, such as transcribing, translating, computing or writing?",
        "If the texts are conversations with a model, which model was it?",
    ]
    if len(said) > 1 and not _described(record, models):
        asked.insert(
            0,
            "For each model: which version, prompt or features, and settings; where did it run, and which "
            "data left the computer?",
        )
    return Text("Use of AI", (Paragraph("Use of AI in the coding", said),), tuple(asked))


def ai_used(record: Record, models: Sequence[str] = ()) -> Iterator[Sentence]:
    """Yield the sentences on models, or one that the record has none."""
    told = [*_suggested(record), *_themes(record), *_coders(record, models)]
    open_ends = [*_without_acts(record), *_meant_to_suggest(record), *_without_words(record)]
    uses = record["suggestions"].model_uses(record.store.acts())
    yield from told
    yield from open_ends
    if not told and open_ends:
        return
    if not told and uses.empty.value:
        yield sentence(
            "The record of the study shows no use of a model: no suggestion was shown to a coder, no theme "
            "from a topic model was recorded, no model coded, and every coding was made by a coder."
        )
        return
    if not told:
        yield sentence(
            "The record shows the use of a model in {n}, of which nothing else is on record.",
            n=plural(uses.shape[0], "act"),
        )
    yield sentence("A suggestion or a theme became a coding only where a coder applied the code.")
    yield from _when(record)


def _without_acts(record: Record) -> Iterator[Sentence]:
    """Yield a sentence on models that a round or a plan names, but that recorded nothing."""
    acts = record.store.acts().value
    meant = {name for act in acts for name in coders_named(act) if is_model(name)}
    lost = sorted(meant - {act.coder for act in acts})
    if lost:
        yield sentence(
            "The record gives texts to {models} to code, and holds no act of {them}: what {they} coded, and "
            "what was made of it, is not on record.",
            models=listed([f"“{name}”" for name in lost]),
            them="it" if len(lost) == 1 else "them",
            they="it" if len(lost) == 1 else "they",
        )


def _meant_to_suggest(record: Record) -> Iterator[Sentence]:
    """Yield that suggestions were to be shown, where none is on record."""
    chosen = [json.loads(str(act.text)) for act in record.store.acts(kind="set_options").value]
    when = next((one["suggestions"] for one in reversed(chosen) if "suggestions" in one), None)
    if when in _SHOWN and not len(record["suggestions"].shown(record.store.acts()).value):
        yield sentence(
            "The study was set to show a model's suggestions {when}; that any was shown is not on record.",
            when=_SHOWN[when],
        )


def _without_words(record: Record) -> Iterator[Sentence]:
    """Yield a sentence on proposals whose text was erased, so that nobody can tell who drafted them."""
    proposed = record.store.acts(kind="propose")
    erased = [act for act in proposed.value if act.kind == "propose" and not act.text]
    if erased:
        call = f'sum(act.kind == "propose" and not act.text for act in {proposed.expression})'
        yield sentence(
            "The words of {n} were erased when a participant withdrew: whether a model drafted {them} is not "
            "on record.",
            n=plural(proposed.given(call, len(erased)), "proposed code"),
            them="it" if len(erased) == 1 else "them",
        )


def _when(record: Record) -> Iterator[Sentence]:
    """Yield how many codings of people were made before, after and without suggestions."""
    made = record["suggestions"].made_when(record.store.acts()).query("when != 'model'")
    if not len(made.value):
        return
    when = made["when"]
    yield sentence(
        "Of {n} by people, as they are now, {without} made on texts for which the coder saw no suggestion, "
        "{before} before the coder saw one, and {after} afterwards.",
        n=plural(made.shape[0], "coding"),
        without=plural(when.eq("without").sum(), "was", "were"),
        before=count(when.eq("before").sum()),
        after=count(when.eq("after").sum()),
    )


def _described(record: Record, models: Sequence[str]) -> bool:
    """Whether the record says how every model was asked: then nobody needs to be."""
    acts = record.store.value.acts()
    coded = {act.coder for act in acts if is_model(act.coder)} | set(models)
    others = any(act.traits.model_use for act in acts)
    return not others and coded <= {act.coder for act in acts if act.kind == "describe"}


def _suggested(record: Record) -> Iterator[Sentence]:
    answers, shown = (
        record["suggestions"].answers(record.store.acts()),
        record["suggestions"].shown(record.store.acts()),
    )
    if not len(shown.value):
        return
    given = answers.value
    names = list(dict.fromkeys(given["model"].dropna()))
    known = answers["model"].dropna().unique()
    models = listed([phrase("“{name}”", name=named(known[place])) for place in range(len(names))])
    withheld: Phrase = ()
    if shown.eq(False).value.any():
        withheld = phrase(
            "; for {n}, drawn at random, none were shown", n=plural(shown.eq(False).sum(), "text")
        )
    yield sentence(
        "Codes were suggested to coders{by} for {n}{withheld}.",
        by=phrase(" by {models}", models=models) if names else (),
        n=plural(shown.sum(), "text"),
        withheld=withheld,
    )
    if len(given):
        yield from _answered(answers)
        if record.with_agreement:
            yield sentence(
                "Agreement between coders is based on what they had decided before any suggestion was shown."
            )


def _answered(answers: Traced) -> Iterator[Sentence]:
    """Yield to whom suggestions were shown and when, what they answered, and how many they took over."""
    when = answers["when"]
    yield sentence(
        "{coders} shown {n}: {when}.",
        n=plural(answers.shape[0], "suggestion"),
        coders=plural(answers["coder"].nunique(), "coder was", "coders were"),
        when=listed(
            [
                phrase("{n} {words}", n=count(when.eq(key).sum()), words=words)
                for key, words in _SHOWN.items()
                if when.eq(key).value.any()
            ]
        ),
    )
    there = [
        phrase(
            f"{{n}} {words}",
            n=count(n := answers["answer"].eq(key).sum()),
            were="was" if n.value == 1 else "were",
        )
        for key, words in _ANSWERS.items()
        if answers.value["answer"].eq(key).any()
    ]
    yield sentence("Of these suggestions, {there}.", there=listed(there))
    new = answers.query("before == False")
    if len(new.value):
        yield sentence(
            "Of {n} that the coder had not coded before, {share}% were taken over.",
            n=plural(new.shape[0], "suggestion"),
            share=percent(new["answer"].isin(["accepted", "edited"]).mean()),
        )


def _themes(record: Record) -> Iterator[Sentence]:
    runs, edits = record.store.acts(kind="record_themes"), record.store.acts(kind="edit_theme")
    if not runs.value:
        return
    parameters = json.loads(str(runs.value[-1].text)).get("parameters", {})
    settings: Phrase = ()
    told = [name for name in ("model", "seed", "granularity") if name in parameters]
    if told:
        values = [
            phrase(
                "{name} {value}",
                name=name.replace("_", " "),
                value=named(
                    runs.given(
                        f'json.loads({runs.expression}[-1].text)["parameters"]["{name}"]', parameters[name]
                    )
                ),
            )
            for name in told
        ]
        settings = phrase(" ({values})", values=listed(values))
    yield sentence(
        "A topic model proposed themes, which were recorded {n}, {last}on {at}{settings}; people {changed}.",
        last="last " if len(runs.value) > 1 else "",
        n=times(runs.how_many()),
        at=date(runs[-1].at),
        settings=settings,
        changed=phrase("changed them in {n}", n=plural(edits.how_many(), "step"))
        if edits.value
        else "left them as they were",
    )
    by_model = record.store.proposals().query("origin.notna()", engine="python")
    drafted = by_model.query("origin.str.contains('language model')", engine="python")
    if len(by_model.value):
        yield sentence(
            "From themes, {n} proposed, {drafted} in the words of a language model; a proposal became a code "
            "only when a person made it one.",
            n=plural(by_model.shape[0], "code was", "codes were"),
            drafted=plural(drafted.shape[0], "of them", "of them", none="none"),
        )


def _coders(record: Record, models: Sequence[str]) -> Iterator[Sentence]:
    decisions = record.store.decisions(models=True)
    coders = decisions.value["coder"].unique().tolist()
    models = [name for name in coders if is_model(name) or name in models]
    if not models:
        yield from _asked(record)  # it may have decided nothing
        return
    each = [
        phrase(
            "“{name}” ({n})",
            name=name,
            n=plural(decisions.query(f"coder == {name!r}")["unit_id"].nunique(), "text"),
        )
        for name in models
    ]
    yield sentence("Models also acted as coders: {each}.", each=listed(each))
    yield from _asked(record)
    independent = record.store.decisions(models=True)
    decided = set(independent.value["coder"])
    if not record.with_agreement or not decided > set(models):
        return
    rows = record.with_people(models)
    for comparison in ("humans", "model"):
        missing = "model.isna()" if comparison == "humans" else "model.notna()"
        some = rows.query(missing, engine="python")
        if some.value["estimate"].notna().any():
            yield _between(some, people=comparison == "humans")


_DESCRIBED: Final = {
    "model": "the model {value}",
    "destination": "asked at {value}",
    "wording": "with the wording {value}",
    "plan": "plan {value}",
    "software": "by {value}",
}


def _asked(record: Record) -> Iterator[Sentence]:
    """Yield sentences on how the record says each model was asked and how its codes were used."""
    described = record.store.acts(kind="describe")
    for place, act in enumerate(described.value):
        settings, call = settings_of(act), f"json.loads({described.expression}[{place}].text)"
        told = [
            phrase(words, value=named(described.given(f"{call}[{name!r}]", settings[name])))
            for name, words in _DESCRIBED.items()
            if settings.get(name)
        ]
        yield sentence(
            "{coder}: {told}.", coder=f"“{act.coder}”", told=listed(told) if told else "no settings on record"
        )
        yield from _prompts(described, settings, call)
        yield from _without_decision(described, settings, call)
        yield from _used(record, act.coder)


def _prompts(described: Traced, settings: Mapping[str, Any], call: str) -> Iterator[Sentence]:
    """Yield which prompt was asked for each code, by its hash, and whether it was asked again."""
    prompts = settings.get("prompts") or {}
    if prompts:
        each = [
            phrase(
                "{code} {prompt}",
                code=named(described.given(f"list({call}['prompts'])[{n}]", code)),
                prompt=named(described.given(f"{call}['prompts'][{code!r}]", prompt)),
            )
            for n, (code, prompt) in enumerate(prompts.items())
        ]
        yield sentence("Each prompt asked about one code alone: {each}.", each=listed(each))
    variants = described.given(f"len({call}.get('variants') or [])", len(settings.get("variants") or []))
    if variants.value > 1:
        yield sentence("It was asked in {n}, the first of which counts.", n=plural(variants, "variant"))
    elif prompts:
        yield sentence("It was not asked again: how steady its answers are was not measured.")


def _without_decision(described: Traced, settings: Mapping[str, Any], call: str) -> Iterator[Sentence]:
    """Yield how many answers gave no decision, their share, and why."""
    missing, n_texts = settings.get("missing") or {}, settings.get("n_texts") or 0
    lost = described.given(f"sum(({call}.get('missing') or {{}}).values())", sum(missing.values()))
    n = n_texts * len(settings.get("prompts") or {})
    share: Phrase = ()
    if n:
        part = f"sum({call}['missing'].values()) / ({call}['n_texts'] * len({call}['prompts']))"
        share = phrase(" ({share}%)", share=percent(described.given(part, lost.value / n)))
    yield sentence(
        "{n} had no decision{share}{why}.",
        n=plural(lost, "answer"),
        share=share,
        why=phrase(
            ": {reasons}",
            reasons=listed(
                [
                    phrase(
                        "{n} – {words}",
                        words=reason_words(why),
                        n=count(described.given(f"{call}['missing'][{why!r}]", times_)),
                    )
                    for why, times_ in missing.items()
                ]
            ),
        )
        if missing
        else "",
    )


def _used(record: Record, coder: str) -> Iterator[Sentence]:
    """Yield whether coders saw the codes of a model as suggestions."""
    answers = record["suggestions"].answers(record.store.acts())
    own = answers.query(f"model == {coder!r}")
    if len(own.value):
        yield sentence(
            "Its codes were suggested to coders on {n}.", n=plural(own["unit_id"].nunique(), "text")
        )
    else:
        yield sentence("Its codes were not suggested to coders.")


def _between(rows: Traced, *, people: bool) -> Sentence:
    what = (
        "Among people, Krippendorff's alpha was"
        if people
        else "Between people and models, cross-kappa (Wong, Paritosh & Aroyo, 2021) was"
    )
    estimate = rows["estimate"]
    return sentence(
        "{what} between {low} and {high} across codes (median {median}).",
        what=what,
        low=coefficient(estimate.min()),
        high=coefficient(estimate.max()),
        median=coefficient(estimate.median()),
    )

"""Which tables, texts, figures and files a paper takes of a study, and what each is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual import agreement, codings, exchange, figures, links, suggestions
from sense7_qual._basis import COLUMN, NOT_STATED, line_of
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan, settings_of
from sense7_qual.errors import ArgumentError
from sense7_qual.report import tables
from sense7_qual.report._ai_statement import ai_statement_of
from sense7_qual.report._checklist import GuidelineName, checklist_of
from sense7_qual.report._deviations import deviations
from sense7_qual.report._escape import Page
from sense7_qual.report._methods import methods_of, results_of
from sense7_qual.report._quote_passages import covered
from sense7_qual.report._review import review
from sense7_qual.report._review_facts import Study, independent_rounds
from sense7_qual.report._table import Layout
from sense7_qual.report._text import Traced
from sense7_qual.report._text_record import Record

_NOT_IN_NAMES: Final = re.compile(r"[^\w-]")
_PER_PARTICIPANT: Final = 2
_TEXTS: Final = "it holds what participants wrote; pass with_texts=True"

LeftOut = tuple[str, str]


Rest = Literal["agreement", "counts", "disagreements", "multiverse"]
"""For what purpose decisions are read: each has one basis in a paper."""


@dataclass(frozen=True, slots=True, repr=False)
class Part:
    """A table, a text, a figure or a file of data: its name, what it shows, what makes it, on which basis."""

    name: str
    kind: Literal["table", "text", "figure", "data"]
    shows: str
    make: Callable[[], Any]
    suffix: str = ""
    rests_on: tuple[Rest, ...] = ()

    def __repr__(self) -> str:
        return f"Part({self.name!r}, {self.kind!r})"

    def write(self, made: Any, path: Path, *, page: Page, overwrite: bool) -> None:
        """Write what was made; a file of data is made as it is written."""
        if self.kind == "data":
            made(path, overwrite=overwrite)
        elif self.kind == "table":
            made.write(
                path, overwrite=overwrite, style=page.style, page_columns=page.columns, paper_size=page.size
            )
        elif self.kind == "text":
            made.write(path, overwrite=overwrite, paper_size=page.size)
        else:
            made.write(path, overwrite=overwrite)


class Sources:
    """What the parts are made of: a study's record; text, tables and figures share its frames."""

    def __init__(
        self,
        record: Record,
        plan: AnalysisPlan,
        *,
        with_texts: bool,
        names: Collection[str],
        positionality: str | None,
    ) -> None:
        self.record, self.plan, self.with_texts, self.names = record, plan, with_texts, names
        self.positionality = positionality
        self.store: Study = record.store.value
        self.units, self.codebook, self.round = self.store.units, self.store.codebook, record.round
        if _frame(record.last).empty:
            raise ArgumentError(
                "paper: expected texts that a coder has finished – found none – write the paper once there "
                "are some."
            )

    def __repr__(self) -> str:
        return f"Sources({len(self.units)} units, {len(self.record.coders)} coders)"

    @property
    def by_code(self) -> pd.DataFrame:
        """Agreement on each code."""
        return _frame(self.record.alphas)

    @property
    def counts(self) -> pd.DataFrame:
        """The decisions that are counted."""
        return _frame(self.record.settled)

    @property
    def links(self) -> pd.DataFrame:
        """Which codes go with higher ratings."""
        return _frame(self.record.every_link)

    @property
    def disagreements(self) -> pd.DataFrame:
        """On which text and code coders disagree."""
        return _frame(self.record.disagreements)

    @cached_property
    def covered(self) -> dict[str, Any]:
        """Units with words that an approved paraphrase replaces."""
        return covered(self.store.quotes())

    @property
    def analysed(self) -> AnalysisPlan:
        """The plan as it is carried out, with its default for participants and the choices of the call."""
        record = self.record
        coders = record.by or self.plan.coders
        settled_by = record.settled_by if len(record.coders) > 1 else self.plan.settled_by
        return replace(
            self.plan, cluster=record.cluster, settled_by=settled_by, rounds=self._rounds, coders=coders
        )

    @property
    def _rounds(self) -> tuple[str, ...]:
        """The rounds of the plan; where others are computed, these."""
        record = self.record
        asked = (record.round,) if record.round is not None else record.rounds
        planned = {one.name for one in independent_rounds(self.store.rounds) if one.name in self.plan.rounds}
        return asked if asked and set(asked) != planned else self.plan.rounds

    def basis(self, purpose: Rest) -> str:
        """Return the line of what numbers of a purpose rest on."""
        record = self.record
        if purpose == "multiverse":
            tried = _frame(record.multiverse)
            lines = tried[COLUMN].dropna().astype(str).unique() if COLUMN in tried else [NOT_STATED]
            return "; ".join(lines)
        frames = {"agreement": record.independent, "counts": record.settled, "disagreements": record.last}
        return line_of(frames[purpose].value)

    @property
    def notes(self) -> tuple[str, ...]:
        """The line in the foot of a table that says how disagreements count in it."""
        if len(self.record.coders) < 2:
            return ()
        by = self.record.settled_by
        return (_NOBODY_RULED if by == "rulings" and not self.record.is_ruled else _SETTLED[by],)


_NOBODY_RULED: Final = (
    "Consensus: what all coders of a text decided alike; where one coder alone decided, this coder’s "
    "decision. Nobody ruled on the rest, which is left out."
)
_SETTLED: Final[Mapping[str, str]] = {
    "rulings": "Consensus: what all coders of a text decided alike, or what was ruled; where one coder alone "
    "decided, this coder’s decision. What is not settled is left out.",
    "discussion": "Consensus: what all coders of a text decided alike in the end; where one coder alone "
    "decided, this coder’s decision. What is not settled is left out.",
    "majority": "Majority: what more than half of the coders of a text decided; ties are left out.",
    "any": "Any coder: a text has a code where at least one of its coders applied it.",
    "nothing": "Each coder’s own decisions count; nothing was settled.",
}


def _frame(traced: Traced | None) -> pd.DataFrame:
    return pd.DataFrame() if traced is None else traced.value


def parts_of(
    sources: Sources, conditions: Sequence[str], *, with_prose: bool, codebook_layout: Layout
) -> tuple[list[Part], list[LeftOut]]:
    """Return the parts to be written, and the names of the others with the reason."""
    found: list[Part | LeftOut] = [
        *(_of_prose(sources) if with_prose else ()),
        *_of_codebook(sources, codebook_layout),
        *_of_plan(sources),
        *_of_agreement(sources),
        *_of_codes(sources, conditions),
        *_of_links(sources),
        *_of_models(sources),
        *_of_texts(sources),
        *_of_review(sources),
    ]
    if sources.round is not None:
        found.append(("coded data", "one round alone is shown, and data are of the whole study"))
    return [one for one in found if isinstance(one, Part)], [one for one in found if isinstance(one, tuple)]


def _of_prose(sources: Sources) -> Iterator[Part | LeftOut]:
    """Yield what the record says of the whole study: methods, results, statement on AI, checklists."""
    if sources.round is not None:
        yield "methods, results, checklists", "one round alone is shown, and they tell of the whole study"
        return
    record, own = sources.record, {"positionality": sources.positionality}
    counted = () if not record.with_agreement and record.rating is None else ("counts",)
    both = (*(("agreement",) if record.with_agreement else ()), *counted)
    yield Part(
        "methods",
        "text",
        "How it was done, and what remains to be answered",
        lambda: methods_of(record, **own),
        rests_on=both,
    )
    yield Part("results", "text", "What came out", lambda: results_of(record), rests_on=both)
    yield Part("use_of_ai", "text", "What is stated on the use of AI", lambda: ai_statement_of(record))
    guidelines: list[GuidelineName] = ["coreq", "srqr"]
    guidelines += [] if record.with_agreement else ["rtarg"]
    for name in guidelines:
        yield Part(
            f"checklist_{name}",
            "table",
            f"The reporting checklist {name.upper()}",
            partial(checklist_of, record, name, **own),
            rests_on=both if name != "rtarg" else (),
        )


def _of_codebook(sources: Sources, layout: Layout) -> Iterator[Part | LeftOut]:
    book, store = sources.codebook, sources.store
    yield Part(
        "codebook",
        "table",
        "What the codes mean",
        lambda: tables.codebook(book, layout=layout, revisions=store.revisions, codebooks=store.codebooks),
    )
    if store.revisions:
        yield Part(
            "revisions",
            "table",
            "How the codebook came about",
            lambda: tables.revision(store.revisions, codebooks=store.codebooks),
        )
    else:
        yield "revisions", "the codebook was not revised"
    moved = store.revisions or any(act.kind == "record_themes" for act in store.acts())
    if moved or store.memos()["target_kind"].eq("code").any() or not sources.plan.with_agreement:
        yield Part(
            "themes",
            "table",
            "How themes and codes came about",
            lambda: tables.theme(store, with_memos=sources.with_texts),
        )
    else:
        yield "themes", "no code was changed, no theme recorded, and no memo written on a code"


def _of_plan(sources: Sources) -> Iterator[Part | LeftOut]:
    store = sources.store
    if preregistrations(store.acts()):
        yield Part(
            "preregistration",
            "table",
            "What was registered beforehand",
            lambda: tables.preregistration(store),
        )
        yield Part(
            "deviations",
            "table",
            "What was done otherwise than registered",
            lambda: deviations(store, analysis_plan=sources.analysed).table,
        )
    else:
        yield "preregistration, deviations", "no analysis plan was registered"


def _of_agreement(sources: Sources) -> Iterator[Part | LeftOut]:
    if not sources.plan.with_agreement:
        yield "reliability, disagreements", "the analysis plan is without agreement"
        return
    if not sources.record.n_double.value:
        yield "reliability, disagreements", "no text was coded by two or more, independently of suggestions"
        return
    yield from _of_reliability(sources)
    yield from _of_discussions(sources)
    if sources.round is None:
        yield Part(
            "reliability_data",
            "data",
            "Each coder's decisions, without the texts",
            lambda: partial(exchange.export, sources.store, table="reliability"),
            "csv",
            rests_on=("agreement",),
        )


def _of_reliability(sources: Sources) -> Iterator[Part | LeftOut]:
    book = sources.codebook
    how_well = "How well coders agree on each code"
    yield Part(
        "reliability",
        "table",
        how_well,
        lambda: tables.reliability(sources.by_code, codebook=book, cluster_name=sources.record.clusters),
        rests_on=("agreement",),
    )
    yield Part(
        "agreement",
        "figure",
        how_well,
        lambda: figures.agreement_plot(sources.by_code, codebook=book),
        rests_on=("agreement",),
    )
    if len(sources.disagreements):
        yield Part(
            "disagreements",
            "table",
            "What coders disagreed about, and why",
            lambda: tables.disagreement(sources.disagreements, codebook=book),
            rests_on=("disagreements",),
        )
    else:
        yield "disagreements", "there are none"


_ALIKE: Final = (
    "Texts that people coded, too, count alike, as if drawn at random: the record does not say how they were "
    "chosen."
)
_AFTER_DISCUSSION: Final = (
    "After a discussion decisions are no longer independent: α before is the reliability of the coding, α "
    "after is not."
)


def _of_discussions(sources: Sources) -> Iterator[Part | LeftOut]:
    talks = [one for one in sources.store.rounds if one.discusses]
    if not talks:
        yield "discussion", "there was no round of discussion"
    for number, one in enumerate(talks, 1):
        name = "discussion" if len(talks) == 1 else f"discussion_{number}"
        yield Part(
            name,
            "table",
            f"Agreement before and after {one.name}",
            partial(_discussed, sources, str(one.discusses), one.name),
        )


def _discussed(sources: Sources, before: str, after: str) -> Any:
    record = sources.record
    return tables.difference(
        record.discussed(before, after).value,
        names=("before", "after"),
        codebook=sources.codebook,
        cluster_name=record.clusters,
        notes=[_AFTER_DISCUSSION],
    )


def _of_codes(sources: Sources, conditions: Sequence[str]) -> Iterator[Part | LeftOut]:
    counted: dict[str, Any] = {
        "source": sources.record.source,
        "cluster": sources.record.cluster,
        "codebook": sources.codebook,
        "notes": sources.notes,
    }
    if sources.plan.with_agreement:
        yield Part(
            "codes",
            "table",
            "How often each code was applied",
            lambda: tables.condition(sources.counts, sources.units, **counted),
            rests_on=("counts",),
        )
    for name in dict.fromkeys(conditions):
        yield Part(
            f"codes_by_{_NOT_IN_NAMES.sub('_', name)}",
            "table",
            f"How often each code was applied, by {name}",
            partial(tables.condition, sources.counts, sources.units, condition=name, **counted),
            rests_on=("counts",),
        )
    if not conditions:
        yield "codes by condition", "no condition was named; pass conditions=['…']"
    yield _of_co_occurrence(sources)


def _of_co_occurrence(sources: Sources) -> Part | LeftOut:
    if sources.record.is_pooled:
        return "co_occurrence", "each coder's own decisions count, so that no text has one set of codes"
    if sources.counts.empty:
        return "co_occurrence", "no decision is settled"
    return Part(
        "co_occurrence",
        "table",
        "Which codes come together",
        lambda: tables.co_occurrence(
            links.co_occurrence(sources.counts, source=sources.record.source),
            codebook=sources.codebook,
            with_phi=sources.plan.with_agreement,
            notes=sources.notes,
        ),
        rests_on=("counts",),
    )


def _of_links(sources: Sources) -> Iterator[Part | LeftOut]:
    record, rating, book = sources.record, sources.plan.rating, sources.codebook
    if rating is None:
        yield "links", "the analysis plan names no rating"
        return
    if record.cluster is None:
        yield "links", "a text has no participant, so that intervals would be too narrow"
        return
    if record.links is None:
        yield "links", "no decision counts"
        return
    yield Part(
        "links",
        "table",
        f"Which codes go with higher {rating}",
        lambda: tables.link(
            sources.links,
            source=record.source,
            codebook=book,
            rating=rating,
            cluster_name=record.clusters,
            notes=sources.notes,
        ),
        rests_on=("counts",),
    )
    yield from _of_missing(sources, rating)
    yield from _of_multiverse(sources, rating)
    yield Part(
        "links_plot",
        "figure",
        f"Which codes go with higher {rating}",
        lambda: figures.link_plot(sources.links, source=record.source, codebook=book),
        rests_on=("counts",),
    )


def _of_multiverse(sources: Sources, rating: str) -> Iterator[Part | LeftOut]:
    record = sources.record
    if record.multiverse is not None:
        every = record.multiverse.value
        yield Part(
            "multiverse",
            "table",
            f"What becomes of the links with {rating} under other choices",
            lambda: tables.multiverse(
                every, codebook=sources.codebook, rating=rating, cluster_name=record.clusters
            ),
            rests_on=("multiverse",),
        )


def _of_missing(sources: Sources, rating: str) -> Iterator[Part | LeftOut]:
    record = sources.record
    if not record.unrated.value.any():
        yield "missing_ratings", "no coded text lacks the rating"
    elif record.missing is None:
        yield (
            "missing_ratings",
            (
                "coders' own links are pooled, and bounds would be those of another source, which is another "
                "number"
            ),
        )
    else:
        yield Part(
            "missing_ratings",
            "table",
            "How many ratings are missing, and what they could change",
            lambda: tables.missing(
                _frame(record.missing),
                source=record.source,
                codebook=sources.codebook,
                rating=rating,
                cluster_name=record.clusters,
                notes=sources.notes,
            ),
            rests_on=("counts",),
        )


def _of_models(sources: Sources) -> Iterator[Part | LeftOut]:
    acts, book = sources.store.acts(), sources.codebook
    if any(act.kind == "show_suggestions" for act in acts):
        yield Part(
            "suggestions",
            "table",
            "What coders made of a model's suggestions",
            lambda: tables.suggestion(suggestions.answers(acts), codebook=book),
        )
    else:
        yield "suggestions", "no model's suggestions were shown"
    yield from _of_model_coders(sources)


def _of_model_coders(sources: Sources) -> Iterator[Part | LeftOut]:
    """Yield what the models that coded are worth: agreement with people, and the card and figure of each."""
    record, book = sources.record, sources.codebook
    if not record.models:
        yield "models", "no model coded"
        return
    if record.round is not None or not sources.plan.with_agreement:
        why = (
            "one round alone is shown"
            if record.round is not None
            else "the analysis plan is without agreement"
        )
        yield "models", why
        return
    settings = {model: _as_asked(sources.store, model) for model in record.models}
    yield Part(
        "models",
        "table",
        "How well people and models that coded agree",
        lambda: tables.human_model(
            record.with_people(record.models).value,
            codebook=book,
            models=settings,
            cluster_name=record.clusters,
        ),
    )
    for number, model in enumerate(record.models, 1):
        name = "model_card" if len(record.models) == 1 else f"model_card_{number}"
        card = record.card(model)
        if isinstance(card, str):
            yield name, card
        else:
            yield from _of_card(sources, name, model, card.value, settings)


def _of_card(
    sources: Sources, name: str, model: str, card: pd.DataFrame, settings: Mapping[str, Any]
) -> Iterator[Part]:
    """Yield the table and the figure of what one model is worth."""
    book, shows = sources.codebook, f"What {model} is worth, code by code"
    table = partial(
        tables.model_card,
        card,
        words=agreement.diagnosis.model_words(card),
        codebook=book,
        models=settings,
        cluster_name=sources.record.clusters,
        notes=[_ALIKE],
    )
    yield Part(name, "table", shows, table)
    yield Part(f"{name}_plot", "figure", shows, partial(figures.model_card, card, codebook=book))


def _as_asked(store: Study, model: str) -> str:
    """Return how a model was asked, as it is on record."""
    described = [act for act in store.acts(kind="describe") if act.coder == model]
    if not described:
        return "how it was asked is not on record"
    settings = settings_of(described[0])
    prompts = ", ".join(f"{code} {prompt}" for code, prompt in (settings.get("prompts") or {}).items())
    told = {"model": "{}", "destination": "asked at {}", "prompts": "prompts {}", "software": "by {}"}
    known = settings | {"prompts": prompts}
    return "; ".join(words.format(known[name]) for name, words in told.items() if known.get(name))


def _of_texts(sources: Sources) -> Iterator[Part | LeftOut]:
    store, units, book = sources.store, sources.units, sources.codebook
    if not sources.with_texts:
        yield "quotes, memos, coded data with the texts", _TEXTS
        return
    yield Part(
        "quotes",
        "table",
        "Quotes that show the codes: read each before it is printed",
        partial(_quotes, sources),
        rests_on=("counts",),
    )
    memos = _memos(sources)
    if len(memos):
        yield Part(
            "memos",
            "table",
            "What was noted",
            lambda: tables.memo(memos, units, codebook=book, earlier=list(store.codebooks.values())),
        )
    else:
        yield "memos", "there are none"
    if sources.covered:
        yield (
            "coded data with the texts",
            (
                "paraphrases replace quotes, and they would hold their words; exchange.export writes them "
                "where they may be held"
            ),
        )
    else:
        yield Part(
            "coded",
            "data",
            "The coded data, with the texts",
            lambda: partial(exchange.export, store, with_agreement=sources.plan.with_agreement),
            "xlsx",
        )


def _quotes(sources: Sources) -> Any:
    store, book = sources.store, sources.codebook
    standing = codings.carried(
        store.codings(), store.coverage(), book, revisions=store.revisions, round=sources.round
    )[0]
    return tables.quote(
        standing,
        sources.units,
        codebook=book,
        per_participant=_PER_PARTICIPANT,
        rating=sources.plan.rating,
        decisions=_for_quotes(sources.record),
        quotes=store.quotes(),
        names=sources.names,
        seed=sources.plan.seed,
    )


def _for_quotes(record: Record) -> pd.DataFrame:
    """Return each coder's last decisions with what is settled, which quotes have to fit."""
    if record.settled_by == "nothing":
        return _frame(record.last)
    settled = _frame(record.settled).assign(coder="consensus")
    return pd.concat([_frame(record.last), settled], ignore_index=True)


def _memos(sources: Sources) -> pd.DataFrame:
    """Return the memos but those on texts with words that a paraphrase replaces: they print words."""
    memos = sources.store.memos()
    on_text = memos["target_kind"].isin(["unit", "span"])
    return memos[~(on_text & memos["target_id"].isin(list(sources.covered)))]


def _of_review(sources: Sources) -> Iterator[Part | LeftOut]:
    plan = sources.plan
    yield Part(
        "review",
        "table",
        "What a reviewer will object to: not for print",
        lambda: (
            review(
                sources.store,
                with_agreement=plan.with_agreement,
                rating=plan.rating,
                cluster=plan.cluster,
                settled_by=sources.record.settled_by,
                n_boot=plan.n_boot,
                seed=plan.seed,
            ).table
        ),
    )

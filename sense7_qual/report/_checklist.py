"""A reporting checklist, with what the record of a study answers, and the rest as questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.adjudication import SettledBy
from sense7_qual.report import (
    _text_agreement as coders,
    _text_findings as findings,
    _text_material as material,
)
from sense7_qual.report._ai_statement import ai_used
from sense7_qual.report._review_facts import Study
from sense7_qual.report._table import Table, made_with
from sense7_qual.report._text import Sentence, named, plural, sentence
from sense7_qual.report._text_material import positionality_memo
from sense7_qual.report._text_record import Record, record_of

GuidelineName = Literal["coreq", "srqr", "rtarg"]

_POSITION: Final = {"coreq": "8", "srqr": "6", "rtarg": "Who the researchers are"}


def checklist(
    store: Study,
    guideline: GuidelineName,
    *,
    with_agreement: bool = True,
    positionality: str | None = None,
    settled_by: SettledBy | None = None,
    n_boot: int = 2000,
    seed: int = 0,
) -> Table:
    """Fill in a reporting checklist from the record, with questions for what it does not hold.

    Nothing is invented: an item that the record does not answer has only a question, and one that it answers
    in part has both. The note counts them. Items are named in our own words: read the original.

    Parameters
    ----------
    store : Store
        The study.
    guideline : {"coreq", "srqr", "rtarg"}
        COREQ (32 items), SRQR (21), or what the reporting guidelines for reflexive thematic analysis ask for.
    with_agreement : bool
        Whether agreement between coders is part of the argument, as for `methods`; for "rtarg" it never is.
    positionality : str, optional
        The memo_id of a memo on the study; its words answer the item on the researchers themselves.
    settled_by
        As for `paper`.
    n_boot, seed
        Of intervals, as for `agreement.by_code`.

    Returns
    -------
    Table
        One row per item: number (where the guideline has numbers), topic, what the record says, and what
        remains to be answered.

    Raises
    ------
    ArgumentError
        `store` is no open study, there is no such guideline or memo, several coders decided and nothing says
        how disagreements count, or a setting is out of its range.

    References
    ----------
    Tong, Sainsbury & Craig (2007), Consolidated criteria for reporting qualitative research (COREQ). O'Brien
    et al. (2014), Standards for reporting qualitative research (SRQR). Braun & Clarke (2024), Supporting best
    practice in reflexive thematic analysis reporting (RTARG), Palliative Medicine 38, 608–616.

    Examples
    --------
    ``report.checklist(store, "coreq", settled_by="rulings").write("coreq.docx")``
    """
    check_arguments(checklist, locals(), but=("store",))
    record = record_of(
        store,
        function="checklist",
        with_agreement=with_agreement,
        settled_by=settled_by,
        n_boot=n_boot,
        seed=seed,
    )
    return checklist_of(record, guideline, positionality=positionality)


def checklist_of(record: Record, guideline: GuidelineName, *, positionality: str | None) -> Table:
    """Fill in the checklist from a record."""
    chosen, place = GUIDELINES[guideline], _POSITION[guideline]
    record = replace(record, with_agreement=record.with_agreement and guideline != "rtarg")
    memo = None if positionality is None else str(positionality_memo(record, positionality))
    rows = [_row(item, record, memo if place in (item.number, item.topic) else None) for item in chosen.items]
    left = 1 if all(item.number == _present.MISSING for item in chosen.items) else 0  # no numbers: no column
    return Table(
        title=f"{chosen.title}: what the record of the study shows, and what remains to be answered",
        headers=("Item", "Topic", "From the record", "To be answered")[left:],
        rows=tuple(row[left:] for row in rows),
        notes=(_counted(rows), chosen.source, made_with(record.store.codebook.value)),
        layout="grid",
    )


def _row(item: Item, record: Record, memo: str | None) -> tuple[str, str, str, str]:
    topics = item.topics(record.with_agreement)
    said = [str(one) for topic in topics for one in topic(record)]
    said = [memo, *said] if memo else said
    asks = item.asks or ("" if said else "The record does not say.")
    return (item.number, item.topic, " ".join(said) or _present.MISSING, asks or _present.MISSING)


def _counted(rows: list[tuple[str, str, str, str]]) -> str:
    answered = sum(row[3] == _present.MISSING for row in rows)
    in_part = sum(row[2] != _present.MISSING and row[3] != _present.MISSING for row in rows)
    return (
        f"The record answers {_present.count(answered)} of {_present.count(len(rows))} items in full and "
        f"{_present.count(in_part)} in part; for the other "
        f"{_present.count(len(rows) - answered - in_part)} it holds nothing."
    )


Topic = Callable[[Record], Iterator[Sentence]]


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its number, what it is about, what answers it from the record, and what is to be asked."""

    number: str
    topic: str
    asks: str = ""
    says: tuple[Topic, ...] = ()
    with_agreement: tuple[Topic, ...] = ()
    without: tuple[Topic, ...] = ()

    def topics(self, with_agreement: bool) -> tuple[Topic, ...]:
        """Return the topics that answer it, with or without agreement."""
        return (*self.says, *(self.with_agreement if with_agreement else self.without))


@dataclass(frozen=True, slots=True)
class Guideline:
    """A reporting guideline: its name, its source, and its items in order."""

    title: str
    source: str
    items: tuple[Item, ...]


def _quotations(record: Record) -> Iterator[Sentence]:
    """Yield that words can be quoted with the participant's id, and of how many."""
    spans = record.store.codings()["start"].notna()
    if spans.value.any() and record.store.units["case_id"].notna().value.all():
        yield sentence(
            "The record holds {n} with the passage and the participant's id, from which report.tables.quote "
            "selects quotations by a stated rule.",
            n=plural(spans.sum(), "coding"),
        )


def _sample(record: Record) -> Iterator[Sentence]:
    """Yield the number of participants."""
    cases = record.store.units["case_id"].nunique()
    if cases.value:
        yield sentence("The texts come from {n}.", n=plural(cases, "participant"))


def _limits(record: Record) -> Iterator[Sentence]:
    """Yield the points that a reviewer will see in the record."""
    seen = (
        record["report"]
        .review(record.store, with_agreement=record.with_agreement, n_boot=record.n_boot, seed=record.seed)
        .frame["seen"]
    )
    for place in range(len(seen.value)):
        yield sentence("{seen}", seen=named(seen.iloc[place]))


def _trail(record: Record) -> Iterator[Sentence]:
    yield from material.software(record)
    yield from material.memos(record)


_COREQ: Final = (
    Item("1", "Who collected the data", "Who spoke with participants, or ran the sessions?"),
    Item("2", "Credentials", "Which degrees do the researchers have?"),
    Item("3", "Occupation", "What was their occupation at the time?"),
    Item("4", "Gender", "What is their gender?"),
    Item("5", "Experience and training", "What had they learned and done before?", (material.training,)),
    Item("6", "Relationship before the study", "Did they know participants before?"),
    Item("7", "What participants knew of the researchers", "What were participants told about them?"),
    Item("8", "Characteristics of the researchers", "Which interests and assumptions did they bring?"),
    Item("9", "Methodological orientation", "Which approach underlies the analysis?"),
    Item("10", "Sampling", "How were participants selected?"),
    Item("11", "Approach", "How were they approached?"),
    Item("12", "Sample size", "", (_sample,)),
    Item("13", "Non-participation", "How many declined or dropped out, and why?"),
    Item("14", "Setting", "Where were the data collected?"),
    Item("15", "Presence of others", "Was anyone else present?"),
    Item("16", "Description of the sample", "Which characteristics matter (age …)?", (material.material,)),
    Item("17", "Guide or prompts", "What were participants asked or given to do, and was it piloted?"),
    Item("18", "Repeats", "Were sessions repeated, and why?", (material.conversations,)),
    Item("19", "Recording", "How were the data recorded?"),
    Item("20", "Field notes", "Were notes taken while data were collected?"),
    Item("21", "Duration", "How long did sessions take?"),
    Item(
        "22",
        "Saturation",
        "Was saturation an aim, and is it one that fits the approach?",
        with_agreement=(findings.saturation_method, findings.saturation_found),
    ),
    Item("23", "Return of transcripts", "Did participants see and correct their texts?"),
    Item("24", "Number of coders", "", (material.coding,)),
    Item("25", "Coding tree", "", (material.codebook,), without=(findings.themes_recorded,)),
    Item(
        "26",
        "Where themes came from",
        "Which came from theory, and how were the others found?",
        (material.origins, findings.themes_recorded),
    ),
    Item("27", "Software", "", (material.software,)),
    Item("28", "Participants' feedback", "Did participants comment on the findings?"),
    Item("29", "Quotations with participant's number", "Which quotations are printed?", (_quotations,)),
    Item(
        "30",
        "Data and findings consistent",
        "Does every claim have its quotation or number?",
        with_agreement=(coders.settled,),
    ),
    Item(
        "31",
        "Major themes",
        "What are they, in words?",
        with_agreement=(findings.frequencies,),
        without=(findings.applied_codes,),
    ),
    Item("32", "Minor themes and diverse cases", "Which cases speak against the findings?"),
)
_SRQR: Final = (
    Item("1", "Title", "Does the title name the topic and the approach?"),
    Item("2", "Abstract", "Does it give background, purpose, methods, results and conclusions?"),
    Item("3", "Problem", "What is studied, and what is known about it?"),
    Item("4", "Purpose or research question", "What is the question?"),
    Item("5", "Approach and paradigm", "Which approach and paradigm, and why?"),
    Item(
        "6",
        "Researchers and reflexivity",
        "Who are the researchers, and what do they bring?",
        (material.memos,),
    ),
    Item("7", "Context", "What was the setting, and which parts of it matter?"),
    Item(
        "8",
        "Sampling",
        "How and why were participants selected, and when was it enough?",
        with_agreement=(findings.saturation_method, findings.saturation_found),
    ),
    Item(
        "9",
        "Ethics",
        "Which board approved it, what did participants consent to, how are data kept?",
        (material.redaction,),
    ),
    Item("10", "Data collection", "Which data, when, how, and what changed on the way?"),
    Item("11", "Instruments", "Which guides, prompts and questionnaires?"),
    Item("12", "Units of study", "Which characteristics of participants matter?", (material.material,)),
    Item(
        "13",
        "Data processing",
        "How were texts transcribed and checked?",
        (material.redaction, material.blinding),
    ),
    Item(
        "14", "Data analysis", "", (material.codebook, material.coding), without=(findings.themes_recorded,)
    ),
    Item(
        "15",
        "Trustworthiness",
        "Were other sources or participants consulted?",
        (_trail,),
        with_agreement=(coders.agreement_method, coders.settling),
    ),
    Item(
        "16",
        "Synthesis and interpretation",
        "What do the codes mean together?",
        with_agreement=(findings.frequencies,),
        without=(findings.applied_codes,),
    ),
    Item("17", "Links to data", "Which quotations show each finding?", (_quotations,)),
    Item("18", "Integration with prior work", "How do the findings relate to what was known?"),
    Item("19", "Limitations", "What limits trust and transfer?", (_limits,)),
    Item("20", "Conflicts of interest", "Are there any?"),
    Item("21", "Funding", "Who paid, and what did they decide?"),
)
_RTARG: Final = (
    Item("–", "Question and purpose", "Is the question one that themes of meaning can answer?"),
    Item(
        "–",
        "Why reflexive thematic analysis",
        "Why this approach, and which orientation to it (inductive, latent, critical …)?",
    ),
    Item("–", "Theory", "Which view of knowledge and language underlies the reading?"),
    Item("–", "Who the researchers are", "From which position do they read, and what did it shape?"),
    Item("–", "Data set", "Why are these texts rich enough for the question?", (material.material,)),
    Item(
        "–",
        "Selection, without saturation",
        "How were participants chosen, and why was the data set judged sufficient, if not by saturation?",
    ),
    Item("–", "Ethics", "Which approval and consent; how are people protected?", (material.redaction,)),
    Item(
        "–",
        "Analysis as it was done",
        "What was done at each stage, in your own words and not as a list of phases?",
        (material.coding,),
        without=(findings.themes_recorded,),
    ),
    Item("–", "Coding as it moved", "What led from one version to the next?", (material.codebook,)),
    Item("–", "Reflexive practice", "How did notes and talks change the reading?", (material.memos,)),
    Item(
        "–",
        "Quality practices that fit",
        "Which practices were chosen, and do they fit the approach?",
        (material.software,),
    ),
    Item("–", "Use of tools and AI", "What was left to a tool, and what was judged by a person?", (ai_used,)),
    Item(
        "–",
        "Overview of themes",
        "What are the themes, and how do they relate to each other?",
        (findings.themes_recorded,),
    ),
    Item("–", "Themes, not topics", "Does each theme have one central idea, expressed in its name?"),
    Item(
        "–",
        "Extracts and interpretation",
        "Do extracts come from across the data set, each read and not only shown?",
        (_quotations,),
    ),
    Item("–", "No counting for its own sake", "Where numbers are given, what do they add?"),
    Item("–", "Conclusion across themes", "What do the themes say together, beyond a summary?"),
    Item("–", "Transfer and limits", "To whom may it speak, and what limits it, on its own terms?"),
)

GUIDELINES: Final[Mapping[str, Guideline]] = {
    "coreq": Guideline(
        "COREQ",
        "Tong, Sainsbury & Craig (2007), International Journal for Quality in Health Care 19, "
        "349–357: 32 items for interviews and focus groups.",
        _COREQ,
    ),
    "srqr": Guideline(
        "SRQR",
        "O'Brien, Harris, Beckman, Reed & Cook (2014), Academic Medicine 89, 1245–1251: 21 items.",
        _SRQR,
    ),
    "rtarg": Guideline(
        "RTARG",
        "After Braun & Clarke (2024), Palliative Medicine 38, 608–616, Reflexive Thematic Analysis "
        "Reporting Guidelines. RTARG is prose and numbers nothing: these rows and their order are ours.",
        _RTARG,
    ),
}
"""Each guideline by its name."""

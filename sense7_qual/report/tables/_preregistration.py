"""The form of a preregistration, filled from a plan and the study: what is left is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sense7_qual._arguments import check_arguments
from sense7_qual._present import coefficient, counted, percent
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.errors import ArgumentError
from sense7_qual.report._deviation_checks import minute
from sense7_qual.report._notes import made_with
from sense7_qual.report._review_facts import Study, require_study
from sense7_qual.report._table import Table

__all__ = ["preregistration"]

_OPEN: Final = "To be answered: "
_CHANGES: Final = {"fixed": "The codebook does not change.", "open": "Codes may change as coding goes on."}
_SHOWN: Final = {
    "hidden": "hidden", "never": "not shown", "shown": "shown from the start",
    "finished": "shown once a text is finished",
}  # fmt: skip


def preregistration(store: Study, plan: AnalysisPlan | None = None) -> Table:
    """Return the form of a qualitative preregistration, filled from a plan and the study.

    One row per item of the form of Haven et al. (2020): what the plan and the study say of it. What neither
    says is a question that begins with "To be answered"; nothing is made up.

    Parameters
    ----------
    store : Store
        The study: its texts are counted and its codebook is named. Nothing that a participant wrote is in it.
    plan : AnalysisPlan, optional
        A plan that is not registered yet; left out, the one that was registered last.

    Raises
    ------
    ArgumentError
        `store` is no open study, or there is no plan.

    References
    ----------
    Haven et al. (2020), Preregistering qualitative research: A Delphi study, International Journal of
    Qualitative Methods 19.

    Examples
    --------
    ``report.preregistration(store).write("preregistration.docx")``
    """
    check_arguments(preregistration, locals(), but=("store",))
    require_study(store)
    registered = preregistrations(store.acts())
    if plan is None and not registered:
        raise ArgumentError(
            "preregistration: expected an analysis plan – found none, and none is registered – pass "
            "one: acts.contents.AnalysisPlan(question=…, …)."
        )
    shown = registered[-1].plan if plan is None else plan
    rows = tuple((item, _answer(name, question, shown, store)) for item, name, question in _ITEMS)
    n_open = sum(answer.startswith(_OPEN) for _, answer in rows)
    state = "Not registered yet."
    if plan is None or (registered and registered[-1].plan == plan):
        state = f"Registered {minute(registered[-1].at)} by {registered[-1].coder}."
    return Table(
        title="Preregistration",
        headers=("Item", "Answer"),
        rows=rows,
        notes=(
            "Items after Haven et al. (2020), Preregistering qualitative research.",
            f"{len(rows) - n_open} of {len(rows)} items are answered. {state} SHA-256 of the plan: "
            f"{shown.fingerprint}.",
            made_with(store.codebook),
        ),
        layout="list",
    )


def _answer(name: str, question: str, plan: AnalysisPlan, store: Study) -> str:
    known = _KNOWN[name](plan, store) if name in _KNOWN else ""
    answer = "\n".join(part for part in (plan.answers.get(name, "").strip(), known) if part)
    return answer or _OPEN + question


def _questions(plan: AnalysisPlan, store: Study) -> str:
    return "\n".join([plan.question, *(f"Hypothesis: {one}" for one in plan.hypotheses)])


def _sampling(plan: AnalysisPlan, store: Study) -> str:
    parts = [
        counted(n, what) for n, what in ((plan.n_units, "text"), (plan.n_participants, "participant"))
        if n is not None
    ]  # fmt: skip
    return f"To be coded: {' of '.join(parts)}." if parts else ""


def _sources(plan: AnalysisPlan, store: Study) -> str:
    units = store.units
    n_cases, n_documents = units["case_id"].nunique(), units["document_id"].nunique()
    of = f" by {counted(n_cases, 'participant')}" if n_cases else ""
    if n_documents:
        of += f" from {counted(n_documents, 'document or conversation', 'documents or conversations')}"
    return f"{counted(len(units), 'text')}{of}."


def _stopping(plan: AnalysisPlan, store: Study) -> str:
    return f"Coding ends on {plan.coding_until}." if plan.coding_until else ""


def _approach(plan: AnalysisPlan, store: Study) -> str:
    book = store.codebook
    level = {"unit": "whole texts", "span": "words of texts", None: "texts"}[plan.level]
    sentences = [
        f"{counted(len(book.codable), 'code')} of the codebook “{book.name}” "
        f"{'is' if len(book.codable) == 1 else 'are'} put on {level}."
    ]
    if plan.codebook:
        sentences.append(
            {"fixed": "The codebook does not change.", "open": "Codes may change as coding goes on."}[
                plan.codebook
            ]
        )
    if plan.new_codes:
        verb = {"propose": "proposes it to the lead", "add": "adds it"}[plan.new_codes]
        sentences.append(f"Who misses a code {verb}.")
    if plan.themes is not None:
        sentences.append("A topic model suggests themes." if plan.themes else "No topic model is used.")
    if plan.rating:
        of = f", with intervals over {plan.cluster}" if plan.cluster else ""
        sentences.append(f"Codes are linked to {plan.rating}{of}.")
    return " ".join(sentences)


def _process(plan: AnalysisPlan, store: Study) -> str:
    sentences = [f"Coded by {', '.join(plan.coders)}."] if plan.coders else []
    sentences += [f"Rounds: {', '.join(plan.rounds)}."] if plan.rounds else []
    if plan.blind is not None:
        sentences.append(
            "Coders see each other's codings of a round once all have finished it." if plan.blind
            else "Coders may see each other's codings."
        )  # fmt: skip
    if plan.rating_shown:
        sentences.append(f"Ratings are {_SHOWN[plan.rating_shown]}.")
    if plan.suggestions:
        when = {
            "never": "not shown",
            "shown": "shown from the start",
            "finished": "shown once a text is finished",
        }
        sentences.append(f"A model's suggestions are {when[plan.suggestions]}.")
    if plan.discussion is not None:
        sentences.append("Coders discuss." if plan.discussion else "Coders do not discuss.")
    if plan.settled_by:
        sentences.append(
            "Disagreements are left as they are." if plan.settled_by == "nothing"
            else f"Disagreements are settled by {plan.settled_by}."
        )  # fmt: skip
    return " ".join(sentences)


def _credibility(plan: AnalysisPlan, store: Study) -> str:
    sentences = []
    if plan.double_coded is not None:
        sentences.append(
            f"{percent(plan.double_coded)}% of the texts are coded by two or more, independently."
        )
    if plan.n_repeated:
        sentences.append(f"To be coded twice by the same coder: {counted(plan.n_repeated, 'text')}.")
    if plan.with_agreement:
        least = f" of {coefficient(plan.min_alpha, 3)} or more" if plan.min_alpha is not None else ""
        sentences.append(f"Agreement is reported for each code as Krippendorff's alpha{least}.")
    else:
        sentences.append("The argument does not rest on several people coding alike.")
    return " ".join([*sentences, "Every act of coding is kept in a record whose acts are chained by hashes."])


_ITEMS: Final = (
    ("Title", "title", "What is the study called?"),
    ("Authors", "authors", "Who does it?"),
    ("Aims", "aims", "What is it to find out?"),
    ("Kind of aim", "kind_of_aim", "To explore, describe, explain, understand, or something else?"),
    ("Research questions", "question", "Which?"),
    ("Study design", "design", "Which, and why does it fit the question?"),
    ("Sampling and case selection", "sampling", "Whose texts, how found, and why these?"),
    ("Data sources and types", "data_source", "Which?"),
    ("Data collection methods", "data_collection", "How were the texts asked for?"),
    ("Data collection tools", "data_tools", "With which questions and programs?"),
    ("Data collection procedures", "data_procedure", "What happened in which order?"),
    ("Stopping criteria", "stopping", "When are there enough texts, and when is coding done?"),
    ("Approach to analysis", "analysis_approach", "Which, and why?"),
    ("Process of analysis", "analysis_process", "Who does what, in which order?"),
    ("Credibility strategies", "credibility", "What lets others trust it?"),
    ("Positionality", "positionality", "Who are the analysts to what they study?"),
)

_KNOWN: Final[Mapping[str, Callable[[AnalysisPlan, Study], str]]] = {
    "question": _questions,
    "sampling": _sampling,
    "data_source": _sources,
    "stopping": _stopping,
    "analysis_approach": _approach,
    "analysis_process": _process,
    "credibility": _credibility,
}

"""What the codes mean, how the codebook changed, and what was registered in advance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING, coefficient, counted, percent
from sense7_qual.acts import preregistrations
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Change, Code, Codebook, Facet, Revision, emerged
from sense7_qual.errors import ArgumentError, CodebookError
from sense7_qual.report._review_facts import Study, minute, require_study
from sense7_qual.report._table import Layout, Table, made_with
from sense7_qual.report.tables._links import margin_words

_CAPTION: Final = 300  # characters: TeX measures a caption on one line, which is 19 feet at most


def codebook(
    codebook: Codebook,
    *,
    revisions: Sequence[Revision] = (),
    codebooks: Mapping[str, Codebook] | None = None,
    layout: Layout = "list",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the codebook: each code's definition, rules of use, examples and origin.

    `layout` is "list", each code with its parts below it, which reads well on any page, or "grid", in rows
    and columns on pages in landscape.

    One row per code, each followed by the codes under it: label (and the code above it),
    definition, when to use it, when not to, examples and counter-examples, origin and source. A part that the
    codebook leaves empty is printed as "–". `notes` adds lines to the foot.

    An origin that the codebook does not state is "not stated". With ``revisions=store.revisions`` and
    ``codebooks=store.codebooks``, a code that the first version lacks (`codebook.emerged`) has the day on
    which it was added.

    Raises
    ------
    CodebookError
        A version that a revision names is not among `codebooks`.

    References
    ----------
    MacQueen, McLellan, Kay & Milstein (1998), Codebook development for team-based qualitative analysis,
    Cultural Anthropology Methods 10(2), 31–36: the parts of a code.

    Examples
    --------
    >>> table = codebook(Codebook.read("sense7"))
    >>> table.headers
    ('Code', 'Definition', 'Use when', 'Do not use when', 'Examples', 'Origin')
    >>> table.rows[3][0]
    'Prosocial Expression'
    """
    check_arguments(globals()["codebook"], locals())  # a parameter has its name
    added = _added(revisions, codebooks or {}) if len(revisions) else {}
    rows = tuple(_codebook_row(code, codebook, added) for code, _ in codebook.tree)
    empty = [f"{MISSING} = not given in the codebook."] if any(MISSING in row for row in rows) else []
    facets = [_facet_note(facet, codebook) for facet in codebook.facets]
    source = [f"Source of the codebook: {codebook.source.rstrip('.')}."] if codebook.source else []
    return Table(
        title=f"Codebook – {_called(codebook)}",
        headers=("Code", "Definition", "Use when", "Do not use when", "Examples", "Origin"),
        rows=rows,
        notes=(*empty, *facets, *source, *_rule_sources(codebook), *notes, made_with(codebook)),
        layout=layout,
    )


def _called(codebook: Codebook) -> str:
    """Return the title of a codebook, cut to fit a caption."""
    name = codebook.title or codebook.name
    return name if len(name) <= _CAPTION else f"{name[: _CAPTION - 1]}…"


def _added(revisions: Sequence[Revision], codebooks: Mapping[str, Codebook]) -> dict[str, str]:
    """Return the day on which each code was added that the first version of the codebook lacks."""
    _ends(revisions, codebooks)
    days = {}
    for code in emerged(revisions, codebooks):
        brought = [step.at[:10] for step in revisions if _brings(step, code, codebooks)]
        days[code] = f"added on {brought[-1]}" if brought else "added after the first version"
    return days


def _brings(step: Revision, code: str, codebooks: Mapping[str, Codebook]) -> bool:
    """Whether a revision made a code that can be applied."""
    before, after = ([one.id for one in codebooks[print_].codable] for print_ in (step.base, step.codebook))
    return code in after and code not in before


_ORIGINS: Final = {"": "not stated", "model": "proposed by a model"}


def _codebook_row(code: Code, codebook: Codebook, added: Mapping[str, str]) -> tuple[str, ...]:
    label = f"{code.label}\n(under {codebook[code.parent].label})" if code.parent else code.label
    label += "" if code.codable else "\n(groups other codes; not applied itself)"
    examples = [*code.examples, *(f"Not: {example}" for example in code.counter_examples)]
    origin = _ORIGINS.get(code.origin, code.origin)
    if code.id in added:
        origin = f"{origin}; {added[code.id]}"
    cells = (code.definition, _listed(code.use_when), _listed(code.avoid_when), _listed(examples))
    return (label, *(cell or MISSING for cell in cells), f"{origin}\n{code.source}".strip())


def _facet_note(facet: Facet, codebook: Codebook) -> str:
    of = ", ".join(codebook[code].label for code in facet.codes)
    values = ", ".join(value.label for value in facet.values)
    return f"Facet of each coding{f' of {of}' if of else ''}: {facet.label} ({values})."


def _listed(entries: Sequence[str]) -> str:
    return entries[0] if len(entries) == 1 else "\n".join(f"• {entry}" for entry in entries)


def _rule_sources(codebook: Codebook) -> list[str]:
    """Return the origin of the rules and examples, which can differ from that of the definition."""
    groups: dict[str, list[str]] = {}
    for code in codebook.codes:
        if code.rules_source:
            groups.setdefault(code.rules_source, []).append(code.label)
    every = len(codebook.codes)
    return [
        f"Rules and examples: {source} ({'all codes' if len(labels) == every else ', '.join(labels)})."
        for source, labels in groups.items()
    ]


_KINDS: Final = {
    "add": "added",
    "rename": "renamed",
    "move": "moved",
    "annotate": "annotated",
    "redefine": "redefined",
    "reword": "reworded, with the same meaning",
    "narrow": "narrowed",
    "widen": "widened",
    "merge": "merged into",
    "split": "split into",
    "retire": "retired",
}
_FINGERPRINT: Final = 8  # letters that tell versions apart


def revision(
    revisions: Sequence[Revision], *, codebooks: Mapping[str, Codebook], notes: Sequence[str] = ()
) -> Table:
    """Tabulate the revisions of the codebook: date, person, changes to codes, and reason.

    One row per revision, oldest first: number, date, who decided, the changes, the reason, and the number of
    codes that could be applied from then on. The first row is the version at the start of coding.

    Parameters
    ----------
    revisions : sequence of Revision
        In their order, as ``store.revisions`` returns them.
    codebooks : mapping of str to Codebook
        Every version by its fingerprint: ``store.codebooks``.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    CodebookError
        A version that a revision names is not among `codebooks`, or there is neither a revision nor exactly
        one version.

    Examples
    --------
    >>> from sense7_qual.codebook import Code
    >>> from sense7_qual.codebook import changes
    >>> old = Codebook(name="b", codes=(Code(id="warm", label="Warm"),))
    >>> new = Codebook(name="b", codes=(Code(id="warm", label="Warmth"), Code(id="hope", label="Hope")))
    >>> step = Revision(coder="lead", at="2026-02-03T14:05:00Z", why="seen in texts", base=old.fingerprint,
    ...                 codebook=new.fingerprint, changes=changes(old, new))
    >>> table = revision([step], codebooks={one.fingerprint: one for one in (old, new)})
    >>> table.rows[1][1:4]
    ('2026-02-03', 'lead', '• Hope: added\\n• Warm: renamed Warmth')
    """
    check_arguments(revision, locals())
    first, last = _ends(revisions, codebooks)
    steps = [_revision_row(number, step, codebooks) for number, step in enumerate(revisions, start=2)]
    return Table(
        title="How the codebook changed",
        headers=("Version", "Date", "By", "Changes", "Reason", "Codes"),
        rows=(("1", *[_present.MISSING] * 2, "as coding began", _present.MISSING, _n_codes(first)), *steps),
        notes=(
            "Codes = codes that can be applied. Annotated = other examples, keys or sources, the meaning as "
            "before. What was coded before a code was redefined, or split where it was applied, is reviewed; "
            "where it was narrowed, what had it; where it was widened, what did not. That a meaning stayed, "
            "narrowed or widened is the judgement of whoever revised.",
            f"Version 1: fingerprint {first.fingerprint}.",
            *notes,
            made_with(last),
        ),
        alignments=("right", "left", "left", "left", "left", "right"),
    )


def _ends(revisions: Sequence[Revision], codebooks: Mapping[str, Codebook]) -> tuple[Codebook, Codebook]:
    """Return the first and the last version, or refuse versions that are not there."""
    named = [version for step in revisions for version in (step.base, step.codebook)] or list(codebooks)
    unknown = [version for version in named if version not in codebooks]
    if unknown or not named or (not len(revisions) and len(codebooks) != 1):
        what = f"none of {unknown[0][:12]}…" if unknown else f"{len(codebooks)} versions without a revision"
        raise CodebookError(
            f"revisions: expected every version of the codebook by fingerprint – found {what} – pass "
            "store.revisions and codebooks=store.codebooks."
        )
    return codebooks[named[0]], codebooks[named[-1]]


def _revision_row(number: int, step: Revision, codebooks: Mapping[str, Codebook]) -> tuple[str, ...]:
    old, new = codebooks[step.base], codebooks[step.codebook]
    lines = [f"• {_change(one, old, new)}" for one in step.changes]
    changed = "\n".join(lines) or "the codebook's own title, source or facets"
    return str(number), step.at[:10], step.coder, changed, step.why, _n_codes(new)


def _change(change: Change, old: Codebook, new: Codebook) -> str:
    into = ", ".join(_label(code, new, old) for code in change.into)
    if change.kind == "rename":
        into = _label(change.code, new, old)
    if change.kind == "move":
        parent = new[change.code].parent
        into = f"under {_label(parent, new, old)}" if parent else "to the top"
    why = f" ({change.why})" if change.why else ""
    return f"{_label(change.code, old, new)}: {_KINDS[change.kind]} {into}".rstrip() + why


def _label(code: str, *books: Codebook) -> str:
    return next((book[code].label for book in books if code in book), code)


def _n_codes(codebook: Codebook) -> str:
    return _present.count(len(codebook.codable))


_OPEN: Final = "To be answered: "
_CHANGES: Final = {"fixed": "The codebook does not change.", "open": "Codes may change as coding goes on."}
_SHOWN: Final = {
    "hidden": "hidden",
    "never": "not shown",
    "shown": "shown from the start",
    "finished": "shown once a text is finished",
}


def preregistration(store: Study, plan: AnalysisPlan | None = None) -> Table:
    """Fill in the form of a qualitative preregistration from a plan and the study.

    One row per item of the form of Haven et al. (2020): what plan and study say about it. What neither says
    is a question that begins with "To be answered"; nothing is made up.

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
        counted(n, what)
        for n, what in ((plan.n_units, "text"), (plan.n_participants, "participant"))
        if n is not None
    ]
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


_ADJUSTED: Final = {
    "bh": "Their p is adjusted over the codes by Benjamini and Hochberg's method.",
    "max-t": "Their p is adjusted over all codes and sources of decisions by the max-T method.",
}


def _approach(plan: AnalysisPlan, store: Study) -> str:
    book = store.codebook
    level = {"unit": "whole texts", "span": "words of texts", None: "texts"}[plan.level]
    sentences = [
        f"{counted(len(book.codable), 'code')} of the codebook “{book.name}” "
        f"{'is' if len(book.codable) == 1 else 'are'} applied to {level}."
    ]
    if plan.codebook:
        sentences.append(
            {"fixed": "The codebook does not change.", "open": "Codes may change as coding goes on."}[
                plan.codebook
            ]
        )
    if plan.new_codes:
        verb = {"propose": "proposes it to the lead", "add": "adds it"}[plan.new_codes]
        sentences.append(f"A coder who misses a code {verb}.")
    if plan.themes is not None:
        sentences.append("A topic model suggests themes." if plan.themes else "No topic model is used.")
    if plan.rating:
        of = f", with intervals over {plan.cluster}" if plan.cluster else ""
        sentences.append(f"Codes are linked to {plan.rating}{of}.")
        sentences += [_ADJUSTED[plan.adjust]] if plan.adjust else []
    if plan.equivalence:
        sentences.append(f"A link would not matter within {margin_words(*plan.equivalence)}.")
    return " ".join(sentences)


def _process(plan: AnalysisPlan, store: Study) -> str:
    sentences = [f"Coded by {', '.join(plan.coders)}."] if plan.coders else []
    sentences += [f"Rounds: {', '.join(plan.rounds)}."] if plan.rounds else []
    sentences += [f"Models that code, too: {', '.join(plan.models)}."] if plan.models else []
    sentences += [f"Their prompts: {', '.join(plan.prompts)}."] if plan.prompts else []
    if plan.blind is not None:
        sentences.append(
            "Coders see each other's codings of a round once all have finished it."
            if plan.blind
            else "Coders may see each other's codings."
        )
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
            "Disagreements are left open."
            if plan.settled_by == "nothing"
            else f"Disagreements are settled by {plan.settled_by}."
        )
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
    return " ".join([*sentences, "Every act of coding is kept in a record, chained by hashes."])


_ITEMS: Final = (
    ("Title", "title", "What is the study called?"),
    ("Authors", "authors", "Who conducts it?"),
    ("Aims", "aims", "What is it meant to find out?"),
    ("Kind of aim", "kind_of_aim", "To explore, describe, explain, understand, or something else?"),
    ("Research questions", "question", "What are they?"),
    ("Study design", "design", "Which, and why does it fit the question?"),
    ("Sampling and case selection", "sampling", "Whose texts, how found, and why these?"),
    ("Data sources and types", "data_source", "What are they?"),
    ("Data collection methods", "data_collection", "How were the texts elicited?"),
    ("Data collection tools", "data_tools", "With which questions and programs?"),
    ("Data collection procedures", "data_procedure", "What happened in which order?"),
    ("Stopping criteria", "stopping", "When are there enough texts, and when is coding done?"),
    ("Approach to analysis", "analysis_approach", "Which, and why?"),
    ("Process of analysis", "analysis_process", "Who does what, in which order?"),
    ("Credibility strategies", "credibility", "What lets others trust it?"),
    ("Positionality", "positionality", "How do the analysts relate to what they study?"),
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

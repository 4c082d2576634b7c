"""The methods and the results of a study in sentences, filled from its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, read_mapping, refuse_removed
from sense7_qual.adjudication import SettledBy
from sense7_qual.links import Adjustment, Hypothesis, Margin
from sense7_qual.report import (
    _text_agreement as coders,
    _text_basis as basis,
    _text_findings as findings,
    _text_further as further_statistics,
    _text_links as linked,
    _text_material as material,
    _text_missing as missing,
)
from sense7_qual.report._further import read_further
from sense7_qual.report._review_facts import Study
from sense7_qual.report._text import Paragraph, Sentence, Text
from sense7_qual.report._text_material import positionality_memo, reflexivity
from sense7_qual.report._text_record import REMOVED, Record, record_of

Topic = Callable[[Record], Iterator[Sentence]]

_METHODS: Final[Sequence[tuple[str, bool | None, Sequence[Topic]]]] = (
    ("Material", None, (material.material, material.redaction)),
    ("Codebook", None, (material.codebook,)),
    ("Coding", None, (material.training, material.coding, material.blinding, basis.not_registered)),
    ("Agreement between coders", True, (coders.agreement_method,)),
    ("Disagreements", True, (coders.settling, findings.counting)),
    ("Reflexivity", False, (reflexivity,)),
    ("Themes", False, (findings.themes_recorded,)),
    ("Themes", True, (findings.expected_themes,)),
    ("Saturation", True, (findings.saturation_method,)),
    ("Codes and ratings", None, (linked.link_method, missing.missing_method, linked.whole_error_method)),
    ("Further statistics", None, (further_statistics.further,)),
    ("Memos", True, (material.memos,)),
    ("What the numbers rest on", True, (basis.differing,)),
    ("Software and record", None, (material.software,)),
)
_RESULTS: Final[Sequence[tuple[str, bool | None, Sequence[Topic]]]] = (
    ("What the numbers rest on", True, (basis.differing,)),
    ("Agreement between coders", True, (coders.agreement_by_code,)),
    ("Disagreements", True, (coders.settled, coders.discussions)),
    ("Codes", True, (findings.frequencies,)),
    ("Codes", False, (findings.applied_codes,)),
    ("Saturation", True, (findings.saturation_found,)),
    ("Codes and ratings", None, (linked.links_found, missing.missing_found, linked.whole_error_found)),
)
_ASKED: Final = (
    "How were participants found and chosen, how many were asked, and how many declined?",
    "Where, when and how were the texts collected?",
    "Which ethics board approved the study, and to what did participants consent?",
    "Who coded: training, profession, and relation to participants and material?",
)


def methods(
    store: Study,
    *,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    positionality: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    settled_by: SettledBy | None = None,
    multiverse: pd.DataFrame | None = None,
    adjust: Adjustment = "bh",
    equivalence: Margin | None = None,
    hypothesis: Hypothesis = "within",
    further: Mapping[str, Any] | None = None,
    **removed: object,
) -> Text:
    """Write the methods section of a study in full sentences, filled from its record.

    Every number, name and date comes with the call that gives it (`Text.frame`). What the record does not
    hold is not invented: it is asked below the text.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it.
    with_agreement : bool
        Whether agreement between coders is part of the argument. Without it (one coder, reflexive thematic
        analysis) the text has no coefficient of agreement, and reports memos, themes and changes of the
        codebook.
    rating : str, optional
        The column of `units` with the rating that codes are linked to.
    cluster : str, optional
        The column of `units` with the participant, for intervals; by default "case_id" where every coded text
        has one.
    positionality : str, optional
        The memo_id of a memo on the study (``store.memos()``); its words are printed as they are.
    n_boot, seed
        Of the intervals, as for `agreement.by_code`.
    settled_by
        As for `paper`.
    multiverse : DataFrame, optional
        The result of `links.multiverse`. In the calls of its numbers it is called ``multiverse``.
    adjust, equivalence, hypothesis
        As for `links.code_to_rating`.
    further : mapping of str to result, optional
        Statistics with a sentence of their own, as for `report.tables.further`. In the calls of their numbers
        it is called ``further``.

    Returns
    -------
    Text
        Paragraphs of sentences, their numbers with their calls, and the open questions.

    Raises
    ------
    ArgumentError
        `store` is no open study, `rating` or `cluster` is no column of its units, several coders decided and
        nothing says how disagreements count, `positionality` is no memo on the study, or a setting is out of
        its range.
    TableError
        `multiverse` lacks a column, or `further` has another result.

    Notes
    -----
    Numbers are those of this moment: when coding goes on, make the text again.

    References
    ----------
    O'Connor & Joffe (2020), Intercoder reliability in qualitative research, International Journal of
    Qualitative Methods 19. McDonald, Schoenebeck & Forte (2019), Reliability and inter-rater reliability in
    qualitative research, PACM HCI 3 (CSCW), 72: what to report with and without agreement. Guest, Namey &
    Chen (2020): see `codings.new_information`.

    Examples
    --------
    ``report.methods(store, settled_by="rulings").write("methods.docx")``
    """
    check_arguments(methods, locals(), but=("store", "removed"))
    refuse_removed(removed, REMOVED, function="methods")
    read = read_further(read_mapping(further), function="methods")
    record = record_of(
        store,
        function="methods",
        with_agreement=with_agreement,
        rating=rating,
        cluster=cluster,
        n_boot=n_boot,
        seed=seed,
        settled_by=settled_by,
        multiverse=multiverse,
        further=read,
        adjust=adjust,
        equivalence=equivalence,
        hypothesis=hypothesis,
    )
    return methods_of(record, positionality=positionality)


def methods_of(record: Record, *, positionality: str | None) -> Text:
    """Write the methods from a record."""
    memo = () if positionality is None else (positionality_memo(record, positionality),)
    paragraphs = _paragraphs(record, _METHODS, {"Reflexivity": memo} if not record.with_agreement else {})
    if record.with_agreement and memo:
        paragraphs = (*paragraphs, Paragraph("Positionality", memo))
    return Text("Methods", paragraphs, tuple(_questions(record, positionality)))


def results(
    store: Study,
    *,
    with_agreement: bool = True,
    rating: str | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    seed: int = 0,
    settled_by: SettledBy | None = None,
    multiverse: pd.DataFrame | None = None,
    adjust: Adjustment = "bh",
    equivalence: Margin | None = None,
    hypothesis: Hypothesis = "within",
    **removed: object,
) -> Text:
    """Write the results section of a study in full sentences, filled from its record.

    Agreement, disagreements and what became of them, how often each code is present, saturation, and the
    association with a rating; without agreement how often each code was applied.

    Parameters
    ----------
    store, with_agreement, rating, cluster, n_boot, seed, settled_by, multiverse
        As for `methods`.
    adjust, equivalence, hypothesis
        As for `methods`.

    Returns
    -------
    Text
        As of `methods`.

    Raises
    ------
    ArgumentError, TableError
        As of `methods`.

    Examples
    --------
    ``report.results(store, settled_by="rulings", rating="EmpathyOverall").frame[["printed", "call"]]``
    """
    check_arguments(results, locals(), but=("store", "removed"))
    refuse_removed(removed, REMOVED, function="results")
    record = record_of(
        store,
        function="results",
        with_agreement=with_agreement,
        rating=rating,
        cluster=cluster,
        n_boot=n_boot,
        seed=seed,
        settled_by=settled_by,
        multiverse=multiverse,
        adjust=adjust,
        equivalence=equivalence,
        hypothesis=hypothesis,
    )
    return results_of(record)


def results_of(record: Record) -> Text:
    """Write the results from a record."""
    asked = (
        "What do the codes and themes mean together: what is the answer to the research question?",
        "Which quotations show it (report.tables.quote), and which cases speak against it?",
    )
    return Text("Results", _paragraphs(record, _RESULTS, {}), asked)


def _paragraphs(
    record: Record,
    plan: Sequence[tuple[str, bool | None, Sequence[Topic]]],
    more: dict[str, tuple[Sentence, ...]],
) -> tuple[Paragraph, ...]:
    """Return the paragraphs that have a sentence, of those for studies with or without agreement."""
    made = [
        Paragraph(heading, (*(one for topic in topics for one in topic(record)), *more.get(heading, ())))
        for heading, when, topics in plan
        if when is None or when == record.with_agreement
    ]
    return tuple(paragraph for paragraph in made if paragraph.sentences)


def _questions(record: Record, positionality: str | None) -> Iterator[str]:
    yield from _ASKED
    if not list(material.redaction(record)):
        yield "Were direct identifiers removed from the texts before they were coded, and how?"
    if record.n_coders.value > 1 and all(one.of_models for one in record.store.rounds.value):
        yield "How were coders kept from seeing each other's codings?"
    if record.rating is not None and record.cluster is None:
        yield "Which participant gave each rating? Without that column no association is computed."
    if record.with_agreement:
        yield "Which level of agreement was set as sufficient before coding began, and on which source?"
        if record.n_double.value and not list(coders.settling(record)):
            yield "How were disagreements settled?"
        return
    yield "Which approach to analysis was taken, and why does it do without comparing coders?"
    if positionality is None:
        yield "From which position do you read these texts (methods(…, positionality=memo_id))?"

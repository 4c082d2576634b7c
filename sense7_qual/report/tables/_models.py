"""The card of a model that codes: how good it is, code by code, and how steady and fair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._reasons import reason_words
from sense7_qual.agreement import MODEL_CARD, MODEL_WORDS
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._table import (
    Table,
    basis_notes,
    check_numbers,
    grouped,
    left_then_right,
    made_with,
    statements_of_models,
)

_MEASURES: Final = {
    "sensitivity": "Sensitivity",
    "specificity": "Specificity",
    "precision": "Precision",
    "prevalence_people": "Prevalence, people",
    "prevalence_model": "Prevalence, model",
    "prevalence_difference": "Prevalence, model − people",
    "prevalence_all": "Prevalence in all texts",
    "worth": "Variance explained",
    "alpha_people": "α among people",
    "positive_agreement": "Agreement of people on presence",
    "kappa_model": "κ of model and people",
    "agreement_difference": "κ − α",
    "winning_rate": "Winning rate ω",
    "missing": "Missing",
    "failed_quotes": "Quotes not in the text",
    "retest": "α when asked again",
    "changed": "Texts that changed",
    "calibration": "Share with the code",
    "calibration_error": "Error of calibration",
    "sensitivity_difference": "Sensitivity, difference",
    "specificity_difference": "Specificity, difference",
    "missing_difference": "Missing, difference",
}
_WORDS: Final = {
    "not_measured": "not measured",
    "not_fit": "not fit",
    "may_suggest": "may suggest",
    "next_to_people": "counts next to people",
    "one_more_coder": "one more coder",
}

_LIMITS: Final = (
    "people_agree",
    "usable",
    "passed",
    "half",
    "narrower",
    "behind",
    "steady",
    "failed_quotes",
    "groups",
    "differs",
)


def model_card(
    card: pd.DataFrame,
    *,
    words: pd.DataFrame | None = None,
    codebook: Codebook | None = None,
    models: Mapping[str, str] | None = None,
    digits: int = 2,
    cluster_name: str = "participants",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the card of a model that codes: one row per code, measure and group.

    Parameters
    ----------
    card : DataFrame
        The result of `agreement.diagnosis.model_card`.
    words : DataFrame, optional
        The result of `agreement.diagnosis.model_words`: the foot then gives each code's word and marks.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    models : mapping of str to str, optional
        For each model what a reader needs to know of it, as in `human_model`.
    digits : int
        Decimals (1–6).
    cluster_name : str
        What the intervals are over, as a plural.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, a row comes twice, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> from sense7_qual.agreement import MODEL_CARD
    >>> card = MODEL_CARD.example(
    ...     code="interest", model="model-a", measure="sensitivity", value=0.81, low=0.7, high=0.89,
    ...     n_units=64, n_clusters=31, confidence_level=0.95)
    >>> model_card(card).rows
    (('interest', 'Sensitivity', '64', '31', '.81', '[.70, .89]', '–'),)
    """
    check_arguments(model_card, locals())
    rows = _rows(card, codebook)
    interval = _present.interval_name(rows, frame_name="card")
    named = list(dict.fromkeys(str(row["model"]) for row in rows))
    return Table(
        title="A model's codes against people's",
        headers=("Code", "Measure", "n", "Participants", "Value", interval, "p (Holm)"),
        rows=tuple(_row(row, digits) for row in rows),
        notes=(
            *basis_notes(card),
            "n = texts that a number rests on. Sensitivity, specificity, precision and prevalence: against "
            "what people settled, each text by 1 / probability of being drawn. α = Krippendorff's alpha; κ = "
            "cross-kappa (Wong et al., 2021). Differences are of the first group less the second; an "
            "interval shows how large a difference could be, and a large p is no sign that there is none.",
            f"{interval}: over {cluster_name}. Holm's p: over all differences of groups in the card.",
            *_reasons(rows),
            *([] if words is None else _told(words, {str(row["code"]): str(row["label"]) for row in rows})),
            *statements_of_models(named, read_mapping(models)),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(2, 5),
    )


def _rows(card: pd.DataFrame, codebook: Codebook | None) -> list[dict[str, Any]]:
    """Return the rows in the codebook's order, with the label of the code and the words of the measure."""
    check_numbers(card, MODEL_CARD)
    if card.duplicated(list(MODEL_CARD.key)).any():
        raise TableError(
            "card: expected one row per code, measure and group – found several – pass one result of "
            "agreement.diagnosis.model_card."
        )
    codes = pd.DataFrame({"code": card["code"].astype("string").unique()})
    labels = _present.rows(codes, frame_name="card", codebook=codebook)
    place = {str(row["code"]): (at, str(row["label"])) for at, row in enumerate(labels)}
    rows = [{str(key): value for key, value in row.items()} for row in card.to_dict("records")]
    rows.sort(key=lambda row: place[str(row["code"])][0])
    return [row | {"label": place[str(row["code"])][1], "named": _named(row)} for row in rows]


def _named(row: Mapping[str, Any]) -> str:
    measure = _MEASURES.get(str(row["measure"]), str(row["measure"]))
    if pd.isna(row["group"]):
        return measure
    group = reason_words(row["group"]) if row["measure"] == "missing" else str(row["group"])
    return f"{measure}: {group}"


def _row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        row["label"],
        row["named"],
        _present.count(row["n_units"]),
        _present.count(row["n_clusters"]),
        _present.coefficient(row["value"], digits),
        _present.interval(row["low"], row["high"], digits),
        _present.p_value(row["p_holm"]),
    )


def _reasons(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    groups: dict[str, list[str]] = {}
    for row in (row for row in rows if not pd.isna(row["reason"])):
        lead = "– = not computable" if pd.isna(row["value"]) or pd.isna(row["low"]) else "With caution"
        groups.setdefault(f"{lead}: {reason_words(row['reason'])}", []).append(
            f"{row['label']}, {row['named']}"
        )
    return grouped(groups)


def _told(words: pd.DataFrame, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each word, with the codes that it is said of and their marks."""
    MODEL_WORDS.require(words)
    for word, own in words.groupby("word", sort=False):
        codes, marks = own["code"].astype(str), own["marks"].fillna("")
        said = [
            labels.get(code, code) + (f" ({flaws})" if flaws else "")
            for code, flaws in zip(codes, marks, strict=True)
        ]
        yield f"{_WORDS.get(str(word), str(word)).capitalize()}: {', '.join(said)}."
    if "differs" in words and len(words):
        yield _limits(words.iloc[0])


def _limits(given: pd.Series[Any]) -> str:
    """Return the limits of the words in a sentence."""
    of = {str(name): _present.coefficient(given[name], 2) for name in given.index if name in _LIMITS}
    least = given["fewest_participants"]
    return (
        f"Not measured: the code in texts of fewer than {least} participants, or agreement of people on its "
        f"presence below {of['people_agree']}. Not fit: under {of['usable']} of the replies usable, under "
        f"{of['passed']} of the prompts of a test of behaviour passed (label, definition), or an upper end "
        f"of sensitivity or precision below {of['half']}. Counts next to people: no mark, and an interval of "
        f"the link at most {of['narrower']} as wide as people's. One more coder: no mark, winning rate of "
        f".50 or more, lower end of κ − α above −{of['behind']}, lower end of α when asked again at least "
        f"{of['steady']}. May suggest: all others. Marks: of quotes, over {of['failed_quotes']} of them not "
        f"in the text; of groups, Holm's p of a difference below {of['groups']}; of link, Holm's p of "
        f"the difference between the model's link and people's below {of['differs']}."
    )

"""What coders made of a model's suggestions, as a table: for the statement on the use of AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.report._notes import made_with, statements_of_models
from sense7_qual.report._table import Table, left_then_right
from sense7_qual.suggestions import ANSWERS

__all__ = ["suggestion"]

_ANSWERS: Final = {
    "agreed": "Agreed", "withdrawn": "Withdrawn", "accepted": "Accepted", "edited": "Edited",
    "rejected": "Rejected", "none": "No answer",
}  # fmt: skip


def suggestion(
    answers: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    models: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return how many suggestions of a model coders were shown, and what they made of them, as a table.

    One row per code, and one for all of them: suggestions shown, those that the coder's own decision had
    already (agreed, or withdrawn afterwards), and of the others those that were accepted, edited (coded on
    other words), rejected, or left without an answer, and the share of the others that was taken over.

    Parameters
    ----------
    answers : DataFrame
        The result of `suggestions.answers`: a row per coder, unit and suggested code.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    models : mapping of str to str, optional
        For each model what a reader needs to know of it, for the foot: name and version, prompt or features,
        settings, date. The foot says where this is not stated.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or holds other answers than `suggestions.answers` gives.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> answers = pd.DataFrame({"unit_id": ["m1", "m2", "m3"], "coder": "ana", "code": "interest",
    ...                         "model": "words", "when": "finished", "before": [True, False, False],
    ...                         "answer": ["agreed", "accepted", "rejected"]})
    >>> suggestion(answers).rows[0]
    ('interest', '3', '1', '0', '1', '0', '1', '0', '50.0')
    """
    check_arguments(suggestion, locals())
    _check(answers)
    codes = pd.DataFrame({"code": answers["code"].astype("string").unique()})
    rows = _present.rows(codes, frame_name="answers", codebook=codebook)
    of_code = {str(code): some for code, some in answers.groupby("code", sort=False)}
    return Table(
        title="Suggestions of a model, and what coders made of them",
        headers=("Code", "Shown", *_ANSWERS.values(), "Taken over (%)"),
        rows=(
            *((str(row["label"]), *_counts(of_code[str(row["code"])])) for row in rows),
            ("All codes", *_counts(answers)),
        ),
        notes=(
            "Agreed, withdrawn = the coder's own decision had the code before, and still has it or not; "
            "accepted = coded afterwards on the words suggested; edited = on others; taken over = share of "
            f"accepted and edited in those that the coder did not have before ({_present.MISSING} = none).",
            _shown(answers),
            *statements_of_models(
                list(dict.fromkeys(answers["model"].astype("string").dropna())), read_mapping(models)
            ),
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(1, 8),
    )


def _check(answers: pd.DataFrame) -> None:
    ANSWERS.require(answers)
    known: dict[str, list[str] | list[bool]] = {
        "answer": list(_ANSWERS),
        "when": ["finished", "shown"],
        "before": [True, False],
    }
    for name, values in known.items():
        wrong = int((~answers[name].isin(values)).sum())
        if wrong:
            raise TableError(
                f"answers: expected {' or '.join(map(str, values))} in the column {name!r} – found {wrong} "
                "other values – pass the result of suggestions.answers."
            )


def _counts(answers: pd.DataFrame) -> tuple[str, ...]:
    given = [int((answers["answer"] == name).sum()) for name in _ANSWERS]
    taken = answers["answer"].isin(["accepted", "edited"])
    new = ~answers["before"].astype(bool)
    share = _present.percent(taken[new].mean()) if new.any() else _present.MISSING
    return (*(_present.count(n) for n in [len(answers), *given]), share)


def _shown(answers: pd.DataFrame) -> str:
    """Return to whom and when suggestions were shown: before a coder decides they may sway the decision."""
    n_units, n_coders = answers["unit_id"].nunique(), answers["coder"].nunique()
    first = int((answers["when"] == "shown").sum())
    return (
        f"Suggestions on {_present.count(n_units)} texts to coders (number: {_present.count(n_coders)}): "
        f"{_present.count(len(answers) - first)} after the coder had finished the text, "
        f"{_present.count(first)} from the start."
    )

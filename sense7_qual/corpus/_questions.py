"""Several columns of texts, one for each question: a unit is one participant's answer to one question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import pandas as pd

from sense7_qual._messages import shown
from sense7_qual.corpus._columns import Columns, renamed
from sense7_qual.errors import TableError

__all__ = ["QUESTION", "RatingColumns", "by_question", "named", "put_together"]

RatingColumns = str | Sequence[str] | Mapping[str, str | Sequence[str]]

QUESTION: Final = "question"
"""The variable that names the question, and the role of the turn that holds its wording."""


def named(texts: Columns, columns: Sequence[str]) -> dict[str, str]:
    """Name each column of texts for the units: Q3 for the third one if its name is long."""
    if isinstance(texts, Mapping):
        return renamed(texts)
    return {
        name: f"Q{columns.index(name) + 1}"
        if shown(name, limit=40, words=4) != name and name in columns
        else name
        for name in renamed(texts)
    }


def by_question(ratings: RatingColumns, n_questions: int) -> list[dict[str, str]]:
    """Return for each question the columns of its ratings, with their names in the units."""
    of_all = ratings if isinstance(ratings, Mapping) else renamed(ratings)
    rated: list[dict[str, str]] = [{} for _ in range(n_questions)]
    for name, of in of_all.items():
        if isinstance(of, str):
            pairs = [(name, of)] * n_questions
        elif len(of) == n_questions:
            pairs = [(column, name) for column in of]
        else:
            raise TableError(
                f"expected {n_questions} columns of rating {name!r}, one for each column of texts – "
                f"found {len(of)} – name them in the same order."
            )
        for question, (column, rating) in zip(rated, pairs, strict=True):
            question[column] = rating
    return rated


def put_together(parts: Mapping[str, pd.DataFrame], wordings: Iterable[str]) -> pd.DataFrame:
    """Return the units of all questions, one question after the other, its wording above their context."""
    asked = [
        part.assign(unit_id=part["unit_id"] + f"/{name}", context=_asked(part["context"], wording))
        for (name, part), wording in zip(parts.items(), wordings, strict=True)
    ]
    return pd.concat(asked)


def _asked(contexts: pd.Series, wording: str) -> list[str]:
    turn = {"role": QUESTION, "text": wording}
    before = (json.loads(said) if isinstance(said, str) else [] for said in contexts)
    return [json.dumps([turn, *turns], ensure_ascii=False) for turns in before]

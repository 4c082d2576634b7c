"""A frame of suggestions, whoever made it: checked, and without those units that shall get none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import SUGGESTIONS, UNITS
from sense7_qual.suggestions._features import check_codes
from sense7_qual.suggestions._learn import Calibration, Scorer
from sense7_qual.suggestions._order import withheld

__all__ = ["ByDefinition", "ByModel", "Described", "carried_words", "check", "suggest"]

Suggest = Callable[[pd.DataFrame], pd.DataFrame]


def suggest(
    units: pd.DataFrame,
    suggester: Suggest,
    codebook: Codebook,
    *,
    share_withheld: float = 0.1,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what a coder may be shown: the suggestions of any function, a random tenth of units left out.

    Units without suggestions are what their effect is measured against (`effect`). Which ones they are
    depends on the seed and the unit's id alone (`withheld`), so a unit without stays without.

    Parameters
    ----------
    units
        The `units` frame.
    suggester
        A function from units to suggestions: what `fit` returned, or one of your own.
    codebook
        Its codable codes can be suggested.
    share_withheld
        The share of units that get none, 0 … 1.
    seed
        0 or more; the same for the whole study.

    Returns
    -------
    pandas.DataFrame
        As the function returned it, without rows of withheld units.

    Raises
    ------
    TableError, CodebookError
        What the function returned is no frame of suggestions of these units (see `check`).

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["a", "b", "c"], "text": "It asked me how I was.",
    ...                       "document_id": "d", "case_id": "p", "position": [1, 2, 3]})
    >>> def asked(units):
    ...     return pd.DataFrame({"unit_id": units["unit_id"], "code": "interest", "probability": 0.8,
    ...                          "suggested": True, "start": 0, "end": 12})
    >>> shown = suggest(units, asked, Codebook.read("sense7"), share_withheld=0.5, seed=3)
    >>> len(shown) + int(withheld(["a", "b", "c"], share=0.5, seed=3).sum())
    3
    """
    check_arguments(suggest, locals())
    checked = UNITS.check(units)
    left_out = withheld(checked["unit_id"].tolist(), share=share_withheld, seed=seed)
    shown = checked[~checked["unit_id"].map(left_out).to_numpy(dtype=bool)].reset_index(drop=True)
    return check(suggester(shown.copy()), shown, codebook)


def check(suggestions: pd.DataFrame, units: pd.DataFrame, codebook: Codebook) -> pd.DataFrame:
    """Return a frame of suggestions with its columns typed, or say what is wrong with it.

    Parameters
    ----------
    suggestions
        One row per unit and code: `unit_id`, `code`, `probability` (0 … 1, or missing), `suggested` (bool),
        `start` and `end` (code points, half-open; both missing: the whole unit). Others are kept.
    units
        The units that they are of.
    codebook
        Its codable codes can be suggested.

    Returns
    -------
    pandas.DataFrame
        The suggestions, typed.

    Raises
    ------
    TableError
        A column is missing or of another kind, a unit and code stands twice, a unit is not in `units`, a
        probability is not between 0 and 1, or a span is not inside the unit's text.
    CodebookError
        A code is none that can be applied.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["a"], "text": ["It asked."], "document_id": "d", "case_id": "p",
    ...                       "position": [1]})
    >>> row = {"unit_id": "a", "code": "interest", "probability": 1.2, "suggested": True, "start": 0, "end": 9}
    >>> check(pd.DataFrame([row]), units, Codebook.read("sense7"))
    Traceback (most recent call last):
    sense7_qual.errors.TableError: suggestions: expected probabilities from 0 to 1 in column 'probability' – found 1 others, from 1.2 to 1.2 – divide per cent by 100; leave out a score that is no probability.
    """  # noqa: E501
    check_arguments(check, locals(), but=("suggestions",))
    checked, texts = SUGGESTIONS.check(suggestions), UNITS.check(units).set_index("unit_id")["text"]
    check_codes(checked["code"], codebook, function="suggestions")
    unknown = checked.loc[~checked["unit_id"].isin(texts.index), "unit_id"].unique()
    if len(unknown):
        raise TableError(
            f"suggestions: expected the ids of these units – found {first_three(unknown)} – return rows for "
            "the units that the function was given."
        )
    _check_spans(checked, texts)
    return checked


def _check_spans(checked: pd.DataFrame, texts: pd.Series) -> None:
    length = checked["unit_id"].map(texts.fillna("").str.len()).astype("Int64")
    start, end = checked["start"], checked["end"]
    inside = (start >= 0) & (start < end) & (end <= length)
    wrong = np.flatnonzero(~(inside.fillna(False) | (start.isna() & end.isna())).to_numpy(dtype=bool))
    if len(wrong):
        raise TableError(
            f"suggestions: expected spans inside the unit's text, start before end, or none – found others "
            f"in {len(wrong)} rows (first: row {first_three(wrong)}) – count code points from 0, the end "
            "excluded."
        )


def carried_words(suggestions: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Return unit_id, code and `words` of each row that suggests: those of the span, or of the whole unit."""
    checked, texts = (
        SUGGESTIONS.check(suggestions),
        UNITS.check(units).set_index("unit_id")["text"].fillna(""),
    )
    shown = checked[checked["suggested"]]
    unknown = shown.loc[~shown["unit_id"].isin(texts.index), "unit_id"].unique()
    if len(unknown):
        raise ArgumentError(
            f"nearest: expected units with the suggestions' ids – found none for {first_three(unknown)} – "
            "pass the units that they were made for."
        )
    _check_spans(shown.reset_index(drop=True), texts)
    ends = shown[["start", "end"]].astype(object).where(shown["start"].notna(), None)
    cut = [
        texts[i][slice(a, b)] for i, a, b in zip(shown["unit_id"], ends["start"], ends["end"], strict=True)
    ]
    return shown[["unit_id", "code"]].assign(words=cut).reset_index(drop=True)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What the codebook says of a code, as vectors, and how near texts are to it on average.

    `defined`: it says more than the label, which alone may be a word or a number and tells a model nothing.
    """

    vectors: Floats = field(repr=False)
    mean: float
    deviation: float
    defined: bool

    def similarity(self, meaning: Floats) -> Floats:
        """Return the cosine of each text to what the codebook says that is nearest to it."""
        near: Floats = (meaning @ self.vectors.T).max(axis=1)
        return near

    def beside(self, rows: Any, meaning: Floats) -> Any:
        """Return rows of features with one more, where the code is defined: how near the text is to that."""
        from scipy import sparse

        if not self.defined:
            return rows
        nearer = (self.similarity(meaning) - self.mean) / self.deviation
        return sparse.hstack([rows, sparse.csr_array(nearer[:, None])], format="csr")


@dataclass(frozen=True, slots=True, eq=False)
class ByModel:
    """What scores a code's texts, and sentences of coded spans; `learned`: probabilities out of fold."""

    described: Described
    texts: Scorer = field(repr=False)
    sentences: Scorer | None = field(repr=False)
    calibration: Calibration = field(repr=False)
    threshold: float
    learned: Mapping[str, float] = field(repr=False)

    def text_score(self, rows: Any, meaning: Floats) -> Floats:
        """Return the scores of whole texts."""
        return self.texts(self.described.beside(rows, meaning))

    def probability(self, rows: Any, meaning: Floats, parts: list[Floats]) -> Floats:
        """Return probabilities, 0 to 1, from whole texts and the vectors of their sentences."""
        score = self.text_score(rows, meaning)
        if self.sentences is not None:
            score = (score + self.sentences(parts)) / 2
        return self.calibration.probability(score)


@dataclass(frozen=True, slots=True, eq=False)
class ByDefinition:
    """Suggests a code for texts from a cosine of `threshold` to what the codebook says of it on."""

    described: Described
    threshold: float

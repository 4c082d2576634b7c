"""Which suggestions a coder is shown, which units never get any, and which units are coded next."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual._messages import first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import SUGGESTIONS, UNITS
from sense7_qual.suggestions._features import check_codes
from sense7_qual.suggestions._learn import Calibration, Scorer
from sense7_qual.suggestions._results import ORDER

Suggest = Callable[[pd.DataFrame], pd.DataFrame]


def suggest(
    units: pd.DataFrame,
    suggester: Suggest,
    codebook: Codebook,
    *,
    share_withheld: float = 0.1,
    seed: int = 0,
) -> pd.DataFrame:
    """Select the suggestions to show to a coder, withholding those of a random tenth of units.

    The effect of suggestions is measured by comparison with units without them (`effect`). These units depend
    only on the seed and the unit's id (`withheld`), so they stay the same.

    Parameters
    ----------
    units
        The `units` frame.
    suggester
        A function from units to suggestions: the result of `fit`, or one of your own.
    codebook
        Its codable codes can be suggested.
    share_withheld
        The share of units without suggestions, 0 … 1.
    seed
        Seed, 0 or more; the same for the whole study.

    Returns
    -------
    pandas.DataFrame
        The result of the function, without rows of withheld units.

    Raises
    ------
    TableError, CodebookError
        The result of the function is not a frame of suggestions for these units (see `check`).

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
    """Check a frame of suggestions, and return it with typed columns.

    Parameters
    ----------
    suggestions
        One row per unit and code: `unit_id`, `code`, `probability` (0 … 1, or missing), `suggested` (bool),
        `start` and `end` (code points, half-open; both missing: the whole unit). Other columns are kept.
    units
        The units of the suggestions.
    codebook
        Its codable codes can be suggested.

    Returns
    -------
    pandas.DataFrame
        The suggestions, typed.

    Raises
    ------
    TableError
        A column is missing or has another type, a unit and code is duplicated, a unit is not in `units`, a
        probability is not between 0 and 1, or a span is not inside the unit's text.
    CodebookError
        A code cannot be applied.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["a"], "text": ["It asked."], "document_id": "d", "case_id": "p",
    ...                       "position": [1]})
    >>> row = {"unit_id": "a", "code": "interest", "probability": 1.2, "suggested": True, "start": 0, "end": 9}
    >>> check(pd.DataFrame([row]), units, Codebook.read("sense7"))
    Traceback (most recent call last):
    sense7_qual.errors.TableError: suggestions: expected probabilities from 0 to 1 in column 'probability' – found 1 others, from 1.2 to 1.2 – divide percentages by 100; leave out scores that are not probabilities.
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
    """Suggests a code for texts with a cosine of `threshold` or more to its text in the codebook."""

    described: Described
    threshold: float


def withheld(unit_ids: Sequence[str] | pd.Series, *, share: float = 0.1, seed: int = 0) -> pd.Series:
    """Draw the units that never get suggestions, so that the effect of suggestions can be measured.

    A keyed hash of the id decides: the same seed and id always give the same answer, whatever the other units
    and their order.

    Parameters
    ----------
    unit_ids
        Ids of units (or of participants, to divide a study by participants).
    share
        The approximate share of withheld ids, 0 … 1.
    seed
        0 or more.

    Returns
    -------
    pandas.Series
        True (withheld) or False by id, each id once.

    Raises
    ------
    ArgumentError
        `share` is not from 0 to 1.

    Examples
    --------
    >>> ids = [f"m{i}" for i in range(10_000)]
    >>> int(withheld(ids, seed=7).sum())
    944
    """
    check_arguments(withheld, locals())
    check_least(withheld, 0, seed=seed)
    if not 0 <= share <= 1:
        raise ArgumentError(f"withheld: expected a share from 0 to 1 – found {share} – use 0.1.")
    ids = pd.Index(pd.unique(pd.Series(list(unit_ids), dtype="string").str.strip()), name="unit_id")
    key = hashlib.sha256(f"suggestions withheld {seed}".encode()).digest()
    drawn = [
        int.from_bytes(hashlib.blake2b(str(i).encode(), key=key, digest_size=8).digest(), "big") for i in ids
    ]
    return pd.Series([number < share * 2.0**64 for number in drawn], index=ids, name="withheld", dtype=bool)


@ORDER.returns
def order(
    units: pd.DataFrame,
    *,
    n: int | None = None,
    by: Literal["random", "uncertainty"] = "random",
    suggestions: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Order the units to code: at random, or with the next `n` drawn by uncertainty.

    Prefer random: the coded units are then a representative sample at any time. By uncertainty every unit has
    a known probability to be among the next `n`, so shares can be weighted by 1 / `inclusion`.

    Parameters
    ----------
    units
        The units not coded yet.
    n
        The number to code next, from 1 to all. None: all, without drawing some first.
    by
        "random": each with the same probability. "uncertainty": in proportion to .1 + the mean over codes of
        4 p (1 − p), with p the suggested probability; a unit without probabilities gets the mean of the
        others.
    suggestions
        With "uncertainty", the suggestions for these units.
    seed
        Seed, 0 or more. The order of the rows has no effect.

    Raises
    ------
    TableError
        Not a `units` frame, or not a frame of suggestions.
    ArgumentError
        `n` is out of range, or "uncertainty" without `n` or without probabilities.

    Notes
    -----
    Drawn systematically from a random order, which keeps the probabilities and `n` exactly. A unit with more
    than 1 / n of the weights is drawn with certainty, and the others share the rest in the same way.

    References
    ----------
    Madow (1949), On the theory of systematic sampling II, Annals of Mathematical Statistics 20, 333–354.
    Hartley & Rao (1962), Sampling with unequal probabilities and without replacement, Annals of Mathematical
    Statistics 33, 350–374.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "text": "…", "document_id": "d", "case_id": "p",
    ...                       "position": range(4)})
    >>> sure = pd.DataFrame({"unit_id": list("abcd"), "code": "interest", "suggested": False, "start": None,
    ...                      "end": None, "probability": [0.5, 0.0, 0.0, 1.0]})
    >>> first = order(units, n=1, by="uncertainty", suggestions=sure, seed=7)
    >>> first.sort_values("unit_id")["inclusion"].round(3).tolist()
    [0.786, 0.071, 0.071, 0.071]
    """
    check_arguments(order, locals())
    check_least(order, 0, seed=seed)
    ids = UNITS.check(units)["unit_id"].sort_values().tolist()
    if n is not None and not 1 <= n <= len(ids):
        raise ArgumentError(
            f"order: expected n from 1 to the number of units, {len(ids)} – found {n} – choose how many to "
            "code next."
        )
    if by == "uncertainty" and (n is None or suggestions is None):
        raise ArgumentError(
            "order: expected n and suggestions for by='uncertainty' – one is missing – pass the number "
            "to code next, and the result of the suggester."
        )
    weight = np.ones(len(ids)) if suggestions is None or by == "random" else _weights(ids, suggestions)
    chance = _probabilities(weight, len(ids) if n is None else n)
    rng = np.random.default_rng(seed)
    placed = rng.permutation(len(ids))
    drawn = _systematic(chance[placed], rng)
    rows = np.concatenate([rng.permutation(placed[drawn]), placed[~drawn]]).astype(np.intp)
    return pd.DataFrame(
        {
            "unit_id": pd.array([ids[row] for row in rows], dtype="string"),
            "place": np.arange(len(ids)),
            "drawn": np.arange(len(ids)) < int(drawn.sum()),
            "inclusion": chance[rows],
        }
    )


def _weights(ids: list[str], suggestions: pd.DataFrame) -> Floats:
    frame = SUGGESTIONS.check(suggestions)
    chance = frame["probability"].astype(float)
    unsure = (4 * chance * (1 - chance)).groupby(frame["unit_id"]).mean().reindex(ids)
    if unsure.isna().all():
        raise TableError(
            "order: expected suggestions with probabilities for these units – found none – definitions, and "
            "models no better than chance, give none; code at random until there is a better model."
        )
    return np.asarray(0.1 + unsure.fillna(unsure.mean()), dtype=np.float64)


def _probabilities(weight: Floats, count: int) -> Floats:
    """Return each unit's chance to be among the `count` drawn in proportion to their weights."""
    if count >= len(weight):
        return np.ones(len(weight))
    sure = np.zeros(len(weight), dtype=bool)
    while True:
        chance = np.where(sure, 1.0, (count - int(sure.sum())) * weight / float(weight[~sure].sum()))
        more = ~sure & (chance >= 1 - 1e-12)
        if not more.any():
            return np.asarray(chance, dtype=np.float64)
        sure |= more


def _systematic(chance: Floats, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    ends = np.concatenate([[0.0], np.cumsum(chance)])
    ends[-1] = round(ends[-1])  # but for rounding it is a whole number
    return np.diff(np.ceil(ends - rng.random()).clip(min=0)) > 0

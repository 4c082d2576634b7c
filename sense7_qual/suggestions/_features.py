"""Texts as a classifier takes them: vectors of meaning, words (TF-IDF), and the surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import CodebookError, TableError
from sense7_qual.frames import CODINGS, DECISIONS, people, without_models
from sense7_qual.suggestions._texts import surface

__all__ = [
    "Embed",
    "Features",
    "check_codes",
    "definition_texts",
    "fit_features",
    "human_quotes",
    "labels",
    "one_per_unit",
    "vectors",
]

Embed = Callable[[list[str]], npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]

_AT_ONCE: Final = 256
_MOST_TERMS: Final = 20_000
_TERM: Final = r"(?u)\b\w[\w'’]*\b|[?!]"
#: How much each kind of feature weighs in the distance of two texts (benchmarks/suggestions.py chose them).
_MEANING: Final = 3.0
_WORDS: Final = 2.0
_SURFACE: Final = 0.15


def vectors(texts: Sequence[str], embed: Embed) -> Floats:
    """Return the vector of each text, of length 1, each distinct text embedded once."""
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return np.empty((0, 0))
    parts = [_embedded(distinct[at : at + _AT_ONCE], embed) for at in range(0, len(distinct), _AT_ONCE)]
    whole = np.concatenate(parts)
    length = np.linalg.norm(whole, axis=1, keepdims=True)
    length[length == 0] = 1  # a vector of zeros is alike to nothing
    place = {text: row for row, text in enumerate(distinct)}
    unit: Floats = (whole / length)[[place[text] for text in texts]]
    return unit


def _embedded(texts: list[str], embed: Embed) -> Floats:
    rows = np.asarray(embed(texts), dtype=np.float64)
    if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
        raise TableError(
            f"embed: expected {len(texts)} rows of finite numbers – found shape {rows.shape} – check the "
            "model."
        )
    return rows


def definition_texts(code: Code) -> list[str]:
    """Return what the codebook says of a code: its label with the definition, when to use it, examples."""
    whole = f"{code.label}. {code.definition}".strip()
    return [text for text in (whole, *code.use_when, *code.examples) if text.strip()]


@dataclass(frozen=True, slots=True)
class Features:
    """What makes rows of features of texts; holds words of the texts, so its `repr` shows none of it."""

    words: Any = field(repr=False)
    mean: Floats = field(repr=False)
    deviation: Floats = field(repr=False)

    def rows(self, texts: Sequence[str], meaning: Floats) -> Any:
        """Return a sparse matrix of one row per text, from the texts and their vectors."""
        from scipy import sparse

        shown = (surface(list(texts)) - self.mean) / self.deviation
        shown = np.clip(shown, -3, 3) * _SURFACE
        dense = sparse.csr_array(np.hstack([meaning * _MEANING, shown]))
        return sparse.hstack([dense, self.words.transform(texts) * _WORDS], format="csr")


def fit_features(texts: Sequence[str]) -> Features:
    """Learn from texts, coded or not, which words there are and how long and how marked texts are."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2 if len(texts) >= 50 else 1, sublinear_tf=True,
        token_pattern=_TERM, max_features=_MOST_TERMS,
    )  # fmt: skip
    try:
        words.fit(texts)
    except ValueError:  # no word stands twice
        words.set_params(min_df=1).fit([*texts, "text"])
    seen = surface(list(texts))
    deviation = seen.std(axis=0)
    deviation[deviation == 0] = 1
    return Features(words, seen.mean(axis=0), deviation)


def check_codes(codes: pd.Series, codebook: Codebook, *, function: str) -> None:
    """Raise `CodebookError` where a code is none that the codebook lets coders apply."""
    known = [code.id for code in codebook.codable]
    unknown = sorted(set(codes.dropna()) - set(known))
    if unknown:
        raise CodebookError(
            f"{function}: expected codable codes of the codebook – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], known)}"
        )


def labels(decisions: pd.DataFrame, codebook: Codebook, coder: str | None, *, function: str) -> pd.DataFrame:
    """Return one row per unit and code that is decided: unit_id, code, applied (bool).

    Of one coder what they decided. Without one: the consensus where there is one, elsewhere what most people
    decided; where they are tied, the unit has no row for that code.
    """
    checked = DECISIONS.check(decisions)
    own = without_models(checked, function=function) if coder is None else checked[checked["coder"] == coder]
    check_codes(own["code"], codebook, function=function)
    if coder is None:
        return one_per_unit(own)
    if len(checked) and own.empty:
        raise TableError(
            f"{function}: expected decisions of coder {coder!r} – found none – "
            f"{did_you_mean(coder, checked['coder'].unique())}"
        )
    return own[["unit_id", "code", "applied"]].reset_index(drop=True)


def one_per_unit(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the consensus of each unit and code, elsewhere the majority; ties have no row."""
    key = ["unit_id", "code"]
    settled = decisions.loc[decisions["coder"] == "consensus", [*key, "applied"]]
    share = people(decisions).groupby(key, sort=True)["applied"].mean()
    most = share[share != 0.5].gt(0.5).rename("applied").reset_index()
    both = pd.concat([settled, most], ignore_index=True).drop_duplicates(key, keep="first")
    return both.sort_values(key, ignore_index=True)


def human_quotes(
    codings: pd.DataFrame | None, units: pd.DataFrame, labelled: pd.DataFrame, coder: str | None
) -> pd.DataFrame:
    """Return what people coded (unit_id, code, start, end), on units where the code counts as present.

    A unit without a span of the code is quoted whole.
    """
    present = labelled.loc[labelled["applied"], ["unit_id", "code"]]
    texts = units.set_index("unit_id")["text"]
    if codings is None:
        spans = CODINGS.empty()
    else:
        spans = CODINGS.check(codings)
        spans = people(spans) if coder is None else spans[spans["coder"] == coder]
    spans = spans[["unit_id", "code", "start", "end"]].dropna().drop_duplicates()
    length = spans["unit_id"].map(texts.str.len()).astype("Int64")
    outside = spans[(spans["start"] < 0) | (spans["end"] <= spans["start"]) | (spans["end"] > length)]
    if len(outside):
        raise TableError(
            f"codings: expected spans inside the units' texts – found others on "
            f"{first_three(outside['unit_id'])} – pass the units that were coded."
        )
    quotes = present.merge(spans, how="left", on=["unit_id", "code"])
    whole = quotes["start"].isna()
    quotes["whole"] = whole
    quotes["start"] = quotes["start"].fillna(0)
    quotes["end"] = quotes["end"].fillna(quotes["unit_id"].map(texts.str.len()).astype("Int64"))
    return quotes.astype({"start": "int64", "end": "int64"}).sort_values(
        ["code", "unit_id", "start", "end"], ignore_index=True
    )

"""Texts as a classifier takes them: vectors of meaning, words (TF-IDF), and the surface; their sentences."""

from __future__ import annotations

import re
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

Embed = Callable[[list[str]], npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]

_AT_ONCE: Final = 256
_MOST_TERMS: Final = 20_000
_TERM: Final = r"(?u)\b\w[\w'’]*\b|[?!]"
#: How much each kind of feature weighs in the distance of two texts (benchmarks/suggestions.py chose them).
_MEANING: Final = 3.0
_WORD_WEIGHT: Final = 2.0
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
    """Return the texts of a code in the codebook: its label with the definition, rules and examples."""
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
        return sparse.hstack([dense, self.words.transform(texts) * _WORD_WEIGHT], format="csr")


def fit_features(texts: Sequence[str]) -> Features:
    """Learn from texts, coded or not, which words there are and how long and how marked texts are."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        ngram_range=(1, 2),
        min_df=2 if len(texts) >= 50 else 1,
        sublinear_tf=True,
        token_pattern=_TERM,
        max_features=_MOST_TERMS,
    )
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
    """Return people's codings (unit_id, code, start, end) on units where the code counts as present.

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


_SENTENCE: Final = re.compile(r"\S.*?(?:[.!?…。！？]+[\"'”’)\]]*(?=\s|$)|(?=\n)|$)", re.DOTALL)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
#: Words of English; in another language these columns are 0 and the others carry the suggestion.
_LISTS: Final = {
    "first_person": "i me my mine myself i'm i've i'd i'll",
    "first_person_plural": "we us our ours ourselves we're we've",
    "second_person": "you your yours yourself you're you've",
    "third_person": "he she him her his hers they them their theirs he's she's they're",
    "it": "it its it's this that",
    "negation": "no not never none nothing nobody neither nor cannot without",
    "contrast": "but however although though yet despite instead",
    "obligation": "should must ought need needs have has",
    "possibility": "could would might may can maybe perhaps possibly",
    "thinking": "think thought believe know guess understand understood wonder imagine seems seem",
    "feeling": "feel feels felt feeling feelings sad sorry happy angry upset afraid hurt glad love hate",
    "intensity": "very really so too extremely totally completely absolutely just",
    "cause": "because since therefore thus so why reason",
    "time": "was were had did been ago before after when then now will going",
}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _LISTS.items()}
SURFACE: Final = (
    "words",
    "sentences",
    "word_length",
    "questions",
    "exclamations",
    "ellipses",
    "numbers",
    "capitals",
    "quotation_marks",
    *_LISTS,
)
"""The columns of `surface`."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the span of each sentence of a text (code points, half-open), without the space around it.

    >>> [("It listened. Did it help? no")[slice(*one)] for one in sentences("It listened. Did it help? no")]
    ['It listened.', 'Did it help?', 'no']
    """
    spans = []
    for match in _SENTENCE.finditer(text):
        end = match.start() + len(match[0].rstrip())
        if end > match.start():
            spans.append((match.start(), end))
    return spans


def surface(texts: list[str]) -> Floats:
    """Return one row of `SURFACE` for each text: counts as logarithms, words of a kind as shares of words."""
    return np.array([_row(text) for text in texts], dtype=np.float64).reshape(len(texts), len(SURFACE))


def _row(text: str) -> list[float]:
    words = [word.replace("’", "'") for word in _WORD.findall(text.lower())]
    n = max(len(words), 1)
    counts: list[Any] = [
        len(words),
        len(sentences(text)),
        sum(map(len, words)) / n,
        text.count("?"),
        text.count("!"),
        text.count("...") + text.count("…"),
        len(re.findall(r"\d+", text)),
        sum(letter.isupper() for letter in text) / max(len(text), 1),
        len(re.findall(r"[\"“”«»]", text)),
    ]
    shares = [sum(word in known for word in words) for known in _WORDS.values()]
    negated = sum(word.endswith("n't") for word in words)
    shares[list(_WORDS).index("negation")] += negated
    return [*np.log1p(counts), *(np.sqrt(count / n) for count in shares)]

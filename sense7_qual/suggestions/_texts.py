"""What is read off a text without a model: its sentences, and what a classifier is shown of its surface."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["SURFACE", "sentences", "surface"]

Floats = npt.NDArray[np.float64]

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
    "words", "sentences", "word_length", "questions", "exclamations", "ellipses", "numbers", "capitals",
    "quotation_marks", *_LISTS,
)  # fmt: skip
"""The columns of `surface`."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of a text stands (code points, half-open), without the space around it.

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
        len(words), len(sentences(text)), sum(map(len, words)) / n, text.count("?"), text.count("!"),
        text.count("...") + text.count("…"), len(re.findall(r"\d+", text)),
        sum(letter.isupper() for letter in text) / max(len(text), 1), len(re.findall(r"[\"“”«»]", text)),
    ]  # fmt: skip
    shares = [sum(word in known for word in words) for known in _WORDS.values()]
    negated = sum(word.endswith("n't") for word in words)
    shares[list(_WORDS).index("negation")] += negated
    return [*np.log1p(counts), *(np.sqrt(count / n) for count in shares)]

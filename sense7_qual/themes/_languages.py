"""Whether the texts seem to be in several languages: by script and by the commonest words, nothing more."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from typing import Final

__all__ = ["languages", "warn_of_several"]

_COMMON: Final = {
    "English": "the and is was to of it that for with this are you not have be my they but",
    "German": "der die das und ist nicht ich es ein eine zu mit auf für war sich auch wir sehr",
    "French": "le la les et est des une pas je que pour dans qui ce il vous avec très mais",
    "Spanish": "el los las y es un una que no por con para se muy pero mi lo del como",
    "Italian": "il gli e è che non di un una per sono con mi molto ma della ho si anche",
    "Portuguese": "o os as e é um uma que não por com para se muito mas eu do da foi",
    "Dutch": "de het een en is niet ik van dat op te zijn met voor maar was ook heel wij",
}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_WORD: Final = re.compile(r"[^\W\d_]+")
#: A text says its language with so many of its commonest words, and more of them than of any other.
_LEAST_WORDS: Final = 2
_LEAST_SHARE: Final = 0.05
_LEAST_TEXTS: Final = 5
#: Texts that are looked at, evenly spaced.
_MOST_READ: Final = 1_000


def languages(texts: list[str]) -> Counter[str]:
    """Count the texts by language, or by script where it is not Latin; texts that do not say are left out."""
    found = Counter(_language(text) for text in texts)
    del found[""]
    return found


def _language(text: str) -> str:
    letters = "" if text.isascii() else [character for character in text if character.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    script = max(scripts, key=scripts.__getitem__, default="")
    if script and script != "LATIN":
        return f"{script.capitalize()} script"
    words = _WORD.findall(text.lower())
    hits = sorted(((sum(word in listed for word in words), name) for name, listed in _WORDS.items()))
    (second, _), (first, name) = hits[-2:]
    return name if first >= _LEAST_WORDS and first > second else ""


def warn_of_several(texts: list[str]) -> None:
    """Warn where several languages have a share of the texts: themes would part by language."""
    found = languages(texts[:: -(-len(texts) // _MOST_READ)])
    least = max(_LEAST_TEXTS, _LEAST_SHARE * found.total())
    several = [f"{name} ({number:,})" for name, number in found.most_common() if number >= least]
    if len(several) > 1:
        warnings.warn(
            f"fit: the texts seem to be in several languages: {', '.join(several)} of {found.total():,} "
            "texts that were looked at. The usual model reads English alone, and themes part by language: "
            "fit each language by itself, or use a model of many languages.",
            stacklevel=3,
        )

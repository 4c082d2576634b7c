"""Which languages texts are in, and the words of each language that say nothing by themselves."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

_COMMON: Final = {
    "English": "the and is was to of it that for with this are you not have be my they but",
    "German": "der die das und ist nicht ich es ein eine zu mit auf für war sich auch wir sehr",
    "French": "le la les et est des une pas je que pour dans qui ce il vous avec très mais",
    "Spanish": "el los las y es un una que no por con para se muy pero mi lo del como",
    "Italian": "il gli e è che non di un una per sono con mi molto ma della ho si anche",
    "Portuguese": "o os as e é um uma que não por com para se muito mas eu do da foi",
    "Dutch": "de het een en is niet ik van dat op te zijn met voor maar was ook heel wij",
    "Polish": "i w na nie się że jest to z do jak ale tak bardzo po co mnie mi czy był",
    "Russian": "и в не на что с это как но по для мне очень был была меня он она так",
    "Turkish": "ve bir bu çok için ama da de ne gibi daha ben bana mi değil var olarak kadar sonra",
}
_WORDS: Final = {name: frozenset(words.split()) for name, words in _COMMON.items()}
_RUSSIAN: Final = _WORDS.pop("Russian")
_OF_A_SCRIPT: Final = {"HIRAGANA": "Japanese", "KATAKANA": "Japanese", "CJK": "Chinese", "HANGUL": "Korean",
                       "THAI": "Thai", "ARABIC": "Arabic"}  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_]+")
#: A text says its language with so many of its commonest words, and more of them than of any other.
_LEAST_WORDS: Final = 2
_LEAST_SHARE: Final = 0.05
_FEWEST_OF_A_LANGUAGE: Final = 5
#: Texts that are looked at, evenly spaced.
_MOST_READ: Final = 1_000

#: Kept beside another word ("not helpful"), no term alone.
NEGATIONS: Final = {
    "English": frozenset({"not", "no", "never"}),
    "German": frozenset({"nicht", "kein", "keine", "keinen", "keiner", "nie"}),
    "French": frozenset({"pas", "jamais", "aucun", "aucune"}),
    "Spanish": frozenset({"no", "nunca"}),
    "Italian": frozenset({"non", "mai"}),
    "Portuguese": frozenset({"não", "nunca"}),
    "Dutch": frozenset({"niet", "geen", "nooit"}),
    "Polish": frozenset({"nie", "nigdy"}),
    "Turkish": frozenset({"değil"}),
    "Russian": frozenset({"не", "нет", "никогда"}),
}


def languages(texts: Sequence[str]) -> Counter[str]:
    """Count the texts by language, or by script where that is all one can say.

    At most 1,000 texts are looked at; those that do not say (a single word, say) are left out.
    """
    found = Counter(_language(text) for text in texts[:: -(-len(texts) // _MOST_READ) or 1])
    del found[""]
    return found


def in_share(found: Counter[str]) -> dict[str, int]:
    """Return the languages that five texts and one in twenty are in, the commonest first."""
    least = max(_FEWEST_OF_A_LANGUAGE, _LEAST_SHARE * found.total())
    return {name: number for name, number in found.most_common() if number >= least}


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language other than English; none where no list of them is installed."""
    if importlib.util.find_spec("stop_words") is None:
        return frozenset()
    from stop_words import AVAILABLE_LANGUAGES, get_stop_words

    name = language.casefold()
    if name not in AVAILABLE_LANGUAGES:
        return frozenset()
    # Of "c'est" a text has "est".
    return frozenset(re.findall(r"\w\w+", " ".join(get_stop_words(name)).casefold()))


def _language(text: str) -> str:
    letters = "" if text.isascii() else [character for character in text if character.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    script = max(scripts, key=scripts.__getitem__, default="")
    words = _WORD.findall(text.lower())
    if script == "CJK" and {"HIRAGANA", "KATAKANA"} & set(scripts):
        script = "HIRAGANA"
    if script == "CYRILLIC" and sum(word in _RUSSIAN for word in words) >= _LEAST_WORDS:
        return "Russian"
    if script and script != "LATIN":
        return _OF_A_SCRIPT.get(script, f"{script.capitalize()} script")
    hits = sorted((sum(word in listed for word in words), name) for name, listed in _WORDS.items())
    (second, _), (first, name) = hits[-2:]
    return name if first >= _LEAST_WORDS and first > second else ""

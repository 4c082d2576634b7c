"""What the values of an act must be: pseudonyms, codes that can be applied, words out of a list."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection
from typing import Any

from sense7_qual._checks import check_codebook
from sense7_qual._messages import did_you_mean, word
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.tables import MODEL_PREFIX, RESERVED_CODERS, is_model

__all__ = [
    "check_codable",
    "check_coder",
    "check_person",
    "check_word",
    "facet_values",
    "whole",
]

_PAIR = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}=[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_CODER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def check_coder(coder: str) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where it cannot be one.

    A pseudonym is a letter or digit followed by up to 39 letters, digits, ``_`` or ``-`` (it becomes a
    file name), and is none of `RESERVED_CODERS`. A model that codes is called ``model-…``, in lower case.
    """
    if not isinstance(coder, str) or not _CODER.fullmatch(coder):
        raise ActError(
            f"coder: expected a pseudonym of letters, digits, '_' and '-' (40 at most) – found "
            f"{word(coder)} – choose one that names no real person."
        )
    if coder.lower() in RESERVED_CODERS:
        raise ActError(
            f"coder: expected a person's pseudonym – found {coder!r}, which names computed decisions – "
            "choose another."
        )
    if coder.lower().startswith(MODEL_PREFIX) and not is_model(coder):
        raise ActError(
            f"coder: expected a model to be called 'model-…' in lower case – found {coder!r} – write "
            "'model-a', say; a person needs another pseudonym."
        )
    return coder


def check_person(coder: str) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where it cannot be a person's.

    As `check_coder`; the name of a model (``model-…``) is none either: what a person decides would be left
    out of every statistic of people.

    Examples
    --------
    >>> check_person("modeller")
    'modeller'
    """
    if is_model(check_coder(coder)):
        raise ActError(
            f"coder: expected a person's pseudonym – found {coder!r}, which names a model – choose one that "
            f"does not begin with {MODEL_PREFIX!r}."
        )
    return coder


def check_codable(codebook: Codebook, unit_id: str, code: str) -> None:
    """Raise where the codebook has no such code, or the code only groups others."""
    if not check_codebook(codebook)[code].codable:
        raise ActError(
            f"act on unit {word(unit_id)}: expected a code that can be applied – found {code!r}, which only "
            "groups others – use one of the codes under it."
        )


def check_word(name: str, value: str, known: Collection[str]) -> None:
    """Raise `ActError` where `value` is none of the known words."""
    if not isinstance(value, str) or value not in known:
        raise ActError(
            f"act: expected {name} out of {', '.join(known)} – found {word(value)} – "
            f"{did_you_mean(str(value), known)}"
        )


def facet_values(text: str) -> dict[str, str]:
    """Read the facets of an act, or raise `ActError` where they are not in the one form that is recorded."""
    pairs = text.split(" ") if isinstance(text, str) else []
    names = [pair.partition("=")[0] for pair in pairs]
    if not pairs or not all(map(_PAIR.fullmatch, pairs)) or names != sorted(set(names)):
        raise ActError(
            f"act: expected facets like 'intensity=high valence=met', sorted – found {word(text)} – pass "
            "facets={…} to acts.apply."
        )
    return dict(pair.split("=") for pair in pairs)


def whole(value: Any, name: str) -> int:
    """Return a whole number of any kind (NumPy's, pandas') as Python's."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return int(operator.index(value))
    except TypeError:
        raise ActError(
            f"act: expected a whole number of code points as {name} – found {type(value).__name__} – "
            "convert it with int()."
        ) from None

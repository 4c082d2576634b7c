"""The fields of a codebook: their other names, what an id looks like, and their values in a file."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from dataclasses import fields
from fnmatch import fnmatchcase
from typing import Any, Final, get_args

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import UNPRINTABLE, did_you_mean
from sense7_qual.errors import CodebookError

_OTHER_NAMES: Final = {
    "label": ("code", "name", "tag", "node", "code name", "code label", "sub code", "subcode"),
    "id": ("code id", "identifier", "code number"),
    "definition": (
        *("description", "desc", "meaning", "memo", "comment", "* definition", "* description"),
        *("definition *", "description *"),
    ),
    "description": ("definition",),
    "avoid_when": ("exclu*", "when not*", "not when", "do not *", "don t *"),
    "use_when": ("include*", "inclusion*", "when", "when to *", "rule", "* rule", "apply *"),
    "counter_examples": (
        "counterexample",
        "* counterexample",
        "negative example",
        "non example",
        "near misse",
    ),
    "examples": ("example *", "* example", "quote", "* quote", "quotation", "* quotation", "* exemplar"),
    "parent": (
        *("parent *", "group", "code group", "* category", "category", "subcategory", "theme", "* theme"),
        *("subtheme", "* subtheme", "topic", "* topic", "subtopic", "dimension"),
    ),
    "colour": ("color", "code color", "rgb", "hex"),
    "key": ("shortcut", "hotkey", "keyboard shortcut"),
    "codable": ("codeable", "i codable", "iscodable"),
    "name": ("id",),
    "title": ("label",),
    "licence": ("license",),
}
"""Each field with other names for it, as `plain` writes them, with `*` for any words; the first counts."""

_HINTS: Final = 3


def right_names(names: Collection[str], known: Collection[str]) -> str:
    """Return a hint that names the field meant by each of the first `names` that are not `known`.

    >>> right_names(["id", "description", "color"], ["id", "definition", "colour"])
    "write 'definition' for 'description' and 'colour' for 'color'"
    """
    unknown = [name for name in names if name not in known]
    free = [field for field in known if field not in names]
    found = {name: field for name in unknown if (field := meant(name, free))}
    if not found:
        return did_you_mean(unknown[0], known)
    *first, last = [f"{field!r} for {name!r}" for name, field in list(found.items())[:_HINTS]]
    return f"write {', '.join(first)}{' and ' if first else ''}{last}"


def meant(name: str, known: Collection[str]) -> str | None:
    """Return the field of `known` that a name means, if any."""
    own = plain(name)
    by_form = next((field for field in known if plain(field) == own), None)
    others = (
        field
        for field, names in _OTHER_NAMES.items()
        if field in known and any(fnmatchcase(own, other) for other in names)
    )
    return by_form or next(others, None)


def plain(name: str) -> str:
    """Return the words of a name, in lower case and in the singular.

    >>> plain("Sub-Codes"), plain("use_when"), plain("Example Quote(s)")
    ('sub code', 'use when', 'example quote')
    """
    words = re.split(r"[\W_]+", name.casefold())
    return " ".join(word.removesuffix("s") for word in words if word not in ("", "s"))


# What an id and a colour look like, and ids that are made of labels


ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
COLOUR: Final = re.compile(r"#[0-9A-Fa-f]{6}")
_NO_ID: Final = re.compile("[^A-Za-z0-9_.-]+")


def free_id(label: str, taken: Collection[str], times: Counter[str]) -> str:
    """Return an id made of a code's name; `times` counts how often the same was made, from call to call.

    >>> free_id("Would recommend?", ["would-recommend"], Counter())
    'would-recommend-2'
    """
    check_arguments(free_id, locals())
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode()
    base = _NO_ID.sub("-", plain).strip("-.")[:56].lower()
    base = base if base[:1].isalpha() else f"code-{base}".rstrip("-")
    while True:
        times[base] += 1
        free = base if times[base] == 1 else f"{base}-{times[base]}"
        if free not in taken:
            return free


# The values of the fields of a `Code` or a `Codebook`, read from a file and written to one


_NAMES: Final = frozenset({"label", "name", "title", "version"})


def as_plain(value: object) -> object:
    """Return a tuple as a list, as a file holds it."""
    return list(value) if isinstance(value, tuple) else value


def without_defaults(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is empty, and write `codable` only where it is False."""
    filled = {name: value for name, value in values.items() if value not in ("", None, [], {}, True)}
    if filled.get("codable") is False:
        filled["codable"] = "false"
    return filled


def check_texts(value: Any, where: str) -> None:
    """Refuse what is not text or cannot be written as UTF-8 (a lone surrogate, from a cut-up emoji)."""
    for entry in fields(value):
        content = getattr(value, entry.name)
        if entry.name in ("codes", "codable", "facets", "appeared") or (
            content is None and "None" in str(entry.type)
        ):
            continue
        many = str(entry.type).startswith("tuple")
        if not isinstance(content, tuple if many else str) or not all(
            isinstance(text, str) for text in content
        ):
            raise CodebookError(
                f"codebook: expected {'a tuple of texts' if many else 'text'} in {entry.name} of {where} – "
                f"found {type(content).__name__} – correct it."
            )
        if any("\ud800" <= letter <= "\udfff" for text in content for letter in text):
            raise CodebookError(
                f"codebook: expected Unicode text in {entry.name} of {where} – found half of a character (a "
                "lone surrogate) – type it again."
            )
        if entry.name in _NAMES and UNPRINTABLE.search(str(content)):
            raise CodebookError(
                f"codebook: expected printable characters in {entry.name} of {where} – found a control "
                "character – type it again."
            )


def value_in(value: object, hint: Any, where: str) -> object:
    """Return what a file says in a field as the type of that field."""
    if hint is bool:
        words = {"true": True, "false": False}
        if str(value).lower() not in words:
            raise CodebookError(
                f"codebook: expected true or false in {where} – found {value!r} – correct it."
            )
        return words[str(value).lower()]
    if tuple in {getattr(option, "__origin__", option) for option in (hint, *get_args(hint))}:
        entries = value if isinstance(value, list) else [value]
        if all(isinstance(entry, str) for entry in entries):
            return tuple(entries)
    elif isinstance(value, str):
        return value
    raise CodebookError(
        f"codebook: expected text in {where} – found {type(value).__name__} – put texts that hold ': ' or "
        "begin with a special character in quotes."
    )

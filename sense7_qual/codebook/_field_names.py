"""What other programs and people call the fields of a codebook, so that an error can name the right one."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from sense7_qual._messages import did_you_mean

__all__ = ["right_names"]

_OTHER_NAMES: Final = {
    "id": ("code", "code id", "identifier"),
    "label": ("name", "title", "code name", "code label"),
    "definition": ("description", "desc", "meaning", "full definition", "brief definition", "comment"),
    "description": ("definition",),
    "use_when": ("rule", "rules", "include", "inclusion", "inclusion criteria", "when", "when to use"),
    "avoid_when": ("exclude", "exclusion", "exclusion criteria", "not when", "when not to use"),
    "examples": ("example", "positive examples", "quotes", "typical exemplars"),
    "counter_examples": ("counterexamples", "negative examples", "non examples", "near misses"),
    "parent": ("group", "category", "parent code", "parent id"),
    "colour": ("color", "code color", "rgb", "hex"),
    "key": ("shortcut", "hotkey", "keyboard shortcut"),
    "codable": ("codeable", "is codable", "iscodable"),
    "name": ("id",),
    "title": ("label",),
    "licence": ("license",),
}
"""Each field with other names for it, as `_plain` writes them; no name stands for two fields of one table."""

_HINTS: Final = 3


def right_names(names: Collection[str], known: Collection[str]) -> str:
    """Return a hint that names the field meant by each of the first `names` that are not `known`.

    >>> right_names(["id", "description", "color"], ["id", "definition", "colour"])
    "write 'definition' for 'description' and 'colour' for 'color'"
    """
    unknown = [name for name in names if name not in known]
    free = [field for field in known if field not in names]
    meant = {name: field for name in unknown if (field := _meant(name, free))}
    if not meant:
        return did_you_mean(unknown[0], known)
    *first, last = [f"{field!r} for {name!r}" for name, field in list(meant.items())[:_HINTS]]
    return f"write {', '.join(first)}{' and ' if first else ''}{last}"


def _meant(name: str, known: Collection[str]) -> str | None:
    plain = _plain(name)
    by_form = next((field for field in known if _plain(field) == plain), None)
    others = (field for field, names in _OTHER_NAMES.items() if field in known and plain in names)
    return by_form or next(others, None)


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()

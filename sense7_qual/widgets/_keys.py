"""Which key does what in a widget, and what a browser is told of the codebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual._present import looks
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError

__all__ = ["code_keys", "code_keys_of_others", "commands", "described", "described_book"]

_FREE_KEYS: Final = "1234567890abdeghijklopqtx"


def commands(defaults: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each command: those given in `keys`, of the others the default."""
    unknown = [name for name in keys if name not in defaults]
    if unknown:
        raise ActError(
            f"keys: expected the names of commands – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], defaults)}"
        )
    unfit = [name for name, key in keys.items() if not isinstance(key, str) or key in ("", "Tab", "Escape")]
    if unfit:
        raise ActError(
            f"keys: expected keys as the browser names them – found {first_three(keys[n] for n in unfit)} "
            f"for {first_three(unfit)} – name one such as 'i' or 'ArrowUp'; Tab and Escape stay as they are."
        )
    commands = {**defaults, **keys}
    twice = sorted(key for key, times in Counter(commands.values()).items() if times > 1)
    if twice:
        names = [name for name, key in commands.items() if key == twice[0]]
        raise ActError(
            f"keys: expected one command per key – found {twice[0]!r} for {' and '.join(names)} – "
            "choose another."
        )
    return commands


def code_keys(codebook: Codebook, commands: Mapping[str, str]) -> dict[str, str]:
    """Return code id → key: the codebook's own, then free ones in order; codes beyond them have none."""
    command_of = {key: name for name, key in commands.items()}
    keys = {code.id: code.key for code in codebook.codable if code.key is not None}
    for code_id, key in keys.items():
        if key in command_of:
            raise ActError(
                f"keys: expected a key of its own for code {code_id!r} – found {key!r}, which is "
                f"{command_of[key].replace('_', ' ')!r} – give the command another key: "
                f"CodingWidget(…, keys={{{command_of[key]!r}: …}})."
            )
    free = iter([key for key in _FREE_KEYS if key not in {*keys.values(), *command_of}])
    for code in codebook.codable:
        if code.id not in keys and (spare := next(free, None)) is not None:
            keys[code.id] = spare
    return keys


def _described_facets(codebook: Codebook) -> list[dict[str, Any]]:
    """Return what the browser shows of the facets.

    One facet whose values have no keys goes round at its command's key; of others each value gets a key.
    """
    values = [value for facet in codebook.facets for value in facet.values]
    keys = {value.key for value in values} - {None}
    free = iter([key for key in _FREE_KEYS if key not in keys] if keys or len(codebook.facets) > 1 else ())
    return [
        {
            "name": facet.name,
            "label": facet.label,
            "codes": list(facet.codes),
            "values": [
                {"name": value.name, "label": value.label, "key": value.key or next(free, None)}
                for value in facet.values
            ],
        }
        for facet in codebook.facets
    ]


def code_keys_of_others(codebook: Codebook, commands: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of a codebook that others changed, without theirs that are a command's."""
    taken = set(commands.values())
    codes = tuple(replace(code, key=None) if code.key in taken else code for code in codebook)
    return code_keys(replace(codebook, codes=codes), commands)


def described(codebook: Codebook, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return what the browser shows of the codebook."""
    return {
        "title": codebook.title or codebook.name,
        "version": codebook.version,
        "facets": _described_facets(codebook),
        "codes": _described_codes(codebook, keys),
    }


def described_book(codebook: Codebook, *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return what the browser of a lead shows of the codebook; lists of its codes in `without` are empty."""
    return {
        "title": codebook.title or codebook.name, "codes": _described_codes(codebook, without=without)
    }  # fmt: skip


def _described_codes(
    codebook: Codebook, keys: Mapping[str, str] | None = None, *, without: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return what the browser shows of each code, with the codebook's keys or `keys`; lists in `without` are
    left empty."""
    look = looks(codebook)
    names = ("id", "label", "definition", "parent", "colour", "codable", "key")
    lists = ("use_when", "avoid_when", "examples", "counter_examples")
    return [
        {name: getattr(code, name) for name in names}
        | {name: [] if name in without else list(getattr(code, name)) for name in lists}
        | {"look": look[code.id]._asdict()}
        | ({} if keys is None else {"key": keys.get(code.id)})
        for code in codebook
    ]

"""What widgets and kernel may say to each other, as the front end declares it (`frontend/messages.json`)."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft7Validator

from tests.helpers.places import ROOT

DECLARED: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (ROOT / "frontend" / "messages.json").read_text("utf-8")
)
"""For each folder of the front end its shapes: questions, answers, and what they are made of."""
ENVELOPE: Final = ("id", "client", "fill")


def kinds(folder: str, shape: str) -> set[str]:
    """Return the types of the messages that a union is of."""
    return {kind for kind, _ in _each(folder, DECLARED[folder][shape])}


def faults(folder: str, shape: str, message: Mapping[str, Any]) -> list[str]:
    """Return in words where a message is other than declared; none of its values stands in them.

    A question may leave fields out: what they are then is the widget's to say.
    """
    said = {name: value for name, value in message.items() if name not in ENVELOPE}
    body = json.loads(json.dumps(said))  # as the other side gets it
    checks = _checks(folder, shape).get(str(body.get("type")), [])
    lacks = "required" if shape == "Question" else ""
    found = [[_where(one) for one in check.iter_errors(body) if one.validator != lacks] for check in checks]
    least = min(found, key=len, default=["no message of this type is declared"])
    return [f"{folder} {shape} {body.get('type')}: {one}" for one in least]


def _where(error: Any) -> str:
    inner = min(error.context, key=lambda one: -len(one.absolute_path), default=None)
    place = "/".join(str(part) for part in error.absolute_path)
    if error.validator in ("required", "additionalProperties"):
        return f"{place}: {error.message}"
    return f"{place}: {error.validator}" + ("" if inner is None else f" ({_where(inner)})")


def _each(folder: str, shape: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each shape of a union with each type that a message of it may have."""
    if "$ref" in shape:
        yield from _each(folder, DECLARED[folder][shape["$ref"].rpartition("/")[2]])
    elif "anyOf" in shape:
        for one in shape["anyOf"]:
            yield from _each(folder, one)
    else:
        kind = shape["properties"]["type"]
        for name in [kind["const"]] if "const" in kind else kind["enum"]:
            yield name, shape


@functools.cache
def _checks(folder: str, shape: str) -> Mapping[str, list[Draft7Validator]]:
    made: dict[str, list[Draft7Validator]] = {}
    for kind, one in _each(folder, DECLARED[folder][shape]):
        made.setdefault(kind, []).append(Draft7Validator({**one, "definitions": DECLARED[folder]}))
    return made

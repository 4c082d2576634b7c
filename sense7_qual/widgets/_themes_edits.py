"""What a person does with themes, as acts that are saved once, and how each is taken back."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sense7_qual._messages import word
from sense7_qual.errors import ActError
from sense7_qual.widgets._desk import field
from sense7_qual.widgets._themes_reading import Reading

__all__ = ["Step", "opposite", "step_asked", "sub_id"]


@dataclass(frozen=True, slots=True)
class Step:
    """One edit of a theme: what is done to it (`themes.edit`), and the value."""

    theme: int
    what: str
    value: Any


def sub_id(act_id: str, number: int) -> str:
    """Return the id of the act `number` of several that are done together; the first has `act_id`."""
    return act_id if number == 0 else str(uuid.uuid5(uuid.NAMESPACE_OID, f"{act_id} {number}"))


def step_asked(asked: Mapping[str, Any], reading: Reading, selected: Collection[str]) -> Step:
    """Return the step that a browser asks for."""
    theme, what = field(asked, "theme", int), asked.get("what")
    match what:
        case "name":
            return Step(theme, "name", " ".join(field(asked, "value", str).split()))
        case "merge_into":
            return Step(theme, "merge_into", field(asked, "value", int))
        case "dismissed":
            return Step(theme, "dismissed", field(asked, "value", bool))
        case "parts":
            return Step(theme, "parts", _parts(theme, asked.get("value"), reading, selected))
        case other:
            raise ActError(
                "theme: expected to name, merge, split or dismiss it – found "
                f"{word(other)} – reload the page."
            )


def _parts(theme: int, by: object, reading: Reading, selected: Collection[str]) -> list[list[str]]:
    if by == "subs":
        parts = reading.subs(theme)
        if not parts:
            raise ActError(
                "split: expected a theme with sub-themes – found one without – select its texts on the map."
            )
        return parts
    own = set(reading.members(theme)["unit_id"])
    inside = sorted(own & set(selected))
    if not inside or len(inside) == len(own):
        raise ActError(
            f"split: expected some of the {len(own)} texts of the theme among those that are selected – "
            f"found {len(inside)} – select a part of them on the map."
        )
    return [inside]


def opposite(step: Step, before: Mapping[str, Any], numbers: tuple[set[int], set[int]]) -> list[Step]:
    """Return what takes a step back."""
    theme = step.theme
    match step.what:
        case "name":
            name = before["name"]
            return [Step(theme, "name", name if isinstance(name, str) else "")]
        case "merge_into":
            return [Step(theme, "merge_into", theme)]
        case "dismissed":
            return [Step(theme, "dismissed", not step.value)]
        case "code":
            code = before["code"]
            return [Step(theme, "code", code if isinstance(code, str) else "")]
        case _:
            had, has = numbers
            return [Step(number, "merge_into", theme) for number in sorted(has - had)]

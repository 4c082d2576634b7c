"""What a person does with themes, as acts that are saved once, and the code made of one."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sense7_qual._messages import word
from sense7_qual.acts import Act, propose
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._desk import field
from sense7_qual.widgets._themes.reading import Reading

__all__ = [
    "Chat",
    "Step",
    "asked_words",
    "cost_words",
    "draft",
    "drafted_by",
    "messages_for",
    "opposite",
    "origin_words",
    "proposed",
    "step_asked",
    "sub_id",
]


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


Chat = Callable[[Sequence[Mapping[str, str]]], str]

_REPLY_TOKENS: Final = 150
_INSTRUCTION: Final = (
    "You help a researcher to write a codebook. You get the most typical words and some texts of a group "
    "that a topic model proposes. Say what the texts have in common as one code: a label of at most five "
    "words, and a definition of one or two sentences that says when the code applies. Do not quote the "
    'texts. Answer with JSON alone: {"label": "…", "definition": "…"}'
)


def draft(label: str, terms: Sequence[str]) -> dict[str, str]:
    """Return a label and a definition to begin with."""
    words = ", ".join(terms[:6])
    return {
        "label": label[:1].upper() + label[1:],
        "definition": f"The text speaks of: {words}." if words else "",
    }


def origin_words(theme: int, *, by_chat: bool) -> str:
    """Return in words which model a code comes from.

    >>> origin_words(3, by_chat=True)
    'theme 3 of this study, proposed by a topic model; drafted by a language model'
    """
    drafted = "; drafted by a language model" if by_chat else ""
    return f"theme {theme} of this study, proposed by a topic model{drafted}"


def proposed(
    theme: int,
    words: Mapping[str, str],
    units: Sequence[str],
    *,
    by_chat: bool,
    coder: str,
    codebook: Codebook,
    act_id: str,
) -> Act:
    """Return the act that proposes a code of a theme, with the texts that show it."""
    if not units:
        raise ActError(
            "proposal: expected a text of the theme that shows the code – found none – tick one of them."
        )
    return propose(
        coder=coder, label=" ".join(words["label"].split()), definition=words["definition"].strip(),
        unit_id=units[0], examples=list(dict.fromkeys(units[1:])), theme=theme, codebook=codebook,
        origin=origin_words(theme, by_chat=by_chat), act_id=act_id,
    )  # fmt: skip


def messages_for(terms: Sequence[str], texts: Sequence[str]) -> list[dict[str, str]]:
    """Return what a language model is asked."""
    quoted = "\n\n".join(f"Text {n}: {text}" for n, text in enumerate(texts, start=1))
    content = f"Typical words: {', '.join(terms)}\n\n{quoted}"
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": content}]


def cost_words(chat: Any, messages: Sequence[Mapping[str, str]], n_texts: int) -> str:
    """Return in words what would be sent where; a chat of `models.chat` knows, another function is named."""
    if hasattr(chat, "estimate"):
        cost = chat.estimate([messages], reply_tokens=_REPLY_TOKENS)
        return f"{n_texts} quotes in one question: {cost}."
    n = sum(len(message["content"]) for message in messages)
    return (
        f"{n_texts} quotes ({n:,} characters with the terms) would be given to the function that was passed "
        "as chat. Where it sends them is not known here."
    )


def asked_words(chat: Any, messages: Sequence[Mapping[str, str]]) -> str:
    """Ask the language model, which the person has consented to just now, and return its reply."""
    if hasattr(chat, "estimate"):
        cost = chat.estimate([messages], reply_tokens=_REPLY_TOKENS)
        chat = replace(chat, consent=cost.consent)
    return str(chat(messages))


def drafted_by(reply: str) -> dict[str, str]:
    """Read label and definition from the reply of a language model."""
    object_in = re.search(r"\{.*\}", reply, re.DOTALL)
    try:
        read = json.loads(object_in[0]) if object_in else None
    except ValueError:
        read = None
    label, definition = (
        read.get(name) if isinstance(read, dict) else None for name in ("label", "definition")
    )
    if not isinstance(label, str) or not isinstance(definition, str):
        raise ActError(
            "chat: expected JSON with label and definition as reply – found something else – try again, or "
            "write them yourself."
        )
    return {"label": " ".join(label.split())[:200], "definition": definition.strip()}

"""A code made of a theme, or proposed: its draft from terms and quotes, or by a language model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from sense7_qual.acts import Act, Proposal, propose
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError
from sense7_qual.widgets._folded import folded
from sense7_qual.widgets._new_code import code_id

__all__ = [
    "Chat", "asked_words", "code_made", "cost_words", "draft", "drafted_by", "messages_for", "origin_words",
    "proposed",
]  # fmt: skip

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


def code_made(
    before: Codebook,
    versions: Sequence[Codebook],
    *,
    label: str,
    definition: str,
    examples: Sequence[str],
    source: str,
) -> Code:
    """Return the code, with an id that none had before."""
    proposal = Proposal(label=label, definition=definition)
    same = [code.id for code in before if folded(code.label) == folded(proposal.label)]
    if same:
        raise ActError(
            f"new code: expected a label that no other code has – found that of {same[0]!r} – use that code, "
            "or name the new one otherwise."
        )
    taken = {one for version in versions for one in version.ids}
    return Code(
        id=code_id(proposal.label, {*taken, *before.ids}), label=proposal.label,
        definition=proposal.definition, examples=tuple(examples), origin="model", source=source,
    )  # fmt: skip

"""A change of the codebook that comes out of settling a disagreement: an example, or a sharper rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook
from sense7_qual.codings import rulings
from sense7_qual.errors import CodebookError
from sense7_qual.revisions import Revision
from sense7_qual.widgets._adjudication_disputes import Key
from sense7_qual.widgets._codebook_draft import Draft, State
from sense7_qual.widgets._codebook_preview import preview
from sense7_qual.widgets._codebook_seen import Seen
from sense7_qual.widgets._codebook_shown import shown_preview

__all__ = ["changed", "foretold", "overtaken"]

_LISTS: Final = {"example": "examples", "counter_example": "counter_examples"}
_RULE: Final = ("definition", "use_when", "avoid_when")


def changed(book: Codebook, versions: Collection[Codebook], content: Mapping[str, Any]) -> State:
    """Return the draft in which a code has another example, counter-example, or another rule.

    `content` has code; kind ("example", "counter_example" or "rule"); words, for the first two; for a rule
    values and before: the fields as they are to be, and as they were when they were opened.
    """
    code = book[str(content.get("code"))]
    draft = Draft(book, versions=versions)
    values = _example(code, content) if content.get("kind") in _LISTS else _rule(code, content)
    if not draft.do({"do": "edit", "code": code.id, "values": values}):
        raise CodebookError(
            f"codebook: expected a change of {code.id!r} – found none – change the rule, or leave it."
        )
    return draft.state


def _example(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    name, words = _LISTS[str(content["kind"])], content.get("words")
    line = words.strip() if isinstance(words, str) else ""
    if not line or line in getattr(code, name):
        raise CodebookError(
            f"codebook: expected words that are not among the {name.replace('_', '-')} of {code.id!r} yet – "
            f"found {'none' if not line else 'the same'} – change them."
        )
    return {name: [*getattr(code, name), line]}


def _rule(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    if content.get("kind") != "rule":
        kinds = (*_LISTS, "rule")
        raise CodebookError(
            f"codebook: expected a change out of {', '.join(kinds)} – found {word(content.get('kind'))} – "
            f"{did_you_mean(str(content.get('kind')), kinds)}"
        )
    mine, now = _mine(code, content), _now(code)
    if _contested(code, content):
        raise CodebookError(
            f"codebook: expected the rule of {code.id!r} as it was opened – found that somebody else changed "
            "the same field meanwhile – choose one of the two."
        )
    # What only somebody else changed stays as they have it.
    return {name: value for name, value in mine.items() if value != now[name]} or now


def overtaken(book: Codebook, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rule that somebody else changed too, and otherwise, as they are now."""
    return _contested(book[str(content.get("code"))], content) if content.get("kind") == "rule" else {}


def _contested(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    mine, now, before = _mine(code, content), _now(code), content["before"]
    return {name: now[name] for name, value in mine.items() if now[name] not in (before.get(name), value)}


def _mine(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are other than they were when the rule was opened."""
    values, before = content.get("values"), content.get("before")
    if not isinstance(values, Mapping) or not isinstance(before, Mapping) or set(values) - set(_RULE):
        raise CodebookError(
            f"codebook: expected {', '.join(_RULE)} of {code.id!r} – found others – open the rule again."
        )
    return {str(name): value for name, value in values.items() if value != before.get(name)}


def _now(code: Code) -> dict[str, Any]:
    values = {name: getattr(code, name) for name in _RULE}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def foretold(read: Seen, state: State, settled: Collection[Act], keys: Collection[Key]) -> dict[str, Any]:
    """Return what becomes stale by saving: as `shown_preview`, and what of the settling counts no more.

    Beside it: ``n_rulings``, how many rulings no longer stand, and ``n_leaving``, how many disagreements
    leave the queue until their coders have looked at the texts again.
    """
    step = Revision(
        coder="draft", at="", why="", base=state.base.fingerprint, codebook=state.codebook.fingerprint,
        changes=state.changes(),
    )  # fmt: skip
    still_standing = rulings(settled, state.codebook, revisions=[*read.revisions, step])
    redefined = {one.code for one in step.changes if one.kind == "redefine"}
    return {
        **shown_preview(preview(read, state), state),
        "n_rulings": len(settled) - len(still_standing),
        "n_leaving": sum(code in redefined for _, code in keys),
        "words": read.words,
    }

"""Undo and redo: which acts stand after all of them."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from sense7_qual._arguments import check_arguments
from sense7_qual.acts._act import Act
from sense7_qual.acts._kinds import KINDS, kinds_where
from sense7_qual.errors import ActError

__all__ = ["about", "current", "done", "each_once", "standing"]


def standing(acts: Iterable[Act], *, subject: str | None = None) -> list[Act]:
    """Return the acts that stand now: every coding, finished unit, memo, ruling and proposal by its last act.
    Each decision about a quote stands by itself: which of them counts, `codings.quotes` says.

    Each coder's acts must come in the order in which they were done; the order between coders does not
    matter. An act that was undone counts as never done, until it is done again: then it counts in its old
    place. An act that comes again (by its act_id) changes nothing. With a `subject`, such as "coding" or
    "ruling", only what is about that.
    """
    check_arguments(standing, locals(), but=("acts",))
    now = current(done(acts))
    return now if subject is None else [act for act in now if act.traits.subject == subject]


def about(acts: Iterable[Act], subject: str) -> list[Act]:
    """Return the acts about a `subject`, with those that take one of them back or do it again, in order."""
    every = list(acts)
    chosen = {(act.coder, act.act_id) for act in every if act.traits.subject == subject}
    return [act for act in every if (act.coder, act.target or act.act_id) in chosen]


def current(acts: Iterable[Act]) -> list[Act]:
    """Return of acts that were not undone (`done`) the last about each coding, unit, memo … that stands."""
    now: dict[tuple[object, ...], Act] = {}
    for act in acts:
        key, stays = _effect(act)
        if stays:
            now[key] = act  # in the place where it first came: a changed facet moves nothing on screen
        else:
            now.pop(key, None)
    return list(now.values())


def done(acts: Iterable[Act]) -> list[Act]:
    """Return the acts that were not undone, in their order, without those that undo or redo others."""
    order = each_once(acts)
    undone: set[tuple[str, str]] = set()
    for act in order:
        if act.kind == "undo":
            undone.add((act.coder, str(act.target)))
        elif act.kind == "redo":
            undone.discard((act.coder, str(act.target)))
    return [act for act in order if act.kind not in _TAKING_BACK and (act.coder, act.act_id) not in undone]


def each_once(acts: Iterable[Act]) -> list[Act]:
    """Return the acts in their order, without those that come again; raise `ActError` where one is none."""
    order = list(acts) if isinstance(acts, Iterable) else [None]
    try:
        if len({act.act_id for act in order}) == len(order):
            return order  # without a table of a million pairs
        return list({(act.coder, act.act_id): act for act in order}.values())
    except (AttributeError, TypeError):
        raise ActError(
            f"fold: expected acts – found {type(acts).__name__} that holds others – pass store.acts()."
        ) from None


def _effect(act: Act) -> tuple[tuple[object, ...], bool]:
    """Return what the act decides about, and whether something stands there after it."""
    subject, which, leaves = _DECIDED[act.kind]
    stays = leaves == "this" or (leaves == "while_worded" and bool(act.text))
    return (subject, which(act)), stays


_TAKING_BACK: Final = frozenset(kinds_where(lambda kind: kind.takes_back))
_DECIDED: Final = {
    name: (kind.subject, attrgetter("coder", *kind.key), kind.leaves) for name, kind in KINDS.items()
}
"""What each kind decides about, once for a million acts."""

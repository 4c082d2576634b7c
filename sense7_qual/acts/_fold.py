"""The fold: what stands after all acts, as frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import pandas as pd

from sense7_qual.acts._act import Act
from sense7_qual.errors import ActError
from sense7_qual.tables import CODINGS, COVERAGE, MEMOS, Contract

__all__ = ["Record", "fold", "standing"]


@dataclass(frozen=True, slots=True)
class Record:
    """What stands after all acts: the frames `codings`, `coverage` and `memos` (see `tables`)."""

    codings: pd.DataFrame
    coverage: pd.DataFrame
    memos: pd.DataFrame

    def __repr__(self) -> str:
        return f"Record({len(self.codings)} codings, {len(self.coverage)} finished, {len(self.memos)} memos)"


def standing(acts: Iterable[Act]) -> list[Act]:
    """Return the acts that stand now: every coding, finished unit, memo and ruling by its last act.

    Each coder's acts must come in the order in which they were done; the order between coders does not
    matter. An act that was undone counts as never done, until it is done again: then it counts in its old
    place. An act that comes again (by its act_id) changes nothing.
    """
    order = _each_once(acts)
    undone: set[tuple[str, str]] = set()
    for act in order:
        if act.kind == "undo":
            undone.add((act.coder, str(act.target)))
        elif act.kind == "redo":
            undone.discard((act.coder, str(act.target)))
    now: dict[tuple[object, ...], Act] = {}
    for act in order:
        if act.kind in ("undo", "redo") or (act.coder, act.act_id) in undone:
            continue
        key, stays = _effect(act)
        if stays:
            now[key] = act  # in the place where it first came: a changed valence moves nothing on screen
        else:
            now.pop(key, None)
    return list(now.values())


def fold(acts: Iterable[Act]) -> Record:
    """Return what stands after `acts`, as frames.

    The same acts always give the same frames; acts of different coders never touch each other.

    Examples
    --------
    >>> from sense7_qual.acts import apply, finish
    >>> from sense7_qual.codebook import Codebook
    >>> sense7 = Codebook.read("sense7")
    >>> fold([apply(coder="ana", unit_id="m17", code="interest", codebook=sense7),
    ...       finish(coder="ana", unit_id="m17", codebook=sense7)])
    Record(1 codings, 1 finished, 0 memos)
    """
    now = standing(acts)
    kinds: dict[str, list[Act]] = {"apply": [], "finish": [], "memo": []}
    for act in now:
        if act.kind in kinds:
            kinds[act.kind].append(act)
    del now
    codings, coverage, memos = (
        _frame(kinds.pop(kind), contract)
        for kind, contract in (("apply", CODINGS), ("finish", COVERAGE), ("memo", MEMOS))
    )
    return Record(codings, coverage, memos)


def _each_once(acts: Iterable[Act]) -> list[Act]:
    order = list(acts)
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
    if act.kind in ("apply", "remove"):
        coding = ("coding", act.coder, act.unit_id, act.code, act.start, act.end, act.round)
        return coding, act.kind == "apply"
    if act.kind in ("finish", "reopen"):
        return ("coverage", act.coder, act.unit_id, act.round), act.kind == "finish"
    if act.kind == "memo":
        return ("memo", act.coder, act.memo_id), bool(act.text)
    if act.kind == "rule":
        return ("ruling", act.coder, act.unit_id, act.code), True
    return (act.kind, act.act_id), True


def _frame(acts: Sequence[Act], contract: Contract) -> pd.DataFrame:
    if not acts:
        return contract.empty()
    kinds = contract.empty().dtypes
    # A column at a time: a row at a time would hold a million rows twice.
    return pd.DataFrame(
        {name: pd.array(list(map(_COLUMNS.get(name) or attrgetter(name), acts)), dtype=kinds[name])
         for name in contract.columns}
    )  # fmt: skip


def _about_what(memo: Act) -> str | None:
    return memo.code if memo.target_kind == "code" else memo.unit_id


_COLUMNS: Final[Mapping[str, Callable[[Act], object]]] = {
    "finished_at": attrgetter("at"),
    "target_id": _about_what,
}
"""The columns that are not called as what they come from."""

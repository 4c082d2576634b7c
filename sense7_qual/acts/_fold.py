"""The fold: what stands after all acts, as frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import pandas as pd

from sense7_qual.acts._act import Act
from sense7_qual.acts._undo import standing
from sense7_qual.tables import CODINGS, COVERAGE, MEMOS, Contract

__all__ = ["Record", "fold"]


@dataclass(frozen=True, slots=True)
class Record:
    """What stands after all acts: the frames `codings`, `coverage` and `memos` (see `tables`)."""

    codings: pd.DataFrame
    coverage: pd.DataFrame
    memos: pd.DataFrame

    def __repr__(self) -> str:
        return f"Record({len(self.codings)} codings, {len(self.coverage)} finished, {len(self.memos)} memos)"


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

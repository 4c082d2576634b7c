"""What a file of another format cannot hold, or did not give back: counted, and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pandas as pd

from sense7_qual._messages import first_three

__all__ = ["Loss", "LossReport", "losses_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """One thing that a file does not hold as the study does, or that was not read as the file has it.

    Parameters
    ----------
    what : str
        The thing, and what became of it, in a sentence.
    n : int
        How many of them there are.
    where : str
        The first three ids, where there are ids.
    """

    what: str
    n: int
    where: str = ""

    def __str__(self) -> str:
        return f"{self.n:,} × {self.what}" + (f" ({self.where})" if self.where else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """Everything that was lost or changed on the way into a file, or out of it; empty where nothing was.

    Parameters
    ----------
    losses : tuple of Loss
        In the order in which they were met.
    """

    losses: tuple[Loss, ...] = ()

    def __iter__(self) -> Iterator[Loss]:
        return iter(self.losses)

    def __len__(self) -> int:
        return len(self.losses)

    def __str__(self) -> str:
        return "\n".join(map(str, self.losses)) or "nothing was lost"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per loss: what, n, where."""
        rows = [(loss.what, loss.n, loss.where) for loss in self.losses]
        return pd.DataFrame(rows, columns=["what", "n", "where"]).astype({"n": "int64"})


def losses_of(counted: Iterable[tuple[str, Iterable[object] | int]]) -> LossReport:
    """Return the report of what is not zero: of each sentence the ids that it is about, or their number."""
    losses = []
    for what, those in counted:
        ids = [] if isinstance(those, int) else list(those)
        named = dict.fromkeys(filter(None, ids))
        n = those if isinstance(those, int) else len(ids)
        if n:
            losses.append(Loss(what=what, n=n, where=first_three(named) if named else ""))
    return LossReport(losses=tuple(losses))

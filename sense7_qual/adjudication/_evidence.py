"""What tells kinds of disagreement apart: decisions made again, many coders on a text, reasons given."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual.adjudication._kinds import Rows
from sense7_qual.errors import TableError

__all__ = ["Evidence", "evidence", "made_again"]

Floats = npt.NDArray[np.float64]

_FEWEST_AGAIN: Final = 20
"""Texts that a coder must have decided on again before their disagreements are told."""
_MANY_CODERS: Final = 4
"""Coders on one text from which an ambiguous one looks otherwise than one coder's slip or stance."""
_FEWEST_BY_MANY: Final = 50
"""Texts of so many coders before ambiguous ones are told without repeats."""

_KEY: Final = ["unit_id", "coder", "code"]
_CELL: Final = ["unit_id", "code"]
_ANY, _SLIP, _AMBIGUOUS, _NO_SLIP = range(4)
_POSSIBLE: Final = np.array(
    [[True, True, True], [True, False, False], [False, True, False], [False, True, True]]
)
"""Which kinds a disagreement can be of (slip, ambiguous text, stance), after what a person said of it."""
_AFTER: Final = {
    "slip": _SLIP,
    "ambiguous_text": _AMBIGUOUS,
    "unclear_rule": _NO_SLIP,
    "missing_code": _NO_SLIP,
    "different_reading": _NO_SLIP,
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rows of the model, and of each unit × code (`cells`: unit_id, code, row, disputed) which
    is its own.

    `repeats` says whether the coders (in the rows' order) decided again; else only ambiguous texts are told.
    """

    repeats: bool
    coders: list[str] = field(repr=False)
    codes: list[str] = field(repr=False)
    rows: Rows = field(repr=False)
    cells: pd.DataFrame = field(repr=False)


def made_again(own: pd.DataFrame, repeats: pd.DataFrame) -> pd.DataFrame:
    """Return the second decisions of coders on what they decided on before: the columns of `own`."""
    both = own[[*_KEY, "applied"]].merge(repeats[[*_KEY, "applied"]], on=_KEY, suffixes=("_first", ""))
    if len(repeats) and both.empty:
        raise TableError(
            f"repeats: expected decisions that coders made again – found {len(repeats)}, none of them by the "
            "coder of a decision on the same unit and code – pass the decisions of another round, such as "
            'store.decisions(round="again"), with the same units and coders.'
        )
    if len(both) >= 50 and (both["applied_first"] == both["applied"]).all():
        warnings.warn(
            f"repeats: none of {len(both)} decisions differs from the first. If they are the same decisions, "
            "no slip is found: store.decisions() has the last round's, so name a round for both.",
            RuntimeWarning,
            stacklevel=3,
        )
    return both[[*_KEY, "applied"]]


def evidence(
    own: pd.DataFrame, again: pd.DataFrame, reasons: Mapping[tuple[str, str], str]
) -> Evidence | None:
    """Return what tells kinds apart, out of decisions, those made again, and reasons by unit_id and code."""
    texts = again.groupby("coder")["unit_id"].nunique()
    steady = set(texts.index[texts >= _FEWEST_AGAIN])
    by_them = own[own["coder"].isin(steady)]
    if by_them.groupby(_CELL)["coder"].size().ge(2).any():
        return _evidence(by_them, again[again["coder"].isin(steady)], reasons, repeats=True)
    by_many = own[own.groupby(_CELL)["coder"].transform("size") >= _MANY_CODERS]
    if by_many["unit_id"].nunique() >= _FEWEST_BY_MANY:
        return _evidence(by_many, again.iloc[:0], reasons, repeats=False)
    return None


def _evidence(
    own: pd.DataFrame, again: pd.DataFrame, reasons: Mapping[tuple[str, str], str], *, repeats: bool
) -> Evidence:
    coders, codes = sorted(own["coder"].unique()), sorted(own["code"].unique())
    cells = own[_CELL].drop_duplicates(ignore_index=True)
    first = _counted(own, cells, coders)
    both = first + _counted(again, cells, coders)
    disputed = np.asarray((first > 0).any(axis=2).all(axis=0))
    keys = zip(cells["unit_id"], cells["code"], strict=True)
    possible = np.where(disputed, [_AFTER.get(reasons.get(key, ""), _ANY) for key in keys], _ANY)
    number = pd.Index(codes).get_indexer(pd.Index(cells["code"]))
    table = np.column_stack([number, disputed & (possible != _NO_SLIP), possible, both[1], both[0]]).astype(
        np.int64
    )
    ways, row, n = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    rows = Rows(
        code=ways[:, 0],
        n=n,
        applied=ways[:, 3 : 3 + len(coders)].astype(np.float64),
        absent=ways[:, 3 + len(coders) :].astype(np.float64),
        counted=ways[:, 1].astype(np.bool_),
        possible=_POSSIBLE[ways[:, 2]],
    )
    cells = cells.assign(row=row.reshape(-1), disputed=disputed)
    return Evidence(repeats, list(map(str, coders)), list(map(str, codes)), rows, cells)


def _counted(decided: pd.DataFrame, cells: pd.DataFrame, coders: list[str]) -> Floats:
    """Return how often each coder left out and applied the code (2, cells, coders)."""
    at = pd.MultiIndex.from_frame(cells).get_indexer(pd.MultiIndex.from_frame(decided[_CELL]))
    times = np.zeros((2, len(cells), len(coders)))
    by = pd.Index(coders).get_indexer(pd.Index(decided["coder"]))
    np.add.at(times, (decided["applied"].to_numpy(dtype=np.int64), at, by), 1)
    return times

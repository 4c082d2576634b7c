"""How often each code is applied, in all and along the order of coding."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sense7_qual._present import percent
from sense7_qual.widgets._overview_board import Board

__all__ = ["frequency_rows"]

_MOST_PARTS: Final = 8
_LEAST_TEXTS: Final = 10


def frequency_rows(board: Board) -> list[dict[str, Any]]:
    """Return for each code the finished texts on which anybody applied it, and the share of decisions."""
    counts = board.tally
    applied = counts[counts["n_applied"] > 0].groupby("code")["unit_id"].nunique()
    sums = counts.groupby("code")[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).to_dict()
    parts = _parts_of_order(board)
    return [
        {
            "code": code.id,
            "label": code.label,
            "n": int(applied.get(code.id, 0)),
            "share": float(shares[code.id]) if code.id in shares else None,
            "parts": parts.get(code.id, []),
            "percent": f"{percent(shares[code.id])} %" if code.id in shares else "",
        }
        for code in board.codebook.codable
    ]


def _parts_of_order(board: Board) -> dict[str, list[float]]:
    """Return for each code the share of decisions that apply it in up to eight parts of the order of coding.

    A text belongs where the last of its coders first finished it. Parts have ten texts or more; else there is
    none.
    """
    last = board.finish_order.drop_duplicates("unit_id", keep="last").set_index("unit_id")
    n_parts = min(_MOST_PARTS, len(last) // _LEAST_TEXTS)
    if n_parts < 2:
        return {}
    parts = np.array_split(last.index.to_numpy(), n_parts)
    of_unit = {unit: part for part, units in enumerate(parts) for unit in units}
    tally = board.tally.assign(part=board.tally["unit_id"].map(of_unit))
    sums = tally.groupby(["code", "part"])[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).unstack("part")
    return {str(code): [float(share) for share in row.dropna()] for code, row in shares.iterrows()}

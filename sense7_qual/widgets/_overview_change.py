"""What changes while coding goes on: coders who drift, and how the codes came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual._present import coefficient, number
from sense7_qual.codings import development, saturation
from sense7_qual.revisions import emerged
from sense7_qual.widgets._overview_board import Board

__all__ = ["change", "drift_rows"]

_MORE: Final = 5


def change(board: Board) -> dict[str, Any]:
    """Return what changed in the order of coding: alarms for drift, and how the codes came."""
    rows = drift_rows(board)
    alarms = [row for row in rows if row["alarm"]]
    return {"alarms": alarms, "drift_words": _drift_words(rows, _looks(board)), **_came(board)}


def drift_rows(board: Board) -> list[dict[str, Any]]:
    """Return each coder × code whose decisions may be seen."""
    return [
        {
            "coder": row["coder"],
            "code": row["code"],
            "label": board.label(row["code"]),
            "n_first": int(row["n_first"]),
            "n_later": int(row["n_later"]),
            "first": None if pd.isna(row["share_first"]) else float(row["share_first"]),
            "later": None if pd.isna(row["share_later"]) else float(row["share_later"]),
            "alarm": bool(row["alarm"]),
            "words": _drifted(board, row) if row["alarm"] else "",
            "too_few": not pd.isna(row["reason"]),
        }
        for row in board.drift.to_dict("records")
        if row["n_first"] + row["n_later"]
    ]


def _drifted(board: Board, row: Mapping[Any, Any]) -> str:
    often = "more" if row["share_later"] > row["share_first"] else "less"
    who, applies = ("You", "apply") if row["coder"] == board.viewer else (row["coder"], "applies")
    shares = [coefficient(row[name], 2) for name in ("share_first", "share_later")]
    return (
        f"{who} {applies} {board.label(row['code'])} {often} often than at first: to {shares[0]} of the "
        f"first {row['n_first']} texts, to {shares[1]} of the {row['n_later']} after them."
    )


def _looks(board: Board) -> str:
    """Return for how many looks the bound on false alarms holds: without a plan only for one."""
    planned = set(board.decided["coder"]) <= set(board.seen_plan["coder"])
    return "however often you look" if planned else "at one look at the end, since texts were not planned"


def _drift_words(rows: list[dict[str, Any]], looks: str) -> str:
    if not rows or all(row["too_few"] for row in rows):
        return "Drift: too few texts yet to tell whether a coder applies a code more, or less, than at first."
    n = sum(not row["too_few"] for row in rows)
    alarms = sum(row["alarm"] for row in rows)
    return (
        f"Drift: {alarms or 'no'} {'alarm' if alarms == 1 else 'alarms'} among {n} pairs of a coder and a "
        f"code. Where nobody drifts and texts come in random order, at most 5 % of studies have any, {looks}."
    )


def _came(board: Board) -> dict[str, Any]:
    """Return how many codes had been applied after each participant, and what further ones would bring."""
    codings, coverage = board.standing[0], board.read.coverage
    if coverage.empty:
        return {"came": [], "came_words": ""}
    if board.cluster is None:
        words = "Some texts have no participant (case_id), so it is not counted how the codes came."
        return {"came": [], "came_words": words}
    rows = development(codings, board.units, cluster=board.cluster, coverage=coverage)
    n_codes = [int(n) for n in rows["n_codes"]]
    new = rows.loc[rows["n_new"] > 0, "place"]
    last = 0 if new.empty else int(new.iloc[-1])
    said = f"{n_codes[-1]} of {len(board.codebook.codable)} codes were applied to {len(rows)} participants"
    said += ", all of them to the first one." if last == 1 else "."
    said += f" The last new one came with participant {last}." if last > 1 else ""
    return {"came": n_codes, "came_words": f"{said} {_saturated(board, codings, board.cluster)}"}


def _saturated(board: Board, codings: pd.DataFrame, cluster: str) -> str:
    codes = emerged(board.read.revisions, board.codebooks)
    if not codes:
        return "No code came while coding, so there is no saturation to speak of."
    coverage = board.read.coverage
    result = saturation(codings, board.units, cluster=cluster, emerged=codes, coverage=coverage, more=[_MORE])
    row = result.iloc[0]
    if pd.isna(row["new_codes"]):
        return "Too little was coded to tell what further participants would bring."
    ends = f"{number(row['low'], 1)} to {number(row['high'], 1)}"
    return (
        f"Of codes that came while coding, {_MORE} further participants would bring about "
        f"{number(row['new_codes'], 1)} more (95% CI {ends})."
    )

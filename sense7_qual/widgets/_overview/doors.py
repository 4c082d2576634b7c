"""The texts behind each number of the overview, and one of them with the codings that may be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual.errors import ActError
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._offsets import folded, utf16_units

__all__ = ["PAGE", "behind", "page", "text_of"]

PAGE: Final = 40
_EXCERPT: Final = 140
_LONGEST: Final = 200

Rows = list[tuple[str, str]]
"""Ids of units, each with what is to be said of it."""


def behind(board: Board, door: Mapping[str, Any]) -> tuple[str, Rows]:
    """Return what a number counts, in words, and the units behind it in their order.

    `door` says ``of``, what is counted, and where it is so: ``round`` (None: no round), ``coder``, ``code``.
    """
    asked = {name: _word(door.get(name)) for name in ("of", "round", "coder", "code")}
    find = _DOORS.get(str(asked["of"]))
    if find is None:
        raise ActError("overview: expected one of its numbers – found another – reload the page.")
    title, rows = find(board, asked)
    places = board.places
    return title, [(unit, note) for unit, note in rows if unit in places]


def page(board: Board, door: Mapping[str, Any], *, first: int, find: str) -> dict[str, Any]:
    """Return one page of the units behind a number, each with the beginning of its text."""
    title, rows = behind(board, door)
    wanted = folded(find[:_LONGEST]).strip()
    texts = board.read.texts
    if wanted:
        rows = [row for row in rows if wanted in folded(texts[row[0]]) or wanted in folded(row[0])]
    return {
        "title": title,
        "n": len(rows),
        "first": first,
        "rows": [
            {"unit_id": unit, "words": _shortened(texts[unit]), "note": note}
            for unit, note in rows[first : first + PAGE]
        ],
    }


def text_of(board: Board, unit_id: object) -> dict[str, Any]:
    """Return a text with what may be seen on it: each coder's codings in the codes of the current version."""
    if not isinstance(unit_id, str) or unit_id not in board.places:
        raise ActError("overview: expected a text of this study – found another – open the list again.")
    text = board.read.texts[unit_id]
    codings, undecided = board.read.standing
    done = board.order.loc[board.order["unit_id"] == unit_id, "coder"].tolist()
    here = codings[codings["unit_id"] == unit_id]
    again = undecided[undecided["unit_id"] == unit_id]
    return {
        "unit_id": unit_id,
        "text": text,
        "viewer": board.viewer,
        "coders": [
            {"coder": coder, "finished": True,
             "codings": [_coding(row, text) for row in here[here["coder"] == coder].to_dict("records")],
             "again": [board.label(code) for code in again.loc[again["coder"] == coder, "code"]]}
            for coder in sorted(done, key=lambda coder: (coder != board.viewer, coder))
        ],
    }  # fmt: skip


def _coding(row: Mapping[Any, Any], text: str) -> dict[str, Any]:
    whole = pd.isna(row["start"])
    start, end = (None, None) if whole else utf16_units(text, int(row["start"]), int(row["end"]))
    return {
        "code": row["code"],
        "start": start,
        "end": end,
        "facets": {},
        "confidence": None if pd.isna(row["confidence"]) else row["confidence"],
    }


# what each number counts ----------------------------------------------------------------------------


def _planned(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    units = board.planned_units(asked["round"])
    return f"Texts of {_named(asked)}", [(unit, "") for unit in units]


def _finished(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    coder = _followed(board, asked)
    done = board.finished_units(asked["round"], coder)
    units = [unit for unit in board.planned_units(asked["round"], coder) if unit in done]
    return f"Finished by {coder}, in {_named(asked)}", [(unit, "") for unit in units]


def _left(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    coder = _followed(board, asked)
    done = board.finished_units(asked["round"], coder)
    units = [unit for unit in board.planned_units(asked["round"], coder) if unit not in done]
    return f"Not finished by {coder} yet, in {_named(asked)}", [(unit, "") for unit in units]


def _followed(board: Board, asked: Mapping[str, Any]) -> str:
    """Return the coder whose progress is asked for, or raise where it is none of the viewer's business."""
    coder = str(asked["coder"])
    if coder != board.viewer and not board.follows(asked["round"]):
        raise ActError(
            "overview: expected a coder whose progress may be seen – found another, in a blind round – wait "
            "until its lead has unblinded it."
        )
    return coder


def _double(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = _of_code(board, asked)
    rows = rows[rows["n_coders"] > 1]
    notes = [
        "all alike" if applied in (0, n) else f"{applied} of {n} coders applied it"
        for n, applied in zip(rows["n_coders"], rows["n_applied"], strict=True)
    ]
    title = f"{_label(board, asked)}: texts that two or more coders decided on"
    return title, _in_order(board, dict(zip(rows["unit_id"], notes, strict=True)))


def _applied(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = _of_code(board, asked)
    rows = rows[rows["n_applied"] > 0]
    notes = [
        f"{applied} of {n} {'coder' if n == 1 else 'coders'}"
        for n, applied in zip(rows["n_coders"], rows["n_applied"], strict=True)
    ]
    title = f"{_label(board, asked)}: texts on which it was applied"
    return title, _in_order(board, dict(zip(rows["unit_id"], notes, strict=True)))


def _of_code(board: Board, asked: Mapping[str, Any]) -> pd.DataFrame:
    of_it: pd.DataFrame = board.tally[board.tally["code"] == asked["code"]]
    return of_it


def _open(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """Each text once, with all codes that are disputed on it, the hardest first."""
    rows = board.queue
    rows = rows[rows["settled"].isna()]
    if asked["code"] is not None:
        rows = rows[rows["code"] == asked["code"]]
    notes: dict[str, list[str]] = {}
    for row in rows.to_dict("records"):
        said = f"{row['applied_by']} – not {row['not_applied_by']}"
        said = said if asked["code"] is not None else f"{board.label(row['code'])}: {said}"
        notes.setdefault(row["unit_id"], []).append(said)
    whose = "" if asked["code"] is None else f"{_label(board, asked)}: "
    return f"{whose}disagreements that are not settled", [(unit, "; ".join(n)) for unit, n in notes.items()]


def _stale(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = board.stale[board.stale["coder"] == asked["coder"]]
    notes: dict[str, list[str]] = {}
    for unit, code in zip(rows["unit_id"], rows["code"], strict=True):
        notes.setdefault(unit, []).append(board.label(code))
    said = {unit: f"to be decided again: {', '.join(labels)}" for unit, labels in notes.items()}
    return f"Texts that {asked['coder']} must look at again", _in_order(board, said)


def _later(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """The texts after the first third of a coder's, in the order in which they were first finished."""
    found = board.drift
    n_later = int(
        found.loc[(found["coder"] == asked["coder"]) & (found["code"] == asked["code"]), "n_later"].sum()
    )
    order = board.finish_order[board.finish_order["coder"] == asked["coder"]]
    decided = board.read.decided
    mine = decided[(decided["coder"] == asked["coder"]) & (decided["code"] == asked["code"])]
    applied = dict(zip(mine["unit_id"], mine["applied"], strict=True))
    units = [unit for unit in order["unit_id"] if unit in applied]
    later = units[len(units) - n_later :]
    notes = {True: "applied", False: "not applied"}
    title = f"{asked['coder']}, {_label(board, asked)}: the texts after the first third"
    return title, [(unit, notes[bool(applied[unit])]) for unit in later]


def _proposals(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = board.proposals
    who = rows["coder"].where(rows["origin"].isna(), "a model")
    made = zip(rows["unit_id"].fillna(""), rows["label"], who, strict=True)
    return "Codes that were proposed", [(unit, f"{one} proposes “{label}”") for unit, label, one in made]


def _in_order(board: Board, notes: Mapping[str, str]) -> Rows:
    return [(unit, notes[unit]) for unit in sorted(notes, key=lambda unit: board.places.get(unit, 0))]


def _label(board: Board, asked: Mapping[str, Any]) -> str:
    return board.label(str(asked["code"]))


def _named(asked: Mapping[str, Any]) -> str:
    return "no round" if asked["round"] is None else f"round {asked['round']!r}"


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else f"{words[:_EXCERPT].rstrip()}…"


_DOORS: Final[Mapping[str, Callable[[Board, Mapping[str, Any]], tuple[str, Rows]]]] = {
    "planned": _planned,
    "finished": _finished,
    "left": _left,
    "double": _double,
    "applied": _applied,
    "open": _open,
    "stale": _stale,
    "later": _later,
    "proposals": _proposals,
}

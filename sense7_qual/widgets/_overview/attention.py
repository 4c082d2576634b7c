"""What needs attention next, and the texts behind each number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import pandas as pd

from sense7_qual.errors import ActError
from sense7_qual.widgets._coding.inbox import waiting
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._offsets import folded, utf16_units
from sense7_qual.widgets._overview.rows import LEAST

_ROUNDS: Final = ("round", "training", "discussion")
_OWN_TEXTS: Final = ("again", "new", "earlier")
"""Items of an inbox that lead to a round, and those about the texts of one."""

Item = dict[str, Any]


def attention(
    board: Board,
    progress: Sequence[Mapping[str, Any]],
    agreement: Sequence[Mapping[str, Any]],
    drifts: Sequence[Mapping[str, Any]] = (),
    leaning: Sequence[Mapping[str, Any]] = (),
) -> list[Item]:
    """List the next steps, most pressing first.

    Agreement, drifts and who codes differently (`leaning_rows`) are empty while they are being computed. Each
    case has ``what``, ``todo``, ``cell`` (what to run for it), ``door`` (to the texts) and ``n`` (how many).

    First what holds others up (a round that waits to be unblinded), then what makes the numbers wrong (texts
    to look at again), then what makes them weak (coders who drift, codes that are not agreed on), then what
    is left to settle. A coder of a study that names its leads sees their inbox alone. Where nobody has
    finished a text that may be seen, the first steps of a study are listed.
    """
    if board.is_coder:
        return _inbox(board)
    if board.finished.empty:
        return list(_to_begin(board))
    return [
        *_to_unblind(board, progress),
        *_to_review(board),
        *_drifting(board, drifts),
        *_weak(board, agreement, {row["code"]: row for row in reversed(leaning)}),
        *_to_settle(board),
        *_to_answer(board),
    ]


def _inbox(board: Board) -> list[Item]:
    """List the viewer's inbox as their coding widgets do, over all their rounds."""
    own = board.plan.loc[board.plan["coder"] == board.viewer, "round"].astype(object)
    rounds = [None] if board.plan.empty else list(dict.fromkeys(own.where(own.notna(), None)))
    found: list[Item] = []
    for name in rounds:
        for one in waiting(board.study, coder=board.viewer, round=name):
            item = _waits(board, one, name, is_one_of_many=len(rounds) > 1)
            if item["what"] not in [other["what"] for other in found]:
                found.append(item)
    return found


def _waits(board: Board, one: Item, name: str | None, *, is_one_of_many: bool) -> Item:
    """Describe an item of the inbox; where there is something to code, with the cell that opens it."""
    kind, _, of = one["id"].partition(":")
    if kind in _ROUNDS:
        what, todo, cell = one["title"], "", _open_cell(board.viewer, of)
    elif kind in _OWN_TEXTS:
        where = f" in {_named({'round': name})}" if is_one_of_many else ""
        what, todo = f"{one['title']}{where}", one["more"]
        cell = _open_cell(board.viewer, name, ', review="stale"' * (kind == "again"))
    else:
        what, todo, cell = one["title"], one["more"], ""
    door = {"of": kind, "round": name}
    return {"what": what, "todo": todo, "n": len(one["units"]), "door": door, "cell": cell}


def _open_cell(coder: str, name: str | None, more: str = "") -> str:
    where = f", round={name!r}" if name else ""
    return f"qual.widgets.CodingWidget(store, coder={coder!r}{where}{more})"


def _to_begin(board: Board) -> Iterator[Item]:
    begun = bool(board.rounds) or not board.plan.empty
    if not begun:
        yield _step(
            "Assign the texts to coders.",
            "Here half of them go to both coders, so that agreement can be measured.",
            f"store.assign(coders=['ana', 'ben'], overlap=0.5, seed=1, coder={board.viewer!r})",
        )
    planned: list[tuple[str, str | None]] = [(one.coders[0], one.name) for one in board.rounds if one.coders]
    planned += [(coder, None) for coder in board.plan.loc[board.plan["round"].isna(), "coder"]]
    coder, name = planned[0] if planned else ("ana", None)
    yield _step(
        "Each coder codes under a pseudonym of their own.",
        f"This cell is for {coder}; change the pseudonym for each of the others.",
        _open_cell(coder, name),
    )
    yield _step(
        "Come back once texts are finished.",
        "Progress, agreement and the next steps then appear here. Press r to count again.",
        _lead_cell(board, "OverviewWidget"),
    )


def _step(what: str, todo: str, cell: str) -> Item:
    return {"what": what, "todo": todo, "n": 0, "door": {"of": "begin"}, "cell": cell}


def _item(board: Board, what: str, todo: str, *, door: Item, cell: str) -> Item:
    return {"what": what, "todo": todo, "n": len(behind(board, door)[1]), "door": door, "cell": cell}


def _to_unblind(board: Board, progress: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    for row in progress:
        if row["round"] is None or not row["is_finished"] or "blind" not in row["state"].split():
            continue
        if not board.leads(row["round"]):
            continue
        cell = (
            f"store.append([qual.rounds.unblind({row['round']!r}, coder={board.viewer!r}, "
            "codebook=store.codebook)])"
        )
        yield _item(
            board,
            f"Everybody has finished round {row['round']!r}, which is still blind.",
            "Unblind it (permanently) to see its agreement and settle its disagreements.",
            door={"of": "planned", "round": row["round"]},
            cell=cell,
        )


def _to_review(board: Board) -> Iterator[Item]:
    waiting = board.stale[["unit_id", "coder", "round"]].drop_duplicates().fillna({"round": ""})
    for (coder, name), rows in waiting.groupby(["coder", "round"]):
        n = len(rows)
        whose = "You have" if coder == board.viewer else f"{coder} has"
        yield _item(
            board,
            f"{whose} {n} {_texts(n)} to look at again: the codebook changed after they were finished.",
            "Until then they are missing from all numbers on the changed codes.",
            door={"of": "stale", "coder": coder, "round": name or None},
            cell=_open_cell(str(coder), str(name), ', review="stale"'),
        )


def _drifting(board: Board, drifts: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    for row in drifts:
        yield _item(
            board,
            row["words"],
            "Read these texts together. It is a reason to talk, not a verdict: the texts may differ, too.",
            door={"of": "later", "coder": row["coder"], "code": row["code"]},
            cell="",
        )


def _weak(
    board: Board, agreement: Sequence[Mapping[str, Any]], leaning: Mapping[str, Mapping[str, Any]]
) -> Iterator[Item]:
    low = [row for row in agreement if row["alpha"] is not None and row["alpha"] < LEAST]
    for row in sorted(low, key=lambda row: row["alpha"]):
        surely = row["high"] is not None and row["high"] < LEAST
        where = f"alpha {row['value']} {row['interval']}".strip()
        what = f"{row['label']}: {where} on {row['n']} {_texts(row['n'])}, under .667" + (
            "." if surely else "; the interval reaches beyond it." if row["interval"] else "."
        )
        if row["code"] in leaning:
            yield _read_together(board, what, leaning[row["code"]])
            continue
        yield _item(
            board,
            what,
            "Read the disagreements; sharpen its definition, or merge or split it."
            if surely
            else "Code more texts twice to be sure; read the disagreements in the meantime.",
            door={"of": "open", "code": row["code"]},
            cell=_lead_cell(board, "CodebookWidget"),
        )


def _read_together(board: Board, what: str, row: Mapping[str, Any]) -> Item:
    """Advise to talk before the rule is sharpened: one coder reads the code differently from the others."""
    who, with_whom = (
        ("You apply", "the others")
        if row["coder"] == board.viewer
        else (f"{row['coder']} applies", row["coder"])
    )
    return _item(
        board,
        what,
        f"{who} it to {row['share']} of {row['n']} texts, the others to {row['others']}. Read these with "
        f"{with_whom} first: the rule may be good.",
        door={"of": "against", "coder": row["coder"], "code": row["code"]},
        cell="",
    )


def _to_settle(board: Board) -> Iterator[Item]:
    n = int(board.queue["settled"].isna().sum())
    if n:
        yield _item(
            board,
            f"{n} {'disagreement is' if n == 1 else 'disagreements are'} not settled"
            f"{'' if board.is_lead else ' by a ruling of yours'}.",
            "Settle them text by text, or discuss them in a separate round.",
            door={"of": "open"},
            cell=_lead_cell(board, "AdjudicationWidget"),
        )


def _to_answer(board: Board) -> Iterator[Item]:
    n = len(board.proposals)
    if n:
        yield _item(
            board,
            f"{n} proposed {'code waits' if n == 1 else 'codes wait'} for an answer.",
            "Under “Proposals”, take each as a new code or into an existing one, or send it back.",
            door={"of": "proposals"},
            cell=_lead_cell(board, "CodebookWidget"),
        )


def _texts(n: int) -> str:
    return "text" if n == 1 else "texts"


def _lead_cell(board: Board, name: str) -> str:
    also = ", without_round=True" if board.without_round else ""
    return f"qual.widgets.{name}(store, coder={board.viewer!r}{also})"


PAGE: Final = 40
_EXCERPT: Final = 140
_LONGEST: Final = 200

Rows = list[tuple[str, str]]
"""Ids of units, each with what is to be said of it."""


def behind(board: Board, door: Mapping[str, Any]) -> tuple[str, Rows]:
    """Describe what a number counts, and list the units behind it in their order.

    `door` says ``of``, what is counted, and where it is so: ``round`` (None: no round), ``coder``, ``code``.
    """
    asked = {name: _word(door.get(name)) for name in ("of", "round", "coder", "code")}
    find = _DOORS.get(str(asked["of"]))
    if find is None:
        raise ActError("overview: it has no such number – reload the page.")
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
        raise ActError("overview: this text is not in the study any more – open the list again.")
    text = board.read.texts[unit_id]
    codings, undecided = board.read.in_the_end, board.read.standing[1]
    done = board.order.loc[board.order["unit_id"] == unit_id, "coder"].tolist()
    here = codings[codings["unit_id"] == unit_id]
    again = undecided[undecided["unit_id"] == unit_id]
    return {
        "unit_id": unit_id,
        "text": text,
        "viewer": board.viewer,
        "coders": [
            {
                "coder": coder,
                "finished": True,
                "codings": [_coding(row, text) for row in here[here["coder"] == coder].to_dict("records")],
                "again": [board.label(code) for code in again.loc[again["coder"] == coder, "code"]],
            }
            for coder in sorted(done, key=lambda coder: (coder != board.viewer, coder))
        ],
    }


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


def _of_coder(board: Board, asked: Mapping[str, Any], *, done: bool) -> tuple[str, Rows]:
    """The texts of a coder in a round that they finished, or those that are left."""
    coder = _followed(board, asked)
    finished = board.finished_units(asked["round"], coder)
    units = [unit for unit in board.planned_units(asked["round"], coder) if (unit in finished) is done]
    title = f"{'Finished' if done else 'Not yet finished'} by {coder} in {_named(asked)}"
    return title, [(unit, "") for unit in units]


def _followed(board: Board, asked: Mapping[str, Any]) -> str:
    """Return the coder whose progress is asked for, or raise where it is none of the viewer's business."""
    coder = str(asked["coder"])
    if coder != board.viewer and not board.follows(asked["round"]):
        raise ActError(
            "overview: this round is blind, so you cannot see the progress of others – wait until its lead "
            "has unblinded it."
        )
    return coder


def _of_code(board: Board, asked: Mapping[str, Any], *, double: bool) -> tuple[str, Rows]:
    """The texts with a code that two or more coders decided, or those that it was applied to."""
    tally = board.independent_tally if double else board.tally
    rows = tally[tally["code"] == asked["code"]]
    rows = rows[rows["n_coders"] > 1] if double else rows[rows["n_applied"] > 0]
    notes = {
        unit: "all agree"
        if double and applied in (0, n)
        else f"{applied} of {n} {'coder' if n == 1 else 'coders'}{' applied it' * double}"
        for unit, n, applied in zip(rows["unit_id"], rows["n_coders"], rows["n_applied"], strict=True)
    }
    what = "texts decided by two or more coders" if double else "texts it was applied to"
    return f"{_label(board, asked)}: {what}", _in_order(board, notes)


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
    return f"{whose}unsettled disagreements", [(unit, "; ".join(n)) for unit, n in notes.items()]


def _stale(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = board.stale[board.stale["coder"] == asked["coder"]]
    rows = rows[rows["round"].fillna("") == (asked["round"] or "")]
    notes: dict[str, list[str]] = {}
    for unit, code in zip(rows["unit_id"], rows["code"], strict=True):
        notes.setdefault(unit, []).append(board.label(code))
    said = {unit: f"to decide again: {', '.join(labels)}" for unit, labels in notes.items()}
    return f"Texts that {asked['coder']} must look at again", _in_order(board, said)


def _waiting(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """The texts of an item of the viewer's own inbox."""
    items = waiting(board.study, coder=board.viewer, round=asked["round"])
    found = {one["what"]: one for one in items}.get(str(asked["of"]), {"title": "Nothing waits", "units": ()})
    return found["title"], [(unit, "") for unit in found["units"]]


def _later(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """The texts after the first third of a coder's, with the code first, as they were first finished."""
    drift = board.drift
    is_it = (drift["coder"] == asked["coder"]) & (drift["code"] == asked["code"])
    n_later = int(drift.loc[is_it, "n_later"].sum())
    order = board.finish_order[board.finish_order["coder"] == asked["coder"]]
    decided = board.read.independent
    mine = decided[(decided["coder"] == asked["coder"]) & (decided["code"] == asked["code"])]
    applied = dict(zip(mine["unit_id"], mine["applied"], strict=True))
    units = [unit for unit in order["unit_id"] if unit in applied]
    later = sorted(units[len(units) - n_later :], key=lambda unit: not applied[unit])
    notes = {True: "applied", False: "not applied"}
    title = f"{asked['coder']}, {_label(board, asked)}: the texts after the first third"
    return title, [(unit, notes[bool(applied[unit])]) for unit in later]


def _against(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """The texts on which a coder decided against most of the others, those with the coder's code first."""
    rows = board.against
    rows = rows[(rows["coder"] == asked["coder"]) & (rows["code"] == asked["code"])]
    applied = dict(zip(rows["unit_id"], rows["applied"], strict=True))
    notes = {1: f"only {asked['coder']} applied it", 0: f"{asked['coder']} did not apply it"}
    units = sorted(applied, key=lambda unit: (not applied[unit], board.places.get(unit, 0)))
    title = f"{_label(board, asked)}: {asked['coder']} against the others"
    return title, [(unit, notes[int(applied[unit])]) for unit in units]


def _proposals(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = board.proposals
    who = rows["coder"].where(rows["origin"].isna(), "a model")
    made = zip(rows["unit_id"].fillna(""), rows["label"], who, strict=True)
    return "Proposed codes", [(unit, f"{one} proposes “{label}”") for unit, label, one in made]


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
    "finished": partial(_of_coder, done=True),
    "left": partial(_of_coder, done=False),
    "double": partial(_of_code, double=True),
    "applied": partial(_of_code, double=False),
    "open": _open,
    "stale": _stale,
    "again": _waiting,
    "new": _waiting,
    "later": _later,
    "against": _against,
    "proposals": _proposals,
}

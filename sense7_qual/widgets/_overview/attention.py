"""What needs attention next, what changes while coding goes on, and the texts behind each number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._present import coefficient, number, percent
from sense7_qual.codebook import emerged
from sense7_qual.codings import development, saturation
from sense7_qual.errors import ActError
from sense7_qual.widgets._lead_view import Board
from sense7_qual.widgets._offsets import folded, utf16_units
from sense7_qual.widgets._overview.rows import LEAST

_REVIEW: Final = 'qual.widgets.CodingWidget(store, coder={0!r}{1}, review="stale")'

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
    is left to settle. A coder of a study that names its leads is told of their own texts alone. Where nobody
    has finished a text that may be seen, the first steps of a study are listed.
    """
    if board.finished.empty and not board.is_coder:
        return list(_to_begin(board))
    if board.is_coder:  # what is a lead's to do is no news for a coder
        return [item for item in _to_review(board) if item["door"]["coder"] == board.viewer]
    return [
        *_to_unblind(board, progress),
        *_to_review(board),
        *_drifting(board, drifts),
        *_weak(board, agreement, {row["code"]: row for row in reversed(leaning)}),
        *_to_settle(board),
        *_to_answer(board),
    ]


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
        f"qual.widgets.CodingWidget(store, coder={coder!r}{f', round={name!r}' if name else ''})",
    )
    yield _step(
        "Come back once texts are finished.",
        "Progress, agreement and the next steps then appear here. Press r to count again.",
        f"qual.widgets.OverviewWidget(store, coder={board.viewer!r}{_also(board)})",
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
            door={"of": "planned", "round": row["round"]}, cell=cell,
        )  # fmt: skip


def _to_review(board: Board) -> Iterator[Item]:
    waiting = board.stale[["unit_id", "coder", "round"]].drop_duplicates().fillna({"round": ""})
    for (coder, name), rows in waiting.groupby(["coder", "round"]):
        n = len(rows)
        whose = "You have" if coder == board.viewer else f"{coder} has"
        yield _item(
            board,
            f"{whose} {n} {_texts(n)} to look at again: the codebook changed after they were finished.",
            "Until then they are missing from all numbers on the changed codes.",
            door={"of": "stale", "coder": coder},
            cell=_REVIEW.format(coder, f", round={name!r}" if name else ""),
        )  # fmt: skip


def _drifting(board: Board, drifts: Sequence[Mapping[str, Any]]) -> Iterator[Item]:
    for row in drifts:
        if row["alarm"]:
            yield _item(
                board,
                row["words"],
                "Read these texts together. It is a reason to talk, not a verdict: the texts may differ, "
                "too.",
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
            cell=f"qual.widgets.CodebookWidget(store, coder={board.viewer!r}{_also(board)})",
        )  # fmt: skip


def _read_together(board: Board, what: str, row: Mapping[str, Any]) -> Item:
    """Advise to talk before the rule is sharpened: one coder reads the code differently from the others."""
    who, with_whom = ("You apply", "the others") if row["coder"] == board.viewer else (
        f"{row['coder']} applies", row["coder"]
    )  # fmt: skip
    return _item(
        board,
        what,
        f"{who} it to {row['share']} of {row['n']} texts, the others to {row['others']}. Read these with "
        f"{with_whom} first: the rule may be good.",
        door={"of": "against", "coder": row["coder"], "code": row["code"]}, cell="",
    )  # fmt: skip


def leaning_rows(board: Board) -> list[dict[str, Any]]:
    """Return the coders who surely apply a code more or less than the others, the largest difference first.

    ``n_apart`` counts the texts on which they decided against most of the others.
    """
    apart = board.against.groupby(["coder", "code"])["unit_id"].size()
    return [
        {
            "coder": row["coder"], "code": row["code"], "label": board.label(row["code"]),
            "n": int(row["n_units"]), "at": float(row["prevalence"]), "others_at": float(row["others"]),
            "share": f"{percent(row['prevalence'])} %", "others": f"{percent(row['others'])} %",
            "n_apart": int(apart.get((row["coder"], row["code"]), 0)),
        }
        for row in board.leanings.to_dict("records")
    ]  # fmt: skip


def _to_settle(board: Board) -> Iterator[Item]:
    n = int(board.queue["settled"].isna().sum())
    if n:
        yield _item(
            board,
            f"{n} {'disagreement is' if n == 1 else 'disagreements are'} not settled"
            f"{'' if board.is_lead else ' by a ruling of yours'}.",
            "Settle them text by text, or discuss them in a separate round.",
            door={"of": "open"},
            cell=f"qual.widgets.AdjudicationWidget(store, coder={board.viewer!r}{_also(board)})",
        )  # fmt: skip


def _to_answer(board: Board) -> Iterator[Item]:
    n = len(board.proposals)
    if n:
        yield _item(
            board,
            f"{n} proposed {'code waits' if n == 1 else 'codes wait'} for an answer.",
            "Under “Proposals”, take each as a new code or into an existing one, or send it back.",
            door={"of": "proposals"},
            cell=f"qual.widgets.CodebookWidget(store, coder={board.viewer!r}{_also(board)})",
        )  # fmt: skip


def _texts(n: int) -> str:
    return "text" if n == 1 else "texts"


def _also(board: Board) -> str:
    return ", without_round=True" if board.without_round else ""


_MORE: Final = 5


def change(board: Board) -> dict[str, Any]:
    """Describe changes over the order of coding: alarms for drift, and when codes emerged."""
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
        f"first {row['n_first']} texts and to {shares[1]} of the {row['n_later']} after them."
    )


def _looks(board: Board) -> str:
    """Return for how many looks the bound on false alarms holds: without a plan only for one."""
    planned = set(board.read.decided["coder"]) <= set(board.seen_plan["coder"])
    return "however often you look" if planned else "for one look at the end, since texts were not planned"


def _drift_words(rows: list[dict[str, Any]], looks: str) -> str:
    if not rows or all(row["too_few"] for row in rows):
        return "Drift: too few texts yet to tell whether a coder applies a code more or less than at first."
    n = sum(not row["too_few"] for row in rows)
    alarms = sum(row["alarm"] for row in rows)
    return (
        f"Drift: {alarms or 'no'} {'alarm' if alarms == 1 else 'alarms'} among {n} pairs of coder and code. "
        f"If nobody drifts and texts come in random order, at most 5 % of studies have any alarm, {looks}."
    )


def _came(board: Board) -> dict[str, Any]:
    """Count the codes applied after each participant, and predict those that further ones bring."""
    codings, coverage = board.read.standing[0], board.read.coverage
    if coverage.empty:
        return {"came": [], "came_words": ""}
    if board.cluster is None:
        words = "Some texts have no participant (case_id), so new codes are not counted by participant."
        return {"came": [], "came_words": words}
    rows = development(codings, board.units, cluster=board.cluster, coverage=coverage)
    n_codes = [int(n) for n in rows["n_codes"]]
    new = rows.loc[rows["n_new"] > 0, "place"]
    last = 0 if new.empty else int(new.iloc[-1])
    said = f"{n_codes[-1]} of {len(board.codebook.codable)} codes occur in texts of {len(rows)} participants"
    said += ", all of them in those of the first." if last == 1 else "."
    said += f" The last new code came with participant {last}." if last > 1 else ""
    return {"came": n_codes, "came_words": f"{said} {_saturated(board, codings, board.cluster)}"}


def _saturated(board: Board, codings: pd.DataFrame, cluster: str) -> str:
    codes = emerged(board.read.revisions, board.codebooks)
    if not codes:
        return "No code emerged during coding, so saturation does not apply."
    coverage = board.read.coverage
    result = saturation(codings, board.units, cluster=cluster, emerged=codes, coverage=coverage, more=[_MORE])
    row = result.iloc[0]
    if pd.isna(row["new_codes"]):
        return "Too little is coded yet to predict new codes from further participants."
    ends = f"{number(row['low'], 1)} to {number(row['high'], 1)}"
    return (
        f"{_MORE} further participants would bring about {number(row['new_codes'], 1)} more codes of those "
        f"that emerge during coding (95% CI {ends})."
    )


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
    return f"Finished by {coder} in {_named(asked)}", [(unit, "") for unit in units]


def _left(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    coder = _followed(board, asked)
    done = board.finished_units(asked["round"], coder)
    units = [unit for unit in board.planned_units(asked["round"], coder) if unit not in done]
    return f"Not yet finished by {coder} in {_named(asked)}", [(unit, "") for unit in units]


def _followed(board: Board, asked: Mapping[str, Any]) -> str:
    """Return the coder whose progress is asked for, or raise where it is none of the viewer's business."""
    coder = str(asked["coder"])
    if coder != board.viewer and not board.follows(asked["round"]):
        raise ActError(
            "overview: this round is blind, so you cannot see the progress of others – wait until its lead "
            "has unblinded it."
        )
    return coder


def _double(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = _of_code(board, asked)
    rows = rows[rows["n_coders"] > 1]
    notes = [
        "all agree" if applied in (0, n) else f"{applied} of {n} coders applied it"
        for n, applied in zip(rows["n_coders"], rows["n_applied"], strict=True)
    ]
    title = f"{_label(board, asked)}: texts decided by two or more coders"
    return title, _in_order(board, dict(zip(rows["unit_id"], notes, strict=True)))


def _applied(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = _of_code(board, asked)
    rows = rows[rows["n_applied"] > 0]
    notes = [
        f"{applied} of {n} {'coder' if n == 1 else 'coders'}"
        for n, applied in zip(rows["n_coders"], rows["n_applied"], strict=True)
    ]
    title = f"{_label(board, asked)}: texts it was applied to"
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
    return f"{whose}unsettled disagreements", [(unit, "; ".join(n)) for unit, n in notes.items()]


def _stale(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    rows = board.stale[board.stale["coder"] == asked["coder"]]
    notes: dict[str, list[str]] = {}
    for unit, code in zip(rows["unit_id"], rows["code"], strict=True):
        notes.setdefault(unit, []).append(board.label(code))
    said = {unit: f"to decide again: {', '.join(labels)}" for unit, labels in notes.items()}
    return f"Texts that {asked['coder']} must look at again", _in_order(board, said)


def _later(board: Board, asked: Mapping[str, Any]) -> tuple[str, Rows]:
    """The texts after the first third of a coder's, with the code first, as they were first finished."""
    found = board.drift
    n_later = int(
        found.loc[(found["coder"] == asked["coder"]) & (found["code"] == asked["code"]), "n_later"].sum()
    )
    order = board.finish_order[board.finish_order["coder"] == asked["coder"]]
    decided = board.read.decided
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
    "finished": _finished,
    "left": _left,
    "double": _double,
    "applied": _applied,
    "open": _open,
    "stale": _stale,
    "later": _later,
    "against": _against,
    "proposals": _proposals,
}

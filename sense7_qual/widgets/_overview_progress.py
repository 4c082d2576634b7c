"""How far each coder is in each round, and how long the rest takes at their present pace."""

from __future__ import annotations

from typing import Any, Final

from sense7_qual.rounds import Round
from sense7_qual.widgets._lead_view import Board, pace

__all__ = ["duration", "per_text", "progress_rows"]

LAST: Final = 60
"""How many of a coder's last finished texts say their present pace."""


def progress_rows(board: Board) -> list[dict[str, Any]]:
    """Return one row per round, in their order, and one for what is coded in no round, where there is any."""
    rows = [_row(board, one.name, one) for one in board.rounds]
    of_none = board.plan["round"].isna().any() or board.finished["round"].isna().any()
    return rows if not of_none and rows else [*rows, _row(board, None, None)]


def _row(board: Board, name: str | None, one: Round | None) -> dict[str, Any]:
    coders = _coders(board, name, one)
    shown = coders if board.follows(name) else [coder for coder in coders if coder == board.viewer]
    units = board.planned_units(name)
    rows = [_of_coder(board, name, coder) for coder in shown]
    return {
        "round": name,
        "state": _state(one),
        "words": _words(board, name, one, n_hidden=len(coders) - len(shown)),
        "n_units": len(units),
        "n_coders": len(coders),
        "coders": rows,
        "is_finished": bool(rows) and len(shown) == len(coders) and not any(row["left"] for row in rows),
    }


def _coders(board: Board, name: str | None, one: Round | None) -> list[str]:
    """Return who codes in a round; in none who was dealt texts there, or has finished some."""
    if one is not None:
        return list(one.coders)
    here = board.plan[board.plan["round"].isna()]
    done = board.finished.loc[board.finished["round"].isna(), "coder"]
    return list(dict.fromkeys([*here["coder"], *done]))


def _state(one: Round | None) -> str:
    if one is None:
        return "none"
    kind = "training" if one.is_training else "discussion" if one.discusses else ""
    return " ".join(filter(None, [kind, "blind" if one.unblinded_at is None else "unblinded"]))


def _words(board: Board, name: str | None, one: Round | None, *, n_hidden: int) -> str:
    if one is None:
        what = "Texts that are coded in no round."
        hidden = " What others have done here is shown to who assigned the texts, or with without_round=True."
        return what + hidden * bool(n_hidden)
    parts = []
    if one.is_training:
        parts.append("Training: it counts in no agreement.")
    if one.discusses:
        parts.append(f"Discussion of {one.discusses!r}: it counts in no agreement of its own.")
    if n_hidden:
        parts.append("Blind: how far the others are is shown to the leads of the round.")
    elif one.unblinded_at is None:
        parts.append("Blind: you see how far the coders are, and nothing of what they coded.")
    return " ".join(parts)


def _of_coder(board: Board, name: str | None, coder: str) -> dict[str, Any]:
    wanted = board.planned_units(name, coder)
    done = board.finished_units(name, coder)
    n_done = sum(unit in done for unit in wanted)
    left = len(wanted) - n_done
    seconds = _pace(board, name, coder)
    return {
        "coder": coder,
        "n": len(wanted),
        "done": n_done,
        "left": left,
        "seconds": seconds,
        "time": "" if seconds is None or not left else f"about {duration(left * seconds)} at "
        f"{per_text(seconds)} a text",
    }  # fmt: skip


def _pace(board: Board, name: str | None, coder: str) -> float | None:
    """Return the median seconds between two texts that the coder finished here last, without pauses."""
    own = [act for act in board.finishes if act.kind == "finish" and act.coder == coder and act.round == name]
    return pace(sorted(own, key=lambda act: act.at)[-LAST:]).get(coder)


def duration(seconds: float) -> str:
    """Return a time in words, no finer than one can know it.

    >>> duration(20), duration(1490), duration(7810)
    ('1 min', '25 min', '2 h 10')
    """
    minutes = seconds / 60
    if minutes < 10:
        return f"{max(1, round(minutes))} min"
    fives = 5 * round(minutes / 5)
    if fives < 60:
        return f"{fives} min"
    tens = 10 * round(minutes / 10)
    return f"{tens // 60} h {tens % 60:02d}" if tens % 60 else f"{tens // 60} h"


def per_text(seconds: float) -> str:
    """Return the time of one text in words.

    >>> per_text(41.5), per_text(95)
    ('42 s', '1 min 35 s')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if not whole % 60 else f"{whole // 60} min {whole % 60} s"

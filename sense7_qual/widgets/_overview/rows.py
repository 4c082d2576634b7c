"""The numbers of the overview: progress, agreement so far, who codes differently, codes, drift."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual import codings
from sense7_qual._basis import Basis, line_of
from sense7_qual._present import coefficient, interval, number, percent
from sense7_qual._reasons import reason_words
from sense7_qual.adjudication import Choice
from sense7_qual.agreement import by_code, sequential
from sense7_qual.codebook import emerged
from sense7_qual.rounds import Round
from sense7_qual.widgets._lead_view import Board, duration, pace, to_review, with_figures

LEAST: Final = 0.667
"""Krippendorff (2004, p. 241): below it no conclusion, not even a tentative one."""


def agreement_rows(board: Board, *, width: float) -> list[dict[str, Any]]:
    """Return for each code its alpha, with the interval for one look and the one that holds at every look.

    Of each coder's first independent decisions, as ``by_code(store.decisions())``. Both intervals resample,
    or leave out, whole participants; texts where some have no participant. Empty where no text may be seen
    that two coders decided. A code that waits for review says so; without a figure, if none of it counts.
    """
    decided = board.read.independent
    if not (board.independent_tally["n_coders"] > 1).any():
        return []
    by: dict[str, Any] = {"units": board.units, "cluster": board.cluster} if board.cluster else {}
    once = with_figures(by_code(decided, **by))
    looks = sequential(decided, width=width, **by).set_index("code").to_dict("index")
    waits = to_review(decided)
    return [
        _agreement(board, code.id, once.get(code.id), looks.get(code.id, {}), waits.get(code.id, ""))
        for code in board.codebook
        if code.id in once or code.id in waits
    ]


def agreement_by_round(board: Board) -> list[dict[str, Any]]:
    """Return for each round its alpha of each code, with the interval for one look, where there are several.

    Each round by itself, as ``by_code(store.decisions(round=…))``: those that may be seen, and in which two
    coders finished a text. A round of texts that its coders had seen others' decisions on says so.
    """
    pairs = board.read.coverage
    n_coders = pairs.groupby([pairs["round"].fillna(""), "unit_id"])["coder"].nunique()
    double = set(n_coders[n_coders > 1].index.get_level_values(0))
    names = [one.name for one in board.rounds if one.name in double]
    every = [*names, *[None] * ("" in double)]
    return [_of_round(board, name) for name in every] if len(every) > 1 else []


def _of_round(board: Board, name: str | None) -> dict[str, Any]:
    decided = board.read.decisions(Choice(rounds=(name,)))
    by: dict[str, Any] = {"units": board.units, "cluster": board.cluster} if board.cluster else {}
    rows = with_figures(by_code(decided, **by))
    waits = to_review(decided)
    return {
        "round": name,
        "basis": line_of(decided),
        "codes": {
            code.id: _in_round(rows.get(code.id), waits.get(code.id, ""))
            for code in board.codebook
            if code.id in rows or code.id in waits
        },
    }


def _in_round(row: Mapping[Any, Any] | None, waits: str) -> dict[str, Any]:
    if row is None:
        return {"n": 0, "value": "", "interval": "", "why": waits, "waits": waits}
    return {"n": int(row["n_units"]), **_alpha(row), "waits": waits}


def _agreement(
    board: Board, code: str, row: Mapping[Any, Any] | None, look: Mapping[Any, Any], waits: str
) -> dict[str, Any]:
    named = {"code": code, "label": board.label(code), "waits": waits}
    if row is None:  # nothing that was decided on it counts until it is reviewed
        none = dict.fromkeys(("alpha", "low", "high", "look_low", "look_high", "n_more"))
        return {**named, **none, "n": 0, "value": "", "interval": "", "more": "", "why": waits}
    return {
        **named,
        "n": int(row["n_units"]),
        "alpha": _number(row["alpha"]),
        "low": _number(row["alpha_low"]),
        "high": _number(row["alpha_high"]),
        "look_low": _number(look["low"]),
        "look_high": _number(look["high"]),
        **_alpha(row),
        "n_more": None if pd.isna(look["n_more"]) else int(look["n_more"]),
        "more": _more(look),
    }


def _alpha(row: Mapping[Any, Any]) -> dict[str, str]:
    """Return alpha and its interval in words, and why one is missing."""
    low, high = row["alpha_low"], row["alpha_high"]
    return {
        "value": coefficient(row["alpha"], 2),
        "interval": "" if pd.isna(low) else interval(low, high, 2),
        "why": "" if pd.isna(row["reason"]) else reason_words(row["reason"]),
    }


def _more(look: Mapping[Any, Any]) -> str:
    if pd.isna(look["n_more"]):
        return ""
    n = int(look["n_more"])
    return f"{n} more {'text' if n == 1 else 'texts'}" if n else "interval narrow enough"


def agreement_words(board: Board, rows: list[dict[str, Any]], *, width: float) -> list[str]:
    """Explain in sentences why agreement is missing, or how to read the numbers."""
    said = []
    blind = [repr(name) for name in board.read.blind]
    if blind:
        which, are = ("Round", "it is") if len(blind) == 1 else ("Rounds", "they are")
        said.append(
            f"{which} {', '.join(blind)}: blind, so nobody sees agreement yet, because knowing the numbers "
            f"would influence coding. It appears once {are} unblinded."
        )
    if not rows:
        return [*said, "You cannot see any text yet that two coders have finished."]
    said.append(
        "Krippendorff’s alpha. Thick line: 95% CI for one look; thin line: valid however often "
        "you look. Marks at .667 and .80."
    )
    if board.cluster is None:
        said.append(
            "Some texts have no participant (case_id), so the intervals treat all texts as independent: they "
            "are too narrow if one person wrote several texts."
        )
    if any(row["n_more"] for row in rows):
        said.append(
            "“12 more texts”: code this many more texts twice, blind and in random order, and the thin "
            f"interval will be about {coefficient(width, 2)} wide."
        )
    if any(row["n_more"] == 0 for row in rows):
        said.append(f"“Interval narrow enough”: the thin interval is {coefficient(width, 2)} wide at most.")
    return said


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


_MOST_PARTS: Final = 8
_LEAST_TEXTS: Final = 10


def frequency_rows(board: Board) -> list[dict[str, Any]]:
    """Return for each code the finished texts on which anybody applied it, and the share of decisions.

    Of each coder's last decisions. A code that waits for review says so, and has no rank.
    """
    counts = board.tally
    applied = counts[counts["n_applied"] > 0].groupby("code")["unit_id"].nunique()
    sums = counts.groupby("code")[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).to_dict()
    parts, waits = _parts_of_order(board), to_review(board.read.decided)
    return [
        {
            "code": code.id,
            "label": code.label,
            "n": int(applied.get(code.id, 0)) if code.id in shares or code.id not in waits else None,
            "share": float(shares[code.id]) if code.id in shares else None,
            "parts": parts.get(code.id, []),
            "percent": f"{percent(shares[code.id])} %" if code.id in shares else "",
            "waits": waits.get(code.id, ""),
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
    shares = (sums["n_applied"] / sums["n_coders"]).unstack("part")  # noqa: PD010 – two columns to rows
    return {str(code): [float(share) for share in row.dropna()] for code, row in shares.iterrows()}


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
    """List the coders of a round; outside rounds, those with assigned or finished texts."""
    if one is not None:
        return list(one.coders)
    here = board.plan[board.plan["round"].isna()]
    done = board.finished.loc[board.finished["round"].isna(), "coder"]
    return list(dict.fromkeys([*here["coder"], *done]))


def _state(one: Round | None) -> str:
    if one is None:
        return "none"
    kind = "training" if one.is_training else "discussion" if one.discusses else ""
    return " ".join(filter(None, [kind, "blind" if one.is_blind else "unblinded"]))


def _words(board: Board, name: str | None, one: Round | None, *, n_hidden: int) -> str:
    if one is None:
        what = "Texts coded outside rounds."
        hidden = " Others' progress here is shown to whoever assigned the texts, or with without_round=True."
        return what + hidden * bool(n_hidden)
    parts = []
    if one.is_training:
        parts.append("Training: it does not count in agreement.")
    if one.discusses:
        parts.append(f"Discussion of {one.discusses!r}: it does not count in agreement.")
    if n_hidden:
        parts.append("Blind: only the leads of the round see the progress of others.")
    elif one.is_blind:
        parts.append("Blind: you see the coders' progress, but not their coding.")
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
        "time": ""
        if seconds is None or not left
        else f"about {duration(left * seconds)} at {per_text(seconds)} a text",
    }


def _pace(board: Board, name: str | None, coder: str) -> float | None:
    """Return the median seconds between two texts that the coder finished here last, without pauses."""
    own = [act for act in board.finishes if act.kind == "finish" and act.coder == coder and act.round == name]
    return pace(sorted(own, key=lambda act: act.at)[-LAST:]).get(coder)


def per_text(seconds: float) -> str:
    """Return the time of one text in words.

    >>> per_text(41.5), per_text(95)
    ('42 s', '1 min 35 s')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if not whole % 60 else f"{whole // 60} min {whole % 60} s"


def leaning_rows(board: Board) -> list[dict[str, Any]]:
    """Return the coders who surely apply a code more or less than the others, the largest difference first.

    ``n_apart`` counts the texts on which they decided against most of the others.
    """
    apart = board.against.groupby(["coder", "code"])["unit_id"].size()
    return [
        {
            "coder": row["coder"],
            "code": row["code"],
            "label": board.label(row["code"]),
            "n": int(row["n_units"]),
            "at": float(row["prevalence"]),
            "others_at": float(row["others"]),
            "share": f"{percent(row['prevalence'])} %",
            "others": f"{percent(row['others'])} %",
            "n_apart": int(apart.get((row["coder"], row["code"]), 0)),
        }
        for row in board.leanings.to_dict("records")
    ]


_MORE: Final = 5


def change(board: Board) -> dict[str, Any]:
    """Describe changes over the order of coding: alarms for drift, and when codes emerged."""
    return {"alarms": alarms(board), "drift_words": _drift_words(board), **_came(board)}


def alarms(board: Board) -> list[dict[str, Any]]:
    """Return the coders who apply a code more or less than at first, of the decisions that may be seen."""
    drift = board.drift
    return [
        {
            "coder": row["coder"],
            "code": row["code"],
            "label": board.label(row["code"]),
            "n_later": int(row["n_later"]),
            "words": _drifted(board, row),
        }
        for row in drift[drift["alarm"].fillna(False)].to_dict("records")
    ]


def _drifted(board: Board, row: Mapping[Any, Any]) -> str:
    often = "more" if row["share_later"] > row["share_first"] else "less"
    who, applies = ("You", "apply") if row["coder"] == board.viewer else (row["coder"], "applies")
    shares = [coefficient(row[name], 2) for name in ("share_first", "share_later")]
    return (
        f"{who} {applies} {board.label(row['code'])} {often} often than at first: to {shares[0]} of the "
        f"first {row['n_first']} texts and to {shares[1]} of the {row['n_later']} after them."
    )


def _drift_words(board: Board) -> str:
    """Say how many alarms there are, and for how many looks the bound on false ones holds."""
    n = int(board.drift["reason"].isna().sum())
    if not n:
        return "Drift: too few texts yet to tell whether a coder applies a code more or less than at first."
    found = int(board.drift["alarm"].fillna(False).sum())
    planned = set(board.read.independent["coder"]) <= set(board.seen_plan["coder"])
    looks = "however often you look" if planned else "for one look at the end, since texts were not planned"
    return (
        f"Drift: {found or 'no'} {'alarm' if found == 1 else 'alarms'} among {n} pairs of coder and code. "
        f"If nobody drifts and texts come in random order, at most 5 % of studies have any alarm, {looks}."
    )


def _came(board: Board) -> dict[str, Any]:
    """Count the codes applied after each participant, and predict those that further ones bring."""
    made, coverage = board.read.in_the_end, board.read.coverage
    waiting = {one.code for one in Basis.of(board.read.decided).waiting}
    made = made[~made["code"].isin(waiting)]
    if coverage.empty:
        return {"came": [], "came_words": ""}
    if board.cluster is None:
        words = "Some texts have no participant (case_id), so new codes are not counted by participant."
        return {"came": [], "came_words": words}
    rows = codings.development(made, board.units, cluster=board.cluster, coverage=coverage)
    n_codes = [int(n) for n in rows["n_codes"]]
    new = rows.loc[rows["n_new"] > 0, "place"]
    last = 0 if new.empty else int(new.iloc[-1])
    of = sum(code.id not in waiting for code in board.codebook.codable)
    said = f"{n_codes[-1]} of {of} codes occur in texts of {len(rows)} participants"
    said += ", all of them in those of the first." if last == 1 else "."
    said += f" The last new code came with participant {last}." if last > 1 else ""
    if waiting:
        labels = ", ".join(code.label for code in board.codebook.codable if code.id in waiting)
        said += f" Not counted until all of it is reviewed: {labels}."
    return {"came": n_codes, "came_words": f"{said} {_saturated(board, made, board.cluster, waiting)}"}


def _saturated(board: Board, made: pd.DataFrame, cluster: str, waiting: Collection[str]) -> str:
    every = emerged(board.read.revisions, board.codebooks)
    codes = [code for code in every if code not in waiting]
    if not every:
        return "No code emerged during coding, so saturation does not apply."
    if not codes:
        return "New codes are not predicted until the codes that emerged during coding are reviewed."
    by: dict[str, Any] = {"cluster": cluster, "emerged": codes, "coverage": board.read.coverage}
    result = codings.saturation(made, board.units, more=[_MORE], **by)
    row = result.iloc[0]
    if pd.isna(row["new_codes"]):
        return "Too little is coded yet to predict new codes from further participants."
    ends = f"{number(row['low'], 1)} to {number(row['high'], 1)}"
    return (
        f"{_MORE} further participants would bring about {number(row['new_codes'], 1)} more codes of those "
        f"that emerge during coding (95% CI {ends})."
    )

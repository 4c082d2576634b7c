"""Discussions: how they are opened, who has looked again, what was revised, and what is said about a text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record, agreement, codings, rounds
from sense7_qual._present import coefficient
from sense7_qual.acts import Act
from sense7_qual.errors import ActError
from sense7_qual.rounds import Round
from sense7_qual.widgets._adjudication.disputes import Names, around
from sense7_qual.widgets._adjudication.readings import shown_coding, shown_memo
from sense7_qual.widgets._lead_view import Seen
from sense7_qual.widgets._offsets import as_text, turns

_DECISION: Final = ["unit_id", "coder", "code"]


class Discussions:
    """The discussions whose progress a lead may know, and once they are unblinded, what is revised and said.

    Attributes
    ----------
    study : Store
        The study.
    read : Seen
        What may be seen.
    names : Names
        How coders are called.
    coder : str
        Who looks.
    """

    def __init__(self, study: Any, read: Seen, names: Names, *, coder: str) -> None:
        self._study, self._read, self._names, self._coder = study, read, names, coder
        known = [one for one in study.rounds if one.discusses and read.follows_round(one.name)]
        self._rounds: dict[str, Round] = {one.name: one for one in known}

    def __repr__(self) -> str:
        return f"Discussions({len(self._rounds)} rounds)"

    def rows(self) -> list[dict[str, Any]]:
        """Return what is known of each, the newest first."""
        return [self._row(one) for one in reversed(self._rounds.values())]

    def check(self, name: object, unit_id: object = None) -> Round:
        """Return the discussion of this name, or raise `ActError` where it is none, or not about the text."""
        one = self._rounds.get(str(name))
        if one is None or (unit_id is not None and unit_id not in one.units):
            raise ActError("discussion: it is not open for this text – open the list again.")
        return one

    def _row(self, one: Round) -> dict[str, Any]:
        coverage = self._study.coverage(round=one.name)
        there = [unit for unit in one.units if unit in self._read.texts]
        by_coder = rounds.progress([one], coverage)
        done = coverage.groupby("unit_id").size().to_dict()
        result = self._result(one)
        changed = {} if result is None else result[1].groupby("unit_id").size().to_dict()
        notes = self._notes(one)["target_id"].value_counts().to_dict()
        units = [
            {
                "unit_id": unit,
                "words": around(self._read.texts[unit], 0),
                "n_again": int(done.get(unit, 0)),
                "n_changed": int(changed.get(unit, 0)),
                "n_notes": int(notes.get(unit, 0)),
            }
            for unit in there
        ]
        return {
            "name": one.name,
            "of": one.discusses,
            "coders": [
                {
                    "coder": self._names.coder(row["coder"]),
                    "n": 0 if pd.isna(row["n_finished"]) else int(row["n_finished"]),
                }
                for row in by_coder.to_dict("records")
            ],
            "n_again": sum(unit["n_again"] == len(one.coders) for unit in units),
            "is_open": not one.is_blind,
            "may_open": one.is_blind and self._coder in one.leads,
            "units": units,
            **({"revised": [], "n_changed": 0} if result is None else _revised(result[0])),
        }

    def _result(self, one: Round) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """Return the difference that a discussion made, and the decisions that it changed.

        None where it is blind, or nobody has decided again.
        """
        if one.is_blind:
            return None
        first, second = (self._study.decisions(round=name) for name in (one.discusses, one.name))
        if first.empty or second.empty or set(first["code"]).isdisjoint(second["code"]):
            return None
        both = first.merge(second, on=_DECISION)
        changed = both[both["applied_x"] != both["applied_y"]]
        return agreement.difference(first, second, discussion=True), changed

    def _notes(self, one: Round) -> pd.DataFrame:
        memos = self._read.memos
        return memos[(memos["round"] == one.name) & memos["target_kind"].isin(["unit", "span"])]

    # one text ---------------------------------------------------------------------------------------

    def thread(self, name: object, unit_id: object) -> dict[str, Any]:
        """Return a text with what each coder coded last, and its notes, oldest first."""
        one, unit = self.check(name, unit_id), str(unit_id)
        text, notes = self._read.texts[unit], self._notes(one)
        notes = notes[notes["target_id"] == unit].sort_values(["at", "memo_id"], kind="stable")
        return {
            "type": "thread",
            "name": one.name,
            "unit_id": unit,
            "text": text,
            "context": turns(self._read.contexts[unit]),
            "coders": [self._coded(one, coder, unit) for coder in one.coders],
            "notes": [
                {
                    "memo_id": row["memo_id"],
                    "coder": self._called(row["coder"], one),
                    "at": row["at"],
                    "answers": None if pd.isna(row["answers"]) else row["answers"],
                    **shown_memo(row, text),
                }
                for row in notes.to_dict("records")
            ],
        }

    def _called(self, coder: str, one: Round) -> str:
        return self._names.coder(coder) if coder in one.coders else self._names.adjudicator(coder)

    def _coded(self, one: Round, coder: str, unit_id: str) -> dict[str, Any]:
        before, after = (self._by_round(name).get((unit_id, coder)) for name in (one.discusses, one.name))
        text, book = self._read.texts[unit_id], self._read.codebook
        shown = [shown_coding(row, text, book) for row in (before if after is None else after) or []]
        codes = [{row["code"] for row in rows or []} for rows in (before, after)]
        order = [code for code in book.ids if after is not None and code in codes[0] ^ codes[1]]
        return {
            "coder": self._names.coder(coder),
            "again": after is not None,
            "codings": shown,
            "added": [code for code in order if code in codes[1]],
            "dropped": [code for code in order if code in codes[0]],
        }

    @cached_property
    def _coded_in(self) -> dict[str, dict[tuple[str, str], list[dict[str, Any]]]]:
        return {}

    def _by_round(self, name: str | None) -> dict[tuple[str, str], list[dict[str, Any]]]:
        """Return the codings of a round by unit and coder; those who did not finish it are not in it."""
        if name not in self._coded_in:
            read = self._read
            of = read.talked if name in self._rounds else read
            coded, here = (frame[frame["round"] == name] for frame in (of.codings, of.coverage))
            standing, _ = codings.carried(coded, here, read.codebook, revisions=read.revisions)
            rows: dict[tuple[str, str], list[dict[str, Any]]] = {
                key: [] for key in zip(here["unit_id"], here["coder"], strict=True)
            }
            for row in standing.to_dict("records"):
                rows.setdefault((str(row["unit_id"]), str(row["coder"])), []).append(
                    {str(name): value for name, value in row.items()}
                )
            self._coded_in[str(name)] = rows
        return self._coded_in[str(name)]

    def note(self, content: Mapping[str, Any], **common: Any) -> Act:
        """Return a note of the lead's for all who discuss a text; it may answer another note."""
        one = self.check(content.get("name"), content.get("unit_id"))
        words, answers = as_text(content.get("text")).strip(), content.get("answers")
        known = set(self._notes(one)["memo_id"])
        if not words or (answers is not None and answers not in known):
            raise ActError(
                "discussion: write a note, answer a note of this text, or none – open the text again."
            )
        return record.memo(
            coder=self._coder,
            text=words,
            unit_id=content["unit_id"],
            round=one.name,
            answers=answers,
            **common,
        )


def _revised(difference: pd.DataFrame) -> dict[str, Any]:
    """Return the codes with revised decisions, with their alpha before and after, in words."""
    rows = difference[difference["n_changed"] > 0]
    return {
        "n_changed": int(rows["n_changed"].sum()),
        "revised": [
            {
                "code": row["code"],
                "n": int(row["n_changed"]),
                "before": coefficient(row["first"], 2),
                "after": coefficient(row["second"], 2),
            }
            for row in rows.to_dict("records")
        ],
    }


def discussions(
    study: Any,
    units: Collection[str],
    names: Collection[str],
    *,
    coder: str,
    alone: Callable[[str], bool] | None = None,
) -> list[Act]:
    """Return the acts that open a discussion of these units, one for each of their rounds.

    It is opened with the coders of each round, or to be looked through by the one who is `alone`.
    """
    there = {one.name: one for one in study.rounds}
    made, left = list[Act](), list(dict.fromkeys(units))
    for one in (there[name] for name in names):
        here = [unit_id for unit_id in left if unit_id in one.units]
        left = [unit_id for unit_id in left if unit_id not in here]
        coders = one.coders if alone is None else [each for each in one.coders if alone(each)]
        if here and coders:
            how = "discussed" if alone is None else "look again"
            name = next(name for n in itertools.count(1) if (name := _called(one.name, how, n)) not in there)
            named = {"coder": coder, "codebook": study.codebook, "discusses": one.name}
            made.append(rounds.open_round(name, units=here, coders=coders, **named))
    if left or not made:
        raise ActError(
            "discussion: only texts of an unblinded round can be discussed, and some of these are of none – "
            "take them off the list."
        )
    return made


def _called(of: str, how: str, n: int) -> str:
    return f"{of}, {how}" if n == 1 else f"{of}, {how} {n}"

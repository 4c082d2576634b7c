"""What coders coded and wrote on a disputed text, and the change of the codebook that comes out of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual._messages import did_you_mean, word
from sense7_qual.acts import Act
from sense7_qual.codebook import Code, Codebook, Revision
from sense7_qual.codings import rulings
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._adjudication.disputes import Key, Names
from sense7_qual.widgets._codebook.draft import Draft, State
from sense7_qual.widgets._codebook.in_use import preview, shown_preview
from sense7_qual.widgets._lead_view import Seen
from sense7_qual.widgets._offsets import turns, utf16_units


class Readings:
    """The codings and memos on each text, coder by coder, in the codes of one version.

    Where a coder finished a text again, in a discussion too, these are the last codings.

    Attributes
    ----------
    read : Seen
        What may be seen.
    decisions : DataFrame
        unit_id, coder, code, applied (bool): what the disagreements are counted from.
    """

    def __init__(self, read: Seen, decisions: pd.DataFrame) -> None:
        self._codebook, self._contexts, self.texts = read.codebook, read.contexts, read.texts
        self._codings = _by_unit(read.in_the_end)
        on_text = read.memos[read.memos["target_kind"].isin(["unit", "span"])]
        self._memos = _by_unit(on_text.rename(columns={"target_id": "unit_id"}))
        self._decided = _by_unit(decisions[["unit_id", "coder", "code", "applied"]])

    def __repr__(self) -> str:
        return f"Readings({len(self._decided)} texts)"

    def of(self, unit_id: str, code: str, names: Names) -> dict[str, Any]:
        """Return a text with what each coder decided on a code, coded and wrote; who applied it first."""
        here = {row["coder"]: row["applied"] for row in self._decided[unit_id] if row["code"] == code}
        coded, written = self._codings.get(unit_id, []), self._memos.get(unit_id, [])
        writers = {row["coder"] for row in written}
        coders = {row["coder"] for row in self._decided[unit_id]} | writers
        text, context = self.texts[unit_id], self._contexts[unit_id]
        rows: list[dict[str, Any]] = [
            {
                "coder": names.coder(coder),
                "applied": bool(here[coder]) if coder in here else None,
                "codings": [
                    shown_coding(row, text, self._codebook) for row in coded if row["coder"] == coder
                ],
                "memos": [shown_memo(row, text) for row in written if row["coder"] == coder],
            }
            for coder in coders
        ]
        rows.sort(key=lambda row: (_ORDER[row["applied"]], row["coder"]))
        return {
            "unit_id": unit_id,
            "code": code,
            "text": text,
            "context": turns(context),
            "coders": rows,
        }


_ORDER = {True: 0, False: 1, None: 2}


def _by_unit(frame: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    columns = [str(name) for name in frame]
    for values in zip(*(frame[name].tolist() for name in columns), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows.setdefault(str(row["unit_id"]), []).append(row)
    return rows


def _span(row: Mapping[Any, Any], text: str) -> tuple[int | None, int | None]:
    if pd.isna(row["start"]):
        return None, None
    return utf16_units(text, int(row["start"]), int(row["end"]))


def shown_coding(row: Mapping[str, Any], text: str, book: Codebook) -> dict[str, Any]:
    """Return a coding as the browser shows it."""
    start, end = _span(row, text)
    facets = {facet.name: row.get(facet.name) for facet in book.facets_of(row["code"])}
    confidence = None if pd.isna(row["confidence"]) else row["confidence"]
    return {
        "code": row["code"],
        "start": start,
        "end": end,
        "confidence": confidence,
        "facets": {name: value for name, value in facets.items() if not pd.isna(value)},
    }


def shown_memo(row: Mapping[Any, Any], text: str) -> dict[str, Any]:
    """Return a memo as the browser shows it."""
    start, end = _span(row, text)
    return {"start": start, "end": end, "text": row["text"]}


_LISTS: Final = {"example": "examples", "counter_example": "counter_examples"}
_RULE: Final = ("definition", "use_when", "avoid_when")


def changed(book: Codebook, versions: Collection[Codebook], content: Mapping[str, Any]) -> State:
    """Return the draft in which a code has another example, counter-example, or another rule.

    `content` has code; kind ("example", "counter_example" or "rule"); words, for the first two; for a rule
    values and before: the fields as they are to be, and as they were when they were opened.
    """
    code = book[str(content.get("code"))]
    draft = Draft(book, versions=versions)
    values = _example(code, content) if content.get("kind") in _LISTS else _rule(code, content)
    if not draft.do({"do": "edit", "code": code.id, "values": values}):
        raise CodebookError(f"codebook: nothing of {code.id!r} was changed – change the rule, or cancel.")
    return draft.state


def _example(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    name, words = _LISTS[str(content["kind"])], content.get("words")
    line = words.strip() if isinstance(words, str) else ""
    if not line or line in getattr(code, name):
        raise CodebookError(
            f"codebook: {'there are no words' if not line else 'these words are already'} among the "
            f"{name.replace('_', '-')} of {code.id!r} – change them."
        )
    return {name: [*getattr(code, name), line]}


def _rule(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    if content.get("kind") != "rule":
        kinds = (*_LISTS, "rule")
        raise CodebookError(
            f"codebook: expected a change out of {', '.join(kinds)} – found {word(content.get('kind'))} – "
            f"{did_you_mean(str(content.get('kind')), kinds)}"
        )
    mine, now = _mine(code, content), _now(code)
    if _contested(code, content):
        raise CodebookError(
            f"codebook: somebody else changed the same field of {code.id!r} after you opened it – choose one "
            "of the two."
        )
    # What only somebody else changed stays as they have it.
    return {name: value for name, value in mine.items() if value != now[name]} or now


def overtaken(book: Codebook, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a rule that somebody else changed too, and otherwise, as they are now."""
    return _contested(book[str(content.get("code"))], content) if content.get("kind") == "rule" else {}


def _contested(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    mine, now, before = _mine(code, content), _now(code), content["before"]
    return {name: now[name] for name, value in mine.items() if now[name] not in (before.get(name), value)}


def _mine(code: Code, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are other than they were when the rule was opened."""
    values, before = content.get("values"), content.get("before")
    if not isinstance(values, Mapping) or not isinstance(before, Mapping) or set(values) - set(_RULE):
        raise CodebookError(
            f"codebook: expected {', '.join(_RULE)} of {code.id!r} – found other fields – open the rule "
            "again."
        )
    return {str(name): value for name, value in values.items() if value != before.get(name)}


def _now(code: Code) -> dict[str, Any]:
    values = {name: getattr(code, name) for name in _RULE}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def foretold(read: Seen, state: State, settled: Collection[Act], keys: Collection[Key]) -> dict[str, Any]:
    """Describe what saving makes stale: as `shown_preview`, and the rulings that no longer count.

    Beside it: ``n_rulings``, how many rulings no longer stand, and ``n_leaving``, how many disagreements
    leave the queue until their coders have looked at the texts again.
    """
    step = Revision(
        coder="draft",
        at="",
        why="",
        base=state.base.fingerprint,
        codebook=state.codebook.fingerprint,
        changes=state.changes(),
    )
    still_standing = rulings(settled, state.codebook, revisions=[*read.revisions, step])
    redefined = {one.code for one in step.changes if one.kind in ("redefine", "narrow", "widen")}
    return {
        **shown_preview(preview(read, state), state),
        "n_rulings": len(settled) - len(still_standing),
        "n_leaving": sum(code in redefined for _, code in keys),
    }

"""What the coders coded and wrote on a text that they disagree on, as a lead may see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.codings import carried
from sense7_qual.widgets._adjudication_names import Names
from sense7_qual.widgets._codebook_seen import Seen
from sense7_qual.widgets._shown import turns
from sense7_qual.widgets._utf16 import utf16_units

__all__ = ["Readings"]


class Readings:
    """The codings and memos on each text, coder by coder, in the codes of one version.

    Where a coder discussed a text and finished it again, these are the codings after the discussion.

    Attributes
    ----------
    read : Seen
        What may be seen.
    codebook : Codebook
        The version.
    units : DataFrame
        The texts.
    decisions : DataFrame
        unit_id, coder, code, applied (bool): what the disagreements are counted from.
    """

    def __init__(self, read: Seen, codebook: Codebook, units: pd.DataFrame, decisions: pd.DataFrame) -> None:
        self._codebook = codebook
        self.texts: dict[str, str] = dict(zip(units["unit_id"], units["text"].fillna(""), strict=True))
        contexts = units["context"] if "context" in units else [None] * len(units)
        self._contexts = dict(zip(units["unit_id"], contexts, strict=True))
        self._codings = _by_unit(_standing(read, codebook))
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
            {"coder": names.coder(coder), "applied": bool(here[coder]) if coder in here else None,
             "codings": [self._coding(row, text) for row in coded if row["coder"] == coder],
             "memos": [_memo(row, text) for row in written if row["coder"] == coder]}
            for coder in coders
        ]  # fmt: skip
        rows.sort(key=lambda row: (_ORDER[row["applied"]], row["coder"]))
        return {
            "unit_id": unit_id,
            "code": code,
            "text": text,
            "context": turns(context),
            "coders": rows,
        }

    def _coding(self, row: Mapping[str, Any], text: str) -> dict[str, Any]:
        start, end = _span(row, text)
        facets = {facet.name: row.get(facet.name) for facet in self._codebook.facets_of(row["code"])}
        confidence = None if pd.isna(row["confidence"]) else row["confidence"]
        return {"code": row["code"], "start": start, "end": end, "confidence": confidence,
                "facets": {name: value for name, value in facets.items() if not pd.isna(value)}}  # fmt: skip


_ORDER = {True: 0, False: 1, None: 2}


def _standing(read: Seen, codebook: Codebook) -> pd.DataFrame:
    """Return the codings on finished texts, after discussions."""
    own, talked = (
        carried(one.codings, one.coverage, codebook, revisions=read.revisions)[0]
        for one in (read, read.discussed)
    )
    first, again = (
        pd.MultiIndex.from_frame(one.coverage[["unit_id", "coder"]]) for one in (read, read.discussed)
    )
    keys = [pd.MultiIndex.from_frame(frame[["unit_id", "coder"]]) for frame in (own, talked)]
    standing = [own[~keys[0].isin(again)], talked[keys[1].isin(first)]]
    return pd.concat([frame for frame in standing if len(frame)] or [own])


def _by_unit(frame: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    columns = [str(name) for name in frame]
    for values in zip(*(frame[name].tolist() for name in columns), strict=True):
        row = dict(zip(columns, values, strict=True))
        rows.setdefault(str(row["unit_id"]), []).append(row)
    return rows


def _span(row: Mapping[str, Any], text: str) -> tuple[int | None, int | None]:
    if pd.isna(row["start"]):
        return None, None
    return utf16_units(text, int(row["start"]), int(row["end"]))


def _memo(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    start, end = _span(row, text)
    return {"start": start, "end": end, "text": row["text"]}

"""The texts that bear a code, as a lead may see them: by coder and text, in pages, and searched."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual.codebook import Codebook
from sense7_qual.codings import carried, of_round
from sense7_qual.widgets._codebook_seen import Seen
from sense7_qual.widgets._folded import folded

__all__ = ["Quotes"]

PAGE: Final = 20
_AROUND: Final = 60  # characters of the text on either side of the words
_LONGEST: Final = 400


class Quotes:
    """The codings on finished texts, in the codes of one version.

    What is to be reviewed, because its code was redefined, stands under that code and says so.

    Attributes
    ----------
    seen : Seen
        What may be seen.
    codebook : Codebook
        The version.
    units : DataFrame
        The texts.
    """

    def __init__(self, seen: Seen, codebook: Codebook, units: pd.DataFrame) -> None:
        self._texts: dict[str, str] = dict(zip(units["unit_id"], units["text"].fillna(""), strict=True))
        places = {unit_id: place for place, unit_id in enumerate(self._texts)}
        counted, coverage = of_round(seen.codings, seen.coverage)
        counted = counted.merge(coverage[["unit_id", "coder"]], on=["unit_id", "coder"])
        standing = carried(seen.codings, seen.coverage, codebook, revisions=seen.revisions)[0]
        rows = [self._row(row, row["code"], is_stale=False) for row in standing.to_dict("records")]
        known = {
            (*_span(row), code) for row in standing.to_dict("records") for code in str(row["was"]).split(", ")
        }
        rows += [
            self._row(row, row["code"], is_stale=True)
            for row in counted.to_dict("records")
            if (*_span(row), row["code"]) not in known
        ]
        rows.sort(key=lambda row: (row["coder"], places[row["unit_id"]], row["start"] or 0))
        self._rows: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            self._rows.setdefault(row["code"], []).append(row)

    def __repr__(self) -> str:
        return f"Quotes({sum(map(len, self._rows.values()))} codings)"

    def page(
        self, codes: Collection[str], *, find: str = "", coder: str = "", first: int = 0
    ) -> dict[str, Any]:
        """Return one page of the quotes of these codes, how many there are, and of which coders."""
        all_rows = [row for code in codes for row in self._rows.get(code, ())]
        wanted = folded(find[:200]).strip()
        rows = [row for row in all_rows if (not coder or row["coder"] == coder) and self._has(row, wanted)]
        return {
            "n": len(rows),
            "n_all": len(all_rows),
            "first": first,
            "coders": sorted({row["coder"] for row in all_rows}),
            "rows": [self._shown(row) for row in rows[first : first + PAGE]],
        }

    def of_unit(self, unit_id: str, codes: Collection[str]) -> list[dict[str, Any]]:
        """Return the codings of these codes on one text."""
        return [
            self._shown(row)
            for code in codes
            for row in self._rows.get(code, ())
            if row["unit_id"] == unit_id
        ]

    def has(self, unit_id: str) -> bool:
        """Return True if the study has this text."""
        return unit_id in self._texts

    def text(self, unit_id: str) -> str:
        """Return a text."""
        return self._texts[unit_id]

    def _row(self, row: Mapping[Any, Any], code: str, *, is_stale: bool) -> dict[str, Any]:
        start, end = _span(row)[2:]
        return {"unit_id": row["unit_id"], "coder": row["coder"], "code": code, "start": start, "end": end,
                "stale": is_stale}  # fmt: skip

    def _has(self, row: Mapping[str, Any], wanted: str) -> bool:
        return not wanted or wanted in folded(self._texts[row["unit_id"]]) or wanted in folded(row["unit_id"])

    def _shown(self, row: Mapping[str, Any]) -> dict[str, Any]:
        text, start, end = self._texts[row["unit_id"]], row["start"], row["end"]
        if start is None:
            words = text[:_LONGEST]
            return {**row, "before": "", "words": words, "after": "…" if len(text) > len(words) else ""}
        before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
        return {
            **row,
            "before": f"{'…' if start > _AROUND else ''}{before}",
            "words": text[start:end][:_LONGEST],
            "after": f"{after}{'…' if end + _AROUND < len(text) else ''}",
        }


def _span(row: Mapping[Any, Any]) -> tuple[str, str, int | None, int | None]:
    start, end = (None if pd.isna(row[name]) else int(row[name]) for name in ("start", "end"))
    return row["unit_id"], row["coder"], start, end

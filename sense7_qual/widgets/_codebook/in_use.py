"""How codes are used, as a lead may see it: figures, quotes, what is stale, proposals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record
from sense7_qual._present import coefficient, percent
from sense7_qual.agreement import by_code
from sense7_qual.codebook import Codebook
from sense7_qual.codings import of_round, stale, tally
from sense7_qual.errors import ActError
from sense7_qual.widgets._lead_view import Seen, participants
from sense7_qual.widgets._offsets import folded

__all__ = ["InUse", "answer_to", "figures"]


def figures(seen: Seen) -> dict[str, dict[str, Any]]:
    """Return for each code what is known of its use, by its id.

    Each has ``n``, the finished texts on which anybody applied it; ``prevalence``, the share of the decisions
    on it that apply it; ``alpha``, with its 95 % interval (participants resampled; texts, which is said,
    where one has no participant), of what was decided before a model's suggestions were shown, empty where it
    cannot be computed; ``n_both``, the texts on which two coders or more decided so.
    """
    counts = tally(seen.decided)
    applied = counts[counts["n_applied"] > 0].groupby("code")["unit_id"].nunique()
    sums = counts.groupby("code")[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).to_dict()
    cluster = participants(seen.units, seen.decided["unit_id"])
    by: dict[str, Any] = {"units": seen.units, "cluster": cluster} if cluster else {}
    agreed = by_code(seen.independent, **by).set_index("code").to_dict("index")
    return {
        code.id: {
            "n": int(applied.get(code.id, 0)),
            "prevalence": f"{percent(shares[code.id])} %" if code.id in shares else "",
            "alpha": _alpha(agreed.get(code.id, {}), "" if cluster else ", texts resampled"),
            "n_both": int(agreed.get(code.id, {}).get("n_units", 0)),
        }
        for code in seen.codebook.codable
    }


def _alpha(row: Mapping[Any, Any], resampled: str) -> str:
    alpha, low, high = (row.get(name, float("nan")) for name in ("alpha", "alpha_low", "alpha_high"))
    if pd.isna(alpha):
        return ""
    value = coefficient(alpha, 2)
    return value if pd.isna(low) else f"{value} ({coefficient(low, 2)}–{coefficient(high, 2)}{resampled})"


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
    """

    def __init__(self, seen: Seen) -> None:
        self._texts = seen.texts
        places = {unit_id: place for place, unit_id in enumerate(self._texts)}
        counted, coverage = of_round(seen.codings, seen.coverage)
        counted = counted.merge(coverage[["unit_id", "coder"]], on=["unit_id", "coder"])
        standing = seen.standing[0]
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


class InUse:
    """The use of the codes of one version.

    Attributes
    ----------
    seen : Seen
        What may be seen of it.
    """

    def __init__(self, seen: Seen) -> None:
        self.seen, self.quotes = seen, Quotes(seen)

    def __repr__(self) -> str:
        return f"InUse({self.seen!r})"

    def waiting(self) -> list[tuple[str, str | None, int]]:
        """Return how many texts each coder must look at again, by the round in which they finished them."""
        read = self.seen
        old = stale(read.codings, read.coverage, read.codebook, revisions=read.revisions)
        last = of_round(read.codings, read.coverage)[1][["unit_id", "coder", "round"]]
        rows = old[["unit_id", "coder"]].drop_duplicates().merge(last, on=["unit_id", "coder"])
        counts = rows.fillna({"round": ""}).groupby(["coder", "round"])["unit_id"].size().reset_index()
        return [
            (str(row["coder"]), str(row["round"]) or None, int(row["unit_id"]))
            for row in counts.to_dict("records")
        ]

    def open_proposals(self) -> list[dict[str, Any]]:
        """Return the proposals that nobody has answered."""
        frame = self.seen.proposals
        waiting = frame[~frame["proposal_id"].isin(self.seen.answered)]
        return [{str(name): value for name, value in row.items()} for row in waiting.to_dict("records")]

    def proposal(self, proposal_id: str) -> dict[str, Any]:
        """Return one of them, or raise `ActError` where it is none."""
        row = next((one for one in self.open_proposals() if one["proposal_id"] == proposal_id), None)
        if row is None:
            raise ActError(
                "proposal: expected one that waits for an answer – found none – open the list again."
            )
        return row

    def words_of(self, row: Mapping[str, Any]) -> str:
        """Return the words that a proposal shows."""
        text = self.quotes.text(row["unit_id"])
        return text if pd.isna(row["start"]) else text[int(row["start"]) : int(row["end"])]

    def further_examples(self, proposal_id: str) -> list[str]:
        """Return the further texts that a proposal names, without those of who withdrew."""
        said = self.seen.proposed.get(proposal_id)
        ids = () if said is None else said.examples
        return [self.quotes.text(one) for one in ids if self.quotes.has(one)]


def answer_to(row: Mapping[str, Any], words: str, coder: str, codebook: Codebook, act_id: str) -> record.Act:
    """Return the answer to a proposal: a memo with its id, on the words that it shows, in its round."""
    on_span = not pd.isna(row["start"])
    return record.memo(
        coder=coder, text=words, codebook=codebook, target_kind="span" if on_span else "unit",
        unit_id=row["unit_id"], start=int(row["start"]) if on_span else None,
        end=int(row["end"]) if on_span else None, memo_id=row["proposal_id"],
        round=None if pd.isna(row["round"]) else row["round"], act_id=act_id,
    )  # fmt: skip

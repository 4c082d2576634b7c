"""How codes are used, as a lead may see it: figures, quotes, what is stale, proposals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sense7_qual import acts as record
from sense7_qual.codebook import Codebook
from sense7_qual.codings import of_round, stale
from sense7_qual.errors import ActError
from sense7_qual.widgets._codebook_shown import Quotes
from sense7_qual.widgets._lead_view import Seen

__all__ = ["InUse", "answer_to"]


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

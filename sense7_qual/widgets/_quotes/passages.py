"""What may be quoted for each code, as a lead may see it, and what is decided about it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from sense7_qual import codings, redact, report
from sense7_qual._present import divides, number
from sense7_qual.acts import Act
from sense7_qual.adjudication import Choice
from sense7_qual.errors import ActError
from sense7_qual.widgets._lead import decisions_of
from sense7_qual.widgets._lead_view import Seen, to_review
from sense7_qual.widgets._offsets import turns, utf16_units

PAGE: Final = 40
_LONGEST: Final = 400
_UNKNOWN: Final = "quotes: this passage cannot be quoted any more – read the study again."

Span = tuple[int, int] | None


class Rule(NamedTuple):
    """How many quotes are wanted, and by which rule passages are proposed."""

    per_code: int
    per_participant: int | None
    rating: str | None
    names: Collection[str]
    seed: int


class Passages:
    """The passages that a person may see, in the order of the rule, with what is decided about them.

    Attributes
    ----------
    read : Seen
        What may be seen.
    rule : Rule
        By which they are proposed.
    made : sequence of Act
        What was decided about quotes, with what takes it back: of all leads.
    viewer : str
        Who reads: their own decisions are shown in any case.
    once_coded : collection of tuple of str
        The texts and codes of codings that the viewer may see, also of those that are removed.
    words : str
        What the proposals rest on.
    """

    def __init__(
        self,
        read: Seen,
        rule: Rule,
        made: Sequence[Act],
        *,
        viewer: str,
        once_coded: Collection[tuple[str, str]],
    ) -> None:
        self._read, self._codebook, self.rule, self._made = read, read.codebook, rule, list(made)
        self._texts, standing = read.texts, read.in_the_end
        self._coded = standing[["unit_id", "code", "coder", "start", "end"]].to_dict("records")
        self._known = {(row["unit_id"], row["code"]) for row in self._coded}
        self._viewer, self._once_coded = viewer, once_coded
        self._decide()
        agreed = read.decisions(Choice(settled_by="rulings"))
        self.words, self._waits = read.words(agreed), to_review(agreed)
        self._found: dict[str, list[tuple[str, int, int]]] = {}
        rows = report.quote_candidates(
            standing,
            read.units,
            codebook=read.codebook,
            per_code=rule.per_code,
            rating=rule.rating,
            per_participant=rule.per_participant,
            names=rule.names,
            seed=rule.seed,
            decisions=pd.concat([read.decided, agreed], ignore_index=True),
            quotes=self._all,
            screened="drawn",
        )
        self._candidates: dict[str, list[dict[str, Any]]] = {code.id: [] for code in read.codebook.codable}
        for row in rows.astype(object).where(rows.notna(), None).to_dict("records"):
            one = {str(name): value for name, value in row.items()}
            self._candidates.setdefault(row["code"], []).append(one)
        self._removed: list[dict[str, Any]] = []
        self._add_uncoded(read.units)
        for code in self._candidates:
            self._candidates[code].sort(key=self._place)

    def __repr__(self) -> str:
        return f"Passages({sum(map(len, self._candidates.values()))} passages, {len(self._quotes)} quotes)"

    def add(self, act: Act) -> None:
        """Take in a decision, or what takes one back."""
        self._made.append(act)
        self._decide()

    def _decide(self) -> None:
        """Read what stands; of others' decisions only those on texts whose coding may be seen are shown."""
        self._all = codings.quotes(self._made, self._codebook, revisions=self._read.revisions)
        rows = self._all.astype(object).where(self._all.notna(), None).to_dict("records")
        self._quotes = [
            {str(name): value for name, value in row.items()}
            for row in rows
            if (row["unit_id"], row["code"]) in self._known or self._may_show(row)
        ]

    def _may_show(self, row: Mapping[Any, Any]) -> bool:
        """Return True for a decision whose coding is removed, and was the viewer's to see."""
        key = (row["unit_id"], row["code"])
        in_study = row["unit_id"] in self._texts and row["code"] in self._codebook
        return in_study and (row["coder"] == self._viewer or key in self._once_coded)

    def _add_uncoded(self, units: pd.DataFrame) -> None:
        """List the quotes whose coding was removed, too, so that they can be refused."""
        listed: dict[tuple[str, str], list[Span]] = {}
        for row in (row for rows in self._candidates.values() for row in rows):
            listed.setdefault((row["unit_id"], row["code"]), []).append(_span(row))
        columns = ["case_id", self.rule.rating] if self.rule.rating else ["case_id"]
        quotes = [
            quote
            for quote in self._quotes
            if quote["state"] != "refused"
            and not any(_overlap(_span(quote), span) for span in listed.get(_text_and_code(quote), ()))
        ]
        about = units.set_index("unit_id").loc[[quote["unit_id"] for quote in quotes], columns]
        for quote, (_, of_text) in zip(quotes, about.iterrows(), strict=True):
            case_id, rating = of_text["case_id"], of_text[self.rule.rating] if self.rule.rating else None
            row = {
                **{name: quote[name] for name in ("code", "unit_id", "start", "end", "role")},
                "case_id": None if pd.isna(case_id) else case_id,
                "rating": rating,
                "coders": "",
                "drawn": False,
                "why": "",
                "removed": True,
            }
            self._removed.append(row)
            self._candidates.setdefault(row["code"], []).append(row)

    def _place(self, row: Mapping[str, Any]) -> int:
        """Return the rank of a candidate: approved or chosen, proposed, others, refused."""
        quote = self._quote_of(row["unit_id"], row["code"], _span(row))
        if quote is not None and quote["state"] != "refused":
            return 0
        return 1 if row["drawn"] else 3 if not row["role"] or quote is not None else 2

    # what is shown ----------------------------------------------------------------------------------

    def progress(self) -> list[dict[str, Any]]:
        """Return for each code how many quotes are approved and chosen, of how many that are wanted."""
        rows = []
        for code, candidates in self._candidates.items():
            of_code = [
                (quote, self._is_uncoded(quote["unit_id"], code, _span(quote)))
                for quote in self._quotes
                if quote["code"] == code and quote["state"] != "refused"
            ]
            own = [quote for quote, is_uncoded in of_code if not is_uncoded]
            shows = [quote for quote in own if quote["role"] == "shows"]
            n_waiting = sum(quote["state"] in ("chosen", "stale", "erased") for quote in own)
            rows.append(
                {
                    "code": code,
                    "n_approved": sum(quote["state"] == "approved" for quote in shows),
                    "n_waiting": n_waiting + len(of_code) - len(own),
                    "n_against": sum(quote["state"] == "approved" for quote in own if quote not in shows),
                    "n_wanted": self.rule.per_code,
                    "n_candidates": len(candidates),
                    "waits": self._waits.get(code, ""),
                }
            )
        return rows

    def page(self, code: object, first: int) -> dict[str, Any]:
        """Return one page of the candidates for a code."""
        rows = self._of(code)
        self._look_into({row["unit_id"] for row in rows[max(first, 0) : max(first, 0) + PAGE]})
        return {
            "code": code,
            "n": len(rows),
            "first": first,
            "rows": [self._shown(row) for row in rows[max(first, 0) : max(first, 0) + PAGE]],
        }

    def rows_of(self, unit_id: str, code: str) -> list[dict[str, Any]]:
        """Return the candidates of one text for a code, as they are now."""
        return [self._shown(row) for row in self._of(code) if row["unit_id"] == unit_id]

    def text(self, unit_id: object, code: object, start: object, end: object) -> dict[str, Any]:
        """Return a candidate with its whole text: what bears the code, and what else is quoted of it."""
        row = self._candidate(unit_id, code, start, end)
        text, words = self._texts[row["unit_id"]], _span(row)
        here = [
            {
                "coder": one["coder"],
                "code": one["code"],
                "facets": {},
                "confidence": None,
                **_on_screen(text, _span(one)),
            }
            for one in self._coded
            if (one["unit_id"], one["code"]) == (row["unit_id"], row["code"])
        ]
        others = [
            {"code": quote["code"], "state": quote["state"], "paraphrase": quote["paraphrase"]}
            for quote in self._quotes
            if quote["unit_id"] == row["unit_id"]
            and quote["code"] != row["code"]
            and _overlap(_span(quote), words)
            and quote["state"] != "refused"
        ]
        whole = self._words(row["unit_id"], words, longest=None)
        context = turns(self._read.contexts[row["unit_id"]])
        return {
            "type": "text",
            **self._shown(row),
            "text": text,
            "context": context,
            "coded": here,
            "others": others,
            "whole": whole,
        }

    def _shown(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a candidate, and what is decided about it, as the browser shows it."""
        unit_id, code, words = str(row["unit_id"]), str(row["code"]), _span(row)
        quote = self._quote_of(unit_id, code, words)
        text = self._texts[unit_id]
        return {
            "unit_id": unit_id,
            "code": code,
            **_on_screen(text, words),
            "case_id": row["case_id"],
            "rating": _rating(row["rating"]),
            "coders": row["coders"],
            "role": row["role"] or "shows",
            "why": row["why"],
            "drawn": row["drawn"],
            "removed": row.get("removed", False),
            "identifies": self._kinds(unit_id, words),
            **self._words(unit_id, words, longest=_LONGEST),
            "quote": None
            if quote is None
            else {
                **_on_screen(text, _span(quote)),
                "state": quote["state"],
                "role": quote["role"],
                "paraphrase": quote["paraphrase"],
                "by": quote["coder"],
                "at": quote["at"],
                "words": self._words(unit_id, _span(quote), longest=_LONGEST),
            },
        }

    def _words(self, unit_id: str, span: Span, *, longest: int | None) -> dict[str, Any]:
        """Return words of a text, and where in them something may tell who somebody is."""
        text = self._texts[unit_id]
        start, end = span or (0, len(text))
        last = end if longest is None or end - start <= longest else start + longest
        while last < end and divides(text, last):
            last += 1
        marks = [
            utf16_units(text[start:last], max(at, start) - start, min(to, last) - start)
            for _, at, to in self._identifiers(unit_id)
            if at < last and start < to
        ]
        return {"words": text[start:last], "cut": last < end, "marks": marks}

    def _kinds(self, unit_id: str, words: Span) -> str:
        """Name the kinds of identifier in words of a text."""
        identifiers = self._identifiers(unit_id)
        return ", ".join(sorted({kind for kind, start, end in identifiers if _overlap(words, (start, end))}))

    def _identifiers(self, unit_id: str) -> list[tuple[str, int, int]]:
        """Return the findings of `redact.find` in a text, computed when it is first shown."""
        self._look_into({unit_id})
        return self._found[unit_id]

    def _look_into(self, unit_ids: Collection[str]) -> None:
        """Find what may tell who somebody is in texts that are shown for the first time, in all at once."""
        new = [unit_id for unit_id in unit_ids if unit_id not in self._found]
        if not new:
            return
        self._found |= {unit_id: [] for unit_id in new}
        units = pd.DataFrame({"unit_id": new, "text": [self._texts[unit_id] for unit_id in new]})
        found = redact.find(units, names=self.rule.names, columns=["text"])
        for unit_id, kind, start, end in found[["unit_id", "kind", "start", "end"]].itertuples(index=False):
            self._found[unit_id].append((str(kind), int(start), int(end)))

    def _of(self, code: object) -> list[dict[str, Any]]:
        if not isinstance(code, str) or code not in self._candidates:
            raise ActError("quotes: the codebook has no such code – reload the page.")
        return self._candidates[code]

    def _candidate(self, unit_id: object, code: object, start: object, end: object) -> dict[str, Any]:
        """Return the candidate that the browser names, by the span that it was given."""
        for row in self._of(code):
            here = _on_screen(self._texts[row["unit_id"]], _span(row))
            if row["unit_id"] == unit_id and (here["start"], here["end"]) == (start, end):
                return row
        raise ActError(_UNKNOWN)

    def _quote_of(self, unit_id: str, code: str, words: Span) -> dict[str, Any] | None:
        """Return the decision about these words; of several the last."""
        here = [
            quote
            for quote in self._quotes
            if (quote["unit_id"], quote["code"]) == (unit_id, code) and _overlap(_span(quote), words)
        ]
        return max(here, key=lambda quote: quote["at"], default=None)

    # what is asked for ------------------------------------------------------------------------------

    def words_for(self, asked: Mapping[str, Any], span: Span) -> Span:
        """Return the words of a decision, no character of which is divided; refuse what is not to be."""
        unit_id, code = asked.get("unit_id"), asked.get("code")
        is_uncoded = self._is_uncoded(unit_id, code, span)
        if is_uncoded and asked.get("state") != "refused":
            raise ActError("quotes: the coding of this passage was removed – refuse it, or code it again.")
        if (unit_id, code) not in self._known and not is_uncoded:
            raise ActError(_UNKNOWN)
        if span is not None:
            text, (start, end) = self._texts[str(unit_id)], span
            while divides(text, start):
                start -= 1
            while divides(text, end):
                end += 1
            span = (start, end)
        under = [
            quote["code"]
            for quote in self._quotes
            if quote["unit_id"] == unit_id
            and quote["code"] != code
            and quote["paraphrase"] is not None
            and quote["state"] != "refused"
            and _overlap(_span(quote), span)
        ]
        if under and asked.get("state") == "approved" and not asked.get("paraphrase"):
            raise ActError(
                f"quotes: under {self._codebook[under[0]].label}, these words are paraphrased – write a "
                "paraphrase here too, or refuse the quote."
            )
        return span

    def text_of(self, unit_id: object) -> str:
        """Return the text of a unit that has a candidate."""
        shown = {unit for unit, _ in self._known} | {quote["unit_id"] for quote in self._quotes}
        if not isinstance(unit_id, str) or unit_id not in shown:
            raise ActError(_UNKNOWN)
        return self._texts[unit_id]

    def _is_uncoded(self, unit_id: object, code: object, span: Span) -> bool:
        """Return True for words of a quote that is listed though its coding was removed."""
        return any(
            (row["unit_id"], row["code"]) == (unit_id, code) and _overlap(_span(row), span)
            for row in self._removed
        )

    def of(self, coder: str, *, undone: bool) -> list[list[Act]]:
        """Return a person's decisions that stand, or those that they took back."""
        there = (act for act in self._made if act.unit_id in self._texts)
        return decisions_of(there, coder, undone=undone)


def _span(row: Mapping[Any, Any]) -> Span:
    return None if pd.isna(row["start"]) else (int(row["start"]), int(row["end"]))


def _text_and_code(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row["unit_id"]), str(row["code"])


def _overlap(one: Span, other: Span) -> bool:
    return one is None or other is None or (one[0] < other[1] and other[0] < one[1])


def _on_screen(text: str, span: Span) -> dict[str, int | None]:
    if span is None:
        return {"start": None, "end": None}
    start, end = utf16_units(text, *span)
    return {"start": start, "end": end}


def _rating(value: Any) -> str:
    return "" if value is None or pd.isna(value) else number(value, 2).removesuffix(".00")

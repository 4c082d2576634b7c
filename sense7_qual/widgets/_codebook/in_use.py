"""How codes are used, and what a page shows of a draft: figures, quotes, proposals, what becomes stale."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import pandas as pd

from sense7_qual import acts as record
from sense7_qual._present import coefficient, looks, percent
from sense7_qual.agreement import by_code
from sense7_qual.codebook import Change, Code, Codebook, Revision
from sense7_qual.codings import of_round, stale, tally
from sense7_qual.errors import ActError
from sense7_qual.widgets._codebook.draft import Draft, State, Step
from sense7_qual.widgets._lead_view import Seen, participants, to_review, with_figures
from sense7_qual.widgets._offsets import folded


def figures(seen: Seen) -> dict[str, dict[str, Any]]:
    """Return for each code what is known of its use, by its id.

    Each has ``n``, the finished texts on which anybody applied it; ``prevalence``, the share of the decisions
    on it that apply it, both of each coder's last decisions; ``alpha``, with its 95 % interval (participants
    resampled; texts, which is said, where one has no participant), of the first independent ones, empty where
    it cannot be computed; ``value``, alpha as a number, or None; ``n_both``, the texts on which two coders or
    more decided so; ``waits``, how much of it is to be reviewed. Where nothing that was decided on it counts
    until then, ``n`` is None.
    """
    counts = tally(seen.decided)
    applied = counts[counts["n_applied"] > 0].groupby("code")["unit_id"].nunique()
    sums = counts.groupby("code")[["n_applied", "n_coders"]].sum()
    shares = (sums["n_applied"] / sums["n_coders"]).to_dict()
    cluster = participants(seen.units, seen.decided["unit_id"])
    by: dict[str, Any] = {"units": seen.units, "cluster": cluster} if cluster else {}
    agreed = with_figures(by_code(seen.independent, **by))
    waits = to_review(seen.decided)
    return {
        code.id: {
            "n": int(applied.get(code.id, 0)) if code.id in shares or code.id not in waits else None,
            "prevalence": f"{percent(shares[code.id])} %" if code.id in shares else "",
            "alpha": _alpha(agreed.get(code.id, {}), "" if cluster else ", texts resampled"),
            "value": _value(agreed.get(code.id, {})),
            "n_both": int(agreed.get(code.id, {}).get("n_units", 0)),
            "waits": waits.get(code.id, ""),
        }
        for code in seen.codebook.codable
    }


def _value(row: Mapping[Any, Any]) -> float | None:
    return None if pd.isna(row.get("alpha", float("nan"))) else float(row["alpha"])


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
        counted, coverage = of_round(seen.last.codings, seen.last.coverage)
        counted = counted.merge(coverage[["unit_id", "coder"]], on=["unit_id", "coder"])
        standing = seen.in_the_end
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
        return {
            "unit_id": row["unit_id"],
            "coder": row["coder"],
            "code": code,
            "start": start,
            "end": end,
            "stale": is_stale,
        }

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
        """Count the texts that each coder must look at again, by the round in which they finished them."""
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
            raise ActError("proposal: it no longer waits for an answer – open the list again.")
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


def answer_to(
    row: Mapping[str, Any], words: str, coder: str, codebook: Codebook, act_id: str, code: str | None = None
) -> record.Act:
    """Return the answer to a proposal, in its round; `code` is what it went into."""
    return record.answer(
        coder=coder,
        proposal=row["proposal_id"],
        text=words,
        codebook=codebook,
        code=code,
        round=None if pd.isna(row["round"]) else row["round"],
        act_id=act_id,
    )


_FIELDS: Final = tuple(one.name for one in fields(Code))
FIELD_WORDS: Final = {
    "use_when": "use when",
    "avoid_when": "not when",
    "counter_examples": "near misses",
    "rules_source": "source of rules",
}


def shown_draft(draft: Draft) -> dict[str, Any]:
    """Return the codes of a draft, its steps in words, and what each changed."""
    state = draft.state
    return {
        "base": state.base.fingerprint,
        "title": state.codebook.title or state.codebook.name,
        "codes": shown_codes(state),
        "changes": shown_changes(state),
        "steps": list(draft.steps),
        "undone": list(draft.undone),
        "said": shown_steps(draft),
        "merged": dict(state.merged),
        "taken": dict(state.taken),
        "meaning": {code: {"kind": kind, "why": why} for code, (kind, why) in state.meaning.items()},
    }


def shown_codes(state: State) -> list[dict[str, Any]]:
    """Return the codes of the draft, each with what is different from the base: "new", or which fields."""
    rows, look = [], looks(state.codebook)
    for code in state.codebook:
        before = next((one for one in state.base if one.id == code.id), None)
        altered = (
            [] if before is None else [one for one in _FIELDS if getattr(code, one) != getattr(before, one)]
        )
        rows.append(
            {
                **{name: getattr(code, name) for name in _FIELDS},
                "look": look[code.id]._asdict(),
                "is_new": before is None,
                "altered": altered,
            }
        )
    return rows


def shown_changes(state: State) -> list[dict[str, Any]]:
    """List the changes since the base, code by code, with labels."""
    return [
        {
            "kind": one.kind,
            "code": one.code,
            "label": _label(state, one.code),
            "into": [{"code": into, "label": _label(state, into)} for into in one.into],
        }
        for one in state.changes()
    ]


def shown_steps(draft: Draft) -> list[str]:
    """Return in words what each step did."""
    return [_said(draft.state, step) for step in draft.steps]


def _said(state: State, step: Step) -> str:
    label = str(step.get("label") or _label(state, str(step.get("code"))))
    into = _label(state, str(step.get("into")))
    values: Mapping[str, Any] = step.get("values") or {}
    match step.get("do"):
        case "add":
            return f"added {label}"
        case "take":
            return f"took a proposal into {into}" if "into" in step else f"took a proposal as {label}"
        case "edit":
            return f"changed {', '.join(FIELD_WORDS.get(name, name) for name in values)} of {label}"
        case "move":
            return f"moved {label}"
        case "merge":
            return f"merged {label} into {into}"
        case "split":
            return f"split {label} into {' and '.join(str(part.get('label')) for part in step['parts'])}"
        case "retire":
            return f"retired {label}"
        case "mean":
            return f"{label}: {MEANT[str(step.get('kind'))]}"
        case "describe":
            return f"changed {', '.join(values)} of the codebook"
        case _:
            return "loaded a file"


def _label(state: State, code: str) -> str:
    return next((book[code].label for book in (state.codebook, state.base) if code in book), code)


MEANT: Final = {
    "redefine": "another meaning",
    "narrow": "applies to less",
    "widen": "applies to more",
    "reword": "wording only",
}
"""The kinds of change of a meaning, as they are shown, the dearest first."""


def prices(seen: Seen, state: State) -> list[dict[str, Any]]:
    """Return for each code with changed rules what each claim about its meaning would cost.

    Texts are counted once for each coder who must look at them again because of this code.
    """
    changed = state.redefined
    if not changed:
        return []
    found = {kind: preview(seen, state, dict.fromkeys(changed, kind)).by_code for kind in MEANT}
    return [
        {
            "code": code,
            "label": _label(state, code),
            "choices": [_price(kind, rows[rows["code"] == code]) for kind, rows in found.items()],
        }
        for code in changed
    ]


def _price(kind: str, rows: pd.DataFrame) -> dict[str, Any]:
    hours = rows["hours"]
    return {
        "kind": kind,
        "words": MEANT[kind],
        "n": int(rows["n_units"].sum()),
        "hours": _duration(hours.sum()) if len(hours) and hours.notna().all() else None,
    }


def shown_preview(found: Preview, state: State) -> dict[str, Any]:
    """Describe the texts that become stale, in numbers and words."""
    by_code = [
        {
            "code": row["code"],
            "label": _label(state, row["code"]),
            "coder": row["coder"],
            "reason": row["reason"],
            "n": int(row["n_units"]),
            "hours": _duration(row["hours"]),
        }
        for row in found.by_code.to_dict("records")
    ]
    by_coder = [
        {"coder": row["coder"], "n": int(row["n_units"]), "hours": _duration(row["hours"])}
        for row in found.by_coder.to_dict("records")
    ]
    hours = found.by_coder["hours"]
    unknown = bool(hours.isna().any())
    total = _duration(hours.sum()) if len(hours) and hours.notna().any() else None
    return {
        "by_code": by_code,
        "by_coder": by_coder,
        "total": total,
        "at_least": unknown and total is not None,
    }


def _duration(hours: Any) -> str | None:
    """Return a time in words; None where it is unknown.

    >>> _duration(1.51), _duration(0.02), _duration(0.001), _duration(pd.NA)
    ('1 h 31 min', '1 min', 'under 1 min', None)
    """
    if pd.isna(hours):
        return None
    minutes = round(60 * float(hours))
    if not minutes:
        return "under 1 min"
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"


def shown_revisions(revisions: Sequence[Revision], codebooks: Mapping[str, Codebook]) -> list[dict[str, Any]]:
    """Return every version, the newest first: when, by whom and why it came to be, and what changed."""
    made = [
        {
            "version": one.codebook,
            "coder": one.coder,
            "at": one.at,
            "why": one.why,
            "base": one.base,
            "changes": [{"kind": each.kind, "label": _of(codebooks, one, each.code)} for each in one.changes],
        }
        for one in revisions
    ]
    come = {one.codebook for one in revisions}
    first = [version for version in codebooks if version not in come]
    begun: list[dict[str, Any]] = [
        {"version": one, "coder": None, "at": None, "why": None, "base": None, "changes": []} for one in first
    ]
    return [*reversed(made), *begun]


def _of(codebooks: Mapping[str, Codebook], step: Revision, code: str) -> str:
    books = [codebooks[one] for one in (step.codebook, step.base) if one in codebooks]
    return next((book[code].label for book in books if code in book), code)


_KEY: Final = ["unit_id", "coder", "code"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What becomes stale.

    Attributes
    ----------
    by_code : DataFrame
        One row per code × coder: code, coder, reason, n_units (texts that the coder must look at again
        because of this code), hours (at the coder's own pace; missing where that is unknown).
    by_coder : DataFrame
        One row per coder: coder, n_units (texts, each once), hours.
    """

    by_code: pd.DataFrame
    by_coder: pd.DataFrame


def preview(seen: Seen, state: State, meaning: Mapping[str, str] | None = None) -> Preview:
    """Count the texts that become stale if the draft is saved now, beyond those stale already.

    With `meaning`, as if that were said of its codes (`State.changes_if`).

    Only what may be seen is counted (`Seen`). Hours are texts × the coder's median seconds between two
    finishes, as in `pace`.
    """
    rows = _becoming(seen, state, state.changes() if meaning is None else state.changes_if(meaning))
    by_code = (
        rows.groupby(["code", "coder", "reason"], sort=False)["unit_id"]
        .nunique()
        .rename("n_units")
        .reset_index()
    )
    by_coder = rows.groupby("coder", sort=True)["unit_id"].nunique().rename("n_units").reset_index()
    return Preview(*(one.assign(hours=_hours(one, seen.pace)) for one in (by_code, by_coder)))


def _becoming(seen: Seen, state: State, made: tuple[Change, ...]) -> pd.DataFrame:
    """Return unit × coder × code that are stale after these changes and are not yet."""
    base, new = state.base, state.codebook
    if new.fingerprint == base.fingerprint:
        return pd.DataFrame(columns=[*_KEY, "reason"], dtype="string")
    step = Revision(
        coder="draft", at="", why="", base=base.fingerprint, codebook=new.fingerprint, changes=made
    )
    now = stale(seen.codings, seen.coverage, base, revisions=seen.revisions)
    then = stale(seen.codings, seen.coverage, new, revisions=[*seen.revisions, step])
    known = pd.MultiIndex.from_frame(now[_KEY])
    return then[~pd.MultiIndex.from_frame(then[_KEY]).isin(known)]


def _hours(counted: pd.DataFrame, pace: dict[str, float]) -> pd.Series:
    seconds = counted["coder"].map(pace).astype("Float64")
    return counted["n_units"].astype("Float64") * seconds / 3600

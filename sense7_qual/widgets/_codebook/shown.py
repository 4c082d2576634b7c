"""What a page shows of a draft and of each code: figures, quotes, colours, what gets stale, conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import pandas as pd

from sense7_qual._present import looks
from sense7_qual.codebook import Code, Codebook, Revision
from sense7_qual.codings import stale
from sense7_qual.widgets._codebook.draft import Draft, State, Step
from sense7_qual.widgets._lead_view import Seen

__all__ = [
    "FIELD_WORDS",
    "Preview",
    "preview",
    "shown_changes",
    "shown_codes",
    "shown_draft",
    "shown_preview",
    "shown_revisions",
    "shown_steps",
]

_FIELDS: Final = tuple(one.name for one in fields(Code))
FIELD_WORDS: Final = {
    "use_when": "use when", "avoid_when": "not when", "counter_examples": "near misses",
    "rules_source": "source of rules",
}  # fmt: skip


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
    """Return what changed since the base, code by code, with the labels that people read."""
    return [
        {"kind": one.kind, "code": one.code, "label": _label(state, one.code),
         "into": [{"code": into, "label": _label(state, into)} for into in one.into]}
        for one in state.changes()
    ]  # fmt: skip


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
        case "describe":
            return f"changed {', '.join(values)} of the codebook"
        case _:
            return "took over a file"


def _label(state: State, code: str) -> str:
    return next((book[code].label for book in (state.codebook, state.base) if code in book), code)


def shown_preview(found: Preview, state: State) -> dict[str, Any]:
    """Return what becomes stale, in numbers and words."""
    by_code = [
        {"code": row["code"], "label": _label(state, row["code"]), "coder": row["coder"],
         "reason": row["reason"], "n": int(row["n_units"]), "hours": _duration(row["hours"])}
        for row in found.by_code.to_dict("records")
    ]  # fmt: skip
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
        {"version": one.codebook, "coder": one.coder, "at": one.at, "why": one.why, "base": one.base,
         "changes": [{"kind": each.kind, "label": _of(codebooks, one, each.code)} for each in one.changes]}
        for one in revisions
    ]  # fmt: skip
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


def preview(seen: Seen, state: State) -> Preview:
    """Return what becomes stale if the draft is saved now, beyond what is stale already.

    Only what may be seen is counted (`Seen`). Hours are texts × the coder's median seconds between two
    finishes, as in `pace`.
    """
    rows = _becoming(seen, state)
    by_code = (
        rows.groupby(["code", "coder", "reason"], sort=False)["unit_id"]
        .nunique()
        .rename("n_units")
        .reset_index()
    )
    by_coder = rows.groupby("coder", sort=True)["unit_id"].nunique().rename("n_units").reset_index()
    return Preview(*(one.assign(hours=_hours(one, seen.pace)) for one in (by_code, by_coder)))


def _becoming(seen: Seen, state: State) -> pd.DataFrame:
    """Return unit × coder × code that are stale under the draft and are not yet."""
    base, new = state.base, state.codebook
    if new.fingerprint == base.fingerprint:
        return pd.DataFrame(columns=[*_KEY, "reason"], dtype="string")
    step = Revision(
        coder="draft", at="", why="", base=base.fingerprint, codebook=new.fingerprint, changes=state.changes()
    )
    now = stale(seen.codings, seen.coverage, base, revisions=seen.revisions)
    then = stale(seen.codings, seen.coverage, new, revisions=[*seen.revisions, step])
    known = pd.MultiIndex.from_frame(now[_KEY])
    return then[~pd.MultiIndex.from_frame(then[_KEY]).isin(known)]


def _hours(counted: pd.DataFrame, pace: dict[str, float]) -> pd.Series:
    seconds = counted["coder"].map(pace).astype("Float64")
    return counted["n_units"].astype("Float64") * seconds / 3600

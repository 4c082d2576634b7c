"""Saving a draft: conflicts between two people's changes, the combined codebook, the reviews it causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sense7_qual._messages import word
from sense7_qual.codebook import Code, Codebook, Revision, combine, redefined
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._codebook.draft import Draft, State, Step
from sense7_qual.widgets._codebook.in_use import FIELD_WORDS, InUse
from sense7_qual.widgets._codes import COMMANDS

_CELL: Final = 'qual.widgets.CodingWidget(store, coder={0!r}{1}, review="stale")'

#: What two people changed differently, as a page shows it.
Undecided = dict[str, Any]


def shown_conflict(
    found: Sequence[Conflict], base: Codebook, theirs: Codebook, revisions: Sequence[Revision]
) -> dict[str, Any]:
    """Return both sides of what two people changed differently, and who the other is."""
    last = next((one for one in reversed(revisions) if one.codebook == theirs.fingerprint), None)
    by = None if last is None else {"coder": last.coder, "at": last.at, "why": last.why}
    rows = []
    for one in found:
        books = [book for book in (theirs, base) if one.code and one.code in book]
        label = next((book[str(one.code)].label for book in books), one.code or "")
        rows.append(
            {
                "name": one.name,
                "code": one.code,
                "label": label,
                "field": FIELD_WORDS.get(one.field or "", one.field),
                "base": shown(one.base),
                "mine": shown(one.mine),
                "theirs": shown(one.theirs),
                "both": None if one.both is None else list(one.both),
            }
        )
    return {"by": by, "rows": rows}


def put_together(
    state: State, theirs: Codebook, choices: Mapping[str, str], revisions: list[Revision]
) -> Codebook | Undecided:
    """Return the draft with what others changed since it was begun, or what must be chosen first."""
    if theirs == state.base:
        return state.codebook
    found = conflicts(state.base, state.codebook, theirs)
    if any(choices.get(one.name) not in one.choices for one in found):
        return shown_conflict(found, state.base, theirs, revisions)
    return combined(state.base, state.codebook, theirs, choices)


def revised(study: Any, wished: Codebook, state: State, *, why: str, coder: str) -> None:
    """Save the codebook as a revision; not where only proposals went into codes that are there."""
    theirs = study.codebook
    if wished == theirs and state.taken:
        return
    gone = {code.id for code in theirs.codable} - {code.id for code in wished.codable}
    for code, (kind, said) in state.claims.items():
        if kind != "redefine" and not said:
            raise CodebookError(
                f"save: the claim about the meaning of “{state.codebook[code].label}” needs its own reason, "
                "which the revision table reports – say why, or choose “another meaning”."
            )
    study.revise(
        wished,
        why=why,
        coder=coder,
        merged={code: into for code, into in state.merged.items() if code in gone},
        split={code: into for code, into in state.split.items() if code in gone},
        meaning={code: said for code, said in state.claims.items() if code in redefined(theirs, wished)},
    )


def queues(use: InUse) -> list[dict[str, Any]]:
    """Return for each coder how many texts wait for a review, and how the coder opens them."""
    return [
        {"coder": coder, "n": n, "cell": _CELL.format(coder, f", round={round!r}" if round else "")}
        for coder, round, n in use.waiting()
    ]


def new_draft(base: Codebook, versions: Mapping[str, Codebook]) -> Draft:
    """Return a draft without steps."""
    reserved = {key: name for name, key in COMMANDS.items()}
    return Draft(base, versions=versions.values(), reserved=reserved)


def resumed(
    base: str, steps: Sequence[Step], undone: Sequence[Step], versions: Mapping[str, Codebook]
) -> Draft:
    """Return the draft of these steps on the version that `base` names."""
    book = versions.get(base)
    if book is None:
        raise CodebookError("draft: these steps belong to another study – discard them.")
    draft = new_draft(book, versions)
    draft.restore(steps, undone)
    return draft


def as_kept(draft: Draft, typed: Mapping[str, str]) -> dict[str, Any]:
    """Build the record that is kept of a draft and of typed text; empty if there is neither."""
    steps = {"steps": draft.steps, "undone": draft.undone} if draft.steps or draft.undone else {}
    base = {"base": draft.state.base.fingerprint} if steps else {}
    return {**base, **steps, **({"typed": dict(typed)} if typed else {})}


def left_unsaved(kept: Mapping[str, Any], versions: Mapping[str, Codebook]) -> tuple[Draft | None, int]:
    """Return the draft that was kept, and how many of its steps cannot be taken any more.

    These are steps out of which a withdrawal took what they need, say.
    """
    base, steps = versions.get(str(kept.get("base"))), kept.get("steps") or []
    undone = kept.get("undone") or []
    if base is None or not (steps or undone):
        return None, len(steps)
    draft, n_lost = new_draft(base, versions), 0
    try:
        draft.restore(steps, undone)
    except CodebookError:
        for step in steps:
            try:
                draft.do(step)
            except CodebookError:
                n_lost += 1
    return draft, n_lost


def still_typed(typed: Mapping[str, str], step: Step) -> dict[str, str]:
    """Drop the typed text that this step contains; the page's field names say where text was typed."""
    code = step.get("code")
    match step.get("do"):
        case "edit":
            in_step = [f"field {code} {name}" for name in step.get("values") or {}]
        case "split":
            in_step = [f"split {code} "]
        case "add":
            in_step = ["add "]
        case "take":
            in_step = [f"proposal {step.get('proposal')} "]
        case _:
            in_step = []
    return {name: text for name, text in typed.items() if not name.startswith(tuple(in_step))}


def from_file(draft: Codebook, base: Codebook) -> Step:
    """Return the step to the codebook of a file; of a CSV, which holds the codes alone, with what the base
    says of itself."""
    if draft.title == draft.name and not any((draft.version, draft.description, draft.source, draft.licence)):
        names = ("name", "title", "version", "description", "source", "licence")
        draft = replace(draft, **{name: getattr(base, name) for name in names})
    return {"do": "load", "yaml": draft.to_yaml().decode()}


_CODE: Final = tuple(one.name for one in fields(Code) if one.name != "id")
_BOOK: Final = tuple(one.name for one in fields(Codebook) if one.compare and one.name != "codes")


@dataclass(frozen=True, slots=True)
class Conflict:
    """What both sides changed, differently.

    `code` is None for the codebook's own fields, `field` is None where a whole code was added or taken away.
    """

    code: str | None
    field: str | None
    base: Any
    mine: Any
    theirs: Any

    @property
    def name(self) -> str:
        """What a choice names it by."""
        return f"{self.code or ''}\x1f{self.field or ''}"

    @property
    def both(self) -> tuple[str, ...] | None:
        """Both sides' entries of a list, without those that one took away; None where it is no list."""
        sides = (self.base, self.mine, self.theirs)
        if not all(isinstance(side, tuple) and all(isinstance(one, str) for one in side) for side in sides):
            return None
        kept = [one for one in self.base if one in self.mine and one in self.theirs]
        new = [one for side in (self.mine, self.theirs) for one in side if one not in self.base]
        return tuple(dict.fromkeys([*kept, *new]))

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen."""
        return ("mine", "theirs") if self.both is None else ("mine", "theirs", "both")


def conflicts(base: Codebook, mine: Codebook, theirs: Codebook) -> list[Conflict]:
    """List the conflicts that `combine` cannot decide."""
    return [
        one
        for one in _compared(base, mine, theirs)
        if one.base not in (one.mine, one.theirs) and one.mine != one.theirs
    ]


def combined(base: Codebook, mine: Codebook, theirs: Codebook, choices: Mapping[str, str]) -> Codebook:
    """Return both sides' changes, and of what conflicts the side that is chosen ("mine" or "theirs"),
    or of lists "both".
    """
    for one in conflicts(base, mine, theirs):
        chosen = choices.get(one.name)
        if chosen == "mine":
            theirs = _put(theirs, one, one.base, like=base)
        elif chosen == "theirs":
            mine = _put(mine, one, one.theirs, like=theirs)
        elif chosen == "both" and one.both is not None:
            mine, theirs = (_put(book, one, one.both, like=book) for book in (mine, theirs))
        else:
            raise CodebookError(
                f"save: nothing was chosen for {one.field or 'all'} of {one.code or 'the codebook'} – choose "
                "mine or theirs."
            )
    return combine(base, mine, theirs)


def different(one: Codebook, other: Codebook) -> list[Conflict]:
    """List the differences of two versions; `mine` is of the first, `theirs` of the second."""
    return [each for each in _compared(one, one, other) if each.mine != each.theirs]


def shown(value: Any) -> list[str]:
    """Return a value of a field as lines; none where there is nothing."""
    if isinstance(value, Code):
        return [value.label, *([value.definition] if value.definition else [])]
    if isinstance(value, tuple):
        return [line if isinstance(line, str) else line.label or line.name for line in value]
    return [] if value in (None, "") else [str(value)]


def _compared(base: Codebook, mine: Codebook, theirs: Codebook) -> Iterator[Conflict]:
    """Yield each field of the three, and whole codes that not all of them have."""
    for name in _BOOK:
        yield Conflict(None, name, *(getattr(book, name) for book in (base, mine, theirs)))
    for code_id in dict.fromkeys([*mine.ids, *theirs.ids, *base.ids]):
        sides = [next((code for code in book if code.id == code_id), None) for book in (base, mine, theirs)]
        if None in sides:
            yield Conflict(code_id, None, *sides)
            continue
        for name in _CODE:
            yield Conflict(code_id, name, *(getattr(code, name) for code in sides))


def _put(book: Codebook, where: Conflict, value: Any, *, like: Codebook) -> Codebook:
    """Return the codebook with the value that a conflict is about; a code comes where `like` has it."""
    if where.code is None:
        return replace(book, **{str(where.field): value})
    if where.field is not None:
        value = replace(book[where.code], **{where.field: value})
    codes = {code.id: code for code in book if code.id != where.code}
    if value is None:
        return replace(book, codes=tuple(codes.values()))
    order = list(codes)
    own = book.ids if where.code in book else like.ids
    behind = own[own.index(where.code) + 1 :]
    place = next((order.index(one) for one in behind if one in codes), len(order))
    order.insert(place, where.code)
    return replace(book, codes=tuple({**codes, where.code: value}[one] for one in order))


def compared(
    one: object, other: object, *, versions: Mapping[str, Codebook], draft: Codebook
) -> list[dict[str, Any]]:
    """Compare two versions, named by their fingerprints or as "draft"."""
    books = [_version(name, versions, draft) for name in (one, other)]
    return [
        {
            "code": each.code,
            "label": _label(each.code, *books),
            "field": each.field,
            "one": shown(each.mine),
            "other": shown(each.theirs),
        }
        for each in different(*books)
    ]


def _version(name: object, versions: Mapping[str, Codebook], draft: Codebook) -> Codebook:
    if name == "draft":
        return draft
    book = versions.get(name) if isinstance(name, str) else None
    if book is None:
        raise CodebookError(
            f"versions: expected a version of this study – found {word(name)} – choose another."
        )
    return book


def _label(code: str | None, *books: Codebook) -> str:
    return next((book[code].label for book in reversed(books) if code is not None and code in book), "")

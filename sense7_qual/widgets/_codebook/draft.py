"""A draft of the next version of a codebook: steps that are checked one by one, undone and done again.

A draft knows nothing of a browser, a store or a coding. A step is a mapping of plain values, so that a
browser can keep the list and hand it to the kernel that comes after one that died; the same steps on the same
version always give the same state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.codebook import MEANINGS, Change, Code, Codebook, Facet, changes, redefined
from sense7_qual.errors import CodebookError
from sense7_qual.widgets._codes import code_id, refuse_unfit_colour
from sense7_qual.widgets._offsets import as_text, folded

Step = Mapping[str, Any]

_LISTS: Final = ("use_when", "avoid_when", "examples", "counter_examples")
_FIELDS: Final = ("label", "definition", *_LISTS, "colour", "key", "origin", "source", "rules_source")
_OPTIONAL: Final = ("colour", "key")
_OWN: Final = ("title", "version", "description", "source", "licence")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a draft has come to.

    Attributes
    ----------
    base, codebook : Codebook
        The version that it began from, and what has become of it.
    merged : mapping of str to str
        Codes of the base that went into another.
    split : mapping of str to tuple of str
        Codes of the base that were divided, and into which new codes.
    taken : mapping of str to str
        Proposals that were taken, and the code that each became or went into.
    meaning : mapping of str to (str, str)
        What a changed definition or rule does to the meaning of its code, as the lead says, and why.
    used : frozenset of str
        Every id that a version of the codebook, or this draft, has ever had: none of them is given again.
    reserved : mapping of str to str
        Keys that are no code's, and what each does.
    """

    base: Codebook
    codebook: Codebook
    merged: Mapping[str, str] = field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    taken: Mapping[str, str] = field(default_factory=dict)
    meaning: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    used: frozenset[str] = frozenset()
    reserved: Mapping[str, str] = field(default_factory=dict)

    def changes(self) -> tuple[Change, ...]:
        """List the changes since the base, as the record of a revision has them."""
        return self.changes_if(self.claims)

    @property
    def redefined(self) -> list[str]:
        """The codes that have another definition or other rules than in the base."""
        return redefined(self.base, self.codebook)

    @property
    def claims(self) -> dict[str, tuple[str, str]]:
        """What is said of the codes that are changed now."""
        return {code: self.meaning[code] for code in self.redefined if code in self.meaning}

    def changes_if(self, meaning: Mapping[str, str | tuple[str, str]]) -> tuple[Change, ...]:
        """List the changes since the base, with other claims about the meaning of codes."""
        return changes(self.base, self.codebook, merged=self.merged, split=self.split, meaning=meaning)


class Draft:
    """Steps from one version of a codebook towards the next.

    Attributes
    ----------
    base : Codebook
        The version that it begins from.
    versions : iterable of Codebook
        All versions that there have been: none of their ids is given again.
    reserved : mapping of str to str, optional
        Keys that no code may have, and what each does.
    """

    def __init__(
        self, base: Codebook, *, versions: Iterable[Codebook] = (), reserved: Mapping[str, str] | None = None
    ) -> None:
        used = frozenset(one for book in (base, *versions) for one in book.ids)
        self._begin = State(base=base, codebook=base, used=used, reserved=dict(reserved or {}))
        self.state = self._begin
        self.steps: list[Step] = []
        self.undone: list[Step] = []

    def __repr__(self) -> str:
        return f"Draft({self._begin.base.fingerprint[:8]}, {len(self.steps)} steps)"

    def do(self, step: Step) -> bool:
        """Take a step; return False where it changes nothing, and is left out."""
        whole = _named(self.state, step)
        after = _after(self.state, whole)
        if after == self.state:
            return False
        self.steps.append(whole)
        self.state = after
        self.undone.clear()
        return True

    def undo(self) -> bool:
        """Take the last step back; return False where there is none."""
        if not self.steps:
            return False
        self.undone.append(self.steps.pop())
        self.state = self._replayed(self.steps)
        return True

    def redo(self) -> bool:
        """Do again what was undone last; return False where there is nothing."""
        if not self.undone:
            return False
        self.state = _after(self.state, self.undone[-1])
        self.steps.append(self.undone.pop())
        return True

    def leave_out(self, place: int) -> None:
        """Take one step back, whatever came after it."""
        if type(place) is not int or not 0 <= place < len(self.steps):
            raise CodebookError(
                f"draft: expected one of its {len(self.steps)} steps – found {word(place)} – choose another."
            )
        rest = [*self.steps[:place], *self.steps[place + 1 :]]
        try:
            self.state = self._replayed(rest)
        except CodebookError as error:
            raise CodebookError(
                f"draft: a later step needs this one ({error}) – take the later one back first."
            ) from None
        self.steps = rest
        self.undone.clear()

    def restore(self, steps: Sequence[Step], undone: Sequence[Step] = ()) -> None:
        """Take over the steps of a draft of the same version; the draft is as it was where one cannot be.

        Steps that no kernel answered yet get the ids of their new codes here.
        """
        state = self._begin
        whole: list[Step] = []
        for step in steps:
            whole.append(_named(state, step))
            state = _after(state, whole[-1])
        self.state, self.steps, self.undone = state, whole, list(undone)

    def _replayed(self, steps: Sequence[Step]) -> State:
        state = self._begin
        for step in steps:
            state = _after(state, step)
        return state


def _named(state: State, step: Step) -> Step:
    """Return the step with an id for each new code, so that doing it again gives the same."""
    taken = {*state.used, *state.codebook.ids}
    if step.get("do") in ("add", "take") and not step.get("code"):
        return {**step, "code": code_id(_line(step, "label"), taken)}
    if step.get("do") == "split":
        parts = []
        for part in _parts(step):
            given = part.get("code") or code_id(_line(part, "label"), taken)
            taken.add(given)
            parts.append({**part, "code": given})
        return {**step, "parts": parts}
    return step


def _after(state: State, step: Step) -> State:
    """Return the state after one step, or raise `CodebookError`."""
    take = _TAKE.get(str(step.get("do")))
    if take is None:
        raise CodebookError(
            f"draft: expected a step – found {word(step.get('do'))} – "
            f"{did_you_mean(str(step.get('do')), _TAKE)}"
        )
    after = take(state, step)
    after.changes()  # what is merged and split fits the two versions
    book = after.codebook
    if book.codes != state.codebook.codes:
        book = replace(book, appeared=(*book.appeared, book.codes))
    return replace(after, codebook=book, used=after.used | set(book.ids))


def _add(state: State, step: Step, *, origin: str = "") -> State:
    code = _new(state, step, parent=step.get("parent"), origin=origin)
    _check_fields(state, code, step.get("values") or {})
    codes = _placed(state.codebook.codes, [code], code.parent, step.get("before"))
    return replace(state, codebook=replace(state.codebook, codes=codes))


def _take(state: State, step: Step) -> State:
    """Take a proposal, as a new code or into one that is there."""
    proposal = _line(step, "proposal")
    if proposal in state.taken:
        raise CodebookError(
            f"draft: this proposal already became code {state.taken[proposal]!r} – take that step back first."
        )
    if "into" in step:
        into = _codable(state.codebook, step.get("into"))
        return replace(state, taken={**state.taken, proposal: into.id})
    after = _add(state, step, origin="inductive")  # it was proposed on a text
    return replace(after, taken={**state.taken, proposal: str(step.get("code"))})


def _edit(state: State, step: Step) -> State:
    code = state.codebook[str(step.get("code"))]
    values = step.get("values")
    if not isinstance(values, Mapping) or not values:
        raise CodebookError(f"draft: no changed fields of {code.id!r} were given – name them.")
    edited = replace(code, **_values(values))
    _check_fields(state, edited, values)
    return replace(state, codebook=_with(state.codebook, edited))


def _move(state: State, step: Step) -> State:
    book, code = state.codebook, state.codebook[str(step.get("code"))]
    parent, before = step.get("parent"), step.get("before")
    if before is not None and book[str(before)].parent != parent:
        raise CodebookError(
            f"draft: {code.id!r} cannot go before {before!r}, which has another parent – choose another "
            "place."
        )
    moved = replace(code, parent=parent)
    below = _below(book, code.id)
    whole = _with(book, moved)  # refuses a circle, and a parent that is none
    block = [one for one in whole.codes if one.id == code.id or one.id in below]
    rest = tuple(one for one in whole.codes if one not in block)
    return replace(state, codebook=replace(whole, codes=_placed(rest, block, parent, before)))


def _merge(state: State, step: Step) -> State:
    book, code_name = state.codebook, str(step.get("code"))
    into = _codable(book, step.get("into"))
    gone = {one.id for one in state.base.codable} - set(book.ids) - {*state.merged, *state.split}
    if code_name in gone:  # it was retired in this draft
        return replace(state, merged={**state.merged, code_name: into.id})
    code = _codable(book, code_name)
    if code.id == into.id:
        raise CodebookError(f"draft: {code.id!r} cannot be merged into itself – choose another code.")
    _refuse_part(state, code.id, "merged")
    merged = {one: into.id if target == code.id else target for one, target in state.merged.items()}
    if any(one.id == code.id for one in state.base.codable):
        merged[code.id] = into.id
    taken = {one: into.id if target == code.id else target for one, target in state.taken.items()}
    return replace(state, codebook=_without(book, code, (into.id,)), merged=merged, taken=taken)


def _split(state: State, step: Step) -> State:
    book, code = state.codebook, _codable(state.codebook, step.get("code"))
    _refuse_target(state, code.id, "split")
    given = _parts(step)
    if len(given) < 2:
        raise CodebookError(
            f"draft: {code.id!r} needs at least two parts, not {len(given)} – add one, or rename the code."
        )
    parts: list[Code] = []
    for part in given:
        parts.append(_new(state, part, parent=code.parent, origin=code.origin, others=parts))
    ids = tuple(part.id for part in parts)
    place = book.codes.index(code)
    codes = (*book.codes[:place], *parts, *book.codes[place:])
    whole = _without(replace(book, codes=codes), code, ids)
    split = {
        old: tuple(p for one in into for p in (ids if one == code.id else (one,)))
        for old, into in state.split.items()
    }
    if any(one.id == code.id for one in state.base.codable):
        split[code.id] = ids
    return replace(state, codebook=whole, split=split)


def _retire(state: State, step: Step) -> State:
    code = state.codebook[str(step.get("code"))]
    _refuse_target(state, code.id, "retired")
    _refuse_part(state, code.id, "retired")
    return replace(state, codebook=_without(state.codebook, code, ()))


def _describe(state: State, step: Step) -> State:
    """Change what people are told of the codebook itself."""
    values = step.get("values")
    other = sorted(set(values) - set(_OWN)) if isinstance(values, Mapping) else ["other values"]
    if other or not isinstance(values, Mapping):
        raise CodebookError(
            f"draft: expected {', '.join(_OWN)} of the codebook – found {first_three(other)} – leave it out."
        )
    texts: dict[str, Any] = {name: _text(values, name) for name in values}
    return replace(state, codebook=replace(state.codebook, **texts))


def _load(state: State, step: Step) -> State:
    """Go over to the codebook of a file."""
    book = Codebook.from_yaml(str(step.get("yaml")).encode())
    here = state.codebook
    known = set(here.ids)
    again = [one for one in book.ids if one not in known and one in state.used]
    if again:
        raise CodebookError(
            f"draft: the ids {first_three(again)} of new codes were used in an earlier version – choose "
            "others."
        )
    for code in book:
        before = here[code.id] if code.id in known else None
        altered = {name for name in ("key", "label") if getattr(code, name) != getattr(before, name, None)}
        _check_fields(replace(state, codebook=book), code, altered)
    return replace(state, codebook=book)


def _mean(state: State, step: Step) -> State:
    """Say what the change of a code does to its meaning."""
    code, kind = state.codebook[str(step.get("code"))].id, str(step.get("kind"))
    if kind not in MEANINGS:
        raise CodebookError(
            f"draft: expected one of {', '.join(MEANINGS)} for {code!r} – found {word(kind)} – choose one."
        )
    return replace(state, meaning={**state.meaning, code: (kind, _line(step, "why"))})


_TAKE: Final[Mapping[str, Callable[[State, Step], State]]] = {
    "mean": _mean,
    "add": _add,
    "take": _take,
    "edit": _edit,
    "move": _move,
    "merge": _merge,
    "split": _split,
    "retire": _retire,
    "describe": _describe,
    "load": _load,
}


def _new(state: State, step: Step, *, parent: object, origin: str, others: Collection[Code] = ()) -> Code:
    """Return a new code, with an id and a label that no other has."""
    given = str(step.get("code"))
    used = {one.casefold() for one in (*state.used, *(code.id for code in others))}
    if given.casefold() in used:
        raise CodebookError(
            f"draft: the id {given!r} was used in an earlier version – leave it out, and one is made."
        )
    values = _values({name: step[name] for name in _FIELDS if name in step and name != "origin"})
    values |= _values(step.get("values") or {})
    code = Code(**{"id": given, "origin": origin, "parent": parent, "label": "", **values})
    _refuse_same_label(code, [*state.codebook.codes, *others])
    return code


def _values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a code as `Code` takes them: lines as tuples, what is empty as left out."""
    unknown = [name for name in values if name not in (*_FIELDS, "codable")]
    if unknown:
        raise CodebookError(
            f"draft: a code has no field {first_three(unknown)} – {did_you_mean(str(unknown[0]), _FIELDS)}"
        )
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name == "codable":
            read[name] = value
        elif name in _LISTS:
            lines = value if isinstance(value, list | tuple) else None
            if lines is None or not all(isinstance(line, str) for line in lines):
                raise CodebookError(
                    f"draft: expected lines of text as {name} – found other values – write it again."
                )
            read[name] = tuple(line.strip() for line in map(as_text, lines) if line.strip())
        elif name == "label":
            read[name] = _line(values, name)
        else:
            text = _text(values, name)
            read[name] = None if name in _OPTIONAL and not text else text
    return read


def _check_fields(state: State, code: Code, changed: Collection[str]) -> None:
    """Refuse a label that another code has, a key that a command has, and a colour like another's."""
    others = [one for one in state.codebook if one.id != code.id]
    if "label" in changed:
        _refuse_same_label(code, others)
    if "key" in changed and code.key in state.reserved:
        raise CodebookError(
            f"draft: the key {code.key!r} of {code.id!r} is the command "
            f"{state.reserved[str(code.key)].replace('_', ' ')!r} in the coding widget – choose another."
        )
    holder = next((one.id for one in others if one.key == code.key), None)
    if "key" in changed and code.key is not None and holder is not None:
        raise CodebookError(f"draft: {code.key!r} is already the key of {holder!r} – choose another.")
    if "colour" in changed and code.colour is not None:
        refuse_unfit_colour(code, others)


def _refuse_same_label(code: Code, others: Iterable[Code]) -> None:
    same = next((one.id for one in others if folded(one.label) == folded(code.label)), None)
    if same is not None:
        raise CodebookError(
            f"draft: code {same!r} already has this label – use that code, or choose another label."
        )


def _refuse_target(state: State, code: str, what: str) -> None:
    if code in state.merged.values():
        came = first_three([one for one, target in state.merged.items() if target == code])
        raise CodebookError(
            f"draft: {code!r} cannot be {what}, because {came} was merged into it in this draft – take that "
            "back, or save first."
        )


def _refuse_part(state: State, code: str, what: str) -> None:
    of = next((old for old, parts in state.split.items() if code in parts), None)
    if of is not None:
        raise CodebookError(
            f"draft: {code!r} cannot be {what}, because it is a part of {of!r}, split in this draft – take "
            "the split back, or save first."
        )


def _codable(book: Codebook, code: object) -> Code:
    found = book[str(code)]
    if not found.codable:
        raise CodebookError(
            f"draft: {found.id!r} only groups other codes – choose one of the codes under it."
        )
    return found


def _with(book: Codebook, code: Code) -> Codebook:
    return replace(book, codes=tuple(code if one.id == code.id else one for one in book))


def _without(book: Codebook, code: Code, into: tuple[str, ...]) -> Codebook:
    """Return the codebook without a code; what stood under it goes up, and facets for it are for `into`."""
    if len(book.codes) == 1:
        raise CodebookError(
            "draft: a codebook needs at least one code, and this is the last – add another first."
        )
    rest = [one for one in book if one.id != code.id]
    codes = tuple(replace(one, parent=code.parent) if one.parent == code.id else one for one in rest)
    return replace(book, codes=codes, facets=tuple(_facets_without(book.facets, code.id, into)))


def _facets_without(facets: Iterable[Facet], code: str, into: tuple[str, ...]) -> Iterable[Facet]:
    for facet in facets:
        if code not in facet.codes:
            yield facet
            continue
        ids = dict.fromkeys(part for one in facet.codes for part in (into if one == code else (one,)))
        if ids:  # one for no code would be for all
            yield replace(facet, codes=tuple(ids))


def _below(codes: Collection[Code], code: str) -> set[str]:
    """Return the ids of the codes under one, at any depth."""
    below: set[str] = set()
    ahead = [code]
    while ahead:
        at = ahead.pop()
        under = [one.id for one in codes if one.parent == at and one.id not in below]
        below.update(under)
        ahead += under
    return below


def _placed(codes: Sequence[Code], block: Sequence[Code], parent: object, before: object) -> tuple[Code, ...]:
    """Return the codes with a block of them before the code `before`, else last under the parent."""
    ids = [one.id for one in codes]
    if before is not None and before in ids:
        place = ids.index(str(before))
    elif parent is None:
        place = len(ids)
    else:
        under = {str(parent), *_below(codes, str(parent))}
        places = [n for n, one in enumerate(ids) if one in under]
        place = places[-1] + 1 if places else len(ids)
    return (*codes[:place], *block, *codes[place:])


def _parts(step: Step) -> list[Step]:
    parts = step.get("parts")
    if not isinstance(parts, list | tuple) or not all(isinstance(part, Mapping) for part in parts):
        raise CodebookError("draft: the parts that the code is split into are missing – name them.")
    return list(parts)


def _line(step: Step, name: str) -> str:
    return " ".join(_text(step, name).split())


def _text(step: Step, name: str) -> str:
    value = step.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CodebookError(f"draft: expected text as {name} – found {type(value).__name__} – correct it.")
    return as_text(value).strip()

"""Revisions of a codebook: the changes from one version to the next, and two people's changes combined.

=========  ======================================== =====================================================
change     what it says of the code                 codings and absences made before
=========  ======================================== =====================================================
add        is new                                   undecided until the unit is finished again
rename     has another label                        carried over
move       has another parent                       carried over
annotate   has another example, colour, key, source carried over
reword     is worded otherwise, means the same      carried over
narrow     applies to less than before              applied: to be reviewed; absent: carried over
widen      applies to more than before              applied: carried over; absent: undecided
redefine   has another meaning                      to be reviewed
merge      went into another code, old or new       carried over to that code
split      was divided into new codes               applied: to be decided; absent: carried over
retire     is gone, or only groups others now       no longer counted
=========  ======================================== =====================================================

A changed definition or working rule is a ``redefine``, unless whoever revises claims one of `MEANINGS`.

If a code that a coder did not know was merged into another, the latter is undecided unless they applied it.

Two codebooks do not show that a code was merged or split: whoever revises states it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final

from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.codebook._codebook import Code, Codebook
from sense7_qual.errors import CodebookError

MEANINGS: Final = ("reword", "narrow", "widen", "redefine")
"""What a changed definition or working rule may do to the meaning of its code."""

CHANGES: Final = ("add", "rename", "move", "annotate", *MEANINGS, "merge", "split", "retire")

_MEANING: Final = ("definition", "use_when", "avoid_when")


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one code: its kind (one of `CHANGES`), its id, where it went (merge, split), and why its
    meaning is said to have stayed, narrowed or widened, if for another reason than the revision's."""

    kind: str
    code: str
    into: tuple[str, ...] = ()
    why: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A step from one version of a codebook to the next: by whom, when, why, and the changes.

    `base` and `codebook` are the fingerprints of the version before and after.
    """

    coder: str
    at: str
    why: str
    base: str
    codebook: str
    changes: tuple[Change, ...]

    def __repr__(self) -> str:
        kinds = ", ".join(f"{one.kind} {one.code!r}" for one in self.changes[:3])
        more = f" and {len(self.changes) - 3} more" if len(self.changes) > 3 else ""
        return f"Revision({self.base[:8]} → {self.codebook[:8]} by {self.coder!r}: {kinds}{more})"

    def to_text(self) -> str:
        """Write the revision as the text of an act of kind ``revise``."""
        changes = [
            {name: value for name, value in asdict(one).items() if name != "why" or value}
            for one in self.changes
        ]
        content = {"base": self.base, "why": self.why, "changes": changes}
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_text(cls, text: str, *, coder: str, at: str, codebook: str) -> Revision:
        """Read the revision from the text of an act of kind ``revise``.

        Raises
        ------
        CodebookError
            The text was not written by `to_text`.
        """
        check_arguments(Revision.from_text, locals())
        try:
            values: dict[str, Any] = json.loads(text)
            steps = tuple(
                Change(one["kind"], one["code"], tuple(one["into"]), one.get("why", ""))
                for one in values["changes"]
            )
            if not all(_is_valid(step) for step in steps) or type(values["base"]) is not str:
                raise ValueError("a change that is none")
            return cls(
                coder=coder, at=at, why=values["why"], base=values["base"], codebook=codebook, changes=steps
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CodebookError(
                f"revision: the act does not hold the changes that led to codebook {codebook[:12]}… – revise "
                "a codebook with store.revise."
            ) from None


def _is_valid(change: Change) -> bool:
    n_into = {"merge": len(change.into) == 1, "split": len(change.into) > 1}
    is_said = isinstance(change.why, str) and (not change.why or change.kind in MEANINGS)
    return change.kind in CHANGES and n_into.get(change.kind, not change.into) and is_said


def changes(
    old: Codebook,
    new: Codebook,
    *,
    merged: Mapping[str, str] | None = None,
    split: Mapping[str, Sequence[str]] | None = None,
    meaning: Mapping[str, str | tuple[str, str]] | None = None,
) -> tuple[Change, ...]:
    """Compare two versions of a codebook, and list the changes code by code.

    Parameters
    ----------
    old, new : Codebook
        The two versions. Only codes that can be applied are compared.
    merged : mapping of str to str, optional
        Removed codes, and the code of the new version into which each was merged.
    split : mapping of str to sequence of str, optional
        Removed codes, and the new codes (two or more) into which each was split.
    meaning : mapping of str to str, or to a pair of str, optional
        Codes with a changed definition or working rule, and what that does to their meaning: "reword" (the
        same), "narrow" (less than before), "widen" (more than before) or "redefine" (the default); in a pair,
        with the reason for saying so.

    Raises
    ------
    CodebookError
        A merged or split code is in the new version, or not in the old one; its target is not in the new
        version or, for a split, was in the old one; or a code of `meaning` has the same definition and rules.

    Examples
    --------
    >>> old = Codebook(name="b", codes=(Code(id="warm", label="Warm"), Code(id="kind", label="Kind")))
    >>> new = Codebook(name="b", codes=(Code(id="warm", label="Warmth"),))
    >>> [(one.kind, one.code, one.into) for one in changes(old, new, merged={"kind": "warm"})]
    [('rename', 'warm', ()), ('merge', 'kind', ('warm',))]
    """
    check_arguments(changes, locals(), but=("old", "new"))
    for name, book in (("old", old), ("new", new)):
        if not isinstance(book, Codebook):
            raise CodebookError(
                f"revision: expected a Codebook as {name} – found {type(book).__name__} – take "
                "store.codebook and change it (dataclasses.replace, or its YAML file)."
            )
    into = {code: (target,) for code, target in read_mapping(merged).items()}
    parts = {code: _parts(code, into_codes) for code, into_codes in read_mapping(split).items()}
    _check_merged_and_split(old, new, into, parts)
    claimed = {code: _claim(code, said) for code, said in read_mapping(meaning).items()}
    _check_redefined(claimed, old, new)
    in_order = []
    for code in old.codable:
        after = next((one for one in new.codable if one.id == code.id), None)
        if code.id in into:
            in_order.append(Change("merge", code.id, into[code.id]))
        elif code.id in parts:
            in_order.append(Change("split", code.id, parts[code.id]))
        elif after is None:
            in_order.append(Change("retire", code.id))
        else:
            made = (Change(kind, code.id) for kind in _edits(code, after))
            in_order += [claimed.get(code.id, one) if one.kind == "redefine" else one for one in made]
    before = {code.id for code in old.codable} | {
        part for into_codes in parts.values() for part in into_codes
    }
    # A new code is there before anything goes into it.
    return (*(Change("add", code.id) for code in new.codable if code.id not in before), *in_order)


def redefined(old: Codebook, new: Codebook) -> list[str]:
    """Return the codes that have another definition or other working rules in the new version."""
    both = [(code, new[code.id]) for code in old.codable if code.id in new and new[code.id].codable]
    return [code.id for code, after in both if "redefine" in _edits(code, after)]


def _claim(code: str, said: object) -> Change:
    pair = said if isinstance(said, list | tuple) and len(said) == 2 else (said, "")
    kind, why = pair if all(isinstance(one, str) for one in pair) else ("", "")
    if kind not in MEANINGS:
        raise CodebookError(
            f"revision: meaning must name one of {', '.join(MEANINGS)} for {code!r}, or a pair of it and the "
            f"reason – found {word(pair[0])}."
        )
    return Change(kind, code, why=why.strip())


def _check_redefined(claimed: Mapping[str, Change], old: Codebook, new: Codebook) -> None:
    changed = redefined(old, new) if claimed else []
    for code in claimed:
        if code not in changed:
            raise CodebookError(
                f"revision: meaning names {code!r}, but its definition and rules did not change – "
                f"{did_you_mean(code, changed)}"
            )


def _parts(code: str, codes: Sequence[str]) -> tuple[str, ...]:
    if isinstance(codes, str) or not isinstance(codes, Iterable):
        raise CodebookError(
            f"revision: expected a list of the codes that {code!r} was split into – found "
            f"{type(codes).__name__} – write split={{{code!r}: [..., ...]}}."
        )
    return tuple(codes)


def _edits(old: Code, new: Code) -> list[str]:
    different = {one.name for one in fields(Code) if getattr(old, one.name) != getattr(new, one.name)}
    kinds = {"rename": {"label"}, "move": {"parent"}, "redefine": set(_MEANING)}
    edited = [kind for kind, names in kinds.items() if different & names]
    return edited + ["annotate"] * bool(different - set().union(*kinds.values()))


def _check_merged_and_split(
    old: Codebook, new: Codebook, merged: Mapping[str, tuple[str, ...]], split: Mapping[str, tuple[str, ...]]
) -> None:
    before, after = {code.id for code in old.codable}, {code.id for code in new.codable}
    for kind, mapping in (("merged", merged), ("split", split)):
        for code, into in mapping.items():
            if code not in before or code in after:
                problem = "still one of the new" if code in after else "not one of the old"
                raise CodebookError(
                    f"revision: expected {kind} codes to be gone from the codebook – found {code!r}, "
                    f"{problem} – {did_you_mean(code, before - after)}"
                )
            _check_into(kind, code, into, before, after)
    both = sorted(merged.keys() & split.keys())
    if both:
        raise CodebookError(
            f"revision: expected a code to be merged or split – found both for {first_three(both)} – "
            "choose one."
        )


def _check_into(kind: str, code: str, into: Sequence[str], before: Set[str], after: Set[str]) -> None:
    """Refuse merging into a code that does not exist, and splitting into fewer than two new codes."""
    wrong = [target for target in into if target not in after]
    few = False
    if kind == "split":
        wrong = wrong or [target for target in into if target in before]
        few = len(set(into)) < 2
    if wrong or few:
        wanted = "two new codes or more" if kind == "split" else "a code"
        raise CodebookError(
            f"revision: expected {code!r} to be {kind} into {wanted} of the new version – found "
            f"{first_three(wrong or into)} – correct `{kind}`."
        )


def path(revisions: Iterable[Revision], made_under: str, now: str) -> tuple[Revision, ...] | None:
    """Return the revisions that lead from one fingerprint to another, oldest first; None if none do."""
    check_arguments(path, locals())
    if made_under == now:
        return ()
    steps: dict[str, list[Revision]] = {}
    for revision in revisions:
        steps.setdefault(revision.base, []).append(revision)
    came: dict[str, Revision] = {}  # to each version, by the shortest way
    ahead = deque([made_under])
    while ahead and now not in came:  # breadth first, also where a version was returned to
        for step in steps.get(ahead.popleft(), []):
            if step.codebook not in came and step.codebook != made_under:
                came[step.codebook] = step
                ahead.append(step.codebook)
    if now not in came:
        return None
    way = [came[now]]
    while way[-1].base != made_under:
        way.append(came[way[-1].base])
    return tuple(reversed(way))


def emerged(revisions: Sequence[Revision], codebooks: Mapping[str, Codebook]) -> tuple[str, ...]:
    """List the codes that emerged during coding: those of the last version that the first one lacks.

    Use it for `codings.saturation`. The parts of a split code count as emerged, and so does a new code into
    which others were merged.

    Parameters
    ----------
    revisions : sequence of Revision
        Oldest first, as ``store.revisions`` returns them.
    codebooks : mapping of str to Codebook
        Every version by its fingerprint: ``store.codebooks``.

    Returns
    -------
    tuple of str
        Ids of codes that can be applied, in the codebook's order; empty without a revision.

    Raises
    ------
    CodebookError
        The first or the last version is not among `codebooks`.

    Examples
    --------
    >>> old = Codebook(name="b", codes=(Code(id="warm", label="Warm"),))
    >>> new = Codebook(name="b", codes=(Code(id="warm", label="Warmth"), Code(id="hope", label="Hope")))
    >>> step = Revision(coder="lead", at="2026-02-03T14:05:00Z", why="seen in texts", base=old.fingerprint,
    ...                 codebook=new.fingerprint, changes=changes(old, new))
    >>> emerged([step], {old.fingerprint: old, new.fingerprint: new})
    ('hope',)
    """
    check_arguments(emerged, locals())
    if not len(revisions):
        return ()
    first, last = revisions[0].base, revisions[-1].codebook
    unknown = [one for one in (first, last) if one not in codebooks]
    if unknown:
        raise CodebookError(
            f"emerged: version {unknown[0][:12]}… is missing from `codebooks` – pass store.codebooks."
        )
    before = {code.id for code in codebooks[first].codable}
    return tuple(code.id for code in codebooks[last].codable if code.id not in before)


def combine(base: Codebook, ours: Codebook, theirs: Codebook) -> Codebook:
    """Combine two people's changes to `base`, which must not conflict.

    Codes are compared field by field: one side may rename a code while the other redefines it. New codes come
    last, ours first.

    Raises
    ------
    CodebookError
        Both sides changed the same field to different values; the message names it and both values.

    Examples
    --------
    >>> base = Codebook(name="b", codes=(Code(id="warm", label="Warm"),))
    >>> ours = Codebook(name="b", codes=(Code(id="warm", label="Warmth"),))
    >>> theirs = Codebook(name="b", codes=(Code(id="warm", label="Warm"), Code(id="cold", label="Cold")))
    >>> [code.label for code in combine(base, ours, theirs).codes]
    ['Warmth', 'Cold']
    """
    check_arguments(combine, locals())
    conflicts: list[str] = []
    sides = [{code.id: code for code in book.codes} for book in (base, ours, theirs)]
    order = dict.fromkeys([*theirs.ids, *ours.ids] if ours.ids == base.ids else [*ours.ids, *theirs.ids])
    codes = [_combined([side.get(one) for side in sides], conflicts) for one in order]
    own = {}
    for name in (one.name for one in fields(Codebook) if one.compare and one.name != "codes"):
        values = [getattr(book, name) for book in (base, ours, theirs)]
        own[name] = _value(f"the codebook's {name}", values, conflicts)
    if conflicts:
        raise CodebookError(
            "revise: another person changed the same parts meanwhile – conflicts: "
            f"{'; '.join(conflicts[:3])}"
            f"{f' ({len(conflicts)} in all)' if len(conflicts) > 3 else ''} – agree with them, then start "
            "from the current codebook (open the store again)."
        )
    return Codebook(**own, codes=tuple(code for code in codes if code is not None))


def _combined(sides: Sequence[Code | None], conflicts: list[str]) -> Code | None:
    present = [code for code in sides if code is not None]
    if len(present) < 3:
        chosen: Code | None = _value(f"code {present[0].id!r}", sides, conflicts)
        return chosen
    values = {}
    for name in (one.name for one in fields(Code)):
        what = f"{name} of code {present[0].id!r}"
        values[name] = _value(what, [getattr(code, name) for code in present], conflicts)
    return replace(present[0], **values)


def _value(what: str, sides: Sequence[Any], conflicts: list[str]) -> Any:
    """Return the value that one side changed, or that both changed alike; `sides` begin with the base."""
    base, ours, theirs = sides
    if base == ours or ours == theirs:
        return theirs
    if base != theirs:
        conflicts.append(f"{what}: yours {_described(ours)}, theirs {_described(theirs)}")
    return ours


def _described(value: object) -> str:
    # A codebook's examples may be participants' words: those are not shown.
    if value is None:
        return "removed"
    if isinstance(value, Code):
        return f"{value.label[:60]!r}"
    return f"{len(value)} entries" if isinstance(value, tuple) else repr(str(value)[:60])

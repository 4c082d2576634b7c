"""What an adjudicator's rulings still say after the codebook changed.

A ruling is a verdict on one code of one unit. It is carried over as codings are (`revisions` has the rules).
Where codes were merged, one that was ruled to apply makes the merged code apply; that the merged code is
absent follows only where all codes that went into it were ruled absent. That readings of it differ
legitimately follows where this was ruled of one of these codes, and all the others were ruled on, too, none
of them to apply.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from sense7_qual._arguments import check_arguments
from sense7_qual.acts import Act, standing
from sense7_qual.codebook import Codebook, Revision, check_codebook
from sense7_qual.codings._carry_over import steps

__all__ = ["rulings"]

_Verdicts: TypeAlias = dict[tuple[str, str], Act]


def rulings(acts: Iterable[Act], codebook: Codebook, *, revisions: Sequence[Revision]) -> list[Act]:
    """Return the rulings that stand under `codebook`, in its codes.

    Parameters
    ----------
    acts : iterable of Act
        As ``store.acts(kind="rule")`` returns them. Acts of other kinds are passed over.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    list of Act
        The latest ruling on each unit × code of `codebook`, whoever made it, as if made under `codebook`: for
        `adjudication.consensus`. One whose code was merged or split has an act_id made from its own. A ruling
        is left out, and the unit × code is to be ruled on again, where its code was redefined; where a code
        that was not ruled absent was split; and where a code that was not ruled to apply took in one that was
        not ruled on.

    Raises
    ------
    TableError
        No revisions lead from the codebook of a ruling to `codebook`.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> given = acts.rule(coder="dora", unit_id="m1", code="interest", applied=True, codebook=sense7)
    >>> rulings([given], sense7, revisions=()) == [given]
    True
    """
    check_arguments(rulings, locals())
    now = check_codebook(codebook).fingerprint
    under: dict[str, _Verdicts] = {}
    for act in standing(acts, subject="ruling"):
        _put(under.setdefault(act.codebook, {}), act)
    while earlier := [version for version in under if version != now]:
        # The version that is farthest away first: what it leads to may have rulings of its own.
        version = max(earlier, key=lambda one: len(steps(revisions, one, now)))
        step = steps(revisions, version, now)[0]
        after = under.setdefault(step.codebook, {})
        for act in _carried(under.pop(version), step).values():
            _put(after, act)
    return [act for (_, code), act in under.get(now, {}).items() if code in codebook]


def _put(verdicts: _Verdicts, act: Act) -> None:
    """Take in a ruling, unless a later one is there."""
    key = str(act.unit_id), str(act.code)
    if key not in verdicts or verdicts[key].at <= act.at:
        verdicts[key] = act


def _carried(verdicts: Mapping[tuple[str, str], Act], step: Revision) -> _Verdicts:
    """Return what the rulings made under one version are in the next."""
    kinds = {(change.code, change.kind): change.into for change in step.changes}
    changed = {code for code, kind in kinds if kind in ("merge", "split", "retire", "redefine")}
    after = {key: _as(act, key[1], step) for key, act in verdicts.items() if key[1] not in changed}
    for (unit_id, code), act in verdicts.items():
        if act.applied is False:
            for part in kinds.get((code, "split"), ()):
                after[unit_id, part] = _as(act, part, step)
    sources: dict[str, list[str]] = {}
    for (code, kind), into in kinds.items():
        if kind == "merge":
            sources.setdefault(into[0], []).append(code)
    for target, codes in sources.items():
        parts = codes if (target, "add") in kinds else [*codes, target]
        for unit_id in dict.fromkeys(unit_id for unit_id, code in verdicts if code in parts):
            own = None if (target, "redefine") in kinds else _together(verdicts, unit_id, parts)
            after.pop((unit_id, target), None)
            if own is not None:
                after[unit_id, target] = _as(own, target, step)
    return after


def _together(verdicts: Mapping[tuple[str, str], Act], unit_id: str, codes: Sequence[str]) -> Act | None:
    """Return the ruling that decides on the code that `codes` were merged into, None where none does."""
    made = [act for code in codes if (act := verdicts.get((unit_id, code))) is not None]
    applied = [act for act in made if act.applied]
    differing = [act for act in made if act.applied is None]
    deciding = applied or ((differing or made) if len(made) == len(codes) else [])
    return max(deciding, key=lambda act: act.at, default=None)


def _as(act: Act, code: str, step: Revision) -> Act:
    act_id = act.act_id if act.code == code else str(uuid.uuid5(uuid.UUID(act.act_id), code))
    return replace(act, code=code, codebook=step.codebook, act_id=act_id)

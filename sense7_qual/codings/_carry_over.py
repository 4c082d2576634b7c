"""Which codings and rulings of an earlier round, or under an earlier codebook, still count.

A coding belongs to the round in which it was made, and a unit that is coded in two rounds is decided twice.
A coding made under an earlier version of the codebook is carried over by rule where its meaning has not
changed (`revisions` lists the rules). Otherwise it is *stale*: neither applied nor absent.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._decisions import of_round, times_of
from sense7_qual.acts import Act, standing
from sense7_qual.codebook import Change, Codebook, Revision, check_codebook, path
from sense7_qual.codings._results import STALE
from sense7_qual.errors import TableError
from sense7_qual.frames import CODINGS

_PAIR: Final = ["unit_id", "coder"]
_STALE: Final = frozenset({"redefine", "narrow"})
"""The changes of a meaning after which a code that was applied must be decided again."""
_UNDECIDED_ABSENT: Final = frozenset({"redefine", "widen"})
"""The changes of a meaning after which a code that was absent must be decided again."""
_VOID: Final[Mapping[str, frozenset[bool | None]]] = {
    "redefine": frozenset({True, False, None}),
    "narrow": frozenset({True, None}),
    "widen": frozenset({False, None}),
}
"""The rulings that a change of a meaning ends; None keeps both readings."""
_UNDECIDED: Final = [*_PAIR, "code", "reason"]
_Verdicts: TypeAlias = dict[tuple[str, str], Act]


def carried(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    *,
    revisions: Sequence[Revision],
    round: str | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Translate codings into the codes of `codebook`, and list those undecided because a meaning changed.

    A coder who finished a unit under a later version than that of a coding on it has confirmed the coding
    under the later version. Only if its code was split must the coder still choose the part: by applying one
    of the parts, or by removing the coding.

    Parameters
    ----------
    codings, coverage, round
        As for `decisions`.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    codings : DataFrame
        The codings on finished units that are valid under `codebook`, as `frames.CODINGS`, with `was`: the
        code as it was applied. Codings merged into one code stay separate if they differ in span or facets;
        otherwise they become one, and `was` names both codes ("kind, warm"). The value of a facet is kept if
        `codebook` still has it for the code; otherwise it is missing.
    undecided : DataFrame
        One row per unit × coder × code to be reviewed: unit_id, coder, code, reason ("add", "redefine",
        "narrow", "widen" or "split").

    Raises
    ------
    TableError
        A frame breaks its contract, or no revisions lead from the codebook of a coding, or of a finished
        unit, to `codebook`.
    """
    check_arguments(carried, locals())
    codings, coverage = of_round(codings, coverage, round=round)
    finished = coverage[[*_PAIR, "codebook", "finished_at"]].rename(columns={"codebook": "finished_under"})
    joined = codings.merge(finished, on=_PAIR)
    fates = _fates(joined, codebook.fingerprint, revisions)
    valid = joined.assign(was=joined["code"], code=pd.array([one.code for one in fates], dtype="string"))
    valid = _with_known_facets(valid[valid["code"].notna()][[*codings.columns, "was"]], codebook)
    facets = [facet.name for facet in codebook.facets if facet.name in codings.columns]
    valid = _merged(valid, [*CODINGS.key, *facets])
    new = _new_to_coders(coverage, codebook.fingerprint, revisions)
    pairs = zip(joined["unit_id"], joined["coder"], fates, strict=True)
    lost = [(*pair, code, why) for *pair, fate in pairs for code, why in fate.undecided]
    # What a coder did not know, or what a coding lost, leaves a code open unless a coding of it stands: under
    # its present meaning, because those under an earlier one do not.
    decided = set(valid[[*_PAIR, "code"]].itertuples(index=False, name=None))
    rows = [row for row in [*new, *lost] if row[:3] not in decided]
    undecided = pd.DataFrame(rows, columns=_UNDECIDED, dtype="string")
    undecided = undecided[undecided["code"].isin([code.id for code in codebook.codable])]
    return valid, undecided.drop_duplicates([*_PAIR, "code"]).reset_index(drop=True)


def _with_known_facets(codings: pd.DataFrame, codebook: Codebook) -> pd.DataFrame:
    """Keep the values of facets that the codebook has for the code; others become missing."""
    columns = {}
    for facet in (facet for facet in codebook.facets if facet.name in codings.columns):
        of_it = codings["code"].isin(facet.codes or codebook.ids)
        columns[facet.name] = codings[facet.name].where(of_it & codings[facet.name].isin(facet.names))
    return codings.assign(**columns)


def _merged(codings: pd.DataFrame, same: list[str]) -> pd.DataFrame:
    """Join codings that a merge of their codes left on one span with the same facets."""
    several = codings.duplicated(same, keep=False)
    if several.any():
        were = codings[several].groupby(same, dropna=False, sort=False)["was"]
        joined_codes = were.transform(lambda codes: ", ".join(sorted(set(codes))))
        codings = codings.assign(
            was=joined_codes.reindex(codings.index).fillna(codings["was"])
        ).drop_duplicates(same)
    return codings.astype({"was": "string"}).reset_index(drop=True)


@STALE.returns
def stale(
    codings: pd.DataFrame,
    coverage: pd.DataFrame,
    codebook: Codebook,
    *,
    revisions: Sequence[Revision],
    round: str | None = None,
) -> pd.DataFrame:
    """List the decisions that each coder must review because the codebook changed after they finished.

    Parameters
    ----------
    codings, coverage, round
        As for `decisions`.
    codebook : Codebook
        The current version.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Raises
    ------
    TableError
        A frame breaks its contract, or no revisions lead to `codebook`.
    """
    check_arguments(stale, locals())
    return carried(codings, coverage, codebook, revisions=revisions, round=round)[1]


@dataclass(frozen=True, slots=True)
class _Fate:
    """The present code of a coding (None: none), and the codes that it leaves undecided, with the reason.

    `parts` are those of them that together mean what its code meant: applying one chooses it.
    """

    code: str | None
    undecided: tuple[tuple[str, str], ...] = ()
    parts: frozenset[str] = frozenset()


def _fates(joined: pd.DataFrame, now: str, revisions: Sequence[Revision]) -> list[_Fate]:
    """Return the fate of each coding, first until its unit was finished, and from then on."""
    under, until = joined["codebook"].fillna(now), joined["finished_under"].fillna(now)
    late = pd.Series(False, index=joined.index)  # applied after finishing, and under another version
    if (other := under != until).any():
        at, finished_at = (
            times_of(joined.loc[other, name], frame_name="codings") for name in ("at", "finished_at")
        )
        late.loc[other] = at > finished_at
    keys = list(zip(joined["code"], under, until, late, strict=True))
    at_finish = {key: _until_finished(*key, revisions) for key in set(keys)}
    whole, from_finish = {}, {}
    for key, (fate, version) in at_finish.items():
        later = steps(revisions, version, now)
        whole[key], from_finish[key] = _carried_on(fate, later), _carried_on(_Fate(fate.code), later)
    pairs = list(zip(joined["unit_id"], joined["coder"], strict=True))
    valid = {(*pair, at_finish[key][0].code) for pair, key in zip(pairs, keys, strict=True)}

    def names_a_part(pair: tuple[str, str], key: tuple[str, str, str, bool]) -> bool:
        """Return True if the coder has chosen, by finishing, the part of a split code."""
        return any((*pair, part) in valid for part in at_finish[key][0].parts)

    return [
        (from_finish if names_a_part(pair, key) else whole)[key]
        for pair, key in zip(pairs, keys, strict=True)
    ]


def _until_finished(
    code: str, made_under: str, finished_under: str, late: bool, revisions: Sequence[Revision]
) -> tuple[_Fate, str]:
    """Return the fate of a coding when its unit was finished, and the version then.

    Its coder had it before them then: by finishing, a code with a changed meaning is affirmed, and so is one
    that was retired and has come back. A part of a split code that then came to mean something else chooses
    no part any more: it may be applied for what it means now.
    """
    affirmed = None if late else path(revisions, made_under, finished_under)
    if affirmed is None:
        return _Fate(code), made_under
    fate = _Fate(code)
    for step in affirmed:
        agreed = tuple(change for change in step.changes if change.kind not in _STALE)
        back = any(change.kind == "add" and change.code == code for change in agreed)
        fate = _Fate(code) if back else _changed(fate, agreed)
        other = {change.code for change in step.changes if change.kind in (*_STALE, *_UNDECIDED_ABSENT)}
        fate = replace(fate, parts=fate.parts - other)
    return fate, finished_under


def _carried_on(fate: _Fate, later: Iterable[Revision]) -> _Fate:
    for step in later:
        fate = _changed(fate, step.changes)
    return fate


def _changed(fate: _Fate, made: Sequence[Change]) -> _Fate:
    """Return the fate of a coding after the changes of one revision."""
    current, undecided, parts = fate.code, dict(fate.undecided), set(fate.parts)
    for change in made:
        if change.kind in ("split", "retire") and change.code in undecided:
            undecided |= dict.fromkeys(change.into, undecided.pop(change.code))
            parts |= set(change.into) if change.code in parts else set()
        if change.code != fate.code:
            continue
        if change.kind in ("split", "retire", *_STALE):
            current = None
        if change.kind in ("split", *_STALE):
            undecided |= dict.fromkeys(change.into or (change.code,), change.kind)
            parts |= set(change.into)
    merged = {change.code: change.into[0] for change in made if change.kind == "merge"}
    return _Fate(
        None if current is None else merged.get(current, current),
        tuple({merged.get(code, code): reason for code, reason in undecided.items()}.items()),
        frozenset(merged.get(code, code) for code in parts) - _mixed_with_others(parts, made),
    )


def _mixed_with_others(parts: set[str], made: Sequence[Change]) -> set[str]:
    """Return the codes of a merge, before and after it, other than `parts`."""
    merged = {change.code: change.into[0] for change in made if change.kind == "merge"}
    added = {change.code for change in made if change.kind == "add"}
    were = set(merged) | (set(merged.values()) - added)
    return {merged.get(code, code) for code in were - parts}


def _new_to_coders(coverage: pd.DataFrame, now: str, revisions: Sequence[Revision]) -> list[tuple[str, ...]]:
    """Return the codes that the coders of finished units did not have, or not as they are, and why."""
    since = {under: _new_since(under, now, revisions) for under in coverage["codebook"].dropna().unique()}
    return [
        (unit_id, coder, code, reason)
        for unit_id, coder, under in coverage[[*_PAIR, "codebook"]].itertuples(index=False, name=None)
        if isinstance(under, str)
        for code, reason in since[under].items()
    ]


def _new_since(version: str, now: str, revisions: Sequence[Revision]) -> dict[str, str]:
    """Return the codes with a meaning, or by a merge a part of it, newer than `version`, and why."""
    new: dict[str, str] = {}
    for step in steps(revisions, version, now):
        merges = [change for change in step.changes if change.kind == "merge"]
        made_of_others = {change.into[0] for change in merges}
        for change in step.changes:
            is_new = change.kind == "add" and change.code not in made_of_others
            if change.kind in _UNDECIDED_ABSENT or is_new:
                new[change.code] = change.kind
            elif change.kind in ("split", "retire") and change.code in new:
                new |= dict.fromkeys(change.into, new.pop(change.code))
        for change in merges:
            if change.code in new:
                new.setdefault(change.into[0], new.pop(change.code))
    return new


def before_change(coverage: pd.DataFrame, now: str, revisions: Sequence[Revision]) -> pd.DataFrame:
    """List each unit × coder × code that was first decided on before the code's meaning changed.

    Also where it was reviewed since: a unit keeps the version under which its coder first finished it.
    """
    firsts = _first_versions(coverage, now, revisions)
    changed = {version: _changed_since(version, now, revisions) for version in firsts.dropna().unique()}
    pairs = coverage[_PAIR].itertuples(index=False, name=None)
    rows = [
        (*pair, code)
        for pair, version in zip(pairs, firsts, strict=True)
        if isinstance(version, str)
        for code in sorted(changed[version])
    ]
    return pd.DataFrame(rows, columns=[*_PAIR, "code"], dtype="string")


def _first_versions(coverage: pd.DataFrame, now: str, revisions: Sequence[Revision]) -> pd.Series:
    """Return the version of the codebook under which each unit was first finished."""
    last = coverage["codebook"]
    if "first_finished_at" not in coverage or not len(coverage):
        return last
    first, again = (
        times_of(coverage[name], frame_name="coverage") for name in ("first_finished_at", "finished_at")
    )
    made = sorted(revisions, key=lambda one: one.at)
    times = [pd.Timestamp(one.at) for one in made]
    versions = []
    for under, began, ended in zip(last, first, again, strict=True):
        earlier = under
        if isinstance(under, str) and pd.notna(began) and began < ended and made:
            place = sum(at <= began for at in times)
            then = made[place - 1].codebook if place else made[0].base
            earlier = then if path(revisions, then, now) is not None else under
        versions.append(earlier)
    return pd.Series(versions, index=coverage.index, dtype="object")


def _changed_since(version: str, now: str, revisions: Sequence[Revision]) -> set[str]:
    """Return the codes that mean something else than under an earlier version, or are newer."""
    changed: set[str] = set()
    for step in steps(revisions, version, now):
        for change in step.changes:
            if change.kind in ("add", *_STALE, *_UNDECIDED_ABSENT):
                changed.add(change.code)
            elif change.kind == "split" or (change.kind == "merge" and change.code in changed):
                changed.update(change.into)
    return changed


def steps(revisions: Sequence[Revision], made_under: str, now: str) -> tuple[Revision, ...]:
    """Return the revisions that lead from one version to another, in their order."""
    if isinstance(revisions, str) or not all(isinstance(one, Revision) for one in revisions or ()):
        raise TableError(
            "codings: expected the revisions of a codebook – found other values – pass "
            "revisions=store.revisions."
        )
    steps_between = path(revisions or (), made_under, now)
    if steps_between is None:
        raise TableError(
            f"codings: expected revisions that lead from the codebook of these codings "
            f"({made_under[:12]}…) to this one ({now[:12]}…) – found none – pass revisions=store.revisions "
            "and codebook=store.codebook; if two copies of the study were revised separately and merged, "
            "store.revise joins the two."
        )
    return steps_between


def rulings(acts: Iterable[Act], codebook: Codebook, *, revisions: Sequence[Revision]) -> list[Act]:
    """Return the rulings that are valid under `codebook`, in its codes.

    Parameters
    ----------
    acts : iterable of Act
        As ``store.acts(kind="rule")`` returns them. Acts of other kinds are ignored.
    codebook : Codebook
        The version to carry over to.
    revisions : sequence of Revision
        As `Store.revisions` returns them.

    Returns
    -------
    list of Act
        The latest ruling on each unit × code of `codebook`, whoever made it, as if made under `codebook`: for
        `adjudication.consensus`. If its code was merged or split, it has an act_id made from its own. A
        ruling is left out, and the unit × code needs a new one, if its code was redefined, narrowed (unless
        ruled absent) or widened (unless ruled to apply); if a code not ruled absent was split; and if a code
        not ruled to apply was merged with one that was not ruled on.

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
    """Translate the rulings made under one version into the next."""
    kinds = {(change.code, change.kind): change.into for change in step.changes}
    changed = {code for code, kind in kinds if kind in ("merge", "split", "retire")}
    void = {code: _VOID[kind] for code, kind in kinds if kind in _VOID}
    after = {
        key: _as(act, key[1], step)
        for key, act in verdicts.items()
        if key[1] not in changed and act.applied not in void.get(key[1], ())
    }
    for (unit_id, code), act in verdicts.items():
        if act.applied is False:
            for part in kinds.get((code, "split"), ()):
                after[unit_id, part] = _as(act, part, step)
    for target, codes in _sources(step).items():
        for unit_id in dict.fromkeys(unit_id for unit_id, code in verdicts if code in codes):
            ruling = _together(verdicts, unit_id, codes)
            after.pop((unit_id, target), None)
            if ruling is not None and ruling.applied not in void.get(target, ()):
                after[unit_id, target] = _as(ruling, target, step)
    return after


def _sources(step: Revision) -> dict[str, list[str]]:
    """Return the codes that were merged into each target, with the target itself unless it is new."""
    added = {change.code for change in step.changes if change.kind == "add"}
    sources: dict[str, list[str]] = {}
    for code, target in {one.code: one.into[0] for one in step.changes if one.kind == "merge"}.items():
        sources.setdefault(target, []).append(code)
    return {target: codes if target in added else [*codes, target] for target, codes in sources.items()}


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

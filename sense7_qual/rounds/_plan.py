"""The plan of a study: who codes what, after all acts that assign units or open rounds."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act, check_coder
from sense7_qual.errors import ActError
from sense7_qual.frames import PLAN
from sense7_qual.rounds._rounds import Round, opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """One assignment of the units to coders, as an act of kind ``assign`` records it.

    Attributes
    ----------
    units : mapping of str to tuple of str
        The ids of each coder's units, in the order of coding; including coders who get no new units and
        keep those that they have begun.
    coders, overlap, seed, stratify, coders_per_unit
        As they were passed to `corpus.assign`.
    calibration : tuple of str
        The units that every one of `coders` codes first.
    weights : str
        The fingerprint of the weights of the draw; empty if all units had equal weights.
    replaces : tuple of str
        The act_ids of the assignments that this one replaces.
    """

    units: Mapping[str, tuple[str, ...]]
    coders: tuple[str, ...]
    overlap: float
    seed: int
    stratify: tuple[str, ...] = ()
    coders_per_unit: int | None = None
    calibration: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    weights: str = ""

    def __repr__(self) -> str:
        loads = ", ".join(f"{coder!r}: {len(ids)}" for coder, ids in list(self.units.items())[:3])
        more = f" and {len(self.units) - 3} more" if len(self.units) > 3 else ""
        return f"Assignment({loads}{more})"

    def to_text(self) -> str:
        """Write the assignment as the text of an act of kind ``assign``."""
        content = {name: getattr(self, name) for name in self.__slots__ if name != "units"}
        content["units"] = [[coder, list(ids)] for coder, ids in self.units.items()]
        return json.dumps(content, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_act(cls, act: Act) -> Assignment:
        """Read the assignment from an act of kind ``assign``.

        Raises
        ------
        ActError
            The act's text was not written by `to_text`.
        """
        check_arguments(Assignment.from_act, locals())
        try:
            content: dict[str, Any] = json.loads(str(act.text))
            units = {check_coder(coder): _ids(ids) for coder, ids in content["units"]}
            lists = ("coders", "stratify", "calibration", "replaces")
            several = content["coders_per_unit"]
            return cls(
                units=units,
                overlap=float(content["overlap"]),
                seed=int(content["seed"]),
                coders_per_unit=None if several is None else int(several),
                weights=str(content.get("weights", "")),
                **{name: _ids(content[name]) for name in lists},
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise ActError(
                f"assign: act {act.act_id!r} does not hold the units of each coder – make the plan with "
                "store.assign."
            ) from None


def _ids(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) and one for one in values):
        raise ValueError("no list of ids")
    return tuple(dict.fromkeys(values))


def assignments(acts: Iterable[Act], *, round: str | None = None) -> list[tuple[Act, Assignment]]:
    """List the current assignments of a round (None: of no round), oldest first.

    There are several if two leads assigned at once, in two copies of a study or two notebooks.

    Raises
    ------
    ActError
        An act of kind ``assign`` has an invalid text.
    """
    acts = read_once(acts)
    check_arguments(assignments, locals())
    made = [(act, Assignment.from_act(act)) for act in acts if act.kind == "assign" and act.round == round]
    replaced = {act_id for act, one in made for act_id in one.replaces if act_id != act.act_id}
    current = [(act, one) for act, one in made if act.act_id not in replaced]
    return sorted(current, key=lambda each: (each[0].at, each[0].act_id))


@PLAN.returns
def planned(acts: Iterable[Act], *, units: Collection[str]) -> pd.DataFrame:
    """Replay the acts and return the current plan: the units of each coder in the order of coding.

    If several assignments are valid, because two leads assigned at once, a coder has the units of the first
    (by the time of the act, then its act_id) and then those of the others, so nobody loses a unit. The next
    assignment replaces them all. In an opened round each of its coders has all of its units, in the order of
    the round, unless the round's units were assigned.

    Parameters
    ----------
    acts : iterable of Act
        All acts of the study, or those of the kinds ``assign``, ``open_round`` and ``unblind``.
    units : collection of str
        The ids of the study's units; those of participants who withdrew are left out.

    Returns
    -------
    DataFrame
        One row per coder × unit × round (`frames.PLAN`): coder, unit_id, round (missing: of no round), place
        (from 0, in the coder's order). Empty if nothing was assigned and no round opened.

    Raises
    ------
    ActError
        An act that assigns or opens a round has an invalid text.
    """
    acts = read_once(acts)
    check_arguments(planned, locals())
    rounds = {one.name: one for one in opened(acts)}
    dealt: dict[str | None, list[Act]] = {name: [] for name in rounds}
    for act in acts:
        if act.kind == "assign":
            dealt.setdefault(act.round, []).append(act)
    known, rows = frozenset(units), []
    for name in sorted(dealt, key=lambda name: (name is not None, name or "")):
        lists = _joined(assignments(dealt[name], round=name))
        if name in rounds:
            lists = _within(rounds[name], lists)
        for coder in sorted(lists):
            here = [unit_id for unit_id in lists[coder] if unit_id in known]
            rows += [(coder, unit_id, name, place) for place, unit_id in enumerate(here)]
    return PLAN.check(pd.DataFrame(rows, columns=list(PLAN.columns)), as_written=True)


def coders_named(act: Act) -> tuple[str, ...]:
    """Return the coders to whom an act of a lead gives texts: those of a round, or of a plan."""
    check_arguments(coders_named, locals())
    if act.traits.subject != "work" or not act.text:
        return ()
    if act.kind == "assign":
        return tuple(Assignment.from_act(act).units)
    return tuple(name for one in opened([act]) for name in one.coders)


def _joined(made: Iterable[tuple[Act, Assignment]]) -> dict[str, dict[str, None]]:
    """Return the units of each coder, those of the first assignment first."""
    lists: dict[str, dict[str, None]] = {}
    for _, one in made:
        for coder, unit_ids in one.units.items():
            lists.setdefault(coder, {}).update(dict.fromkeys(unit_ids))
    return lists


def _within(one: Round, lists: Mapping[str, Iterable[str]]) -> dict[str, dict[str, None]]:
    """Return the units assigned within a round; all of the round if none were."""
    of_round = frozenset(one.units)
    dealt = lists or dict.fromkeys(one.coders, one.units)
    return {
        coder: dict.fromkeys(unit_id for unit_id in unit_ids if unit_id in of_round)
        for coder, unit_ids in dealt.items()
        if coder in one.coders
    }

"""The plan of who codes what: dealt anew where coders join or leave, without moving what they have begun."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sense7_qual._arguments import read_mapping
from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, fold, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.corpus import Assignment, assign, assignments
from sense7_qual.errors import ActError, TableError
from sense7_qual.rounds import Round, opened

__all__ = ["act_of"]


def act_of(
    units: pd.DataFrame,
    acts: Sequence[Act],
    *,
    coder: str,
    codebook: Codebook,
    coders: Sequence[str],
    overlap: float,
    seed: int,
    stratify: str | Sequence[str] | None,
    coders_per_unit: int | None,
    calibration: int | None,
    round: str | None,
    weights: Mapping[str, float] | None,
) -> Act | None:
    """Return the act that deals `units` to `coders`; None where the plan that stands was dealt just so."""
    columns = (stratify,) if isinstance(stratify, str) else tuple(() if stratify is None else stratify)
    settings: dict[str, Any] = {"coders": coders, "overlap": overlap, "seed": seed, "stratify": columns}
    settings["coders_per_unit"] = coders_per_unit
    assign(units.head(0), **settings)  # refuses what it cannot take before anything below meets it
    if round is not None:
        units = _of_round(units, coders, acts, round)
    current = assignments(acts, round=round)
    known = set(units["unit_id"])
    first = _calibration(calibration, current)
    ids = [unit_id for unit_id in first if unit_id in known] if isinstance(first, list) else first
    begun = _begun(acts, current, coders, known, round)
    stay = _fixed(begun, coders, acts, round)
    parts = assign(units, calibration=ids, fixed=stay, weights=weights, **settings)
    without_part = {name: tuple(own) for name, own in begun.items() if name not in parts}
    dealt = {name: tuple(map(str, part["unit_id"])) for name, part in parts.items()}
    made = Assignment(
        units=dealt | without_part, coders=tuple(parts), overlap=float(overlap), seed=int(seed),
        stratify=columns,
        coders_per_unit=None if coders_per_unit is None else int(coders_per_unit),
        calibration=tuple(first) if isinstance(first, list) else dealt[coders[0]][: int(first)],
        replaces=tuple(act.act_id for act, _ in current), weights=_fingerprint(weights),
    )  # fmt: skip
    if len(current) == 1 and _settings(made) == _settings(current[0][1]):
        return None
    return Act(kind="assign", round=round, text=made.to_text(), **stamp(coder, codebook, None, None))


def _fingerprint(weights: Mapping[str, float] | None) -> str:
    """Return what tells weights from others and does not say them: they may come of a coder's codings."""
    if weights is None:
        return ""
    listed = sorted((str(unit_id), float(weight)) for unit_id, weight in read_mapping(weights).items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:32]


def _settings(one: Assignment) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__ if name not in ("units", "replaces")}


def _of_round(units: pd.DataFrame, coders: Iterable[str], acts: Sequence[Act], round: str) -> pd.DataFrame:
    """Return the units of the round, whose coders `coders` must be."""
    rounds: dict[str, Round] = {one.name: one for one in opened(acts)}
    one = rounds.get(round)
    if one is None:
        raise ActError(
            f"assign: expected a round that was opened – found {word(round)} – "
            f"{did_you_mean(str(round), rounds)}"
        )
    others = [coder for coder in coders if coder not in one.coders]
    if others:
        raise ActError(
            f"assign: expected coders of round {one.name!r} – found {first_three(others)} – open the round "
            "again with them, or leave them out."
        )
    return units[units["unit_id"].isin(one.units)]


def _calibration(n_texts: int | None, current: Sequence[tuple[Act, Assignment]]) -> int | list[str]:
    """Return the texts that everybody codes first: those of the plan that stands, or how many to draw."""
    before = list(dict.fromkeys(unit_id for _, one in current for unit_id in one.calibration))
    if n_texts is None:
        return before or 0
    if not before or isinstance(n_texts, bool) or not isinstance(n_texts, int | np.integer) or n_texts < 0:
        return n_texts  # `corpus.assign` refuses what is no number of units
    if n_texts > len(before):
        raise TableError(
            f"assign: expected at most the {len(before)} calibration texts of the plan that stands – found "
            f"{n_texts} – calibrate further in a round (rounds.open_round), or leave `calibration` out."
        )
    return before[:n_texts]


def _begun(
    acts: Iterable[Act],
    current: Sequence[tuple[Act, Assignment]],
    coders: Sequence[str],
    known: Collection[str],
    round: str | None,
) -> dict[str, list[str]]:
    """Return the units that each coder, of now or of the plan that stands, has begun, in their order."""
    places: dict[str, dict[str, None]] = {name: {} for name in coders}
    for _, one in current:
        for name, unit_ids in one.units.items():
            places.setdefault(name, {}).update(dict.fromkeys(unit_ids))
    touched = {
        (act.coder, act.unit_id): None
        for act in acts
        if act.traits.is_own_step  # also where it is undone: they have read it
        and act.unit_id in known
        and (act.traits.subject == "memo" or act.round == round)
    }
    begun: dict[str, list[str]] = {
        name: [unit_id for unit_id in unit_ids if (name, unit_id) in touched]
        for name, unit_ids in places.items()
    }
    for name, unit_id in touched:
        if name in places and unit_id not in places[name]:  # without a plan, or another's
            begun[name].append(str(unit_id))
    return {name: unit_ids for name, unit_ids in begun.items() if unit_ids}


def _fixed(
    begun: Mapping[str, list[str]], coders: Sequence[str], acts: Iterable[Act], round: str | None
) -> dict[str, list[str]]:
    """Return what stays with whom: of who codes no more, what they have not finished is dealt as well."""
    if set(begun) <= set(coders):
        return dict(begun)
    coverage = fold(acts).coverage
    rows = coverage[coverage["round"].isna() if round is None else coverage["round"] == round]
    finished = set(zip(rows["coder"], rows["unit_id"], strict=True))
    return {
        name: [unit_id for unit_id in unit_ids if name in coders or (name, unit_id) in finished]
        for name, unit_ids in begun.items()
    }

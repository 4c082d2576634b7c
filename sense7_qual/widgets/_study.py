"""What a widget is given: a study or its parts; and whether it is left to the leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from sense7_qual._messages import did_you_mean, first_three, word
from sense7_qual.acts import Act, check_person
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, ArgumentError
from sense7_qual.rounds import Round

__all__ = ["Given", "check_lead", "desk_of", "leads_of", "of_study", "one_by_one", "round_of"]

_NEEDS = ("units", "codebook", "acts", "append")


class Given(NamedTuple):
    """What is coded, with which codebook, what was done before, where acts go, and which codebook the study
    names now (its fingerprint; None where there is no study to ask), and the study, where there is one."""

    units: pd.DataFrame
    codebook: Codebook
    acts: Sequence[Act]
    save: Callable[[Sequence[Act]], object]
    current: Callable[[], str] | None = None
    study: Any = None


def one_by_one(**parts: Any) -> Given:
    """Return the parts of the long form, all of which must be there."""
    missing = [name for name, value in parts.items() if value is None]
    if missing:
        raise ArgumentError(
            "CodingWidget: expected an open study, or units, codebook, acts and save – found no "
            f"{', '.join(missing)} – write CodingWidget(qual.Store(…), coder=…), or give all four."
        )
    return Given(**parts)


def of_study(study: Any, *, coder: str, round: str | None, **parts: object) -> Given:
    """Return what `study` holds for `coder`; `parts` are those of the long form, which must be None."""
    if isinstance(study, type) or not all(hasattr(study, name) for name in _NEEDS):
        raise ArgumentError(
            f"CodingWidget: expected an open study – found {type(study).__name__} – open it: "
            "CodingWidget(qual.Store(…), coder=…)."
        )
    twice = [name for name, value in parts.items() if value is not None]
    if twice:
        raise ArgumentError(
            f"CodingWidget: expected the study alone – found {', '.join(twice)} beside it – leave out what "
            "the study holds itself, or give units, codebook, acts and save without the study."
        )
    units = _units_of(study, check_person(coder), round)
    current = getattr(desk_of(study), "current_codebook", None)
    return Given(units, study.codebook, study.acts(coder=coder), study.append, current, study)


def desk_of(study: Any) -> Any:
    """Return what a study keeps for widgets; one that has no desk keeps it itself."""
    return getattr(study, "desk", study)


def round_of(study: Any, name: str | None) -> Round | None:
    """Return the round of this name as it stands in the study; None where there is none."""
    opened: Sequence[Round] = () if name is None else getattr(study, "rounds", ())
    return next((one for one in opened if one.name == name), None)


def _units_of(study: Any, coder: str, round: str | None) -> pd.DataFrame:
    """Return the coder's units in the order of the plan; all of them where there is no plan."""
    units: pd.DataFrame = study.units
    plan = getattr(study, "plan", pd.DataFrame())
    if plan.empty and round is None:
        return units
    rounds = [] if plan.empty else plan["round"].dropna().unique().tolist()
    if round is not None and round not in rounds:
        raise ActError(
            f"round: expected a round that was opened – found {word(round)} – "
            f"{did_you_mean(str(round), rounds)}"
        )
    here = plan[plan["round"].isna() if round is None else plan["round"] == round]
    ids = here.loc[here["coder"] == coder, "unit_id"]
    if ids.empty:
        raise ActError(_without_units(plan, coder, round, here["coder"].unique().tolist()))
    own: pd.DataFrame = units.set_index("unit_id", drop=False).loc[ids].reset_index(drop=True)
    return own


def _without_units(plan: pd.DataFrame, coder: str, round: str | None, coders: Sequence[str]) -> str:
    """Return why the coder codes nothing, and what to do."""
    others = plan.loc[plan["coder"] == coder, "round"].dropna().unique().tolist()
    if round is None and others:
        return (
            f"coder: expected the round in which {coder!r} codes – found none – pass round={others[0]!r}"
            f"{f' (their rounds: {first_three(others)})' if others[1:] else ''}."
        )
    if not coders:  # nothing is dealt but in rounds, and these are others'
        coders = plan["coder"].unique().tolist()
    where = "the plan of the study" if round is None else f"round {round!r}"
    remedy = (
        "let the lead deal them texts (store.assign)" if round is None else "ask the lead to open it again"
    )
    return (
        f"coder: expected a coder with texts in {where} – found {coder!r} – {did_you_mean(coder, coders)}; a "
        f"new coder: {remedy}."
    )


def leads_of(study: Any) -> tuple[str, ...]:
    """Return the leads that the study names (`Store.set_options`); none where it names nobody."""
    return tuple(getattr(getattr(study, "options", None), "leads", ()))


def check_lead(study: Any, coder: str, *, widget: str, add: bool = False) -> str:
    """Return the pseudonym `coder`, or raise `ActError` where the study names others as its leads.

    With `add`, coders who may add codes at once (``new_codes="add"``) may go on, too. In a folder this is no
    lock: its files are open to whoever has them.
    """
    coder, leads = check_person(coder), leads_of(study)
    if not leads or coder in leads or (add and study.options.new_codes == "add"):
        return coder
    raise ActError(
        f"{widget}: expected a lead of this study ({first_three(leads)}) – found {coder!r} – ask {leads[0]}, "
        f"who can name you: store.set_options(leads={[*leads, coder]!r}, coder={leads[0]!r})."
    )

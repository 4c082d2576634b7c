"""Rounds, and how far their coders are."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, is_name, read_once
from sense7_qual._basis import FIRST_IN_ROUND, Basis, state
from sense7_qual._contract import Contract, count, flag, text
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, check_coder, check_person, stamp, standing
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.frames import COVERAGE, DECISIONS, is_model


@dataclass(frozen=True, slots=True)
class Round:
    """A round of coding, as the lead opened it.

    Attributes
    ----------
    name : str
        Its name, as acts give it.
    units : tuple of str
        The ids of its units, in order.
    coders : tuple of str
        The pseudonyms of its coders.
    codebook : str
        The fingerprint of its codebook.
    opened_by, opened_at : str
        The coder of the act that last opened it, and its time (UTC, ISO 8601).
    leads : tuple of str
        The pseudonyms of those who may open it again and unblind it: the person who opened it first, and
        those whom they named.
    unblinded_by, unblinded_at : str or None
        The coder of the act that unblinded it, and its time; None while it is blind.
    gold : tuple of (str, tuple of str)
        In a round of training, the codes that gold applies to each unit; empty for any other round.
    gold_codes : tuple of str
        The codes that gold decided on.
    discusses : str or None
        In a round of discussion, the name of the discussed round; else None.
    """

    name: str
    units: tuple[str, ...]
    coders: tuple[str, ...]
    codebook: str
    opened_by: str
    opened_at: str
    leads: tuple[str, ...]
    unblinded_by: str | None = None
    unblinded_at: str | None = None
    gold: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gold_codes: tuple[str, ...] = ()
    discusses: str | None = None

    @property
    def is_training(self) -> bool:
        """Whether it has gold decisions."""
        return bool(self.gold_codes)

    @property
    def is_blind(self) -> bool:
        """Whether its coders do not see each other yet."""
        return self.unblinded_at is None

    @property
    def of_models(self) -> bool:
        """Whether models code in it, and no person."""
        return all(map(is_model, self.coders))

    @property
    def gold_decisions(self) -> pd.DataFrame:
        """The gold decisions: unit_id, code, applied (bool)."""
        rows = [(unit_id, code, code in codes) for unit_id, codes in self.gold for code in self.gold_codes]
        return pd.DataFrame(rows, columns=["unit_id", "code", "applied"]).astype(
            {"unit_id": "string", "code": "string", "applied": "bool"}
        )

    def __repr__(self) -> str:
        state = f"unblinded {self.unblinded_at}" if self.unblinded_at else "blind"
        kind = ", training" if self.is_training else ", discussion" if self.discusses else ""
        return f"Round({self.name!r}, {len(self.units)} units, {len(self.coders)} coders, {state}{kind})"


def open_round(
    round: str,
    *,
    units: Sequence[str],
    coders: Sequence[str],
    coder: str,
    codebook: Codebook,
    leads: Sequence[str] = (),
    gold: pd.DataFrame | None = None,
    discusses: str | None = None,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Open a round as the lead `coder`: these units, these coders, this codebook.

    Parameters
    ----------
    round : str
        Its name, which the coders' acts will carry (`CodingWidget(…, round=…)` adds it).
    units, coders : sequence of str
        The ids of its units, in order, and the pseudonyms of its coders; no duplicates.
    leads : sequence of str, optional
        The pseudonyms of others who may open this round again and unblind it. Only the person who opened the
        round first can name them.
    gold : DataFrame, optional
        Decisions of an expert or a consensus on these units: unit_id, code, applied (bool), for every unit of
        the round and the same codes on each. They make the round one of training. This act holds them, in
        every copy of the study: the widget shows them text by text, but anybody who reads the record by hand
        can read them all.
    discusses : str, optional
        The name of an unblinded round. Its coders discuss these of its units and revise their own decisions
        (`own_codings` copies these into the discussion). The store refuses other units and coders.

    Raises
    ------
    ActError
        There is no name, unit or coder, or a duplicate; people together with models (``model-…``); gold
        decisions that lack a unit or a code; gold decisions in a discussion.
    TableError
        `gold` does not fit its contract.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> act = open_round("calibration 1", units=["m1", "m2"], coders=["ana", "ben"], coder="lead",
    ...                  codebook=sense7)
    >>> opened([act])
    (Round('calibration 1', 2 units, 2 coders, blind),)
    >>> opened([act, unblind("calibration 1", coder="lead", codebook=sense7)])[0].unblinded_by
    'lead'
    """
    check_arguments(open_round, locals())
    _check_name(round)
    for what, ids in (("units", units), ("coders", coders)):
        _check_ids(round, what, ids)
    if len(leads):
        _check_ids(round, "leads", leads)
    leads = [check_person(each) for each in leads]
    coders = [check_coder(each) for each in coders]
    models = [each for each in coders if is_model(each)]
    if models and len(models) < len(coders):
        raise ActError(
            f"open_round: expected coders that are all people, or all models – found {first_three(models)} "
            "among people – open a separate round for the model."
        )
    content: dict[str, Any] = {"units": list(units), "coders": list(coders)}
    content |= {"leads": list(leads)} if len(leads) else {}
    content |= {} if gold is None else {"gold": _gold_of(gold, units, codebook)}
    if discusses is not None:
        _check_name(discusses)
        if gold is not None or discusses == round:
            found = "gold decisions" if gold is not None else "the round itself"
            raise ActError(
                f"open_round: expected a discussion of another round, without gold – found {found} – give "
                "the discussion its own name, for example 'calibration 1, discussed', and leave gold out."
            )
        content["discusses"] = discusses
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return Act(kind="open_round", round=round, text=text, **stamp(coder, codebook, act_id, at))


def unblind(
    round: str, *, coder: str, codebook: Codebook, act_id: str | None = None, at: str | None = None
) -> Act:
    """Let the coders see each other's acts of a round, as its lead `coder`; it cannot be undone.

    Raises
    ------
    ActError
        There is no name.
    """
    check_arguments(unblind, locals())
    _check_name(round)
    return Act(kind="unblind", round=round, **stamp(coder, codebook, act_id, at))


def opened(acts: Iterable[Act]) -> tuple[Round, ...]:
    """Return the rounds that `acts` open, oldest first.

    A round that was opened again has the units, coders and codebook of the last opening. The first unblinding
    after the opening counts, permanently: a coder who joined later would not be blind, so the store refuses
    that. Acts of people who do not lead the round, and an unblinding before the opening, are ignored.

    Raises
    ------
    ActError
        An act that opens a round is malformed.
    """
    acts = read_once(acts)
    check_arguments(opened, locals())
    openings, unblindings = _of_rounds(acts, "open_round"), _of_rounds(acts, "unblind")
    return tuple(_standing(acts_of_it, unblindings.get(name, [])) for name, acts_of_it in openings.items())


def ever_opened(acts: Iterable[Act]) -> tuple[Round, ...]:
    """Return the rounds as `opened` does, each with all coders and units that one of its leads ever gave it.

    By these a copy is judged: what a coder did in a round counts also after it was opened again without them.
    """
    acts = read_once(acts)
    check_arguments(ever_opened, locals())
    every = list(acts)
    openings = _of_rounds(every, "open_round")
    rounds = []
    for one in opened(every):
        of_leads = [_opening(act) for act in openings[one.name] if act.coder in one.leads]
        units = dict.fromkeys(unit_id for unit_ids, _, _ in of_leads for unit_id in unit_ids)
        coders = dict.fromkeys(coder for _, names, _ in of_leads for coder in names)
        rounds.append(replace(one, units=tuple(units), coders=tuple(coders)))
    return tuple(rounds)


def _of_rounds(acts: Iterable[Act], kind: str) -> dict[str, list[Act]]:
    """Return the acts of a kind by their round, in the order of their times."""
    by_round: dict[str, list[Act]] = {}
    for act in sorted((act for act in acts if act.kind == kind), key=lambda act: (act.at, act.act_id)):
        by_round.setdefault(str(act.round), []).append(act)
    return by_round


def _standing(openings: Sequence[Act], unblindings: Sequence[Act]) -> Round:
    """Return the round after the acts that open it, in order, and those that unblind it."""
    first = openings[0]
    named = [lead for act in openings if act.coder == first.coder for lead in _opening(act)[2]]
    leads = dict.fromkeys([first.coder, *named])
    shown = [act for act in unblindings if act.coder in leads and act.at >= first.at]
    last = [act for act in openings if act.coder in leads][-1]
    units, coders, _ = _opening(last)
    return Round(
        str(last.round),
        units,
        coders,
        last.codebook,
        last.coder,
        last.at,
        tuple(leads),
        shown[0].coder if shown else None,
        shown[0].at if shown else None,
        *_gold(last),
        _discusses(first),
    )


def _opening(act: Act) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the units, coders and further leads that an act of opening names."""
    try:
        content: dict[str, Any] = json.loads(str(act.text))
        named = content["units"], content["coders"], content.get("leads", [])
        units, coders, leads = (tuple(map(str, ids)) for ids in named)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"open_round: expected the units and coders of round {act.round!r} in act {act.act_id!r} – found "
            "something else – make it with rounds.open_round."
        ) from None
    return units, coders, leads


def _discusses(act: Act) -> str | None:
    named = json.loads(str(act.text)).get("discusses")  # what can be read: `_opening` came before
    return None if named is None else str(named)


def _gold(act: Act) -> tuple[tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...]]:
    """Return the gold decisions that an act of opening holds, and on which codes."""
    try:
        gold = json.loads(str(act.text)).get("gold")
        if gold is None:
            return (), ()
        applied = tuple((str(unit), tuple(map(str, codes))) for unit, codes in gold["applied"].items())
        return applied, tuple(map(str, gold["codes"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"open_round: expected the gold decisions of round {act.round!r} in act {act.act_id!r} – found "
            "something else – make it with rounds.open_round(…, gold=…)."
        ) from None


def _gold_of(gold: pd.DataFrame, units: Sequence[str], codebook: Codebook) -> dict[str, Any]:
    """Return gold decisions as an act holds them; no unit of the round may lack one of the codes."""
    frame = gold.assign(coder="gold") if "coder" not in gold.columns else gold
    checked = DECISIONS.check(frame)
    if len(coders := checked["coder"].unique()) > 1:
        raise ActError(
            f"open_round: expected the gold decisions of one coder – found those of {first_three(coders)} – "
            "choose one of them."
        )
    here = checked[checked["unit_id"].isin(list(units))]
    codes = [code.id for code in codebook.codable if code.id in set(here["code"])]
    other = sorted(set(here["code"]) - set(codes))
    decided = {(row.unit_id, row.code): bool(row.applied) for row in here.itertuples()}
    lacking = [unit for unit in units if any((unit, code) not in decided for code in codes)]
    if other or lacking or not codes:
        problem = f"codes {first_three(other)}" if other else f"none of every code on {first_three(lacking)}"
        raise ActError(
            "open_round: expected gold decisions on every unit of the round, on the same codes of its "
            f"codebook – found {problem} – complete them, or leave those units out."
        )
    applied = {unit: [code for code in codes if decided[unit, code]] for unit in units}
    return {"codes": codes, "applied": applied}


def _check_name(round: str) -> None:
    if not is_name(round):
        raise ActError(
            "round: expected a name without control characters or spaces at its ends – found none – name "
            "the round, for example 'calibration 1'."
        )


def _check_ids(round: str, what: str, values: Sequence[str]) -> None:
    is_list = isinstance(values, Iterable) and not isinstance(values, str)
    ids = list(values) if is_list else []
    unfit = not is_list or not all(isinstance(one, str) and one for one in ids)
    twice = [] if unfit else sorted(one for one, n in Counter(ids).items() if n > 1)
    if unfit or twice or not ids:
        problem = first_three(twice) + " twice" if twice else "other values" if unfit else "none"
        raise ActError(
            f"open_round: expected a list of ids as {what} of round {round!r}, each once – found {problem} – "
            "correct the list."
        )


PROGRESS: Final = Contract(
    "progress",
    ("round", "coder"),
    {
        "round, coder": text(),
        "n_units": count("units of the round"),
        "n_finished": count(
            "those of them that the coder has finished in this round; 0 to n_units; missing for a round of "
            "training or discussion of which `coverage` has nothing: ask for "
            "``store.coverage(round=…)``",
            missing=True,
        ),
        "unblinded": flag(),
    },
    row="One row per round × coder of it",
)


@PROGRESS.returns
def progress(rounds: Iterable[Round], coverage: pd.DataFrame) -> pd.DataFrame:
    """Return each coder's progress in each round.

    Parameters
    ----------
    rounds : iterable of Round
        As `opened` returns them.
    coverage : DataFrame
        As `Store.coverage` returns it.

    Raises
    ------
    TableError
        `coverage` does not fit its contract.
    """
    rounds = read_once(rounds)
    check_arguments(progress, locals())
    checked = COVERAGE.check(coverage, as_written=True)
    done = set(zip(checked["round"], checked["coder"], checked["unit_id"], strict=True))
    covered = set(checked["round"])
    rows = [
        (
            one.name,
            coder,
            len(one.units),
            sum((one.name, coder, unit) in done for unit in one.units)
            if one.name in covered or not (one.is_training or one.discusses)
            else None,
            one.unblinded_at is not None,
        )
        for one in rounds
        for coder in one.coders
    ]
    return PROGRESS.frame(rows)


@DECISIONS.returns
def first_decisions(acts: Iterable[Act], round: Round, *, coder: str) -> pd.DataFrame:
    """Return a coder's decisions on the units of a round as they were when each was first finished.

    In a round of training nothing later counts, because the coder had seen gold.

    Parameters
    ----------
    acts : iterable of Act
        The coder's acts in order; acts of other coders or rounds are ignored.
    round : Round
        As in `Store.rounds`.
    coder : str
        The pseudonym.

    Returns
    -------
    DataFrame
        unit_id, coder, code, applied (bool), basis: one row per finished unit, in the order of finishing, and
        per code that gold decided on (in a round without gold: per code that the coder applied at all).

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.rounds import open_round, opened
    >>> sense7 = Codebook.read("sense7")
    >>> gold = pd.DataFrame({"unit_id": ["m1"], "code": ["interest"], "applied": [True]})
    >>> opening = open_round("training", units=["m1"], coders=["ana"], coder="lead", codebook=sense7,
    ...                      gold=gold)
    >>> own = {"coder": "ana", "unit_id": "m1", "round": "training", "codebook": sense7}
    >>> done = [acts.finish(**own), acts.reopen(**own), acts.apply(code="interest", **own)]
    >>> first_decisions(done, opened([opening])[0], coder="ana")[["code", "applied"]].values.tolist()
    [['interest', False]]
    """
    acts = read_once(acts)
    check_arguments(first_decisions, locals())
    done: dict[str, list[Act]] = {}
    first: dict[str, set[str]] = {}
    for act in acts:
        unit_id = str(act.unit_id)
        if act.coder != coder or act.round != round.name or unit_id in first:
            continue
        done.setdefault(unit_id, []).append(act)
        if act.kind == "finish" and unit_id in round.units:
            first[unit_id] = {str(one.code) for one in standing(done[unit_id], subject="coding")}
    codes = round.gold_codes or sorted(set().union(*first.values()))
    rows = [(unit_id, coder, code, code in own) for unit_id, own in first.items() for code in codes]
    basis = Basis(
        rule=FIRST_IN_ROUND,
        rounds=(round.name,),
        codebook=round.codebook[:8],
        n_texts=len(first),
        coders=((coder, len(first)),),
    )
    return state(DECISIONS.frame(rows), basis)


def own_codings(acts: Iterable[Act], round: Round, *, coder: str, codebook: Codebook) -> list[Act]:
    """Return acts that copy a coder's codings of a round into its discussion, to be revised there.

    The coder appends them before opening the discussion in the widget, which otherwise begins without
    codings. A unit counts as discussed once the coder finishes it there. A second call gives the same acts.

    Parameters
    ----------
    acts : iterable of Act
        The coder's acts; acts of other coders or rounds are ignored.
    round : Round
        The round of discussion, as in `Store.rounds`.
    coder : str
        The pseudonym.
    codebook : Codebook
        The current codebook; codings with codes that it no longer has are left out.

    Raises
    ------
    ActError
        The round is not a discussion, or the coder is not in it.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> from sense7_qual.rounds import open_round, opened
    >>> sense7 = Codebook.read("sense7")
    >>> opening = open_round("talk", units=["m1"], coders=["ana"], coder="lead", codebook=sense7,
    ...                      discusses="one")
    >>> coded = acts.apply(coder="ana", unit_id="m1", code="interest", round="one", codebook=sense7)
    >>> [act.round for act in own_codings([coded], opened([opening])[0], coder="ana", codebook=sense7)]
    ['talk']
    """
    acts = read_once(acts)
    check_arguments(own_codings, locals())
    if round.discusses is None or coder not in round.coders:
        problem = "one that discusses none" if round.discusses is None else f"that {coder!r} is none of them"
        raise ActError(
            f"own_codings: expected a round of discussion and one of its coders – found {problem} – open it "
            "with rounds.open_round(…, discusses=…)."
        )
    own = [act for act in acts if act.coder == coder and act.round == round.discusses]
    codable = {code.id for code in codebook.codable}
    facets = {facet.name for facet in codebook.facets}
    return [
        replace(
            act,
            round=round.name,
            codebook=codebook.fingerprint,
            text=None,
            at=round.opened_at,
            facets=act.facets if facets.issuperset(act.facet_values) else None,
            act_id=str(uuid.uuid5(uuid.UUID(act.act_id), round.name)),
        )
        for act in standing(own, subject="coding")
        if act.code in codable and act.unit_id in round.units
    ]

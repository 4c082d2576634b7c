"""Coders' progress in rounds, their first decisions, and their codings to be revised in a discussion."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._contract import Contract, count, flag, text
from sense7_qual.acts import Act, standing
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError
from sense7_qual.frames import COVERAGE, DECISIONS
from sense7_qual.rounds._rounds import Round

__all__ = ["first_decisions", "own_codings", "progress"]

PROGRESS: Final = Contract("progress", ("round", "coder"), {
    "round, coder": text(),
    "n_units": count("units of the round"),
    "n_finished": count(
        "those of them that the coder has finished in this round; 0 to n_units; missing for a round of "
        "training or discussion of which `coverage` has nothing: ask for "
        "``store.coverage(round=…)``", missing=True),
    "unblinded": flag(),
}, row="One row per round × coder of it")  # fmt: skip


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
        (one.name, coder, len(one.units),
         sum((one.name, coder, unit) in done for unit in one.units)
         if one.name in covered or not (one.is_training or one.discusses) else None,
         one.unblinded_at is not None)
        for one in rounds
        for coder in one.coders
    ]  # fmt: skip
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
        unit_id, coder, code, applied (bool): one row per finished unit, in the order of finishing, and per
        code that gold decided on (in a round without gold: per code that the coder applied at all).

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
    return DECISIONS.frame(rows)


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
            act, round=round.name, codebook=codebook.fingerprint, text=None, at=round.opened_at,
            facets=act.facets if facets.issuperset(act.facet_values) else None,
            act_id=str(uuid.uuid5(uuid.UUID(act.act_id), round.name)),
        )
        for act in standing(own, subject="coding")
        if act.code in codable and act.unit_id in round.units
    ]  # fmt: skip

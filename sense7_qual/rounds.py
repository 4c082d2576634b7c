"""Rounds of coding: calibration 1, calibration 2, final – their units, their coders, their codebook.

The lead opens a round (`open_round`), the coders' acts carry its name, and the lead ends its blindness
(`unblind`): from then on the coders may see each other's acts of that round. Both are acts, so that the
record says who did it and when, and neither can be undone.

Blindness itself is kept by where the acts are. In a study folder a coder is not sent the others' files
until the lead has unblinded the round; send them the lead's own file, so that they know the rounds, and let
the lead code under another pseudonym. In PostgreSQL the database keeps it, from the same acts. `visible`
says what a coder may see, for a notebook that holds everybody's acts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from sense7_qual.act_values import check_coder, is_name
from sense7_qual.acts import LEAD_KINDS, Act, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ActError, first_three
from sense7_qual.tables import COVERAGE

__all__ = ["Round", "open_round", "opened", "progress", "unblind", "visible"]


@dataclass(frozen=True, slots=True)
class Round:
    """A round of coding, as the lead opened it.

    Attributes
    ----------
    name : str
        What acts call it.
    units : tuple of str
        The ids of the units that are coded in it, in their order.
    coders : tuple of str
        The pseudonyms of those who code in it.
    codebook : str
        The fingerprint of the codebook that it is coded with.
    opened_by, opened_at : str
        Whose act opened it, and when (UTC, ISO 8601).
    unblinded_by, unblinded_at : str or None
        Whose act let the coders see each other, and when; None while they are blind.
    """

    name: str
    units: tuple[str, ...]
    coders: tuple[str, ...]
    codebook: str
    opened_by: str
    opened_at: str
    unblinded_by: str | None = None
    unblinded_at: str | None = None

    def __repr__(self) -> str:
        state = f"unblinded {self.unblinded_at}" if self.unblinded_at else "blind"
        return f"Round({self.name!r}, {len(self.units)} units, {len(self.coders)} coders, {state})"


def open_round(
    round: str,
    *,
    units: Sequence[str],
    coders: Sequence[str],
    coder: str,
    codebook: Codebook,
    act_id: str | None = None,
    at: str | None = None,
) -> Act:
    """Open a round, as the lead `coder`: these units, by these coders, with this codebook.

    Parameters
    ----------
    round : str
        Its name, which the coders' acts will carry; `CodingWidget(…, round=…)` sees to that.
    units, coders : sequence of str
        The ids of its units, in order, and the pseudonyms of its coders, none of them twice.

    Raises
    ------
    ActError
        No name, no unit or no coder, or one of them twice.

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
    _check_name(round)
    for what, given in (("units", units), ("coders", coders)):
        _check_ids(round, what, given)
    for each in coders:
        check_coder(each)
    text = json.dumps({"units": list(units), "coders": list(coders)}, ensure_ascii=False, sort_keys=True)
    return Act(kind="open_round", round=round, text=text, **stamp(coder, codebook, act_id, at))


def unblind(
    round: str, *, coder: str, codebook: Codebook, act_id: str | None = None, at: str | None = None
) -> Act:
    """Let the coders see each other's acts of a round, as the lead `coder`; for good.

    Raises
    ------
    ActError
        No name.
    """
    _check_name(round)
    return Act(kind="unblind", round=round, **stamp(coder, codebook, act_id, at))


def opened(acts: Iterable[Act]) -> tuple[Round, ...]:
    """Return the rounds that stand after `acts`, in the order in which they were opened.

    A round that was opened again has the units, coders and codebook of the last time. It is unblinded by the
    first act that says so, and stays so: who joins it later is not blind (the store refuses that).

    Raises
    ------
    ActError
        An act of opening does not hold what one holds.
    """
    ordered = sorted((act for act in acts if act.kind in LEAD_KINDS), key=lambda act: (act.at, act.act_id))
    shown: dict[str | None, Act] = {}
    for act in ordered:
        if act.kind == "unblind":
            shown.setdefault(act.round, act)
    found: dict[str, Round] = {}
    for act in ordered:
        if act.kind == "open_round":
            found[str(act.round)] = _round(act, shown.get(act.round))
    return tuple(found.values())


def visible(acts: Iterable[Act], *, viewer: str) -> list[Act]:
    """Return the acts that the coder `viewer` may see, in their order.

    These are their own, what the lead did for the team (rounds, unblinding, revisions of the codebook), and
    every act of an unblinded round, with all that takes it back or does it again. An act without a round,
    such as a memo or a ruling, stays its coder's.

    Examples
    --------
    >>> from sense7_qual import acts
    >>> sense7 = Codebook.read("sense7")
    >>> of_ben = acts.apply(coder="ben", unit_id="m1", code="interest", round="one", codebook=sense7)
    >>> visible([of_ben], viewer="ana")
    []
    >>> len(visible([of_ben, unblind("one", coder="lead", codebook=sense7)], viewer="ana"))
    2
    """
    check_coder(viewer)
    everything = list(acts)
    shown = {act.round for act in everything if act.kind == "unblind"}
    deeds = {(act.coder, act.act_id) for act in everything if act.round in shown and act.target is None}
    return [
        act
        for act in everything
        if act.coder == viewer or act.kind in LEAD_KINDS or (act.coder, act.target or act.act_id) in deeds
    ]


def progress(rounds: Iterable[Round], coverage: pd.DataFrame) -> pd.DataFrame:
    """Return how far each coder is in each round.

    Parameters
    ----------
    rounds : iterable of Round
        As `opened` returns them.
    coverage : DataFrame
        As `Store.coverage` returns it.

    Returns
    -------
    DataFrame
        One row per round × coder of it: round, coder, n_units (units of the round), n_finished (those of them
        that the coder has finished in this round; 0 to n_units), unblinded (bool).

    Raises
    ------
    TableError
        `coverage` is not what its contract says.
    """
    checked = COVERAGE.check(coverage)
    done = set(zip(checked["round"], checked["coder"], checked["unit_id"], strict=True))
    rows = [
        (one.name, coder, len(one.units), sum((one.name, coder, unit) in done for unit in one.units),
         one.unblinded_at is not None)
        for one in rounds
        for coder in one.coders
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(_PROGRESS))
    return frame.astype(dict(_PROGRESS))


_PROGRESS: Final = {
    "round": "string",
    "coder": "string",
    "n_units": "int64",
    "n_finished": "int64",
    "unblinded": "bool",
}


def _round(act: Act, shown: Act | None) -> Round:
    try:
        said: dict[str, Any] = json.loads(str(act.text))
        units, coders = tuple(map(str, said["units"])), tuple(map(str, said["coders"]))
    except (ValueError, KeyError, TypeError):
        raise ActError(
            f"open_round: expected the units and coders of round {act.round!r} in act {act.act_id!r} – found "
            "something else – make it with rounds.open_round."
        ) from None
    return Round(
        str(act.round), units, coders, act.codebook, act.coder, act.at,
        shown.coder if shown else None, shown.at if shown else None,
    )  # fmt: skip


def _check_name(round: str) -> None:
    if not is_name(round):
        raise ActError(
            "round: expected a name without a space at its ends – found none – name the round, such as "
            "'calibration 1'."
        )


def _check_ids(round: str, what: str, given: Sequence[str]) -> None:
    is_list = isinstance(given, Iterable) and not isinstance(given, str)
    ids = list(given) if is_list else []
    unfit = not is_list or not all(isinstance(one, str) and one for one in ids)
    twice = [] if unfit else sorted(one for one, n in Counter(ids).items() if n > 1)
    if unfit or twice or not ids:
        found = first_three(twice) + " twice" if twice else "other values" if unfit else "none"
        raise ActError(
            f"open_round: expected a list of ids as {what} of round {round!r}, each once – found {found} – "
            "correct the list."
        )

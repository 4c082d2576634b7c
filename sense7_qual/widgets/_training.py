"""A round of training in the coding widget: where a finished text differs from gold, and how far one is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual._present import coefficient
from sense7_qual.agreement import Mastery, mastery
from sense7_qual.errors import ActError, QualError
from sense7_qual.rounds import Round, first_decisions
from sense7_qual.widgets._desk import Asked
from sense7_qual.widgets._session import Session
from sense7_qual.widgets._study import round_of

__all__ = ["Training"]

_MOST: Final = 60
_WORDS: Final = {
    "pass": "Passed after {n} texts: your coding agrees with the gold decisions.",
    "fail": "Stopped after {n} texts: talk the differences through with the lead before you go on.",
}


class Training:
    """What a coder in training may know of the gold decisions: those on texts that they have finished.

    Attributes
    ----------
    session : Session
        Whose training it is, if its round has gold decisions.
    study : Store, or what is like one
        Where the round stands.
    """

    def __init__(self, session: Session, study: Any) -> None:
        self._session = session
        self.asked: Asked = {"feedback": self._feedback}
        try:
            one: Round | None = round_of(study, session.round)
        except QualError:  # whatever is wrong is told where acts are saved
            one = None
        self._round = one if one is not None and one.is_training else None

    def __repr__(self) -> str:
        return f"Training({self._session.coder!r}, {self._round!r})"

    def progress(self) -> dict[str, Any] | None:
        """Return how far the coder is, and what is sure of their kappa; None where this is no training."""
        return None if self._round is None else self._progress(self._so_far(self._round)[1])

    def _feedback(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return how the coder's first decisions on a finished text differ from gold."""
        place = self._session.check_place(asked.get("place"))
        if self._round is None:
            raise ActError("feedback: expected a round of training – found another – reload the page.")
        decided, result = self._so_far(self._round)
        here = decided[decided["unit_id"] == self._session.unit_ids[place]]
        if here.empty:
            raise ActError("feedback: expected a finished text – found another – finish it first.")
        return {
            "type": "feedback",
            "place": place,
            "rows": self._rows(self._round, here),
            "counts": {
                row.code: [row.hits, row.misses, row.false_alarms] for row in result.by_code.itertuples()
            },
            "progress": self._progress(result),
        }

    def _so_far(self, one: Round) -> tuple[pd.DataFrame, Mastery]:
        """Return the coder's first decisions, and how they agree with gold."""
        decided = first_decisions(self._session.acts_of_round, one, coder=self._session.coder)
        return decided, mastery(decided, gold=one.gold_decisions)

    def _rows(self, one: Round, decided: pd.DataFrame) -> list[dict[str, str]]:
        """Return the codes that the coder or gold applied: "same", "missed" or "added"."""
        gold = set(dict(one.gold)[decided["unit_id"].iloc[0]])
        own = set(decided.loc[decided["applied"], "code"])
        states = {
            code: "same" if code in own & gold else "missed" if code in gold else "added"
            for code in one.gold_codes
            if code in own | gold
        }
        return [{"code": code, "state": state} for code, state in states.items()]

    def _progress(self, result: Mastery) -> dict[str, Any]:
        has_kappa = result.kappa == result.kappa  # not NaN
        value, low, high = (coefficient(number, 2) for number in (result.kappa, result.low, result.high))
        return {
            "n": result.n_units,
            "most": min(len(self._session.unit_ids), _MOST),
            "kappa": f"{value} ({low}–{high})" if has_kappa else "",
            "verdict": result.verdict,
            "words": _words(result),
        }


def _words(result: Mastery) -> str:
    if result.verdict == "go on":
        return ""
    likely = result.probability if result.verdict == "pass" else 1 - result.probability
    which = result.pass_at if result.verdict == "pass" else result.fail_at
    sure = f" A kappa of {coefficient(which, 2)} is {100 * min(likely, 0.999):.0f} % probable, "
    other = result.fail_at if result.verdict == "pass" else result.pass_at
    return _WORDS[result.verdict].format(n=result.decided_after) + sure + f"against {coefficient(other, 2)}."

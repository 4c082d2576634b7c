"""How disagreements count in counts and links: the one question of a paper that has no default.

Whatever the data, nothing is chosen by them: a study of two coders or more is asked, once, and each answer
says what it would leave out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._basis import ANY_CODER, Basis
from sense7_qual.adjudication import SettledBy
from sense7_qual.errors import ArgumentError
from sense7_qual.report._review_facts import Study, require_study

QUESTION: Final = "How do disagreements count in counts and links?"
_OWN: Final = "each coder’s own, none left out"
_ANY: Final = "a code counts once anybody applied it, none left out"
_OPEN: Final = ("unsettled", "tied", "with both readings kept")


_SOURCES: Final[Mapping[str, str]] = {
    "rulings": "consensus",
    "discussion": "consensus",
    "majority": "majority",
    "any": ANY_CODER,
}


def open_answers(
    store: Study, *, with_agreement: bool = True, asked: Mapping[str, Any] | None = None
) -> dict[SettledBy, str]:
    """Return the answers to the question, each with what it would leave out; none for a single coder.

    `asked` names the rounds and coders, as for `Store.decisions`.
    """
    check_arguments(open_answers, locals(), but=("store",))
    require_study(store, function="open_answers")
    asked = dict(asked or {})
    if store.decisions(settled_by="nothing", **asked)["coder"].nunique() < 2:
        return {}
    is_discussed = any(one.discusses for one in store.rounds)
    known: tuple[SettledBy, ...] = ("rulings", "discussion", "majority")
    settled = [by for by in known if by != "discussion" or is_discussed]
    said = {by: _left_out(store.decisions(settled_by=by, **asked), by) for by in settled}
    own: dict[SettledBy, str] = {"nothing": _OWN}
    anybody: dict[SettledBy, str] = {"any": _ANY}
    return said | own | anybody if with_agreement else anybody | said | own


def linked_source(settled_by: SettledBy | None, coders: Sequence[str]) -> str:
    """Return the name of what counts among the sources of decisions: as settled, or the coders' own."""
    alone = coders[0] if len(coders) == 1 else "pooled"
    return _SOURCES.get(str(settled_by), alone)


def ask_in_call(command: str, answers: Mapping[SettledBy, str]) -> ArgumentError:
    """Return the error that asks the question in a call."""
    check_arguments(ask_in_call, locals())
    return ArgumentError(
        f"{command}: expected an answer: {QUESTION} – found none in the call and in the analysis plan, and "
        f"several coders – pass settled_by, or register it (AnalysisPlan(settled_by=…)): {listed(answers)}."
    )


def listed(answers: Mapping[SettledBy, str]) -> str:
    """Return the answers in one line, each with what it leaves out."""
    check_arguments(listed, locals())
    return ", ".join(f"{by!r} ({what})" for by, what in answers.items())


def _left_out(decided: pd.DataFrame, by: SettledBy) -> str:
    basis = Basis.of(decided)
    inside, left_out = dict(basis.inside), dict(basis.left_out)
    ruled = [f"{inside.get('ruled', 0):,} ruled on"] if by == "rulings" else []
    least = "tied" if by == "majority" else "unsettled"
    left = [f"{left_out.get(what, 0):,} {what}" for what in _OPEN if what == least or what in left_out]
    return ", ".join([*ruled, f"{' and '.join(left)} left out"])

"""One case for each code that speaks against it: what is one, and which is taken.

A case that does not fit is looked for on purpose and reported (negative case analysis: Lincoln & Guba 1985,
Naturalistic Inquiry, pp. 309–313; Patton 1999, Health Services Research 34(5), 1189–1208; the disconfirming
case: Booth et al. 2013, Qualitative Health Research 23(1), 126–141). Three kinds count, the first that there
is:

1. a *near miss*: a coder applied the code, and the consensus is that it does not apply;
2. a case *against the trend*: the code applies, and the rating lies beyond the mean of the texts without the
   code, on the other side of it than the mean of the texts with it;
3. a *disputed* case: some of the coders applied the code, others did not, and nothing is settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from sense7_qual import _present
from sense7_qual.report._quote_passages import Passage, Screen
from sense7_qual.tables import DECISIONS, people, without_models

__all__ = ["Verdict", "case_against", "verdicts"]

ABSENT: Final = "ruled not to apply"
DISPUTED: Final = "coders disagree on it"
UNDECIDED: Final = "nobody has finished the text"


class Verdict(NamedTuple):
    """What was decided on one unit and code."""

    n_applied: int
    n_coders: int
    settled: bool | None

    @property
    def why_not(self) -> str:
        """Why the text does not show the code; empty where it does."""
        if self.applies:
            return ""
        return ABSENT if self.settled is False else DISPUTED

    @property
    def applies(self) -> bool:
        """Whether the text shows the code."""
        return self.settled if self.settled is not None else 0 < self.n_applied == self.n_coders


def verdicts(decisions: pd.DataFrame) -> dict[tuple[str, str], Verdict]:
    """Return what was decided, by unit and code: by coders, and by consensus where there is one."""
    checked = without_models(DECISIONS.check(decisions), function="quotes")
    counts = people(checked).groupby(["unit_id", "code"])["applied"].agg(["sum", "size"])
    agreed = checked[checked["coder"] == "consensus"]
    settled = {
        (unit_id, code): bool(applied)
        for unit_id, code, applied in agreed[["unit_id", "code", "applied"]].itertuples(index=False)
    }
    made = {key: (int(n), int(of)) for key, n, of in counts.itertuples(name=None)}
    return {
        key: Verdict(*made.get(key, (int(settled.get(key, False)), 1)), settled.get(key))
        for key in {**made, **settled}
    }


def case_against(
    passages: Sequence[Passage],
    open_ones: Sequence[Passage],
    decided: dict[tuple[str, str], Verdict],
    ratings: pd.Series,
    screen: Screen,
) -> Passage | None:
    """Return the passage of one code that speaks against it, with `why`; None where none does."""
    if not passages:
        return None
    code = passages[0]["code"]
    here = {unit_id: verdict for (unit_id, of), verdict in decided.items() if of == code}
    for kind in (_near_misses, _against_the_trend, _disputed):
        # Sorting keeps the random order of equals.
        ranked = sorted(kind(open_ones, here, ratings), key=lambda one: -one[0])
        if ranked:
            passage = screen.first_without([one for _, one, _ in ranked])
            why = next(why for _, one, why in ranked if one is passage)
            return passage | {"role": "disconfirms", "why": why}
    return None


_Ranked = Iterable[tuple[float, Passage, str]]


def _near_misses(passages: Sequence[Passage], here: Mapping[str, Verdict], _: pd.Series) -> _Ranked:
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.settled is False and verdict.n_applied:
            why = f"near miss: {verdict.n_applied} of {verdict.n_coders} coders applied it, {ABSENT}"
            yield verdict.n_applied / verdict.n_coders, passage, why


def _disputed(passages: Sequence[Passage], here: Mapping[str, Verdict], _: pd.Series) -> _Ranked:
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.why_not == DISPUTED and verdict.n_applied:
            why = f"disputed: {verdict.n_applied} of {verdict.n_coders} coders applied it, not settled"
            yield verdict.n_applied / verdict.n_coders, passage, why


def _against_the_trend(
    passages: Sequence[Passage], here: Mapping[str, Verdict], ratings: pd.Series
) -> _Ranked:
    having = [unit_id for unit_id, verdict in here.items() if verdict.applies]
    lacking = [
        unit_id for unit_id, verdict in here.items()
        if verdict.settled is False or (verdict.settled is None and not verdict.n_applied)
    ]  # fmt: skip
    with_it, without = (_mean(ratings.reindex(ids)) for ids in (having, lacking))
    side = np.sign(with_it - without)
    if np.isnan(side) or side == 0:
        return
    for passage in passages:
        verdict = here.get(passage["unit_id"])
        if verdict is not None and verdict.applies and side * (passage["rating"] - without) < 0:
            shown = [
                _present.number(value, 2).removesuffix(".00")
                for value in (passage["rating"], with_it, without)
            ]
            why = "against the trend: rating {}, where texts with the code have a mean of {}, others of {}"
            yield -side * passage["rating"], passage, why.format(*shown)


def _mean(values: pd.Series) -> float:
    known = values.dropna()
    return float(known.mean()) if len(known) else float("nan")

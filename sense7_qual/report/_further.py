"""Statistics that a reviewer asks for beyond a study's record: each as rows of a table, and objections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._messages import first_three
from sense7_qual.agreement.coefficients import Estimate
from sense7_qual.errors import TableError
from sense7_qual.links import PROPORTIONAL_ODDS
from sense7_qual.report._review_facts import Objection

Row = tuple[str, str, Any, str, str, str]
"""The statistic, what it is of, n, its value, the ends of its interval, and p, as printed."""

_KINDS: Final = {"one_way": "one-way", "agreement": "absolute agreement", "consistency": "consistency"}
_POOR: Final = 0.5  # Koo & Li (2016)


def read_further(further: Mapping[str, Any] | None, *, function: str) -> dict[str, Any]:
    """Return the results by name; raise `TableError` where one is of none of these statistics."""
    read = dict(further or {})
    wrong = [name for name, one in read.items() if _kind(one) is None]
    if wrong:
        raise TableError(
            f"{function}: expected further to hold results of agreement.coefficients.estimate or "
            f"links.models.proportional_odds by name – found another for {first_three(wrong)} – leave it out."
        )
    return read


def _kind(result: object) -> str | None:
    if isinstance(result, Estimate):
        return "estimate"
    if isinstance(result, pd.DataFrame) and set(PROPORTIONAL_ODDS.columns) <= set(result.columns):
        return "odds"
    return None


def rows_of(name: str, result: Any, digits: int) -> Iterator[Row]:
    """Yield the rows of a result."""
    if isinstance(result, Estimate):
        between = _present.interval(result.low, result.high, digits)
        value = _present.coefficient(result.estimate, digits)
        yield called(result), name, result.n_pairable, value, between, ""
        return
    for row in result.to_dict("records"):
        of_all = pd.isna(row["split"])
        what = f"Odds ratio, {row['model']} model" if of_all else f"… of {row['split']} or more"
        yield (
            what, f"{name}, {row['predictor']}", row["n"] if of_all else row["n_above"],
            _present.number(row["odds_ratio"], digits),
            _present.number_interval(row["low"], row["high"], digits), _present.p_value(row["p"]),
        )  # fmt: skip
        if of_all:
            proportional = _present.p_value(row["p_proportional"])
            yield "… the same at all splits", f"{name}, {row['predictor']}", row["n"], "", "", proportional


def called(result: Estimate) -> str:
    """Return what a coefficient is called in print."""
    if not result.statistic.startswith("icc"):
        return result.statistic.replace("_", " ")
    kind, _, n_averaged = result.statistic.removeprefix("icc (").removesuffix(")").partition(", ")
    rater = "one coder" if n_averaged == "1" else f"the mean of {n_averaged} coders"
    return f"intraclass correlation ({_KINDS[kind]}, {rater})"


def objections(further: Mapping[str, Any]) -> Iterator[Objection]:
    """Yield what a reviewer will object to in further statistics."""
    for name, result in further.items():
        if isinstance(result, Estimate):
            yield from _to_estimate(name, result)
        else:
            yield from _to_odds(name, result)


def _to_estimate(name: str, result: Estimate) -> Iterator[Objection]:
    if result.n_clusters is None and result.method != "coders":
        yield Objection(
            kind="further_unclustered", n=result.n_pairable,
            seen=f"The interval of the {called(result)} of “{name}” takes {result.n_pairable:,} texts as "
            "independent.",
            why="Texts of one participant are alike, and such an interval is too narrow.",
            answer="Pass the participants (agreement.coefficients.estimate(…, groups=…)).",
        )  # fmt: skip
    if result.statistic.startswith("icc") and result.low < _POOR:
        yield Objection(
            kind="icc_poor", n=result.n_pairable,
            seen=f"The interval of the {called(result)} of “{name}” reaches down to "
            f"{_present.coefficient(result.low, 2)}.",
            why="Below .50 ratings are poorly reliable (Koo & Li 2016), and that is not excluded.",
            answer="Have more texts rated by several, or analyse means over coders (n_averaged).",
        )  # fmt: skip


def _to_odds(name: str, result: pd.DataFrame) -> Iterator[Objection]:
    whole = result[result["split"].isna() & result["caution"].fillna("").str.contains("not_proportional")]
    for row in whole.itertuples():
        yield Objection(
            kind="not_proportional", n=int(str(row.n)),
            seen=f"The odds ratio of “{row.predictor}” is not the same all along the scale of “{name}” "
            f"(p {_present.p_value(row.p_proportional)}).",
            why="One odds ratio for the whole scale then hides where the code matters.",
            answer="Report the splits (links.models.proportional_odds) next to it.",
        )  # fmt: skip


def levels_of(result: Any) -> Iterator[float]:
    """Yield the confidence levels of a result."""
    if isinstance(result, Estimate):
        yield result.confidence_level
    else:
        yield from result["confidence_level"].dropna().unique().tolist()

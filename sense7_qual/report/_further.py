"""Statistics that a reviewer asks for beyond a study's record: each as rows of a table, and objections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from sense7_qual import _present
from sense7_qual._messages import first_three
from sense7_qual.adjudication import TrueCodes
from sense7_qual.agreement.coefficients import Estimate
from sense7_qual.agreement.diagnosis import AlternativeAnnotatorTest
from sense7_qual.errors import TableError
from sense7_qual.links.models import PROPORTIONAL_ODDS
from sense7_qual.report._review_facts import Objection

Row = tuple[str, str, Any, str, str, str]
"""The statistic, what it is of, n, its value, the ends of its interval, and p, as printed."""

_KINDS: Final = {"one_way": "one-way", "agreement": "absolute agreement", "consistency": "consistency"}
_POOR: Final = 0.5  # Koo & Li (2016)


def read_further(further: Mapping[str, Any] | None, *, function: str) -> dict[str, Any]:
    """Return the results by name; raise `TableError` where one is of none of these statistics."""
    read = dict(further or {})
    wrong = [name for name, one in read.items() if not _is_known(one)]
    if wrong:
        raise TableError(
            f"{function}: expected further to hold results of agreement.coefficients.estimate, "
            "links.models.proportional_odds, adjudication.dawid_skene or "
            "agreement.diagnosis.alternative_annotator_test by name – found another for "
            f"{first_three(wrong)} – leave it out."
        )
    return read


def _is_known(result: object) -> bool:
    if isinstance(result, pd.DataFrame):
        return set(PROPORTIONAL_ODDS.columns) <= set(result.columns)
    return isinstance(result, Estimate | TrueCodes | AlternativeAnnotatorTest)


def rows_of(name: str, result: Any, digits: int) -> Iterator[Row]:
    """Yield the rows of a result."""
    if isinstance(result, Estimate):
        between = _present.interval(result.low, result.high, digits)
        value = _present.coefficient(result.estimate, digits)
        yield called(result), name, result.n_pairable, value, between, ""
    elif isinstance(result, TrueCodes):
        yield from _rows_of_coders(name, result, digits)
    elif isinstance(result, AlternativeAnnotatorTest):
        for row in result.results.to_dict("records"):
            of = name if pd.isna(row["code"]) else f"{name}, {row['code']}"
            rate = _present.coefficient(row["winning_rate"], digits)
            yield f"Winning rate ω of {row['model']} (ε {result.epsilon:g})", of, row["n_units"], rate, "", ""
    else:
        yield from _rows_of_odds(name, result, digits)


def _rows_of_coders(name: str, result: TrueCodes, digits: int) -> Iterator[Row]:
    for row in result.coders.to_dict("records"):
        for rate in ("sensitivity", "specificity"):
            between = _present.interval(row[f"{rate}_low"], row[f"{rate}_high"], digits)
            what = f"{rate.capitalize()} of {row['coder']} (Dawid and Skene)"
            value = _present.coefficient(row[rate], digits)
            yield what, f"{name}, {row['code']}", row["n_units"], value, between, ""
    for row in result.residuals.to_dict("records"):
        what = f"Agreement of {row['coder_a']} and {row['coder_b']}, observed − expected"
        value = _present.coefficient(row["difference"], digits)
        between = _present.interval(row["low"], row["high"], digits)
        yield what, f"{name}, {row['code']}", row["n_units"], value, between, ""


def _rows_of_odds(name: str, result: pd.DataFrame, digits: int) -> Iterator[Row]:
    for row in result.to_dict("records"):
        of_all = pd.isna(row["split"])
        what = f"Odds ratio, {row['model']} model" if of_all else f"… of {row['split']} or more"
        yield (
            what,
            f"{name}, {row['predictor']}",
            row["n"] if of_all else row["n_above"],
            _present.number(row["odds_ratio"], digits),
            _present.number_interval(row["low"], row["high"], digits),
            _present.p_value(row["p"]),
        )
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
        elif isinstance(result, TrueCodes):
            yield from _to_coders(name, result)
        elif isinstance(result, AlternativeAnnotatorTest):
            yield from _to_test(name, result)
        else:
            yield from _to_odds(name, result)


def _to_coders(name: str, result: TrueCodes) -> Iterator[Objection]:
    sharing = result.residuals[result.residuals["low"] > 0]
    if len(sharing):
        pairs = [f"{row.coder_a} and {row.coder_b} ({row.code})" for row in sharing.itertuples()]
        yield Objection(
            kind="shared_errors",
            n=len(sharing),
            seen=f"“{name}”: these coders agree more often than independent errors allow: "
            f"{'; '.join(pairs[:3])}.",
            why="The model of Dawid and Skene takes errors that coders share for true.",
            answer="Report the uncorrected link (links.code_to_rating) first, and the residuals.",
        )


def _to_test(name: str, result: AlternativeAnnotatorTest) -> Iterator[Objection]:
    if result.humans["n_clusters"].isna().all():
        yield Objection(
            kind="further_unclustered",
            n=int(result.results["n_units"].max()),
            seen=f"The alternative annotator test of “{name}” takes texts as independent.",
            why="A model that fails on some participants then passes more often than it should.",
            answer="Pass the participants (agreement.diagnosis.alternative_annotator_test(…, cluster=…)).",
        )


def _to_estimate(name: str, result: Estimate) -> Iterator[Objection]:
    if result.n_clusters is None and result.method != "coders":
        yield Objection(
            kind="further_unclustered",
            n=result.n_pairable,
            seen=f"The interval of the {called(result)} of “{name}” takes {result.n_pairable:,} texts as "
            "independent.",
            why="Texts of one participant are alike, and such an interval is too narrow.",
            answer="Pass the participants (agreement.coefficients.estimate(…, groups=…)).",
        )
    if result.statistic.startswith("icc") and result.low < _POOR:
        yield Objection(
            kind="icc_poor",
            n=result.n_pairable,
            seen=f"The interval of the {called(result)} of “{name}” reaches down to "
            f"{_present.coefficient(result.low, 2)}.",
            why="Below .50 ratings are poorly reliable (Koo & Li 2016), and that is not excluded.",
            answer="Have more texts rated by several, or analyse means over coders (n_averaged).",
        )


def _to_odds(name: str, result: pd.DataFrame) -> Iterator[Objection]:
    whole = result[result["split"].isna() & result["caution"].fillna("").str.contains("not_proportional")]
    for row in whole.itertuples():
        yield Objection(
            kind="not_proportional",
            n=int(str(row.n)),
            seen=f"The odds ratio of “{row.predictor}” is not the same all along the scale of “{name}” "
            f"(p {_present.p_value(row.p_proportional)}).",
            why="One odds ratio for the whole scale then hides where the code matters.",
            answer="Report the splits (links.models.proportional_odds) next to it.",
        )


def levels_of(result: Any) -> Iterator[float]:
    """Yield the confidence levels of a result."""
    if isinstance(result, Estimate):
        yield result.confidence_level
    elif isinstance(result, TrueCodes):
        yield from result.fits["confidence_level"].unique().tolist()
    elif isinstance(result, pd.DataFrame):
        yield from result["confidence_level"].dropna().unique().tolist()

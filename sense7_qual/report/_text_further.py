"""Sentences on statistics that a reviewer asks for beyond a study's record."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from sense7_qual.agreement.coefficients import Estimate
from sense7_qual.report._further import called
from sense7_qual.report._text import (
    Phrase,
    Sentence,
    Traced,
    coefficient,
    interval,
    named,
    number,
    p_value,
    phrase,
    plural,
    sentence,
)
from sense7_qual.report._text_record import Record


def further(record: Record) -> Iterator[Sentence]:
    """Yield a sentence on each further statistic: what it is, how its interval was made, what it was."""
    if record.further is None:
        return
    for name, result in record.further.value.items():
        traced = record.further[name]
        if isinstance(result, Estimate):
            yield _of_estimate(name, result, traced)
        else:
            for predictor in result["predictor"].unique():
                yield _of_odds(name, predictor, traced)


def _of_estimate(name: str, result: Estimate, traced: Traced) -> Sentence:
    how: Phrase = ("taking texts as independent",)
    if result.n_clusters is not None:
        how = phrase("over {n}", n=plural(traced.n_clusters, "participant"))
    between: Phrase = ("without an interval",)
    if pd.notna(result.low):
        ends = coefficient(traced.low), coefficient(traced.high)
        between = (*interval(traced.confidence_level, *ends), " ", *how)
    return sentence(
        "For “{name}”, the {what} on {n} was {value} ({between}).",
        name=name, what=called(result), n=plural(traced.n_pairable, "text"),
        value=coefficient(traced.estimate), between=between,
    )  # fmt: skip


def _of_odds(name: str, predictor: str, traced: Traced) -> Sentence:
    rows = traced.query(f"predictor == {predictor!r}")
    whole, splits = (rows.query(f"split.{known}()", engine="python") for known in ("isna", "notna"))
    whole = whole.iloc[0]
    p = whole["p_proportional"]
    tested: Phrase = ("that it is the same at all splits could not be tested",)
    if pd.notna(p.value):
        tested = phrase(
            "that it is the same at all splits was tested over {n} (generalised score test, Hotelling's T²), "
            "p {p}",
            n=plural(whole["n_clusters"], "participant"), p=p_value(p),
        )  # fmt: skip
    return sentence(
        "For “{predictor}”, the odds ratio of a higher “{name}” was {whole} in the {model} ordinal model and "
        "between {low} and {high} at the splits of the scale; {tested}.",
        predictor=predictor, name=name, whole=number(whole["odds_ratio"]), model=named(whole["model"]),
        low=number(splits["odds_ratio"].min()), high=number(splits["odds_ratio"].max()), tested=tested,
    )  # fmt: skip

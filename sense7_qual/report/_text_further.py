"""Sentences on statistics that a reviewer asks for beyond a study's record."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from sense7_qual.adjudication import TrueCodes
from sense7_qual.agreement.coefficients import Estimate
from sense7_qual.agreement.diagnosis import AlternativeAnnotatorTest
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
        elif isinstance(result, TrueCodes):
            yield from _of_coders(name, result, traced)
        elif isinstance(result, AlternativeAnnotatorTest):
            yield from _of_test(name, result, traced)
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
        name=name,
        what=called(result),
        n=plural(traced.n_pairable, "text"),
        value=coefficient(traced.estimate),
        between=between,
    )


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
            n=plural(whole["n_clusters"], "participant"),
            p=p_value(p),
        )
    return sentence(
        "For “{predictor}”, the odds ratio of a higher “{name}” was {whole} in the {model} ordinal model and "
        "between {low} and {high} at the splits of the scale; {tested}.",
        predictor=predictor,
        name=name,
        whole=number(whole["odds_ratio"]),
        model=named(whole["model"]),
        low=number(splits["odds_ratio"].min()),
        high=number(splits["odds_ratio"].max()),
        tested=tested,
    )


def _of_coders(name: str, result: TrueCodes, traced: Traced) -> Iterator[Sentence]:
    for code in result.fits.loc[result.fits["reason"].isna(), "code"]:
        rates, fit = (frame.query(f"code == {code!r}") for frame in (traced.coders, traced.fits))
        apart = traced.residuals.query(f"code == {code!r}")["difference"].abs().max()
        yield sentence(
            "For “{name}”, {code}, the model of Dawid and Skene (1979) gave {n} a sensitivity of {low} to "
            "{high} and a specificity of {least} to {most} on {texts}; observed and expected agreement of "
            "two coders differed by at most {apart}.",
            name=name,
            code=named(fit["code"].iloc[0]),
            n=plural(fit["n_coders"].iloc[0], "coder"),
            low=coefficient(rates["sensitivity"].min()),
            high=coefficient(rates["sensitivity"].max()),
            least=coefficient(rates["specificity"].min()),
            most=coefficient(rates["specificity"].max()),
            texts=plural(fit["n_units"].iloc[0], "text"),
            apart=coefficient(apart),
        )


def _of_test(name: str, result: AlternativeAnnotatorTest, traced: Traced) -> Iterator[Sentence]:
    over = "texts" if result.humans["n_clusters"].isna().all() else "participants"
    for place, rate in enumerate(result.results["winning_rate"]):
        row = traced.results.iloc[place]
        of: Phrase = () if pd.isna(row["code"].value) else phrase(", {code}", code=named(row["code"]))
        if pd.notna(rate):
            yield sentence(
                "For “{name}”{of}, the winning rate of {model} in the alternative annotator test over {over} "
                "(ε {epsilon}; Calderon, Reichart & Dror, 2025) was {rate}, against {n}.",
                name=name,
                of=of,
                model=named(row["model"]),
                over=over,
                epsilon=number(traced.epsilon),
                rate=coefficient(row["winning_rate"]),
                n=plural(row["n_humans"], "human"),
            )

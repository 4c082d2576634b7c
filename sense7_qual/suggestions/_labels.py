"""From decisions of one or several coders to what a classifier learns: present or absent, once per unit."""

from __future__ import annotations

import pandas as pd

from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import CodebookError, TableError
from sense7_qual.tables import CODINGS, DECISIONS, people, without_models

__all__ = ["check_codes", "human_quotes", "labels", "one_per_unit"]


def check_codes(codes: pd.Series, codebook: Codebook, *, function: str) -> None:
    """Raise `CodebookError` where a code is none that the codebook lets coders apply."""
    known = [code.id for code in codebook.codable]
    unknown = sorted(set(codes.dropna()) - set(known))
    if unknown:
        raise CodebookError(
            f"{function}: expected codable codes of the codebook – found {first_three(unknown)} – "
            f"{did_you_mean(unknown[0], known)}"
        )


def labels(decisions: pd.DataFrame, codebook: Codebook, coder: str | None, *, function: str) -> pd.DataFrame:
    """Return one row per unit and code that is decided: unit_id, code, applied (bool).

    Of one coder what they decided. Without one: the consensus where there is one, elsewhere what most people
    decided; where they are tied, the unit has no row for that code.
    """
    checked = DECISIONS.check(decisions)
    own = without_models(checked, function=function) if coder is None else checked[checked["coder"] == coder]
    check_codes(own["code"], codebook, function=function)
    if coder is None:
        return one_per_unit(own)
    if len(checked) and own.empty:
        raise TableError(
            f"{function}: expected decisions of coder {coder!r} – found none – "
            f"{did_you_mean(coder, checked['coder'].unique())}"
        )
    return own[["unit_id", "code", "applied"]].reset_index(drop=True)


def one_per_unit(decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the consensus of each unit and code, elsewhere the majority; ties have no row."""
    key = ["unit_id", "code"]
    settled = decisions.loc[decisions["coder"] == "consensus", [*key, "applied"]]
    share = people(decisions).groupby(key, sort=True)["applied"].mean()
    most = share[share != 0.5].gt(0.5).rename("applied").reset_index()
    both = pd.concat([settled, most], ignore_index=True).drop_duplicates(key, keep="first")
    return both.sort_values(key, ignore_index=True)


def human_quotes(
    codings: pd.DataFrame | None, units: pd.DataFrame, labelled: pd.DataFrame, coder: str | None
) -> pd.DataFrame:
    """Return what people coded (unit_id, code, start, end), on units where the code counts as present.

    A unit without a span of the code is quoted whole.
    """
    present = labelled.loc[labelled["applied"], ["unit_id", "code"]]
    texts = units.set_index("unit_id")["text"]
    if codings is None:
        spans = CODINGS.empty()
    else:
        spans = CODINGS.check(codings)
        spans = people(spans) if coder is None else spans[spans["coder"] == coder]
    spans = spans[["unit_id", "code", "start", "end"]].dropna().drop_duplicates()
    length = spans["unit_id"].map(texts.str.len()).astype("Int64")
    outside = spans[(spans["start"] < 0) | (spans["end"] <= spans["start"]) | (spans["end"] > length)]
    if len(outside):
        raise TableError(
            f"codings: expected spans inside the units' texts – found others on "
            f"{first_three(outside['unit_id'])} – pass the units that were coded."
        )
    quotes = present.merge(spans, how="left", on=["unit_id", "code"])
    whole = quotes["start"].isna()
    quotes["whole"] = whole
    quotes["start"] = quotes["start"].fillna(0)
    quotes["end"] = quotes["end"].fillna(quotes["unit_id"].map(texts.str.len()).astype("Int64"))
    return quotes.astype({"start": "int64", "end": "int64"}).sort_values(
        ["code", "unit_id", "start", "end"], ignore_index=True
    )

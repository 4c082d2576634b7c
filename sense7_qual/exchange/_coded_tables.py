"""The coded data as tables: one row a text, one row a coding, one row a memo, and what every column is."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from sense7_qual.codings import carried
from sense7_qual.exchange._study import Study

__all__ = ["DECIDED", "coded_tables"]

DECIDED: Final = "1 applied, 0 decided and not applied, missing: not decided"
"""The values of a column that says what was decided."""

_MEANINGS: Final = {
    "unit_id": "The text's id.",
    "text": "What the participant wrote.",
    "document_id": "The conversation that it is from.",
    "case_id": "The participant.",
    "position": "Its place in the conversation.",
    "context": "The conversation before it, as a JSON list of turns.",
    "coder": "The coder's pseudonym.",
    "code": "The id of the code.",
    "start": "Where the coded words begin: Unicode characters from 0; missing where the whole text is coded.",
    "end": "Where they end: the character behind the last one.",
    "quote": "The coded words.",
    "confidence": "Whether the coder was unsure.",
    "round": "The round of coding.",
    "at": "When it was done (UTC).",
    "memo_id": "The memo's id.",
    "target_kind": "What the memo is on: a text, words of one, a code, or the study.",
    "target_id": "The id of the text or code that it is on.",
}
_CODING: Final = ["unit_id", "case_id", "coder", "code", "start", "end", "quote"]


def coded_tables(store: Study, *, reliability: bool = True) -> dict[str, pd.DataFrame]:
    """Return the tables of a study by name: texts, codings, memos, columns.

    In `texts` the column ``interest.ana`` is 1 where ana applied the code `interest` to the text, 0 where she
    finished the text without it, and missing where she did not decide on it; ``interest.consensus`` is what
    all decided alike or a ruling settled. `reliability` has a row for each text and code, and the coders'
    decisions before any suggestions of a model as columns; it may be left out. `codings` are those on
    finished texts that stand under the present codebook. `columns` has a row for each column of the others:
    table, column, meaning, values.
    """
    decided = store.decisions(consensus=True, models=True)
    codes, coders = [code.id for code in store.codebook.codable], list(dict.fromkeys(decided["coder"]))
    order = [f"{code}.{coder}" for coder in coders for code in codes]
    names = decided["code"].astype(str) + "." + decided["coder"].astype(str)
    values = decided.assign(name=names)["applied"].astype("Int64")
    by_text = values.set_axis(pd.MultiIndex.from_arrays([decided["unit_id"], names])).unstack()  # noqa: PD010
    # A variable that is called as one of the new columns is told from it.
    texts = store.units.merge(
        by_text.reindex(columns=order), how="left", left_on="unit_id", right_index=True,
        suffixes=(" (variable)", ""),
    )  # fmt: skip
    tables = {
        "texts": texts,
        "codings": _codings(store),
        **({"reliability": _reliability(store)} if reliability else {}),
        "memos": store.memos(),
    }
    return {**tables, "columns": _columns(store, tables, order)}


def _reliability(store: Study) -> pd.DataFrame:
    """Return unit_id, code, and for each coder 1, 0 or missing."""
    decided = store.decisions(before_suggestions=True)
    key = ["unit_id", "code"]
    if decided.empty:
        return pd.DataFrame(columns=key, dtype="string")
    values = decided.assign(applied=decided["applied"].astype("Int64"))
    wide = values.set_index([*key, "coder"])["applied"].unstack()  # noqa: PD010 – nothing is aggregated
    named = {coder: f"{coder} (coder)" if coder in key else coder for coder in wide.columns}
    frame = wide.rename(columns=named).rename_axis(None, axis=1).reset_index()
    places = [{one: n for n, one in enumerate(ids)} for ids in (store.codebook.ids, store.units["unit_id"])]
    order = [frame["code"].map(places[0]), frame["unit_id"].map(places[1])]
    return frame.iloc[np.lexsort(order[::-1])].reset_index(drop=True)


def _codings(store: Study) -> pd.DataFrame:
    codings, coverage = store.codings(models=True), store.coverage(models=True)
    standing, _ = carried(codings, coverage, store.codebook, revisions=store.revisions)
    of_text = store.units.set_index("unit_id")
    whole = standing["start"].isna()
    spans = zip(standing["unit_id"], standing["start"], standing["end"], whole, strict=True)
    quotes = [
        of_text["text"][unit_id] if is_whole else of_text["text"][unit_id][int(start) : int(end)]
        for unit_id, start, end, is_whole in spans
    ]
    cases = standing["unit_id"].map(of_text["case_id"])
    facets = [facet.name for facet in store.codebook.facets if facet.name in standing]
    rows = standing.assign(quote=pd.array(quotes, dtype="string"), case_id=cases.astype("string"))
    return rows[[*_CODING, *facets, "confidence", "round", "at"]].reset_index(drop=True)


def _columns(store: Study, tables: dict[str, pd.DataFrame], decided: list[str]) -> pd.DataFrame:
    """Return what each column of the tables means, and which values it has."""
    facets = {facet.name: facet for facet in store.codebook.facets}
    rows = []
    for table, frame in tables.items():
        for name in map(str, frame.columns):
            if table == "texts" and name in decided:
                code, _, coder = name.rpartition(".")
                who = "is there by what all decided alike, or a ruling" if coder == "consensus" else ""
                meaning = f"Whether “{store.codebook[code].label}” {who or f'was applied by {coder}'}."
                values = DECIDED
            elif table == "reliability" and name not in ("unit_id", "code"):
                meaning, values = f"Whether {name} applied the code to the text.", DECIDED
            elif name in facets and table == "codings":
                meaning = f"What the coding says: {facets[name].label or name}."
                values = ", ".join(facets[name].names)
            else:
                meaning = _MEANINGS.get(name, "A variable of the study, as it was imported.")
                values = _values(frame[name])
            rows.append((table, name, meaning, values))
    return pd.DataFrame(rows, columns=["table", "column", "meaning", "values"], dtype="string")


def _values(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "True, False"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return f"{column.min():g} to {column.max():g}" if column.notna().any() else "none"
    return "words"

"""What the notes under several tables have in common: resampling, reasons, cautions, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from sense7_qual import _present, _reasons
from sense7_qual._contract import Contract
from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError

__all__ = [
    "bootstrap_note",
    "caution_notes",
    "check_numbers",
    "family_note",
    "grouped",
    "made_with",
    "reason_notes",
    "row_label",
    "statements_of_models",
    "undefined_note",
]


def check_numbers(frame: pd.DataFrame, contract: Contract) -> None:
    """Raise `TableError`, which shows no value, where a column is missing, or one of numbers holds others."""
    contract.require(frame)
    for name in (name for name in contract.printed if contract.columns[name].is_number):
        known = frame[name].notna()
        wrong = int((known & pd.to_numeric(frame[name], errors="coerce").isna()).sum())
        if wrong:
            raise TableError(
                f"{contract.name}: expected numbers in the column {name!r} – found {wrong} other values – "
                "pass the result as it was computed."
            )


def row_label(row: Mapping[str, Any]) -> str:
    """Return what a row is called in a note: its label, with its source where there are several."""
    return str(row.get("row_label", row["label"]))


def bootstrap_note(
    rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str, name: str, seed: str
) -> str:
    """Return how the intervals of `name` were resampled, and in which rows they were not."""
    resampled = [row for row in rows if not pd.isna(row["n_boot"])]
    limits = _not_resampled(rows, cluster_name)
    if not resampled:
        return f"{interval}:{limits}" if limits else f"{interval}: none, because nothing was resampled."
    clusters = _present.count_range(row["n_clusters"] for row in resampled)
    resamples = _present.count_range(row["n_boot"] for row in resampled)
    alone = ", one text each" if all(row["n_clusters"] == row.get("n_units") for row in resampled) else ""
    return (
        f"{interval}: bootstrap over whole {cluster_name} (number: {clusters}{alone}; B = {resamples} "
        f"resamples; {seed}). {undefined_note(rows, name)}{limits}"
    )


def undefined_note(rows: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return in how many resamples of which rows `name` was not defined."""
    undefined = [
        f"{row_label(row)} {_present.count(row['n_undefined'])}"
        for row in rows
        if not pd.isna(row["n_undefined"]) and row["n_undefined"] > 0
    ]
    return f"Resamples in which {name} was not defined: {', '.join(undefined) or 'none'}."


def _not_resampled(rows: Sequence[Mapping[str, Any]], cluster_name: str) -> str:
    """Name the rows whose interval is not from resamples (see `agreement.coefficients.estimate`)."""
    labels = [row_label(row) for row in rows if pd.isna(row["n_boot"]) and not pd.isna(row.get("alpha_low"))]
    if not labels:
        return ""
    return (
        f" Not resampled: {', '.join(labels)} (from leaving out each of the {cluster_name}, Student's t; a "
        "binomial limit where coders never disagreed)."
    )


def reason_notes(
    rows: Sequence[Mapping[str, Any]], numbers: Iterable[str], *, column: str = "reason", of: str = ""
) -> list[str]:
    """Spell out, grouped by reason, why a value is missing, or with what caution a present one is read.

    `of` names the value, as in "for the odds ratio", where a table has reasons of several kinds.
    """
    groups: dict[str, list[str]] = {}
    names, whose = list(numbers), f" {of}" if of else ""
    for row in rows:
        missing = any(pd.isna(row[name]) for name in names)
        if missing or not pd.isna(row[column]):
            lead = f"{MISSING}{whose} = not computable" if missing else "To be read with caution"
            groups.setdefault(f"{lead}: {_reasons.reason_words(row[column])}", []).append(row_label(row))
    return grouped(groups)


def caution_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Spell out, grouped by caution, what to know of rows that have numbers."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        for words in _reasons.caution_words(row["caution"]):
            groups.setdefault(f"To be read with caution: {words}", []).append(row_label(row))
    return grouped(groups)


def grouped(groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a note per group, with the rows it is about, each named once."""
    return [f"{words} ({', '.join(dict.fromkeys(names))})." for words, names in groups.items()]


def family_note(rows: Sequence[Mapping[str, Any]], p: str = "p_adjusted") -> str:
    """Name the families over which p was adjusted, with the number of tests in each."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[str(row["family"])] = sizes.get(str(row["family"]), 0) + (not pd.isna(row[p]))
    families = ", ".join(f"{family} ({n})" for family, n in sizes.items())
    return f"Adjusted p: Benjamini–Hochberg within each family (number of tests): {families or 'none'}."


def made_with(codebook: Codebook | None, rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """Name the codebook by its fingerprint, its codes that have no row, and the software."""
    software = f"Made with sense7_qual {version('sense7_qual')}."
    if codebook is None:
        return software
    number = f", version {codebook.version}" if codebook.version else ""
    used = None if rows is None else {str(row["code"]) for row in rows}
    absent = [] if used is None else [code.label for code in codebook.codable if code.id not in used]
    without = f" Codes without a result: {', '.join(absent)}." if absent else ""
    name = codebook.title or codebook.name
    return f"Codebook: {name}{number}, fingerprint {codebook.fingerprint}.{without} {software}"


def statements_of_models(named: Sequence[str], models: Mapping[str, str]) -> list[str]:
    """Return what is stated of each model, and of which nothing is."""
    known = [f"{name}: {models[name].rstrip('.')}." for name in named if models.get(name)]
    silent = [name for name in named if not models.get(name)]
    missing = "Not stated here: version, prompt and settings of"
    return [*known, *([f"{missing} {', '.join(silent)}."] if silent else [])]

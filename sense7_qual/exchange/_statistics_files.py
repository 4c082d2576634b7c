"""Tables as files of SPSS (.sav) and Stata (.dta): their names, labels, lengths and missing values."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual.errors import ArgumentError

__all__ = ["dta", "sav", "variable_names"]

_RESERVED: Final = {
    "sav": frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")),
    "dta": frozenset(
        (
            "aggregate", "array", "boolean", "break", "byte", "case", "catch", "class", "colvector",
            "complex", "const", "continue", "default", "delegate", "delete", "do", "double", "else",
            "eltypedef", "end", "enum", "explicit", "export", "external", "float", "for", "friend",
            "function", "global", "goto", "if", "in", "inline", "int", "local", "long", "null", "pragma",
            "protected", "quad", "rowvector", "short", "strl", "typedef", "typename", "using", "virtual",
            "with",
        )
    ),
}  # fmt: skip
_LONGEST_NAME: Final = {"sav": 64, "dta": 32}  # bytes, characters: names are made of ASCII
_LONGEST_LABEL: Final = {"sav": 255, "dta": 80}
_LONGEST_TEXT: Final = 32_767  # bytes of a string in SPSS
_SHORT: Final = 2_045  # bytes of a string in Stata that is no strL
_DECIDED: Final[dict[float, str]] = {0: "decided, not applied", 1: "applied"}

Losses = dict[str, list[str]]


def sav(
    frame: pd.DataFrame, meanings: Mapping[str, str], decided: Sequence[str], path: str | Path, lost: Losses
) -> bytes:
    """Return a table as an SPSS file, made in the folder of `path`; `lost` gets what it cannot hold."""
    try:
        import pyreadstat
    except ImportError:
        raise ArgumentError(
            "export: expected the package pyreadstat to write .sav – found none – pip install "
            "'sense7_qual[spss]', or write .dta, .csv or .xlsx."
        ) from None
    names = variable_names(list(frame.columns), "sav")
    plain = _plain(frame, lost, longest=_LONGEST_TEXT).set_axis(list(names.values()), axis=1)
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as folder:
        made = Path(folder) / "coded.sav"
        pyreadstat.write_sav(
            plain,
            made,
            column_labels=_labels(names, meanings, "sav", lost),
            variable_value_labels={names[name]: _DECIDED for name in decided},
            variable_measure={
                new: "nominal" if old in decided or plain[new].dtype == object else "scale"
                for old, new in names.items()
            },
            row_compress=True,
        )
        return made.read_bytes()


def dta(frame: pd.DataFrame, meanings: Mapping[str, str], decided: Sequence[str], lost: Losses) -> bytes:
    """Return a table as a file of Stata 14 or later; what it cannot hold is added to `lost`."""
    names = variable_names(list(frame.columns), "dta")
    plain = _plain(frame, lost, longest=None).set_axis(list(names.values()), axis=1)
    texts = [name for name in plain if plain[name].dtype == object]
    long = [name for name in texts if max(map(_n_bytes, plain[name]), default=0) > _SHORT]
    file = io.BytesIO()
    plain.to_stata(
        file, write_index=False, version=118, convert_strl=long,
        variable_labels=dict(zip(names.values(), _labels(names, meanings, "dta", lost), strict=True)),
        value_labels={names[name]: _DECIDED for name in decided},
        time_stamp=datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None),  # the same study, the same bytes
    )  # fmt: skip
    return file.getvalue()


def variable_names(columns: Sequence[Any], program: str) -> dict[str, str]:
    """Return the name of each column in SPSS ("sav") or Stata ("dta"), no two alike but for capitals.

    Examples
    --------
    >>> variable_names(["warm.ana", "Warm_ana", "1st", "if"], "dta")
    {'warm.ana': 'warm_ana', 'Warm_ana': 'Warm_ana_2', '1st': 'v_1st', 'if': 'v_if'}
    """
    kept = r"[^A-Za-z0-9_.]" if program == "sav" else r"[^A-Za-z0-9_]"
    longest, reserved = _LONGEST_NAME[program], _RESERVED[program]
    names, taken = dict[str, str](), set(reserved)
    for column in map(str, columns):
        name = re.sub(kept, "_", column)[:longest].rstrip(".") or "v"
        if not name[0].isalpha() or name.lower() in reserved or re.fullmatch(r"str\d+", name.lower()):
            name = f"v_{name}"[:longest].rstrip(".")
        made, number = name, 1
        while made.lower() in taken:
            number += 1
            made = f"{name[: longest - len(str(number)) - 1]}_{number}"
        taken.add(made.lower())
        names[column] = made
    return names


def _labels(names: Mapping[str, str], meanings: Mapping[str, str], program: str, lost: Losses) -> list[str]:
    """Return what each variable is: its own name where that was changed, and what it means."""
    labels = []
    for column, name in names.items():
        whole = f"{column}: {meanings[column]}" if column != name else meanings[column]
        label = _cut(" ".join(whole.replace("\0", " ").split()), _LONGEST_LABEL[program], program)
        lost.setdefault("labels of variables cut", []).extend([column] * (not whole.startswith(label)))
        labels.append(label)
    return labels


def _cut(text: str, longest: int, program: str) -> str:
    """Return a text of at most so many characters, in SPSS bytes."""
    if program == "dta":
        return text if len(text) <= longest else f"{text[: longest - 1]}…"
    packed = text.encode("utf-8")
    return text if len(packed) <= longest else f"{packed[: longest - 3].decode('utf-8', 'ignore')}…"


def _plain(frame: pd.DataFrame, lost: Losses, *, longest: int | None) -> pd.DataFrame:
    """Return a table of numbers, with NaN where they are missing, and of texts, empty where they are."""
    ids = frame.iloc[:, 0].astype(str).tolist()
    return pd.DataFrame({str(name): _column(frame[name], ids, lost, longest) for name in frame.columns})


def _column(column: pd.Series, ids: Sequence[str], lost: Losses, longest: int | None) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.astype("Float64").astype("float64").reset_index(drop=True)
    texts = []
    for unit_id, value in zip(ids, column, strict=True):
        text = "" if pd.isna(value) else value.isoformat() if isinstance(value, pd.Timestamp) else str(value)
        if "\0" in text:
            lost.setdefault("control characters: replaced by U+FFFD", []).append(unit_id)
            text = text.replace("\0", "\ufffd")
        if longest is not None:
            text = _as_spss(text, unit_id, lost, longest)
        texts.append(text)
    return pd.Series(texts, dtype=object)


def _as_spss(text: str, unit_id: str, lost: Losses, longest: int) -> str:
    if text.endswith(" "):
        lost.setdefault("spaces at the end of a text, which SPSS does not keep", []).append(unit_id)
    if _n_bytes(text) > longest:
        lost.setdefault(f"texts cut to {longest:,} bytes", []).append(unit_id)
        return _cut(text, longest, "sav")
    return text


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8"))

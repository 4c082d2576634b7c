"""Write the coded data for a spreadsheet or a statistics program."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import undated, write_by_suffix
from sense7_qual.codings import carried
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.exchange._project import LossReport, Study, losses_of, require_study, with_suggestions

_FORMULA: Final = re.compile(r"[=+\-@\t\r]")
NO_CELL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # XML 1.0 has none of these
_CELL: Final = 32_767  # characters that a cell of Excel holds


def export(
    store: Study,
    path: str | Path,
    *,
    table: Literal["texts", "codings", "reliability", "memos"] = "texts",
    with_agreement: bool = True,
    labels: Mapping[str, str] | None = None,
    overwrite: bool = False,
) -> LossReport:
    """Write the coded data: one row per text, with a column of 0 and 1 for each code of each coder.

    Where a coder did not decide on a text, the cell is missing, never 0. A workbook has all tables, a sheet
    each, and one that explains the columns. What looks like a formula is text in a workbook, and has an
    apostrophe before it in CSV. In SPSS and Stata variables and the values 0 and 1 have labels; a
    name that the program does not allow is changed, and the label gives the original.

    Parameters
    ----------
    store : Store
        The study, as whoever has it open may see it. The file holds the participants' words.
    path : str or Path
        Ending in .xlsx (all tables), or in .csv, .parquet, .sav (SPSS; needs the extra `spss`) or
        .dta (Stata 14 and later), which hold one table.
    table : {"texts", "codings", "reliability", "memos"}
        "texts" as above; "codings", one row per coding with its words; "reliability", one row per text and
        code with a column for each coder, as decided before a model's suggestions were shown: the input of
        reliability functions (R: irr, irrCAC; SPSS: the macro KALPHA), one code at a time; "memos".
    with_agreement : bool
        Whether a workbook has the sheet "reliability".
    labels : mapping of column to str, optional
        What variables of the study mean, such as the wordings of a survey, ``corpus.recognise(file).labels``:
        their labels in SPSS and Stata, and on the sheet "columns". Columns that the study lacks are passed
        over.
    overwrite : bool
        Whether to replace an existing file.

    Returns
    -------
    LossReport
        What the file could not hold: control characters, what is longer than a cell of Excel or a text of
        SPSS, longer labels, spaces at the end of a text in SPSS.

    Raises
    ------
    ArgumentError
        `path` ends in another way, `store` is no study, there is no such table, another table is asked of a
        workbook, or pyreadstat, which writes .sav, is not installed.
    TableError
        The study has no row of this table, such as no memo: nothing was written.
    StoreError
        There is such a file, and `overwrite` is false.

    Examples
    --------
    ``exchange.export(store, "coded.xlsx")``
    """
    check_arguments(export, locals(), but=("store", "path"))
    require_study(store, "export")
    if table != "texts" and str(path).lower().endswith(".xlsx"):
        raise ArgumentError(
            f"export: a workbook holds all tables, so table={table!r} has no effect. Leave it out, or name a "
            "file in .csv, .parquet, .sav or .dta."
        )
    lost: dict[str, list[str]] = {"control characters: replaced by U+FFFD": [], "texts cut to a cell": []}

    def bytes_of(write: Callable[[dict[str, pd.DataFrame]], bytes]) -> Callable[[], bytes]:
        return lambda: write(_tables(store, table, with_agreement=with_agreement, labels=labels or {}))

    def labelled(write: Callable[..., bytes], *more: Any) -> Callable[[], bytes]:
        def written(tables: dict[str, pd.DataFrame]) -> bytes:
            columns = tables["columns"][tables["columns"]["table"] == table].set_index("column")
            decided = columns.index[columns["values"] == DECIDED].tolist()
            return write(tables[table], columns["meaning"].to_dict(), decided, *more, lost)

        return bytes_of(written)

    formats = {
        ".xlsx": bytes_of(lambda tables: _workbook(tables, lost)),
        ".csv": bytes_of(lambda tables: _csv(tables[table])),
        ".parquet": bytes_of(lambda tables: tables[table].to_parquet(index=False)),
        ".sav": labelled(sav, path),
        ".dta": labelled(dta),
    }
    write_by_suffix(path, formats, what="coded data", overwrite=overwrite)
    return losses_of(lost.items())


def _tables(
    store: Study, table: str, *, with_agreement: bool, labels: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    tables = coded_tables(store, reliability=with_agreement or table == "reliability", labels=labels)
    if tables[table].empty:
        raise TableError(f"export: the study has no {table} yet. Nothing was written.")
    return tables


def _csv(frame: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8, with the mark by which Excel knows that."""
    words = frame.select_dtypes(include=["string", "object"]).columns
    safe = frame.assign(**{name: frame[name].map(_no_formula, na_action="ignore") for name in words})
    heads = [_no_formula(str(name)) for name in frame.columns]
    return b"\xef\xbb\xbf" + safe.to_csv(index=False, header=heads, lineterminator="\n").encode()


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _workbook(tables: dict[str, pd.DataFrame], lost: dict[str, list[str]]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    for table, frame in tables.items():
        sheet = book.create_sheet(table)
        sheet.freeze_panes = "B2"

        def cell(value: Any, where: str, sheet: Any = sheet) -> Any:
            plain = _plain(value, where, lost)
            made = WriteOnlyCell(sheet, value=plain)
            if isinstance(plain, str):
                made.data_type = "s"  # what begins with "=" is text, too
            return made

        sheet.append([cell(str(name), table) for name in frame.columns])
        for row in frame.itertuples(index=False, name=None):
            sheet.append([cell(value, str(row[0])) for value in row])
    file = io.BytesIO()
    book.save(file)
    return undated(file.getvalue())


def _plain(value: Any, where: str, lost: dict[str, list[str]]) -> Any:
    """Return a value as a cell holds it."""
    if pd.isna(value):
        return None
    if not isinstance(value, str):
        return (
            value.isoformat() if isinstance(value, pd.Timestamp) else getattr(value, "item", lambda: value)()
        )
    text, n = NO_CELL.subn("\ufffd", value)
    lost["control characters: replaced by U+FFFD"] += [where] * n
    if len(text) > _CELL:
        lost["texts cut to a cell"].append(where)
        text = f"{text[: _CELL - 1]}…"
    return text


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
    "found_by": "search: coded as one of the results of a search.",
    "suggestions": "Whether the coder had seen a model's suggestions on the text when the coding was made: "
    "without (none were shown), before or after the first of them; model: a model made the coding.",
    "round": "The round of coding.",
    "at": "When it was done (UTC).",
    "memo_id": "The memo's id.",
    "answers": "The id of the memo that it answers.",
    "target_kind": "What the memo is on: a text, words of one, a code, or the study.",
    "target_id": "The id of the text or code that it is on.",
}
_CODING: Final = ["unit_id", "case_id", "coder", "code", "start", "end", "quote"]


def coded_tables(
    store: Study, *, reliability: bool = True, labels: Mapping[str, str] = MappingProxyType({})
) -> dict[str, pd.DataFrame]:
    """Return the tables of a study by name: texts, codings, memos, columns.

    In `texts` the column ``interest.ana`` is 1 where ana applied the code `interest` to the text, 0 where she
    finished the text without it, and missing where she did not decide on it, all by her last decisions;
    ``interest.consensus`` is what all decided alike, the one coder of a text decided, or a ruling settled.
    `reliability` has a row for each text and code, and as columns what each coder decided first, before they
    could see another's decisions or a model's suggestions; it may be left out. `codings` are those on
    finished texts under the present codebook. `columns` has a row for each column of the others:
    table, column, meaning, values. `labels` gives the meaning of variables.
    """
    coders_own = store.decisions(settled_by="nothing", models=True)
    decided = pd.concat([coders_own, store.decisions(settled_by="rulings")], ignore_index=True)
    codes, coders = [code.id for code in store.codebook.codable], list(dict.fromkeys(decided["coder"]))
    order = [f"{code}.{coder}" for coder in coders for code in codes]
    names = decided["code"].astype(str) + "." + decided["coder"].astype(str)
    values = decided.assign(name=names)["applied"].astype("Int64")
    by_text = values.set_axis(pd.MultiIndex.from_arrays([decided["unit_id"], names])).unstack()  # noqa: PD010
    # A variable that is called as one of the new columns is told from it.
    texts = store.units.merge(
        by_text.reindex(columns=order),
        how="left",
        left_on="unit_id",
        right_index=True,
        suffixes=(" (variable)", ""),
    )
    tables = {
        "texts": texts,
        "codings": _codings(store),
        **({"reliability": _reliability(store)} if reliability else {}),
        "memos": store.memos(),
    }
    return {**tables, "columns": _columns(store, tables, order, labels)}


def _reliability(store: Study) -> pd.DataFrame:
    """Return unit_id, code, and for each coder 1, 0 or missing."""
    decided = store.decisions()
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
    rows = with_suggestions(store, standing).assign(
        quote=pd.array(quotes, dtype="string"), case_id=cases.astype("string")
    )
    more = ["confidence", "found_by", "suggestions", "round", "at"]
    return rows[[*_CODING, *facets, *more]].reset_index(drop=True)


def _columns(
    store: Study, tables: dict[str, pd.DataFrame], decided: list[str], labels: Mapping[str, str]
) -> pd.DataFrame:
    """Return the meaning and the values of each column of the tables."""
    facets = {facet.name: facet for facet in store.codebook.facets}
    rows = []
    for table, frame in tables.items():
        for name in map(str, frame.columns):
            if table == "texts" and name in decided:
                code, _, coder = name.rpartition(".")
                who = (
                    "is there by what all or its one coder decided, or a ruling"
                    if coder == "consensus"
                    else ""
                )
                meaning = f"Whether “{store.codebook[code].label}” {who or f'was applied by {coder}'}."
                values = DECIDED
            elif table == "reliability" and name not in ("unit_id", "code"):
                meaning, values = f"Whether {name} applied the code to the text.", DECIDED
            elif name in facets and table == "codings":
                meaning = f"What the coding says: {facets[name].label or name}."
                values = ", ".join(facets[name].names)
            else:
                own = labels.get(name, "A variable of the study, as it was imported.")
                meaning = _MEANINGS.get(name, own)
                values = _values(frame[name])
            rows.append((table, name, meaning, values))
    return pd.DataFrame(rows, columns=["table", "column", "meaning", "values"], dtype="string")


def _values(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "True, False"
    if pd.api.types.is_numeric_dtype(column.dtype):
        return f"{column.min():g} to {column.max():g}" if column.notna().any() else "none"
    return "words"


_RESERVED: Final = {
    "sav": frozenset(("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")),
    "dta": frozenset(
        (
            "aggregate",
            "array",
            "boolean",
            "break",
            "byte",
            "case",
            "catch",
            "class",
            "colvector",
            "complex",
            "const",
            "continue",
            "default",
            "delegate",
            "delete",
            "do",
            "double",
            "else",
            "eltypedef",
            "end",
            "enum",
            "explicit",
            "export",
            "external",
            "float",
            "for",
            "friend",
            "function",
            "global",
            "goto",
            "if",
            "in",
            "inline",
            "int",
            "local",
            "long",
            "null",
            "pragma",
            "protected",
            "quad",
            "rowvector",
            "short",
            "strl",
            "typedef",
            "typename",
            "using",
            "virtual",
            "with",
        )
    ),
}
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
            "export: writing .sav needs the package pyreadstat. Install it with pip install "
            "'sense7_qual[spss]', or write .dta, .csv or .xlsx."
        ) from None
    names = variable_names(list(frame.columns), "sav")
    plain = _as_numbers_and_texts(frame, lost, longest=_LONGEST_TEXT).set_axis(list(names.values()), axis=1)
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
    plain = _as_numbers_and_texts(frame, lost, longest=None).set_axis(list(names.values()), axis=1)
    texts = [name for name in plain if plain[name].dtype == object]
    long = [name for name in texts if max(map(_n_bytes, plain[name]), default=0) > _SHORT]
    file = io.BytesIO()
    plain.to_stata(
        file,
        write_index=False,
        version=118,
        convert_strl=long,
        variable_labels=dict(zip(names.values(), _labels(names, meanings, "dta", lost), strict=True)),
        value_labels={names[name]: _DECIDED for name in decided},
        time_stamp=datetime(2000, 1, 1, tzinfo=UTC).replace(tzinfo=None),  # the same study, the same bytes
    )
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
    """Return the label of each variable: its meaning, and its original name where that was changed."""
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


def _as_numbers_and_texts(frame: pd.DataFrame, lost: Losses, *, longest: int | None) -> pd.DataFrame:
    """Return a table of numbers, with NaN where they are missing, and of texts, empty where they are."""
    ids = frame.iloc[:, 0].astype(str).tolist()
    return pd.DataFrame({str(name): _plain_column(frame[name], ids, lost, longest) for name in frame.columns})


def _plain_column(column: pd.Series, ids: Sequence[str], lost: Losses, longest: int | None) -> pd.Series:
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

"""Write the coded data for a spreadsheet or a statistics program."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import undated, write_by_suffix
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.exchange._coded_tables import DECIDED, coded_tables
from sense7_qual.exchange._losses import LossReport, losses_of
from sense7_qual.exchange._statistics_files import dta, sav
from sense7_qual.exchange._study import Study, require_study

__all__ = ["export"]

_FORMULA: Final = re.compile(r"[=+\-@\t\r]")
_NO_CELL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # XML 1.0 has none of these
_CELL: Final = 32_767  # characters that a cell of Excel holds


def export(
    store: Study,
    path: str | Path,
    *,
    table: Literal["texts", "codings", "reliability", "memos"] = "texts",
    with_agreement: bool = True,
    overwrite: bool = False,
) -> LossReport:
    """Write the coded data: one row a text, with a column of 0 and 1 for each code of each coder.

    A text on which a coder did not decide is missing there, never 0. A workbook has all tables, a sheet each,
    and one that explains each column. What a spreadsheet would take for a formula is text in a workbook, and
    has an apostrophe before it in CSV. In SPSS and Stata each variable has a label that says what it is, and
    0 and 1 have theirs; a name that the program does not allow is changed, and stands in the label.

    Parameters
    ----------
    store : Store
        The study, with all that it shows to who has it open. The file holds the participants' words.
    path : str or Path
        Where to, ending in .xlsx (all tables), or in .csv, .parquet, .sav (SPSS; needs the extra `spss`) or
        .dta (Stata 14 and later), which hold one table.
    table : {"texts", "codings", "reliability", "memos"}
        Which: "texts" as above; "codings", one row a coding with its words; "reliability", one row a text and
        code with a column for each coder, as they had decided before suggestions of a model were shown: what
        functions of reliability take (R: irr, irrCAC; SPSS: the macro KALPHA), a code at a time; "memos".
    with_agreement : bool
        Whether a workbook has the sheet "reliability".
    overwrite : bool
        Whether to replace a file that is there.

    Returns
    -------
    LossReport
        What the file could not hold: control characters, what is longer than a cell of Excel or a text of
        SPSS, longer labels, spaces at the end of a text in SPSS.

    Raises
    ------
    ArgumentError
        `path` ends otherwise, `store` is no open study, there is no such table, another table is asked of a
        workbook, or what writes .sav is not installed.
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
            f"export: expected a file of one table for table={table!r} – found a workbook, which holds all – "
            "leave table out, or name a file in .csv, .parquet, .sav or .dta."
        )
    lost: dict[str, list[str]] = {"control characters: replaced by U+FFFD": [], "texts cut to a cell": []}

    def bytes_of(write: Callable[[dict[str, pd.DataFrame]], bytes]) -> Callable[[], bytes]:
        return lambda: write(_tables(store, table, with_agreement=with_agreement))

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


def _tables(store: Study, table: str, *, with_agreement: bool) -> dict[str, pd.DataFrame]:
    tables = coded_tables(store, reliability=with_agreement or table == "reliability")
    if tables[table].empty:
        raise TableError(
            f"export: expected rows of {table} – found none in the study – export it once there are some."
        )
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
    text, n = _NO_CELL.subn("\ufffd", value)
    lost["control characters: replaced by U+FFFD"] += [where] * n
    if len(text) > _CELL:
        lost["texts cut to a cell"].append(where)
        text = f"{text[: _CELL - 1]}…"
    return text

"""Read a file or a frame into units, by the roles of its columns."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import pandas as pd

from sense7_qual._arguments import canonical, check_arguments
from sense7_qual._formats import HeaderRows, cells_of, frame_of, read_cells, without_header_rows
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, places, shown
from sense7_qual._rating_values import ratings_of
from sense7_qual.corpus._columns import (
    ids_of,
    label_columns,
    labels_of,
    missing,
    positions_of,
    require,
    turns_of,
    unit_ids,
)
from sense7_qual.errors import TableError
from sense7_qual.frames import UNITS

__all__ = ["read", "table_of"]

_Columns = str | Sequence[str] | Mapping[str, str]

_CONTRACT: Final = (*UNITS.columns, "context")


@UNITS.returns
def read(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    text: str,
    unit_id: str | Sequence[str] | None = None,
    document_id: str | None = None,
    case_id: str | None = None,
    position: str | None = None,
    context: str | None = None,
    ratings: _Columns = (),
    variables: _Columns | None = None,
    rating_labels: Mapping[str, float | None] | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    header: int | Sequence[int] | None = None,
    limits: Limits | None = None,
    empty: Literal["error", "skip"] = "error",
) -> pd.DataFrame:
    """Read the texts to be coded, with their ratings and variables, one unit per row.

    Header rows of survey programs are left out wherever they occur: the questions and import ids of Qualtrics
    (in its older exports the row that names V1 to V10), the options of SurveyMonkey, which become part of the
    column names, and repeated names in concatenated files. So are the labels of earlier coders. A warning
    names these rows and columns.

    Parameters
    ----------
    source
        A .csv, .tsv, .xlsx, .jsonl (.ndjson) or .parquet file, or a DataFrame.
    text
        The column of texts. They are stored in canonical form (see `canonical`).
    unit_id
        The column that identifies a row, or several, joined by "/". Without it the rows are named row-1,
        row-2 … in their order, padded with zeros; name a column if rows may still be added.
    document_id, case_id
        The columns of the conversation and of the participant; missing without them.
    position
        The column of whole numbers that order the units of a document; without it 1, 2 … in the order of
        the rows (counting empty texts), and missing without a document_id.
    context
        The column of the text's context: plain text, or a JSON list of turns that each have `role` and
        `text` (or `content`).
    ratings
        Columns of numbers, or {column: its name in the units}.
    variables
        Further columns to keep, or {column: its name in the units}; () keeps none. None keeps every column
        without a role except earlier coders' labels, which blind coders must not see (lists of words or of
        labelled spans, as annotation tools write them, and the annotators).
    rating_labels
        The number of each label, such as {"very poor": 1, "unknown": None}, ignoring case and spaces
        around; None for a missing rating.
    encoding, sheet
        The encoding of a text file that is not UTF-8; the sheet of a workbook with several sheets.
    header
        1 if only row 1 is the header, (1, 2) if row 2 holds the questions and is left out (row 1 of a
        DataFrame is its column names). Needed only if the rows leave it open.
    limits
        The most that a file may hold (default: `Limits()`).
    empty
        Whether a missing or blank text is an error, or its row is skipped.

    Returns
    -------
    pandas.DataFrame
        Columns unit_id, text, document_id, case_id (`string`), position (`Int64`), context (`string`: a
        JSON list of {"role", "text"}, oldest first, or missing), then the ratings (`float64`, NaN if
        blank) and the variables (`string`, exactly as written; a blank cell of a CSV, TSV or XLSX file is
        missing). "None", "NA", "007", "1e5" and " x " are kept as they are. Rows that a workbook hides
        or filters out are read like the others.

    Raises
    ------
    TableError
        A column is missing, an id is missing, duplicated or was rounded by a spreadsheet (1.23457E+18), two
        ids differ only in surrounding spaces, a rating is not a number, a position is not a whole number, a
        text is empty, or a rating or variable has the name of a column of the contract.
    ImportRefused
        The file could only be read by guessing (see `sense7_qual._formats.read_strings`): row 2 has
        words above numbers or dates in several columns, so it may hold the questions or a response; or parts
        of the file have different columns, or different questions in the column of the texts.

    Warns
    -----
    UserWarning
        Header rows or columns of labels were left out: their number and place, never their content.

    Examples
    --------
    >>> said = pd.DataFrame({"id": ["a", "b"], "Comment": ["None", "It heard me.\\r\\n"], "stars": ["4", ""]})
    >>> units = read(said, text="Comment", unit_id="id", ratings=["stars"])
    >>> units["text"].tolist(), units["stars"].tolist()
    (['None', 'It heard me.\\n'], [4.0, nan])
    """
    check_arguments(read, locals())
    table, header_rows = table_of(source, encoding=encoding, sheet=sheet, header=header, limits=limits)
    header_rows.refuse_reworded(text)
    ids = [unit_id] if isinstance(unit_id, str) else [] if unit_id is None else list(unit_id)
    roles = [*ids, *(name for name in (document_id, case_id, position, context) if name is not None)]
    rated = _renamed(ratings)
    others = [name for name in table.columns if name not in {text, *roles, *rated}]
    labels_left = label_columns(table[others]) if variables is None else []
    variable_names = _renamed([n for n in others if n not in labels_left] if variables is None else variables)
    for name in (text, *roles, *rated, *variable_names):
        require(table, name)
    _refuse_names(text, roles, rated, variable_names)
    labels, documents = labels_of(rating_labels), ids_of(table, document_id)
    before = table[context].map(turns_of, na_action="ignore") if context else missing(table)
    units = pd.DataFrame(
        {
            "unit_id": unit_ids(table, ids),
            "text": table[text].map(canonical, na_action="ignore"),
            "document_id": documents,
            "case_id": ids_of(table, case_id),
            "position": positions_of(table, position, documents),
            "context": before,
        }
        | {name: ratings_of(table[column], labels) for column, name in rated.items()}
        | {name: table[column] for column, name in variable_names.items()}
    )
    typed = units.astype({"text": "string", "context": "string"})
    checked = UNITS.check(_with_text(typed, text, empty), as_written=True)
    _warn_of_left_out(header_rows, labels_left)
    return checked


def table_of(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    encoding: str | None,
    sheet: str | None,
    header: int | Sequence[int] | None,
    limits: Limits | None,
) -> tuple[pd.DataFrame, HeaderRows]:
    """Read a file or a frame as a frame of strings without header rows; return it and those rows.

    The index gives the place of each row in the file.
    """
    if not isinstance(source, pd.DataFrame):
        limits = limits or Limits()
        cells, rows = without_header_rows(
            read_cells(source, encoding=encoding, sheet=sheet, limits=limits), header
        )
        return frame_of(cells, limits), rows
    if not (encoding is None and sheet is None and limits is None):
        raise TableError("expected no encoding, sheet or limits for a DataFrame – found one – leave it out.")
    cells, rows = without_header_rows(cells_of(source), header)
    return frame_of(cells), rows


def _warn_of_left_out(header_rows: HeaderRows, labels: Sequence[str]) -> None:
    left_out = [str(header_rows)] if len(header_rows.left_out) else []
    if labels:
        n_columns = f"{len(labels)} column{'' if len(labels) == 1 else 's'}"
        named = first_three(map(shown, labels))
        left_out.append(
            f"{n_columns} of earlier labels, {named} (variables=[…] would keep them, visible to coders)"
        )
    if left_out:
        warnings.warn(f"left out {'; '.join(left_out)}.", UserWarning, stacklevel=3)


def _renamed(columns: _Columns) -> dict[str, str]:
    if isinstance(columns, Mapping):
        return dict(columns)
    return {name: name for name in ([columns] if isinstance(columns, str) else columns)}


def _refuse_names(
    text: str, roles: Sequence[str], rated: Mapping[str, str], variables: Mapping[str, str]
) -> None:
    if text in {*roles, *rated}:
        raise TableError(
            f"the column of texts {text!r} has another role, too – name another column for one of them."
        )
    names = [*rated.values(), *variables.values()]
    clash = [name for name in names if name in _CONTRACT]
    if clash:
        raise TableError(
            f"expected no rating or variable named {' or '.join(_CONTRACT)} – found {first_three(clash)} – "
            f'give the column its role ({clash[0]}=…), rename it (variables={{"{clash[0]}": "…"}}), or list '
            "the variables."
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise TableError(
            f"expected each rating and variable once – found {first_three(twice)} more than once – name it "
            "once."
        )


def _with_text(units: pd.DataFrame, column: str, empty: str) -> pd.DataFrame:
    if empty not in {"error", "skip"}:
        raise TableError(f"expected empty='error' or empty='skip' – found {empty!r} – choose one.")
    blank = units["text"].fillna("").map(str.strip) == ""
    if blank.any() and empty == "error":
        raise TableError(
            f"expected a text in every row of column {column!r} – found none in {places(units.index[blank])} "
            "– fill them in, or leave these rows out with empty='skip'."
        )
    if blank.all():
        raise TableError(f"expected at least one text in column {column!r} – found none – check the file.")
    return units[~blank]

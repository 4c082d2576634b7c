"""Read a file or a frame into units, by the roles of its columns."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from sense7_qual._arguments import canonical, check_arguments
from sense7_qual._formats import Recognised, recognise
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, places, shown
from sense7_qual._missing_words import no_answers
from sense7_qual._rating_values import codes_for_missing, counted, ratings_of
from sense7_qual.corpus._columns import (
    QUESTION,
    Columns,
    RatingColumns,
    by_question,
    ids_of,
    labels_of,
    missing,
    named,
    positions_of,
    put_together,
    renamed,
    require,
    turns_of,
    unit_ids,
)
from sense7_qual.errors import ImportRefused, TableError
from sense7_qual.frames import UNITS

_CONTRACT: Final = (*UNITS.columns, "context")


@UNITS.returns
def read(
    source: str | os.PathLike[str] | pd.DataFrame | Recognised,
    *,
    text: Columns,
    unit_id: str | Sequence[str] | None = None,
    document_id: str | None = None,
    case_id: str | None = None,
    position: str | None = None,
    context: str | None = None,
    ratings: RatingColumns = (),
    variables: Columns | None = None,
    rating_labels: Mapping[str, float | None] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    header: int | Sequence[int] | None = None,
    kind: str | None = None,
    limits: Limits | None = None,
    empty: Literal["error", "skip", "keep"] = "error",
    preview: Literal["error", "skip", "keep"] = "error",
) -> pd.DataFrame:
    """Read the texts to be coded, with their ratings and variables, one unit per row and column of texts.

    Header rows of survey programs are left out wherever they occur: the questions and import ids of Qualtrics
    (in its older exports the row that names V1 to V10), the options of SurveyMonkey, which become part of the
    column names, and repeated names in concatenated files. So are the labels of earlier coders and personal
    data. A warning names these rows and columns.

    Parameters
    ----------
    source
        A .csv, .tsv, .xlsx, .json, .jsonl (.ndjson) or .parquet file, a DataFrame, or what `recognise` has
        found, without the options with which it looked.
    text
        The column of texts. They are stored in canonical form (see `canonical`). A list of columns, or
        {column: its name in the units}, holds the answers to several questions: a unit is then the answer of
        one row to one question. Its unit_id ends in "/" and the column, its variable `question` is the
        column, and its context begins with the question's wording, or the column's name where the file has
        no wording; a name that is a whole question is shortened to the column's number (Q3). The units are
        ordered by question, then row; a blank answer next to others is no unit.
    unit_id
        The column that identifies a row, or several, joined by "/". Without it the rows are named row-1,
        row-2 … in their order, padded with zeros; name a column if rows may still be added. In the export of
        a survey program it is the program's own id (see `recognise`) unless you name another, or ().
    document_id, case_id
        The columns of the conversation and of the participant; missing without them, except that a survey
        program's export says who the participant is (see `recognise`). The answers of one row to several
        questions are one participant's in any case.
    position
        The column of whole numbers that order the units of a document; without it 1, 2 … in the order of
        the rows (counting empty texts), and missing without a document_id.
    context
        The column of the text's context: plain text, or a JSON list of turns that each have `role` and
        `text` (or `content`).
    ratings
        Columns of numbers, or {column: its name in the units}. With several columns of texts,
        {name: [a column for each of them]} gives each question its own rating.
    variables
        Further columns to keep, or {column: its name in the units}; () keeps none. None keeps every column
        without a role except earlier coders' labels, which blind coders must not see (lists of words or of
        labelled spans, as annotation tools write them, and the annotators), and columns of personal data: by
        their name (name, e-mail, IP address, latitude, telephone, birth …) or because half of their filled
        cells are e-mail or IP addresses, coordinates or ids of a crowd service.
    rating_labels
        The number of each label, such as {"very poor": 1, "unknown": None}, ignoring case and spaces
        around; None for a missing rating.
    delimiter, encoding, sheet
        What separates the cells of a .csv or .tsv file, if not exactly one of comma, semicolon and tab gives
        every row the same number of cells; the encoding of a text file that is not UTF-8; the sheet of a
        workbook with several sheets.
    header
        The line of the names, such as 1, or those of the names and of the questions, such as (1, 2); lines
        above it are left out (row 1 of a DataFrame is its column names). Needed only if the rows leave it
        open.
    kind
        "table" to ignore the marks of programs and read the rows as they are; see `recognise`.
    limits
        The most that a file may hold (default: `Limits()`).
    empty
        Whether a row without any text is an error or is skipped. A word for "no answer" that comes back in
        a column of texts ("N/A", "-", "none"), and what programs alone write (−99, "#N/A"), is no text;
        "keep" keeps these words as texts, and a row without anything is still an error.
    preview
        Whether responses that the survey program marks as previews or tests are an error, skipped or kept.

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
        text is empty, or a rating or variable has the name of a column of the contract (or is called
        `question`, with several columns of texts).
    ImportRefused
        The file could only be read by guessing (see `sense7_qual._formats.read_strings`): row 2 has
        words above numbers or dates in several columns, so it may hold the questions or a response; or parts
        of the file have different columns, or different questions in the column of the texts.

    Warns
    -----
    UserWarning
        Header rows, columns of labels or of personal data, or blank answers to one of several questions were
        left out: their number and place, never their content.
        Or a rating looks like a code for missing (−99).

    Examples
    --------
    >>> said = pd.DataFrame({"id": ["a", "b"], "Comment": ["None", "It heard me.\\r\\n"], "stars": ["4", ""]})
    >>> units = read(said, text="Comment", unit_id="id", ratings=["stars"])
    >>> units["text"].tolist(), units["stars"].tolist()
    (['None', 'It heard me.\\n'], [4.0, nan])
    """
    check_arguments(read, locals())
    how = {"delimiter": delimiter, "encoding": encoding, "sheet": sheet, "header": header, "kind": kind}
    found = _seen(source, **how, limits=limits)
    texts, several = named(text, [*found.table.columns]), not isinstance(text, str)
    for column in texts:
        found.refuse_reworded(column)
        found.refuse_merged(column)
    ids, case_id = _ids(found, unit_id, case_id)
    roles = [*ids, *(name for name in (document_id, case_id, position, context) if name is not None)]
    rated = by_question(ratings, len(texts))
    known = [*texts, *roles, *(column for of in rated for column in of)]
    labels_left, personal = _not_kept(found, known) if variables is None else ([], [])
    others = [name for name in found.table.columns if name not in {*known, *labels_left, *personal}]
    variable_names = renamed(others if variables is None else variables)
    for name in (*known, *variable_names):
        require(found.table, name)
    _refuse_names(texts, roles, rated, variable_names, own=[QUESTION] if several else [])
    table, ids, left_out = _responses(found, ids, [*texts], preview)
    rows = _rows(table, ids, document_id=document_id, position=position, context=context)
    rows["case_id"] = rows["unit_id"] if several and case_id is None else ids_of(table, case_id)
    values = {new: table[name] for name, new in variable_names.items()}
    parts = _parts(table, rows, texts, rated, labels_of(rating_labels), values, several=several)
    wordings = [found.labels.get(column, column) for column in texts]
    units = put_together(parts, wordings) if several else next(iter(parts.values()))
    units, blank = _with_text(units.astype({"text": "string", "context": "string"}), list(texts), empty)
    checked = UNITS.check(units, as_written=True)
    _warn_of_left_out(found, left_out, labels_left, personal, blank)
    _warn_of_codes(checked, list(dict.fromkeys(name for of in rated for name in of.values())))
    return checked


def _warn_of_codes(units: pd.DataFrame, ratings: Sequence[str]) -> None:
    """Warn of ratings that look like codes for missing values: every statistic of them would be wrong."""
    for name in ratings:
        levels, counts = np.unique(units[name].dropna().to_numpy(dtype=np.float64), return_counts=True)
        codes = codes_for_missing(levels) if len(levels) else np.zeros(0, dtype=np.bool_)
        if codes.any():
            warnings.warn(
                f"rating {shown(name)!r}: {counted(levels[codes], counts[codes])} looks like a code for "
                'missing. Make it missing: rating_labels={"-99": None}.',
                UserWarning,
                stacklevel=3,
            )


def _seen(source: str | os.PathLike[str] | pd.DataFrame | Recognised, **how: Any) -> Recognised:
    """Recognise a file once; refuse it if it cannot hold texts to code."""
    if not isinstance(source, Recognised):
        found = recognise(source, **how)
    elif any(value is not None for value in how.values()):
        raise TableError(
            "expected no delimiter, encoding, sheet, header, kind or limits for what `recognise` has read – "
            "found one – pass it to recognise."
        )
    else:
        found = source
    refuse_other(found)
    return found


def _parts(
    table: pd.DataFrame,
    rows: pd.DataFrame,
    texts: Mapping[str, str],
    rated: Sequence[Mapping[str, str]],
    labels: Mapping[str, float | None],
    values: Mapping[str, pd.Series],
    *,
    several: bool,
) -> dict[str, pd.DataFrame]:
    """Return the units of each column of texts: `rows` with the text, its ratings and the variables' values;
    of `several` also with its name."""
    parts = {}
    for (column, name), of_question in zip(texts.items(), rated, strict=True):
        given = {new: ratings_of(table[rating], labels) for rating, new in of_question.items()}
        question = {QUESTION: name} if several else {}
        words = table[column].map(canonical, na_action="ignore")
        parts[name] = rows.assign(text=words).assign(**given).assign(**question, **values)
    return parts


def _ids(
    found: Recognised, unit_id: str | Sequence[str] | None, case_id: str | None
) -> tuple[list[str], str | None]:
    """Return the columns that identify a row, and that of the participant: those named, or the program's."""
    by_mark = found.roles.get("case_id")
    chosen = found.roles.get("unit_id", ()) if unit_id is None else unit_id
    return (
        [chosen] if isinstance(chosen, str) else list(chosen),
        case_id if case_id is not None or not isinstance(by_mark, str) else by_mark,
    )


def _not_kept(found: Recognised, known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns of labels and those of personal data, which are variables only if they are named."""
    others = [name for name in found.table.columns if name not in known]
    labels = [name for name in others if name in found.labelled or not found.keeps_variables]
    return labels, [name for name in others if name in found.personal and name not in labels]


def _responses(
    found: Recognised, ids: Sequence[str], texts: Sequence[str], preview: str
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the rows to read, their columns of ids, and in words which rows are left out.

    These are rows of other forms, which cannot hold a text, previews, and rows that repeat a text.
    """
    table, left_out = found.rows_of(texts), []
    if found.closes:
        ids = [name for name in ids if table[name].notna().any()]  # of a form that is not repeated
        left_out += [f"{n} rows of other forms"] if (n := len(found.table) - len(table)) else []
    for ask in found.asks:
        if ask.parameter == "preview" and preview == "error":
            raise ImportRefused(
                f'{found.name}: expected responses – found {ask} – pass preview="skip" to leave them out, or '
                '"keep".'
            )
        if ask.parameter == "preview" and preview == "skip":
            table = table.drop(index=ask.at)
            left_out.append(str(ask))
    if found.once:
        again = table.duplicated([*ids, *texts])
        n_rows = "1 row that repeats" if again.sum() == 1 else f"{again.sum()} rows that repeat"
        left_out += [f"{n_rows} a text"] if again.any() else []
        table = table[~again]
    return table, list(ids), left_out


def _rows(
    table: pd.DataFrame,
    ids: Sequence[str],
    *,
    document_id: str | None,
    position: str | None,
    context: str | None,
) -> pd.DataFrame:
    """Return the ids and the context of each row; text and case_id are filled in by the caller."""
    documents = ids_of(table, document_id)
    return pd.DataFrame(
        {
            "unit_id": unit_ids(table, ids),
            "text": missing(table),
            "document_id": documents,
            "case_id": missing(table),
            "position": positions_of(table, position, documents),
            "context": table[context].map(turns_of, na_action="ignore") if context else missing(table),
        }
    )


def refuse_other(found: Recognised) -> None:
    """Refuse a file that holds something other than texts to code, and name the function that reads it."""
    asked = next((ask for ask in found.asks if ask.parameter == "kind"), None)
    if asked:
        raise ImportRefused(
            f'{found.name}: expected to be told {asked} – pass kind="table" to take its rows as texts '
            "(sense7-qual new: --kind table)."
        )
    of = f" of {found.program}" if found.program else ""
    ways = {
        "codes": "read it with Codebook.read",
        "codings": 'read them with codings.read; kind="table" takes the segments themselves as texts',
        "people": f"join it to the answers by {found.roles.get('case_id')!r} (pandas.merge)",
    }
    if found.holds in ways:
        raise ImportRefused(
            f"{found.name}: expected texts to code – found {found.what}{of} – {ways[found.holds]}."
        )


def _warn_of_left_out(
    found: Recognised,
    rows: Sequence[str],
    labels: Sequence[str],
    personal: Sequence[str],
    blank: pd.Series,
) -> None:
    left_out = [*found.rows_left_out, *rows]
    for names, of in ((labels, "of earlier labels"), (personal, "of personal data")):
        if names:
            columns = f"{len(names)} column{'' if len(names) == 1 else 's'} {of}"
            left_out.append(f"{columns}, {first_three(map(shown, names))}")
    if labels or personal:
        left_out[-1] += " (variables=[…] would keep them, visible to coders)"
    if len(blank):
        n_answers = f"{blank.sum()} blank answer{'' if blank.sum() == 1 else 's'}"
        left_out.append(f"{n_answers} ({', '.join(f'{n} to {shown(name)!r}' for name, n in blank.items())})")
    said = [*([f"left out {'; '.join(left_out)}"] if left_out else []), *found.changes]
    if said:
        warnings.warn(f"{'; '.join(said)}.", UserWarning, stacklevel=3)


def _refuse_names(
    texts: Mapping[str, str],
    roles: Sequence[str],
    rated: Sequence[Mapping[str, str]],
    variables: Mapping[str, str],
    own: Sequence[str],
) -> None:
    """Refuse a column in two roles, and two columns of one name; `own` are further names of `read` itself."""
    twice = [name for name in texts if name in {*roles, *(column for of in rated for column in of)}]
    if twice or not texts:
        raise TableError(
            f"the column of texts {twice[0]!r} has another role, too – name another column for one of them."
            if twice
            else "expected a column of texts – found none – name one: text=…"
        )
    named = [Counter([*texts.values()]), *(Counter([*of.values(), *variables.values()]) for of in rated)]
    reserved = (*_CONTRACT, *own)
    clash = [name for names in named[1:] for name in names if name in reserved]
    if clash:
        raise TableError(
            f"expected no rating or variable named {' or '.join(reserved)} – found {first_three(clash)} – "
            f'give the column its role ({clash[0]}=…), rename it (variables={{"{clash[0]}": "…"}}), or list '
            "the variables."
        )
    twice = [name for names in named for name, times in names.items() if times > 1]
    if twice:
        raise TableError(
            f"expected each text, rating and variable once – found {first_three(twice)} more than once – "
            "name it once."
        )


def _called(said: pd.Series) -> str:
    """Say which words for "no answer" stand in place of texts."""
    if said.empty:
        return ""
    words = first_three(said.unique())
    return f"(in {len(said)} a word for “no answer”: {words}; empty='keep' keeps these as texts) "


def _with_text(units: pd.DataFrame, columns: Sequence[str], empty: str) -> tuple[pd.DataFrame, pd.Series]:
    """Return the units with a text, and for each question the number of blank answers in other rows."""
    said = pd.Series("", index=range(0), dtype="string")
    if empty != "keep":
        questions = units[QUESTION] if QUESTION in units and len(columns) > 1 else None
        no_answer = no_answers(units["text"].reset_index(drop=True), questions).to_numpy()
        said = units.loc[no_answer, "text"]
        units = units.assign(text=units["text"].mask(no_answer))
    where = f"column {columns[0]!r}" if len(columns) == 1 else f"one of columns {first_three(columns)}"
    blank = units["text"].fillna("").map(str.strip) == ""
    in_all = blank.groupby(level=0).transform("all")
    if in_all.any() and empty != "skip":
        raise TableError(
            f"expected a text in every row of {where} – found none in {places(units.index[in_all].unique())} "
            f"{_called(said)}– fill them in, or leave these rows out with empty='skip'."
        )
    if blank.all():
        raise TableError(f"expected at least one text in {where} – found none – check the file.")
    left_out = units.loc[blank & ~in_all]
    return units[~blank], left_out[QUESTION].value_counts(sort=False) if len(left_out) else pd.Series(
        dtype=int
    )

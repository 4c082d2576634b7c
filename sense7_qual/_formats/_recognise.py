"""The one look at a file: its cells without what is no row of the table, and what the marks in it say.

A file is what a mark of its program says it is; kinds.toml lists the marks. Without one it is a table. A file
with the marks of two programs is refused.
"""

from __future__ import annotations

import os
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._formats._cells import Cells, cells_of, frame_of
from sense7_qual._formats._files import read_cells
from sense7_qual._formats._header import (
    TITLE,
    below_titles,
    header_lines,
    refuse_headless,
    without_blank_rows,
    without_row_numbers,
)
from sense7_qual._formats._header_rows import HeaderRows, without_header_rows
from sense7_qual._formats._json import WHO, label_columns, parsed_json, read_json_lines
from sense7_qual._formats._recognised import Ask, Recognised
from sense7_qual._limits import Limits
from sense7_qual._messages import first_three, shown
from sense7_qual.errors import ImportRefused, TableError

_Kind = Mapping[str, Any]
KINDS: Final[Mapping[str, _Kind]] = tomllib.loads((Path(__file__).parent / "kinds.toml").read_text("utf-8"))
_TABLE: Final[_Kind] = {"program": "", "holds": "texts"}
_FIRST: Final = "#1"  # how kinds.toml calls the first column, whatever its name


def recognise(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    header: int | Sequence[int] | None = None,
    kind: str | None = None,
    limits: Limits | None = None,
) -> Recognised:
    """Say which program wrote a file, what it holds, which rows are left out, and what has to be asked.

    A file is what a mark of its program says it is: something the program writes and a person would not.
    Without a mark it is a table. `read`, `Codebook.read`, `codings.read` and ``sense7-qual new`` take their
    rows from the same look. Print the result; it quotes no cell.

    Parameters
    ----------
    source, delimiter, encoding, sheet, header, kind, limits
        As for `read`.

    Returns
    -------
    Recognised
        kind ("qualtrics", …, "table"), program, holds ("texts", "codings", "codes" or "people"), evidence
        (the marks), header (the lines of names and wordings), labels (column → wording), left_out (a frame:
        line, why), labelled (columns of others' labels), personal (column → why), roles (unit_id, case_id →
        column), asks (what must be said before the file can be read), table (the rows as strings), and
        columns (a frame: number, column, wording, n_filled, n_rows, what it is (``words``, ``numbers``,
        ``dates``, ``few answers``, ``checklist``, ``conversation``, ``the same in every row``, ``empty``,
        ``personal`` or ``labels``), and the role that it may have in `read`).

        A role is the program's, or a guess from the name and the form of the cells: check it. A text is prose
        of 12 characters or more in the median, most of which differs from row to row; several columns have
        this role if they fit alike. A context is JSON lists of turns, a rating numbers other than 0 and 1
        under a name or question of a rating.

    Raises
    ------
    ImportRefused, TableError
        As for `read`, if the file cannot be read; or the file has the marks of two programs.

    Examples
    --------
    >>> table = pd.DataFrame({"ResponseId": ["Response ID", '{"ImportId":"_recordId"}', "R_1"],
    ...                       "Q2": ["Why?", '{"ImportId":"QID2_TEXT"}', "It heard me out."]})
    >>> found = recognise(table)
    >>> found
    Qualtrics: 1 row, texts to code
      2 import ids and nothing else in row 2
      left out: rows 1, 2 (questions, import ids)
    >>> found.labels["Q2"], found.roles["unit_id"]
    ('Why?', 'ResponseId')
    >>> found.columns[["number", "column", "what", "role"]].values.tolist()
    [[1, 'ResponseId', 'words', 'unit_id'], [2, 'Q2', 'words', 'text']]
    """
    check_arguments(recognise, locals())
    if kind not in {None, "table"}:
        raise TableError(f"expected kind='table', or no kind – found {kind!r} – leave it out.")
    lines = header_lines(header)
    if not isinstance(source, pd.DataFrame):
        limits = limits or Limits()
        top = lines[0] if lines else 1
        cells = read_cells(
            source, encoding=encoding, sheet=sheet, limits=limits, delimiter=delimiter, top=top
        )
    elif encoding is None and sheet is None and limits is None and delimiter is None:
        cells = cells_of(source)
    else:
        raise TableError(
            "expected no encoding, sheet, delimiter or limits for a DataFrame – found one – leave it out."
        )
    cells, titles = below_titles(without_blank_rows(cells), lines[0] if lines else None)
    cells, counted = without_row_numbers(cells)
    cells, rows = without_header_rows(cells, lines, marked=kind is None)
    table = frame_of(cells, limits)
    labels = label_columns(table)
    kind = kind or _kind_of(table, rows.kind, labels, cells.name)
    named = not cells.top and not isinstance(source, pd.DataFrame)
    if kind == "table" and lines is None and not named:
        refuse_headless(cells)
    if inside := KINDS.get(kind, _TABLE).get("inside"):
        table = _with_keys(table, inside, cells.name, limits or Limits())
        labels = label_columns(table)
    return _recognised(kind, cells, rows, titles, table, labels, named=named, counted=counted)


def _with_keys(table: pd.DataFrame, column: str, name: str, limits: Limits) -> pd.DataFrame:
    """Replace a column of JSON objects by one column per key."""
    filled, others = table[column].dropna(), table.drop(columns=column)
    lines = "\n".join(re.sub(r"[\r\n]+", " ", cell) for cell in filled)
    found = frame_of(read_json_lines(lines, name, limits), limits).set_axis(filled.index)
    keys = {key: f"{column}.{key}" for key in found.columns if key in others.columns}
    return others.join(found.rename(columns=keys))


def _recognised(
    kind: str,
    cells: Cells,
    rows: HeaderRows,
    titles: Sequence[int],
    table: pd.DataFrame,
    labels: Sequence[str],
    *,
    named: bool,
    counted: bool,
) -> Recognised:
    spec, names = KINDS.get(kind, _TABLE), list(table.columns)
    asks = tuple(_asks(spec, table))
    asked = [at for ask in asks for at in ask.at]
    labelled = {*labels, *_fitting(spec.get("labelled", ()), names)}
    why = [*(TITLE for _ in titles), *rows.left_out]
    left_out = pd.DataFrame({"line": [*titles, *rows.left_out.index], "why": why})
    return Recognised(
        kind=kind,
        program=spec["program"],
        holds=spec["holds"],
        what=spec.get("what", ""),
        evidence=tuple(_evidence(kind, spec, rows, names, labels)),
        header=(cells.top, *rows.wordings[:1]) if cells.top else (),
        left_out=left_out.astype({"line": "int64", "why": "string"}).sort_values("line", ignore_index=True),
        questions=rows.questions,
        labelled=tuple(name for name in names if name in labelled),
        keeps_variables=spec.get("variables", True),
        personal={name: why for name, why in personal_columns(table).items() if name not in labelled},
        aside=tuple(_fitting(spec.get("aside", ()), names)),
        roles=_roles(spec, table.drop(index=asked) if asked else table),
        once=spec.get("once", False),
        n_unfinished=int(table[spec["unfinished"]].isna().to_numpy().sum()) if "unfinished" in spec else 0,
        closes=tuple(_fitting(spec.get("closes", ()), names)),
        asks=asks,
        merged={cells.header[at]: kept for at in sorted(cells.merged) if (kept := _below(cells, at))},
        renamed=tuple(rows.twice),
        named=named,
        counted=counted,
        name=cells.name,
        table=table,
    )


def _below(cells: Cells, at: int) -> tuple[str, ...]:
    """Return the cells merged down a column below its name."""
    return tuple(place for place, (first, _) in cells.merged[at].items() if first > cells.top)


# Which kind it is


def _kind_of(table: pd.DataFrame, by_header_rows: str, labels: Sequence[str], name: str) -> str:
    """Return the kind whose marks the table has, or "table"."""
    marked = [kind for kind, spec in KINDS.items() if kind == by_header_rows or _is_marked(spec, table)]
    if len(marked) > 1:
        raise ImportRefused(
            f"{name}: expected the marks of one program – found those of {' and '.join(marked)} – pass "
            'kind="table" to read it as a plain table (sense7-qual new: --kind table).'
        )
    if marked:
        return marked[0]
    # What no program has marked, and yet is what it is.
    names = list(table.columns)
    named = any(all(_fitting([one], names) for one in form) for form in KINDS["table of codes"]["forms"])
    return "table of codes" if named else "labelled texts" if labels and "text" in table.columns else "table"


def kind_by_names(names: Sequence[str]) -> _Kind:
    """Return the paragraph of kinds.toml that has these column names; empty if there is none."""
    table = pd.DataFrame(columns=pd.Index(dict.fromkeys(names)), dtype="string")
    return next((spec for spec in KINDS.values() if _is_marked(spec, table)), {})


def _is_marked(spec: _Kind, table: pd.DataFrame) -> bool:
    names = list(table.columns)
    if begins := spec.get("begins"):
        fits = len(names) >= len(begins) and all(map(re.fullmatch, begins, names))
        return fits and (len(names) == len(begins) or not spec.get("exactly"))
    if "json" in spec:
        return all(_holds_json(table, *pair) for pair in spec["json"].items())
    by_name = "names" in spec and all(_fitting([pattern], names) for pattern in spec["names"])
    return by_name or any(_holds_values(table, *pair) for pair in spec.get("values", {}).items())


def _fitting(patterns: Sequence[str], names: Sequence[str]) -> list[str]:
    return [name for name in names if any(re.fullmatch(pattern, name.strip()) for pattern in patterns)]


def _holds_json(table: pd.DataFrame, pattern: str, what: str) -> bool:
    """Return True if some column so named holds JSON objects, or lists, in every filled cell."""
    expected = dict if what == "object" else list
    filled = [table[name].dropna() for name in _fitting([pattern], list(table.columns))]
    return any(
        len(column) and all(isinstance(parsed_json(cell), expected) for cell in column) for column in filled
    )


def _holds_values(table: pd.DataFrame, pattern: str, values: Sequence[str]) -> bool:
    """Return True if the last column is so named, and all so named hold these values, one the last."""
    if len(table.columns) < 2 or not _fitting([pattern], list(table.columns[-1:])):
        return False
    found = [{*table[name].dropna().unique()} for name in _fitting([pattern], list(table.columns))]
    return any(values[-1] in each for each in found) and all(each <= {*values} for each in found)


# What follows from it


def _evidence(
    kind: str, spec: _Kind, rows: HeaderRows, names: Sequence[str], labels: Sequence[str]
) -> Iterator[str]:
    if rows.evidence:
        yield rows.evidence
    forms = [form for form in spec.get("forms", ()) if all(_fitting([one], names) for one in form)]
    by_name = [pattern for how in ("begins", "names", "json", "values") for pattern in spec.get(how, ())]
    by_name += forms[0] if forms else []
    if found := [name for pattern in by_name for name in _fitting([pattern], names)[:1]]:
        yield f"columns {', '.join(map(shown, found))}"
    if kind == "labelled texts":
        yield f"lists of labels in column {first_three(shown(n) for n in labels if not WHO.fullmatch(n))}"


def _roles(spec: _Kind, responses: pd.DataFrame) -> dict[str, str | tuple[str, ...]]:
    names = list(responses.columns)

    def there(role: str) -> list[str]:
        columns = (names[0] if name == _FIRST and names else name for name in spec.get(role, ()))
        return [name for name in columns if name in names]

    ids, people = there("unit_id"), there("case_id")
    known = [name for name in people if responses[name].fillna("").str.strip().ne("").all()]
    roles: dict[str, str | tuple[str, ...]] = {}
    if ids:
        roles["unit_id"] = ids[0] if len(ids) == 1 else tuple(ids)
    if people:
        roles["case_id"] = (known or people)[0]
    return roles | dict(zip(["text"], there("text"), strict=False))


def _asks(spec: _Kind, table: pd.DataFrame) -> Iterator[Ask]:
    if "ask" in spec:
        yield Ask("kind", spec["ask"], table.index[:0])
    marked = spec.get("previews")
    if marked and marked["column"] in table:
        status = table[marked["column"]].str.strip()
        previews = status[status.isin(marked["values"])]
        if len(previews):
            n_rows = f"{len(previews)} response{'' if len(previews) == 1 else 's'}"
            values = ", ".join(sorted(previews.unique()))
            what = f"{n_rows} that {spec['program']} marks as previews or tests, {marked['column']} {values},"
            yield Ask("preview", what, previews.index)


# Columns of personal data: who somebody is, where, or how to reach them; by their names or their cells


_WORDS: Final = tomllib.loads((Path(__file__).parent / "people.toml").read_text("utf-8"))
_PERSONAL: Final = frozenset(map(str.casefold, _WORDS["personal"]))
_BESIDE: Final = _PERSONAL | frozenset(_WORDS["beside"])
_BEGINS: Final = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN: Final = re.compile(r"[\s\d_.,:;?!*/|()\[\]{}<>#@&+=-]+")

CROWD_ID: Final = re.compile(r"[\da-f]{24}")
"""An id of Prolific, which leads to a person there."""
_PART: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_FORMS: Final = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "IP addresses": re.compile(
        rf"{_PART}(?:\.{_PART}){{3}}|(?=.*::|(?:[^:]*:){{7}})[\da-fA-F]{{0,4}}(?::[\da-fA-F]{{0,4}}){{2,7}}"
    ),
    "ids of a crowd service": CROWD_ID,
}
_PRECISE: Final = re.compile(r"-?\d{1,3}\.\d{4,20}")
_NEAR_ZERO: Final = 4  # degrees: smaller numbers may be shares and scores
_LOOKED_AT: Final = 200  # filled cells of a column, evenly spread


def personal_columns(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns of a frame of strings that are personal, and why; no cell is quoted."""
    found = {name: "its name" for name in table.columns if is_personal(name)}
    cells = {name: _sample(table[name]) for name in table.columns}
    found |= {name: why for name in cells if name not in found and (why := _form(cells[name]))}
    for pair in pairwise(table.columns):
        if all(name not in found for name in pair) and _are_coordinates(*(cells[name] for name in pair)):
            found |= dict.fromkeys(pair, "coordinates")
    return {name: found[name] for name in table.columns if name in found}


def is_personal(name: str) -> bool:
    """Return True if all words of a column's name fit one of personal data, and one of them says so.

    >>> [is_personal(name) for name in ("RecipientFirstName", "E-Mail", "Name of the assistant")]
    [True, True, False]
    """
    said = unicodedata.normalize("NFC", _BEGINS.sub(" ", name)).casefold()
    words = [word for word in _BETWEEN.split(said) if word]
    return not _PERSONAL.isdisjoint(words) and _BESIDE.issuperset(words)


def _sample(column: pd.Series) -> list[str]:
    if len(column) > _LOOKED_AT:
        filled = np.flatnonzero(column.ne("").to_numpy(dtype=bool, na_value=False))
        column = column.iloc[filled[:: len(filled) // _LOOKED_AT + 1]]
    return [cell.strip() for cell in column.tolist() if cell is not pd.NA and cell]


def _form(cells: Sequence[str]) -> str | None:
    return next((why for why, form in _FORMS.items() if _are_half(cells, form)), None)


def _are_half(cells: Sequence[str], form: re.Pattern[str]) -> bool:
    return bool(cells) and 2 * sum(form.fullmatch(cell) is not None for cell in cells) >= len(cells)


def _are_coordinates(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True for a column of latitudes and one of longitudes."""
    return all(
        _are_half(cells, _PRECISE) and all(_NEAR_ZERO < abs(degrees) <= most for degrees in _degrees(cells))
        for cells, most in ((first, 90), (second, 180))
    )


def _degrees(cells: Sequence[str]) -> Iterator[float]:
    yield from (float(cell) for cell in cells if _PRECISE.fullmatch(cell))

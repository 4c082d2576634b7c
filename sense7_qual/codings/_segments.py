"""Decisions from codes that were named: one row per segment, lists of codes, one sheet per coder."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three, shown, word
from sense7_qual.codebook import Codebook, check_codebook
from sense7_qual.codings._from_table import named_columns, rows_of, without_row
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import DECISIONS

Finished = Literal["rows", "coded", "all"]

_SIGN: Final = re.compile(r"\s*(?:>+|\\|:+)\s*")  # of a path, in the programs that write one
_SEPARATORS: Final = (", ", ",", "; ", ";", "\n", "|", "#")


@DECISIONS.returns
def from_segments(
    table: pd.DataFrame | Mapping[str, pd.DataFrame],
    codebook: Codebook,
    *,
    unit_id: str,
    code: str | Sequence[str] | Mapping[str, str],
    coder: str | None = None,
    finished: Finished | pd.DataFrame | None = None,
    units: pd.DataFrame | None = None,
    separator: str | None = None,
    codes: Mapping[str, str | None] | None = None,
    coders: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read decisions from the names of applied codes: coded segments, lists of codes, columns of categories.

    Such a table says where a code applies, never where none does. A code that is not named is absent, on the
    texts that `finished` says were coded.

    Parameters
    ----------
    table : DataFrame, or mapping of coder to DataFrame
        One row per coded segment, or per text and coder; a mapping holds one table per coder.
    codebook : Codebook
        The codes that the coders chose from: decisions are on all its codable codes.
    unit_id : str
        The column of the text's id.
    code : str, list of str, or mapping of coder to str
        The column of the codes, or several ("primary", "secondary"); a mapping has one column per coder. A
        cell names a code by its id, label or path ("Trust > In people"), in upper or lower case, or several
        as a JSON list; blank is none. A code on any segment of a text applies to the text.
    coder : str, optional
        The column of the coder, where neither `table` nor `code` is a mapping.
    finished : {"rows", "coded", "all"} or DataFrame
        The texts that each coder finished. "rows": those with a row, also one without a code. "coded": those
        with a code. "all": all of `units`, for every coder. A frame of unit_id and coder: those listed.
        Required.
    units : DataFrame, optional
        With ``finished="all"``: the texts, by unit_id.
    separator : str, optional
        What separates several names in a cell: ``", "``, or a line break.
    codes : mapping of str to str, optional
        The id of the code for a name that the codebook does not have; None leaves the name out.
    coders : mapping of str to str, optional
        Pseudonyms of coders, and names of models, as for `from_table`.

    Raises
    ------
    ArgumentError
        `finished` or the coder is not given, or only one of `units` and ``finished="all"``.
    TableError
        A column is missing, a code is not in the codebook or could be several of its codes, a text with a
        row is not among the finished ones, or a coder is an e-mail address or a full name.

    Examples
    --------
    >>> sense7 = Codebook.read("sense7")
    >>> segments = pd.DataFrame({"Document": ["m1", "m1", "m2"], "Author": ["ana", "ben", "ana"],
    ...                          "Code": ["Interest", "interest", "affective"]})
    >>> columns = {"unit_id": "Document", "code": "Code", "coder": "Author"}
    >>> decided = from_segments(segments, sense7, **columns, finished="coded")
    >>> len(decided), int(decided["applied"].sum())
    (21, 3)
    """
    check_arguments(from_segments, locals())
    check_codebook(codebook)
    named = _named(table, unit_id, code, coder)
    rows = rows_of(named[["unit_id", "coder"]], coders)
    if finished is None:
        raise ArgumentError(
            f"from_segments: expected to be told what was finished – found {len(named)} rows, which say "
            'where a code applies and not where none does – pass finished="all" with units=…, "rows", '
            '"coded", or a frame of unit_id and coder.'
        )
    names = named["code"].fillna("").map(lambda cell: names_in(cell, separator))
    marks = rows.assign(code=names).explode("code").dropna(subset=["code"]).astype("string")
    ids = code_ids(marks["code"], codebook, codes)
    marks = marks.assign(code=marks["code"].map(ids)).dropna(subset=["code"])
    # A row without a code is evidence where rows count; beside a list of finished texts it is none.
    decided = rows if isinstance(finished, str) and finished != "coded" else marks[["unit_id", "coder"]]
    decided = pd.concat([decided, without_row(decided, finished, units, coders)]).drop_duplicates()
    codable = pd.DataFrame({"code": [one.id for one in codebook.codable]}, dtype="string")
    grid = decided.merge(codable, how="cross")
    applied = pd.MultiIndex.from_frame(grid).isin(pd.MultiIndex.from_frame(marks))
    return DECISIONS.check(grid.assign(applied=applied))


def _named(
    table: pd.DataFrame | Mapping[str, pd.DataFrame],
    unit_id: str,
    code: str | Sequence[str] | Mapping[str, str],
    coder: str | None,
) -> pd.DataFrame:
    """Return unit_id, coder and the cell of codes of each row and column of codes, as they are written."""
    columns = [code] if isinstance(code, str) else code
    if isinstance(code, Mapping):
        sheets: list[tuple[str, Any, str]] = [(who, table, column) for who, column in code.items()]
    else:
        tables = table if isinstance(table, Mapping) else {"": table}
        sheets = [(who, frame, column) for who, frame in tables.items() for column in columns]
    if isinstance(table, Mapping) + isinstance(code, Mapping) + (coder is not None) != 1:
        raise ArgumentError(
            "from_segments: expected to be told once who coded – found it told "
            f'{"never" if coder is None else "twice"} – pass coder="…", a table for each coder, or a column '
            'of codes for each: code={"ana": "…", "ben": "…"}.'
        )
    parts = [pd.DataFrame(columns=["unit_id", "coder", "code"], dtype="string")]
    for who, frame, column in sheets:
        part = named_columns(frame, [unit_id, column, *([coder] if coder else [])])
        if who and part.empty:
            raise TableError(
                f"table: expected rows of each coder – found none of {word(who)} – leave it out."
            )
        whose = part[coder] if coder else who
        parts.append(pd.DataFrame({"unit_id": part[unit_id], "coder": whose, "code": part[column]}))
    return pd.concat(parts, ignore_index=True).astype("string")


def names_in(cell: Any, separator: str | None = None) -> list[str]:
    """Return the names of codes in a cell: one, several with separators, or those in JSON.

    >>> names_in('[{"start": 0, "end": 4, "labels": ["warm"]}, [5, 9, "cold"]]')
    ['warm', 'cold']
    """
    match cell:
        case str() if (parsed := _parsed(cell)) is not None:
            return names_in(parsed)
        case str():
            return [one.strip() for one in (cell.split(separator) if separator else [cell]) if one.strip()]
        case [int(), int(), str(name)] | {"label": str() | int() as name}:
            return [str(name)]
        case {"labels": several} | {"choices": several}:
            return names_in(several)
        case dict() if all(applied in (0, 1) for applied in cell.values()):  # as spaCy has categories
            return [name for name, applied in cell.items() if applied]
        case list():
            return [name for one in cell for name in names_in(one)]
        case int():
            return [str(cell)]
        case None:
            return []
    raise TableError(
        "codings: expected names of codes, or JSON lists of them – found other JSON in the column of codes – "
        "pass the column that names the codes."
    )


def _parsed(cell: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or object that a cell spells in JSON, or None."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(cell) if cell.lstrip().startswith(("[", "{")) else None
        return value if isinstance(value, list | dict) else None
    return None


def code_ids(
    names: pd.Series, codebook: Codebook, codes: Mapping[str, str | None] | None
) -> dict[str, str | None]:
    """Return the id of the code that each name means: the name is an id, a label or a path of labels."""
    known, counts = _known(codebook), names.value_counts(sort=False)
    meant = {name: known.get(name) or known.get(_folded(name)) or set() for name in counts.index}
    meant |= {name: {to} for name, to in (codes or {}).items() if name in meant}
    codable = {None, *(one.id for one in codebook.codable)}
    unclear = [name for name, ids in meant.items() if len(ids) != 1 or not ids <= codable]
    if unclear:
        # A column in which few cells name codes may hold participants' words.
        are_codes = counts.drop(unclear).sum() * 2 >= counts.sum()
        shown_as = {name: repr(shown(name)) if are_codes else word(name) for name in unclear[:3]}
        found = ", ".join(f"{what} ({counts[name]}×)" for name, what in shown_as.items())
        more = f" ({len(unclear)} in all)" if len(unclear) > 3 else ""
        remedy = _remedy(unclear[0], meant[unclear[0]], codebook)
        raise TableError(
            f"codings: expected names of codable codes of codebook {codebook.name!r} – found {found}{more} – "
            f'{remedy} Or pass codes={{"…": "id of the code"}}; None leaves a name out.'
        )
    return {name: next(iter(ids)) for name, ids in meant.items()}


def codes_named(names: Iterable[str], codebook: Codebook) -> dict[str, str]:
    """Return the id of the one code that each name means, of those that mean one."""
    known = _known(codebook)
    ids = {name: known.get(name) or known.get(_folded(name)) or set() for name in names}
    return {name: str(*fits) for name, fits in ids.items() if len(fits) == 1}


def _remedy(name: str, fits: Collection[str | None], codebook: Codebook) -> str:
    """Return a hint: the codes that fit alike, the separator of several names, or the nearest name."""
    if len(fits) > 1:
        return f"it fits {first_three(fits)}."
    for separator in _SEPARATORS:
        if separator in name and all(_folded(part) in _known(codebook) for part in name.split(separator)):
            return f"pass separator={separator!r}."
    near = did_you_mean(
        name, dict.fromkeys(one for code in codebook.codable for one in (code.id, code.label))
    )
    return near if near.endswith("?") else f"{near}."


def _known(codebook: Codebook) -> dict[str, set[str | None]]:
    """Return the ids of the codable codes that each name may mean: an id, a label or a path."""
    known: dict[str, set[str | None]] = {}
    for code in codebook.codable:
        path, parent = code.label, code.parent
        while parent is not None:
            path, parent = f"{codebook[parent].label} > {path}", codebook[parent].parent
        for name in {code.id, code.label, *map(_folded, (code.id, code.label, path))}:
            known.setdefault(name, set()).add(code.id)
    return known


def _folded(name: str) -> str:
    return " ".join(_SIGN.sub(" > ", name).split()).casefold()

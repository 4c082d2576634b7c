"""Decisions from a table made elsewhere: one row per unit × coder, one column per code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._coder_names import applied_only, pseudonyms
from sense7_qual._formats import cells_of, frame_of
from sense7_qual._messages import first_three, word
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import DECISIONS, RESERVED_CODERS, require_column

Blank = Literal["absent", "absent_in_marked_rows", "undecided"]

_MARKS: Final = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "y", "x", "✓"), True),
    **dict.fromkeys(("0", "0.0", "false", "no", "n"), False),
}
_ROW: Final = ["unit_id", "coder"]


@DECISIONS.returns
def from_table(
    table: pd.DataFrame,
    *,
    unit_id: str,
    coder: str,
    codes: Sequence[str] | Mapping[str, str],
    blank: Blank | None = None,
    finished: Literal["rows", "all"] | pd.DataFrame | None = None,
    units: pd.DataFrame | None = None,
    values: Mapping[str, bool] | None = None,
    coders: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Read decisions from a table with one row per unit × coder and one column of marks per code.

    Use it for codings made elsewhere: in a spreadsheet, or in a published data set. A file does not tell what
    it leaves out: a blank cell may be "no", "not yet" or "not asked", and so may a text without a row. If
    blank means "no" but is read as undecided, a coder has nothing but "yes".

    Parameters
    ----------
    table : DataFrame
        The code columns have marks, in upper or lower case: 1, true, yes, y, x or ✓ if the code applies, 0,
        false, no or n if it is absent.
    unit_id, coder : str
        The columns of the unit's id and the coder's pseudonym, without the white space around them.
        "Consensus" and the other names of computed decisions are recognised in upper case too.
    codes : sequence of str, or mapping of column to code id
        The columns of the codes.
    blank : {"absent", "absent_in_marked_rows", "undecided"}, optional
        The meaning of a blank (missing or empty) cell of a code. "absent": every row was coded, and the code
        is absent. "absent_in_marked_rows": absent in rows with a mark in another code column; a row without
        any was not coded. "undecided": the coder did not decide on this code; the cell gives no decision.
        Required if any cell is blank.
    finished : {"rows", "all"} or DataFrame, optional
        The texts that each coder coded; on those without a row every code is absent. "rows": the texts with a
        row. "all": all of `units`, for every coder. A frame of unit_id and coder: those listed. By default
        "rows", unless the table looks as if texts without any code had been left out.
    units : DataFrame, optional
        With ``finished="all"``: the texts, by unit_id.
    values : mapping of str to bool, optional
        Further marks: ``{"ja": True, "nein": False}``.
    coders : mapping of str to str, optional
        Pseudonyms of coders (``{"ana@example.org": "ana"}``), and names of models (``{"gpt": "model-gpt"}``).
        Required for e-mail addresses and full names.

    Returns
    -------
    DataFrame
        unit_id, coder, code, applied (bool).

    Raises
    ------
    ArgumentError
        `blank` or `finished` is not one of these, or only one of `units` and ``finished="all"`` is given.
    TableError
        A column is missing, a cell has another mark, or a coder has a unit twice. A cell is blank without
        `blank`, or `blank` leaves a coder nothing but "yes", so that nobody could have disagreed. Every row
        of a coder has a code, as if texts without any had been left out, and `finished` is missing; or a row
        is not among the finished ones. A coder is an e-mail address or a full name.

    Examples
    --------
    >>> sheet = pd.DataFrame({"unit_id": ["m1", "m2", "m1", "m2"], "coder": ["ana", "ana", "ben", "ben"],
    ...                       "warm": ["x", "", "x", "x"]})
    >>> decided = from_table(sheet, unit_id="unit_id", coder="coder", codes=["warm"], blank="absent")
    >>> decided["applied"].tolist()
    [True, False, True, True]
    """
    check_arguments(from_table, locals())
    columns = dict(codes) if isinstance(codes, Mapping) else {name: name for name in codes}
    sheet = named_columns(table, [unit_id, coder, *columns])
    rows = rows_of(sheet[[unit_id, coder]], coders)
    decided = _filled(_marked(rows, sheet, columns, values), blank)
    coded = without_row(rows, finished, units, coders)
    if coded is not None:
        all_codes = pd.DataFrame({"code": list(columns.values())})
        decided = pd.concat([decided, coded.merge(all_codes, how="cross").assign(applied=False)])
    elif finished is None and blank != "absent_in_marked_rows":
        _ask_finished(decided)
    return DECISIONS.check(decided.assign(applied=decided["applied"].astype(bool)))


def named_columns(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return these columns of a table as they are written (7, not 7.0), each of which must be there once."""
    for name in names:
        require_column(table, name, frame_name="table")
        if not isinstance(table[name], pd.Series):
            raise TableError(
                f"table: expected one column {name!r} – found more than one – rename or drop one."
            )
    return frame_of(cells_of(table[list(dict.fromkeys(names))])).reset_index(drop=True)


def rows_of(ids: pd.DataFrame, coders: Mapping[str, str] | None) -> pd.DataFrame:
    """Return unit_id and coder without white space, computed decisions in lower case, people by pseudonym."""
    unit_id, coder = (ids.iloc[:, at].astype("string").str.strip() for at in (0, 1))
    lower = coder.str.lower()
    coder = coder.mask(lower.isin(RESERVED_CODERS), lower)
    return pd.DataFrame({"unit_id": unit_id, "coder": pseudonyms(coder, coders)}).reset_index(drop=True)


def _marked(
    rows: pd.DataFrame, table: pd.DataFrame, columns: Mapping[str, str], values: Mapping[str, bool] | None
) -> pd.DataFrame:
    """Return each row × code with what its mark means (`applied`), or that its cell is blank (`blank`)."""
    own = {str(mark).strip().lower(): meaning for mark, meaning in (values or {}).items()}
    parts = [rows.assign(code="", applied=False, blank=False).head(0)]
    for name, code in columns.items():
        marks = table[name].str.strip().str.lower()
        blank = marks.isna() | (marks == "")
        applied = marks.map({**_MARKS, **own}).astype("boolean")
        parts.append(rows.assign(code=code, applied=applied, blank=blank.astype(bool)))
    long = pd.concat(parts, ignore_index=True)
    bad = (long["applied"].isna() & ~long["blank"]).to_numpy(bool)
    if bad.any():
        raise TableError(
            "table: expected 1 or 0, yes or no, x or ✓ in the code columns – found other values in "
            f"{int(bad.sum())} cells of {first_three(long.loc[bad, 'code'].unique())}, first in row "
            f"{bad.argmax() % len(rows) + 1} – say what they mean: values={{…: True, …: False}}."
        )
    return long


def _filled(long: pd.DataFrame, blank: Blank | None) -> pd.DataFrame:
    """Return the decisions, with those of blank cells."""
    if blank is None and long["blank"].any():
        raise TableError(
            f"table: expected the meaning of blank cells – found {_counted(long)} – "
            'pass blank="absent" if every row was coded, "absent_in_marked_rows" if a row without a mark '
            'was not, or "undecided".'
        )
    absent = long["blank"] & (blank in ("absent", "absent_in_marked_rows"))
    if blank == "absent_in_marked_rows":
        absent &= (~long["blank"]).groupby([long[name] for name in _ROW]).transform("any")
    decided = long.assign(applied=long["applied"].mask(absent.to_numpy(bool), other=False))
    by_coder = decided.groupby("coder")
    only_yes = by_coder["applied"].min().eq(True) & by_coder["blank"].any()
    if only_yes.any():
        raise TableError(
            f"table: expected absent codes as well – found that blank={blank!r} leaves nothing but "
            f"“yes” from coder {first_three(map(_named, only_yes.index[only_yes]))}, so that nobody could "
            'have disagreed – pass blank="absent" if every row was coded; else mark what is absent with 0.'
        )
    return decided.loc[decided["applied"].notna(), list(DECISIONS.columns)]


def _counted(long: pd.DataFrame) -> str:
    """Say how many cells are blank, by column and coder."""
    blanks = long[long["blank"]]
    parts = []
    for code, rows in list(blanks.groupby("code", sort=False))[:3]:
        counts = rows["coder"].value_counts()
        coders = ", ".join(f"{_named(name)} {n}" for name, n in counts.sort_index().head(3).items())
        more = f" and {len(counts) - 3} more" if len(counts) > 3 else ""
        parts.append(f"{len(rows)} in {code!r} ({coders}{more})")
    more = f" ({len(blanks)} in {blanks['code'].nunique()} columns in all)"
    return ", ".join(parts) + (more if blanks["code"].nunique() > 3 else "")


def _named(coder: object) -> str:
    return word(coder).strip("'")


def without_row(
    rows: pd.DataFrame,
    finished: str | pd.DataFrame | None,
    units: pd.DataFrame | None,
    coders: Mapping[str, str] | None,
) -> pd.DataFrame | None:
    """Return the texts that each coder finished and that have no row, or None where only rows count."""
    if (units is None) == (isinstance(finished, str) and finished == "all"):
        raise ArgumentError(
            'finished: expected "all" together with units – found one without the other – pass both or '
            "neither."
        )
    if isinstance(finished, pd.DataFrame):
        for name in _ROW:
            require_column(finished, name, frame_name="finished")
        renamed = finished[_ROW].replace({"coder": dict(coders or {})})
        coded = rows_of(renamed, None).drop_duplicates()
    elif units is not None:
        require_column(units, "unit_id", frame_name="units")
        people = rows.loc[~rows["coder"].isin(RESERVED_CODERS), ["coder"]].drop_duplicates()
        coded = rows_of(units[["unit_id"]].merge(people, how="cross"), None)
    else:
        return None
    joined = rows.drop_duplicates().merge(coded, how="outer", on=_ROW, indicator="where")
    computed = joined["coder"].isin(RESERVED_CODERS)
    outside = joined[(joined["where"] == "left_only") & ~computed]
    if len(outside):
        raise TableError(
            f"table: expected rows of texts that the coder finished – found {len(outside)} others, such as "
            f"{word(outside['unit_id'].iloc[0])} by {word(outside['coder'].iloc[0])} – correct finished "
            "or drop the rows."
        )
    return joined.loc[joined["where"] == "right_only", _ROW]


def _ask_finished(decided: pd.DataFrame) -> None:
    """Refuse a table in which each row of a coder has a code, where others decided on further texts."""
    people = decided[~decided["coder"].isin(RESERVED_CODERS)]
    any_code = people.groupby(["unit_id", "coder"])["applied"].max().reset_index().assign(code="any")
    coders = applied_only(any_code.astype({"applied": bool}))
    if coders:
        raise TableError(
            "table: expected to know which texts were coded – found a code in every row of coder "
            f"{first_three(map(_named, coders))}, as if texts without any code were left out – pass "
            'finished="rows" if every text that they coded has a row, "all" with units=…, or a frame of '
            "unit_id and coder."
        )

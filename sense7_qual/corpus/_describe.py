"""The columns of a file and the role that each may have."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._formats import recognised
from sense7_qual._limits import Limits

__all__ = ["describe_columns"]


def describe_columns(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    encoding: str | None = None,
    sheet: str | None = None,
    header: int | Sequence[int] | None = None,
    limits: Limits | None = None,
) -> pd.DataFrame:
    """Describe each column of a file, and guess its role in `read`.

    The guess uses the column's name (for text and rating also the question in a header row) and the form of
    its cells; check it before you use it. A text is prose that differs in most rows, a context JSON lists of
    turns that each have a role and a text, a rating numbers other than 0 and 1 under a name or question of a
    rating. Earlier coders' labels have no role. No content of a cell is returned.

    Parameters
    ----------
    source, encoding, sheet, header, limits
        As for `read`.

    Returns
    -------
    pandas.DataFrame
        One row per column, in the file's order: column, role (``text``, ``unit_id``, ``document_id``,
        ``case_id``, ``position``, ``context`` or ``rating``, each at most once; missing without a guess),
        n_filled and n_distinct (the number of cells that are not blank, and of different ones; `Int64`),
        n_characters (the median length of the filled cells; NaN without any).

    Raises
    ------
    ImportRefused, TableError
        As for `read`, if the file cannot be read.

    Examples
    --------
    >>> table = pd.DataFrame({"PID": ["p1", "p1"], "stars": ["4", "2"],
    ...                       "Why": ["It heard me out.", "It lectured me."]})
    >>> describe_columns(table)[["column", "role"]].to_dict("list")
    {'column': ['PID', 'stars', 'Why'], 'role': ['case_id', 'rating', 'text']}
    """
    check_arguments(describe_columns, locals())
    return recognised(source, encoding=encoding, sheet=sheet, header=header, limits=limits).columns

"""What a file is, before its texts are read."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._formats import Recognised, recognised
from sense7_qual._limits import Limits

__all__ = ["recognise"]


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
    return recognised(
        source, delimiter=delimiter, encoding=encoding, sheet=sheet, header=header, kind=kind, limits=limits
    )

"""A table of further statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sense7_qual import _present
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual.errors import TableError
from sense7_qual.report._further import levels_of, read_further, rows_of
from sense7_qual.report._table import Table, left_then_right, made_with


def further(further: Mapping[str, Any], *, digits: int = 2, notes: Sequence[str] = ()) -> Table:
    """Tabulate statistics that a reviewer asks for beyond those of codes, one row each.

    Parameters
    ----------
    further : mapping of str to result
        By what they are of, in print: results of `agreement.coefficients.estimate` (one row each),
        `links.models.proportional_odds` (one for the model and each split), `adjudication.dawid_skene` (rates
        of each coder, and pairs of coders) and `agreement.diagnosis.alternative_annotator_test` (one for each
        code and model).
    digits : int
        Decimals (1–6); p has three.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A result is of another kind, or results have different confidence levels.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> from sense7_qual.agreement.coefficients import estimate
    >>> values = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> further({"Empathy": estimate(values, "icc", kind="agreement")}).rows
    (('intraclass correlation (absolute agreement, one coder)', 'Empathy', '6', '.29', '[.02, .76]', ''),)
    """
    check_arguments(globals()["further"], locals())  # a parameter has its name
    read = read_further(read_mapping(further), function="further")
    rows = [row for name, result in read.items() for row in rows_of(str(name), result, digits)]
    if not rows:
        raise TableError("further: expected one result or more – found none – pass them by name.")
    levels = {level for result in read.values() for level in levels_of(result)}
    interval = _present.interval_name([{"confidence_level": one} for one in levels], frame_name="further")
    return Table(
        title="Further statistics",
        headers=("Statistic", "Of", "n", "Value", interval, "p"),
        rows=tuple((row[0], row[1], _present.count(row[2]), *row[3:]) for row in rows),
        notes=(*_basis(read), "p: two-sided, not adjusted.", *notes, made_with(None)),
        alignments=left_then_right(2, 4),
    )


def _basis(results: Mapping[str, Any]) -> list[str]:
    """Return which decisions results rest on; those of values alone, such as an estimate, have none."""
    lines = {name: str(one.basis) for name, one in results.items() if hasattr(one, "basis")}
    lines |= {name: "" for name in results if name not in lines}
    if len(set(lines.values())) == 1:
        return [f"Basis: {line}" for line in set(lines.values()) if line]
    return [f"Basis ({name}): {line}" for name, line in lines.items() if line]

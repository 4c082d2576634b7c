"""How often each code was applied, in all texts or in those of each condition, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from sense7_qual import _present, codings
from sense7_qual._arguments import check_arguments
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.frames import DECISIONS, check_people, labels_by_unit, require_column
from sense7_qual.report._notes import made_with
from sense7_qual.report._table import Table, left_then_right

__all__ = ["condition"]

_MOST: Final = 12  # conditions that stand beside each other
_EVERY: Final = "All texts"


def condition(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    condition: str | None = None,
    source: str,
    cluster: str | None = None,
    codebook: Codebook | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the texts and participants with each code, by condition if there is one.

    One row per code and one column per condition, or one for all texts: texts with the code, of those that
    were decided on, and the percentage; with `cluster` below it participants with such a text, of those with
    a text. These are counts, without a test: `links.joint` compares conditions.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool).
    units : DataFrame
        One row per unit, with unit_id and the columns `condition` and `cluster`.
    condition : str, optional
        The column with the condition, of at most 12 values. Units without one are left out. By default all
        texts are counted together.
    source : str
        Whose decisions are counted: a coder, "consensus" (where it is among the decisions), or "majority"
        (ties are left out).
    cluster : str, optional
        The column with the participant, such as "case_id".
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A frame or a column is not what it should be, there is no such source, or there are no conditions or
        too many.
    CodebookError
        A code is not in the codebook.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abcd"), "system": ["x", "x", "y", "y"]})
    >>> decisions = pd.DataFrame({"unit_id": list("abcd"), "coder": "ana", "code": "interest",
    ...                           "applied": [True, False, True, True]})
    >>> table = condition(decisions, units, condition="system", source="ana")
    >>> table.headers, table.rows
    (('Code', 'x', 'y'), (('interest', '1 / 2 (50.0)', '2 / 2 (100.0)'),))
    """
    check_arguments(globals()["condition"], locals())  # a parameter has its name
    checked = DECISIONS.check(decisions, as_written=True)
    check_people(checked)
    decided = _of_source(checked, source)
    decided = _labelled(decided, units, condition, cluster)
    without = decided[decided["condition"].isna()]["unit_id"].nunique()
    conditions = (
        [_EVERY] if condition is None else _conditions(units[condition], decided["condition"].dropna())
    )
    frame = pd.DataFrame({"code": decided["code"].astype("string").unique()})
    rows = _present.rows(frame, frame_name="decisions", codebook=codebook)
    of_cell = dict(iter(decided.groupby(["code", decided["condition"].astype("string")])))
    return Table(
        title=f"Codes by {condition}" if condition else "How often each code was applied",
        headers=("Code", *conditions),
        rows=tuple(
            (row["label"], *(_cell(of_cell.get((row["code"], one)), cluster) for one in conditions))
            for row in rows
        ),
        notes=(*_notes(source, cluster, without, decided), *notes, made_with(codebook, rows)),
        alignments=left_then_right(1, len(conditions)),
    )


def _of_source(decisions: pd.DataFrame, source: str) -> pd.DataFrame:
    known = sorted(str(name) for name in decisions["coder"].unique())
    if source == "majority" and source not in known:
        return codings.majority(decisions)
    if source not in known:
        raise TableError(
            "decisions: expected a source of decisions – found none of that name – "
            f"{did_you_mean(source, [*known, 'majority'])}"
        )
    return decisions[decisions["coder"] == source]


def _labelled(
    decided: pd.DataFrame, units: pd.DataFrame, condition: str | None, cluster: str | None
) -> pd.DataFrame:
    """Return the decisions with the condition and the participant of their units."""
    for name in ("unit_id", condition, cluster):
        if name is not None:
            require_column(units, name, frame_name="units")
    by_unit = units.set_index("unit_id")
    ids = pd.Index(decided["unit_id"])
    unknown = ids.difference(by_unit.index)
    if len(unknown):
        raise TableError(
            f"decisions: expected units of the frame `units` – found others: {first_three(unknown)} – pass "
            "the units that the decisions are about."
        )
    return decided.assign(
        condition=_EVERY if condition is None
        else labels_by_unit(by_unit[condition], ids, name="condition").to_numpy(),
        cluster=None if cluster is None
        else labels_by_unit(by_unit[cluster], ids, name="cluster").to_numpy(),
    )  # fmt: skip


def _conditions(column: pd.Series, used: pd.Series) -> list[str]:
    """Return the conditions in the order of the categories, or of the numbers or letters."""
    present = set(used.astype("string"))
    ordered = list(column.dtype.categories) if isinstance(column.dtype, pd.CategoricalDtype) else []
    values = ordered or sorted(column.dropna().unique(), key=lambda one: (str(type(one)), one))
    names = [name for name in dict.fromkeys(pd.Series(values).astype("string")) if name in present]
    if not 1 <= len(names) <= _MOST:
        raise TableError(
            f"units: expected 1 to {_MOST} conditions in the column – found {len(names)} – name the column "
            "of the condition, or put its values together."
        )
    return names


def _cell(decided: pd.DataFrame | None, cluster: str | None) -> str:
    if decided is None or not len(decided):
        return _present.MISSING
    having = decided[decided["applied"].astype(bool)]
    share = _present.percent(len(having) / len(decided))
    line = f"{_present.count(len(having))} / {_present.count(len(decided))} ({share})"
    if cluster is None:
        return line
    people = [_present.count(some["cluster"].dropna().nunique()) for some in (having, decided)]
    return f"{line}\n{' / '.join(people)}"


def _notes(source: str, cluster: str | None, without: int, decided: pd.DataFrame) -> list[str]:
    told = [
        f"Texts with the code / texts decided on, by {source} (percentage)."
        + (" Below: participants with such a text / participants." if cluster else "")
    ]
    if source == "majority":
        told.append("Texts on which coders were tied about a code are left out of its row.")
    if without:
        told.append(f"Texts without a condition, which are left out: {_present.count(without)}.")
    if decided.groupby(["code", decided["condition"].astype("string")]).ngroups < (
        decided["code"].nunique() * decided["condition"].nunique()
    ):
        told.append(f"{_present.MISSING} = no text of the condition was decided on.")
    return [*told, "Counts, not a test: texts of one participant are not independent."]

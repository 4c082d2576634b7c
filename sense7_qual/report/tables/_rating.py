"""Predictions of ratings as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present, _reasons
from sense7_qual._arguments import check_arguments
from sense7_qual._present import MISSING
from sense7_qual.errors import TableError
from sense7_qual.ratings import COMPARISON
from sense7_qual.report._notes import grouped, made_with, undefined_note
from sense7_qual.report._table import Alignment, Table

__all__ = ["rating"]

_MEASURES: Final[Mapping[str, str]] = {
    "spearman": "Spearman's ρ",
    "accuracy": "Accuracy",
    "macro_f1": "Macro-F1",
    "within_one": "Within one",
    "mae": "MAE",
    "accuracy_over_majority": "Over majority",
}


_SIDES: Final[tuple[Alignment, ...]] = ("left", *(("right",) * 7))


def rating(
    comparison: pd.DataFrame,
    *,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "participants",
    notes: Sequence[str] = (),
) -> Table:
    """Return how well ratings were predicted as a table, one row per predictor, both baselines among them.

    Parameters
    ----------
    comparison : DataFrame
        The result of `ratings.compare`. A row without predictions of its own (published figures) is printed
        last and marked as being on other data.
    digits : int
        Decimals of all measures and intervals (1–6).
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural.
    notes : sequence of str
        Further lines for the foot, such as how the predictors were made.

    Returns
    -------
    Table
        Predictor, n, and each measure with its interval below it: Spearman's ρ, accuracy, macro-F1, within
        one level, mean absolute error, and the accuracy above that of the majority class.

    Raises
    ------
    TableError
        A column is missing, a predictor has several rows, or rows were computed with different levels or
        seeds.
    ArgumentError
        `digits` is out of range.

    References
    ----------
    Suh et al. (2025), SENSE-7, arXiv:2509.16437: the measures, and the published figures.

    Examples
    --------
    >>> from sense7_qual import ratings
    >>> units = pd.DataFrame({"unit_id": [f"u{i:02}" for i in range(40)], "empathy": [1, 2, 3, 3, 5] * 8,
    ...                       "case_id": [f"p{i % 8}" for i in range(40)]})
    >>> predictions = ratings.cross_validate(units, {}, rating="empathy", cluster="case_id", folds=4, seed=7)
    >>> table = rating(ratings.compare(predictions, n_boot=200, seed=7))
    >>> [row[0] for row in table.rows]
    ['majority class', 'mean rating', 'SENSE-7 paper (published, on its own data) *']
    >>> table.rows[-1][2:4]
    ('.37', '.49')
    """
    check_arguments(globals()["rating"], locals())  # a parameter has its name
    COMPARISON.require(comparison)
    rows: list[dict[str, Any]] = [
        {str(k): v for k, v in row.items()} | {"label": str(row["predictor"])}
        for row in comparison.to_dict("records")
    ]
    if len({row["label"] for row in rows}) < len(rows):
        raise TableError("comparison: expected one row per predictor – found several – pass one result.")
    own = [row for row in rows if not pd.isna(row["n"])]
    others = [row for row in rows if pd.isna(row["n"])]
    return Table(
        title=f"Prediction of {rating or 'the rating'}",
        headers=("Predictor", "n", *_MEASURES.values()),
        rows=tuple(_row(row, digits) for row in [*own, *others]),
        notes=(*_notes(own, others, cluster_name), *notes, made_with(None)),
        alignments=_SIDES,
    )


def _row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    label = str(row["label"]) + (" *" if pd.isna(row["n"]) else "")
    return (label, _present.count(row["n"]), *(_cell(row, name, digits) for name in _MEASURES))


def _cell(row: Mapping[str, Any], name: str, digits: int) -> str:
    """Return a measure and, in a second line, its interval; that of an exact 0 by definition is none."""
    ends = (row[f"{name}_low"], row[f"{name}_high"])
    if name == "mae":
        value, interval = _present.number(row[name], digits), _present.number_interval(*ends, digits)
    else:
        value, interval = _present.coefficient(row[name], digits), _present.interval(*ends, digits)
    return value if interval == MISSING or ends == (0, 0) else f"{value}\n{interval}"


def _notes(
    own: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]], cluster_name: str
) -> list[str]:
    interval = _present.interval_name(own, frame_name="comparison")
    clusters = _present.count_range(row["n_clusters"] for row in own)
    resamples = _present.count_range(row["n_boot"] for row in own)
    seed = _present.seed(own, frame_name="comparison")
    notes = [
        "Accuracy, within one = share of predictions on the level rated, and at most one level away. MAE = "
        "mean absolute error in points. Over majority = accuracy minus that of the majority class on the "
        f"same texts. Below each: {interval} from bootstrap over whole {cluster_name} (number: {clusters}; "
        f"B = {resamples} resamples; {seed}), the predictions as they are.",
        undefined_note([row for row in own if not pd.isna(row["spearman"])], "ρ"),
    ]
    absent = [f"{row['label']} {_present.count(row['n_missing'])}" for row in own if row["n_missing"]]
    notes += (
        [f"Texts without a prediction, which count for no measure: {', '.join(absent)}."] if absent else []
    )
    groups: dict[str, list[str]] = {}
    for row in own:
        if not pd.isna(row["reason"]):
            groups.setdefault(
                f"{MISSING} = not computable: {_reasons.reason_words(row['reason'])}", []
            ).append(str(row["label"]))
    notes += grouped(groups)
    if others:
        names = ", ".join(str(row["label"]) for row in others)
        notes.append(
            f"* {names}: figures that were published, computed on other data. They are no result on these "
            "texts and are not to be compared with the rows above as if they were; "
            f"{MISSING} = not published."
        )
    return notes

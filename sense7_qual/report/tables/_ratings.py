"""Tables of ratings: where their variance lies, what follows a poor turn, what predicts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd

from sense7_qual import _present, _reasons
from sense7_qual._arguments import check_arguments, read_mapping
from sense7_qual._present import MISSING
from sense7_qual.codebook import Codebook
from sense7_qual.errors import TableError
from sense7_qual.links import DISRUPTION, VARIANCE_SHARES
from sense7_qual.ratings import COMPARISON
from sense7_qual.report._table import (
    Table,
    basis_notes,
    grouped,
    left_then_right,
    made_with,
    reason_notes,
    undefined_note,
)


def variance(
    shares: pd.DataFrame,
    *,
    names: Mapping[str, str] | None = None,
    digits: int = 2,
    rating: str | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the variance of ratings between participants, conversations and turns.

    Parameters
    ----------
    shares : DataFrame
        The result of `links.variance_shares`, one row per level.
    names : mapping of str to str, optional
        What the levels are called in print: {"case_id": "Participant", "document_id": "Conversation"}.
    digits : int
        Decimals of the variance (1–6); percentages have one.
    rating : str, optional
        What was rated, for the title.
    notes : sequence of str
        Further lines for the foot.

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> from sense7_qual import links
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "case_id": ["p"] * 4 + ["q"] * 4,
    ...     "document_id": ["1", "1", "2", "2", "3", "3", "4", "4"], "empathy": [1, 2, 2, 3, 5, 6, 6, 7]})
    >>> shares = links.variance_shares(units, rating="empathy", levels=["case_id", "document_id"])
    >>> variance(shares, names={"case_id": "Participant"}).rows[0]
    ('Participant', '2', '7.75', '91.2', '–')
    """
    check_arguments(variance, locals())
    VARIANCE_SHARES.require(shares)
    level_names = {"remainder": "Remainder (turn, and error)"} | read_mapping(names)
    rows: list[dict[str, Any]] = [
        {str(k): v for k, v in row.items()} | {"label": level_names.get(str(row["level"]), str(row["level"]))}
        for row in shares.to_dict("records")
    ]
    interval = _present.interval_name(rows, frame_name="shares")
    return Table(
        title=f"Variance of {rating or 'the rating'} by level",
        headers=("Level", "Groups", "Variance", "Share (%)", interval),
        rows=tuple(_share_row(row, digits) for row in rows),
        notes=(
            "Nested analysis of variance; share = part of the sum of the components. "
            f"{interval}: from leaving out each group of the outermost level, on the log odds of the share, "
            f"Student's t{_resampled(rows)}.",
            *reason_notes(rows, ("variance", "share", "low")),
            *notes,
            made_with(None),
        ),
        alignments=left_then_right(1, 4),
    )


def _share_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    ends = f"[{_present.percent(row['low'])}, {_present.percent(row['high'])}]"
    return (
        str(row["label"]),
        _present.count(row["n_groups"]),
        _present.number(row["variance"], digits),
        _present.percent(row["share"]),
        _present.MISSING if pd.isna(row["low"]) else ends,
    )


def _resampled(rows: Sequence[Mapping[str, Any]]) -> str:
    """Name the rows whose interval is of resamples."""
    names = [str(row["label"]) for row in rows if not pd.isna(row.get("n_boot", float("nan")))]
    seed = _present.seed(rows, frame_name="shares")
    return f"; of resampled groups: {', '.join(names)} ({seed})" if names else ""


def disruption(
    disruption: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    digits: int = 2,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the contrasts around a conversation's first poor turn, one row per contrast and code.

    Parameters
    ----------
    disruption : DataFrame
        The result of `links.disruption`.
    codebook : Codebook, optional
        Gives the labels of the codes.
    digits : int
        Decimals of means, differences and Cohen's d (1–6); p has three.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot, such as the threshold.

    Raises
    ------
    TableError
        A column is missing, or rows were computed with different levels or seeds.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    See Also
    --------
    sense7_qual.links.disruption : the contrasts, and what each of them leaves open.

    Examples
    --------
    >>> from sense7_qual import links
    >>> units = pd.DataFrame({"unit_id": list("abcdefgh"), "document_id": list("11112222"),
    ...     "position": [1, 2, 3, 4] * 2, "empathy": [4, 2, 3, 2, 5, 4, 4, 5]})
    >>> contrasts = links.disruption(units, rating="empathy", document_id="document_id", position="position")
    >>> disruption(contrasts).rows[0][:6]
    ('later turns', 'all', '1', '4', '2.50', '4.04')
    """
    check_arguments(globals()["disruption"], locals())  # a parameter has its name
    DISRUPTION.require(disruption)
    rows = [_labelled(row, codebook) for row in disruption.to_dict("records")]
    interval = _present.interval_name(rows, frame_name="disruption")
    return Table(
        title="What goes with the first poor turn of a conversation",
        headers=(*_DISRUPTION_HEADS, "Difference", interval, "Cohen's d", interval, "p"),
        rows=tuple(_disruption_row(row, digits) for row in rows),
        notes=(
            *(basis_notes(disruption) if disruption["code"].notna().any() else ()),
            _DISRUPTION_TERMS,
            _disruption_note(rows, interval, cluster_name),
            *reason_notes([row for row in rows if not row["untested"]], (*_NUMBERS, "p")),
            *reason_notes([row for row in rows if row["untested"]], _NUMBERS),
            "Nobody assigned the poor turns: none of this shows what they cause.",
            *notes,
            made_with(codebook),
        ),
        alignments=left_then_right(2, 9),
    )


def _labelled(row: Mapping[Any, Any], codebook: Codebook | None) -> dict[str, Any]:
    contrast = _CONTRASTS.get(str(row["contrast"]), str(row["contrast"]))
    code = "all" if pd.isna(row["code"]) else _present.label(str(row["code"]), codebook)
    untested = str(row["contrast"]) == "later_turns"  # any difference between conversations makes it
    named = {"label": contrast, "whose": code, "row_label": f"{contrast} / {code}", "untested": untested}
    return {str(name): value for name, value in row.items()} | named


_NUMBERS: Final = ("mean_difference", "difference_low", "cohens_d")

_DISRUPTION_HEADS: Final = (
    "Contrast",
    "Code of the turn",
    "n with",
    "n without",
    "Mean with",
    "Mean without",
)

_DISRUPTION_TERMS: Final = (
    "Negative = lower where a turn was poor. Code of the turn: only first poor turns with the code in their "
    "explanation count as poor. Later turns: turns after a poor turn against those after a turn that was "
    "not, as long as no earlier one was poor (poorer conversations make this difference too, so it has no "
    "p); adjusted: for the rating of the turn itself, the mean of the earlier turns and the place; within "
    "conversation: mean after minus mean before the first poor turn, less what any order of the same ratings "
    "gives (better first turns or lasting moods make this difference too)."
)

_CONTRASTS: Final[Mapping[str, str]] = {
    "later_turns": "later turns",
    "later_turns_adjusted": "later turns, adjusted",
    "within_document": "within conversation",
}


def _disruption_note(rows: Sequence[Mapping[str, Any]], interval: str, cluster_name: str) -> str:
    clusters = _present.count_range(row["n_clusters"] for row in rows)
    resamples = _present.count_range(row["n_boot"] for row in rows)
    seed = _present.seed(rows, frame_name="disruption")
    return (
        f"{interval}: bootstrap over whole {cluster_name} (number: {clusters}; B = {resamples} resamples; "
        f"{seed}). {undefined_note(rows, 'd')} p: two-sided, of no difference, from leaving out each of the "
        f"{cluster_name}; not adjusted."
    )


def _disruption_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    return (
        str(row["label"]),
        str(row["whose"]),
        _present.count(row["n_with"]),
        _present.count(row["n_without"]),
        *(_present.number(row[name], digits) for name in ("mean_with", "mean_without", "mean_difference")),
        _present.number_interval(row["difference_low"], row["difference_high"], digits),
        _present.number(row["cohens_d"], digits),
        _present.number_interval(row["d_low"], row["d_high"], digits),
        _present.p_value(row["p"]),
    )


_MEASURES: Final[Mapping[str, str]] = {
    "spearman": "Spearman's ρ",
    "accuracy": "Accuracy",
    "macro_f1": "Macro-F1",
    "within_one": "Within one",
    "mae": "MAE",
    "accuracy_over_majority": "Over majority",
}


def rating(
    comparison: pd.DataFrame,
    *,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "participants",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate the accuracy of predicted ratings, one row per predictor, both baselines included.

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
        rows=tuple(_rating_row(row, digits) for row in [*own, *others]),
        notes=(*_rating_notes(own, others, cluster_name), *notes, made_with(None)),
        alignments=left_then_right(1, 7),
    )


def _rating_row(row: Mapping[str, Any], digits: int) -> tuple[str, ...]:
    label = str(row["label"]) + (" *" if pd.isna(row["n"]) else "")
    return (label, _present.count(row["n"]), *(_measure(row, name, digits) for name in _MEASURES))


def _measure(row: Mapping[str, Any], name: str, digits: int) -> str:
    """Return a measure and, in a second line, its interval; that of an exact 0 by definition is none."""
    ends = (row[f"{name}_low"], row[f"{name}_high"])
    if name == "mae":
        value, interval = _present.number(row[name], digits), _present.number_interval(*ends, digits)
    else:
        value, interval = _present.coefficient(row[name], digits), _present.interval(*ends, digits)
    return value if interval == MISSING or ends == (0, 0) else f"{value}\n{interval}"


def _rating_notes(
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
            f"* {names}: published figures, computed on other data. They are no result on these "
            "texts and are not to be compared with the rows above as if they were; "
            f"{MISSING} = not published."
        )
    return notes

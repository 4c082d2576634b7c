"""How many ratings are missing, and what they could change of the links of codes with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.links.models import MISSING_RATINGS
from sense7_qual.report._table import Table, basis_notes, left_then_right, made_with, reason_notes


def missing(
    missing: pd.DataFrame,
    *,
    source: str,
    codebook: Codebook | None = None,
    digits: int = 2,
    rating: str | None = None,
    cluster_name: str = "clusters",
    notes: Sequence[str] = (),
) -> Table:
    """Tabulate how many ratings are missing, and what they could do to each code's link, a row per code.

    Parameters
    ----------
    missing : DataFrame
        The result of `links.models.missing_ratings`.
    source : str
        Whose decisions: a coder, "majority" or "consensus". There is no default.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    digits : int
        Decimals of the effects, their intervals and the deltas (1–6); p has three, percentages one.
    rating : str, optional
        What was rated, for the title.
    cluster_name : str
        What the clusters are, as a plural, such as "participants".
    notes : sequence of str
        Further lines for the foot.

    Returns
    -------
    Table
        Code, missing ratings with and without it, p of their difference, rank-biserial r of the rated texts
        with interval, its bounds, and the deltas at which sign and interval change, in either direction.

    Raises
    ------
    TableError
        A column is missing, there is no such source, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `digits` is out of range.

    Examples
    --------
    >>> result = MISSING_RATINGS.example(
    ...     code="prosocial", source="majority", direction=["same", "opposite"], delta=0, n_with=38,
    ...     n_without=62, n_missing_with=12, n_missing_without=8, missing_with=0.24, missing_without=0.114,
    ...     missing_p=0.041, n_clusters=40, rank_biserial=0.31, rank_biserial_low=0.09,
    ...     rank_biserial_high=0.53, lowest=-0.05, highest=0.5, delta_sign=[None, -1.618],
    ...     delta_interval=[-2.2, -0.742], confidence_level=0.95)
    >>> missing(result, source="majority").rows[0][:7]
    ('prosocial', '12 (24.0)', '8 (11.4)', '.041', '.31', '[.09, .53]', '[−.05, .50]')
    >>> missing(result, source="majority").rows[0][7:]
    ('–', '−2.20', '−1.62', '−0.74')
    """
    check_arguments(globals()["missing"], locals())  # a parameter has its name
    MISSING_RATINGS.require(missing)
    observed = missing[missing["delta"] == 0]
    ways = {way: observed[observed["direction"] == way] for way in ("same", "opposite")}
    rows = _present.of_sources(ways["same"], [source], codebook)
    other = ways["opposite"].loc[ways["opposite"]["source"] == source].set_index("code")
    interval = _present.interval_name(rows, frame_name="missing")
    return Table(
        title=f"Missing {rating or 'ratings'} and what they could change",
        headers=(
            "Code",
            "Missing with (%)",
            "Missing without (%)",
            "p",
            "Rank-biserial r",
            interval,
            "Bounds of r",
            *(f"δ of {what}, {way}" for way in ways for what in ("r = 0", interval)),
        ),
        rows=tuple(_missing_row(row, other.loc[row["code"]], digits) for row in rows),
        notes=(
            *basis_notes(missing[missing["source"].astype("string") == source]),
            *_missing_terms(interval, cluster_name),
            *reason_notes(rows, ("rank_biserial", "rank_biserial_low")),
            *notes,
            made_with(codebook, rows),
        ),
        alignments=left_then_right(1, 10),
    )


def _missing_row(row: Mapping[str, Any], other: pd.Series, digits: int) -> tuple[str, ...]:
    deltas = [one[name] for one in (row, other) for name in ("delta_sign", "delta_interval")]
    return (
        str(row["label"]),
        *(
            f"{_present.count(row[f'n_missing_{side}'])} ({_present.percent(row[f'missing_{side}'])})"
            for side in ("with", "without")
        ),
        _present.p_value(row["missing_p"]),
        _present.coefficient(row["rank_biserial"], digits),
        _present.interval(row["rank_biserial_low"], row["rank_biserial_high"], digits),
        _present.interval(row["lowest"], row["highest"], digits),
        *(_present.number(delta, digits) for delta in deltas),
    )


def _missing_terms(interval: str, cluster_name: str) -> list[str]:
    return [
        "Missing = decided texts with, and without, the code that lack a rating (in percent); p: of equal "
        f"shares, with {cluster_name} as clusters. "
        "Rank-biserial r: of the rated texts, as if missing ratings were like them; "
        f"{interval}: each of the {cluster_name} left out in turn, Student's t. Bounds: r of all texts lies "
        "between them whatever the missing ratings are.",
        "δ = how far, in points of the rating, missing ratings would on average have to be from the observed "
        f"ones for r to be 0, and for its {interval} to begin to hold 0 (or cease to, if it does). Same: by "
        "δ with and without the code; opposite: by δ with it and by −δ without it. – = at no δ on the scale.",
    ]

"""The correlation of each code with the rating, with its interval, for one coder or rule."""

from __future__ import annotations

import math

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.figures._figure import Columns, Figure
from sense7_qual.figures._forest import draw_rows, read_points

__all__ = ["link_plot"]


def link_plot(
    links: pd.DataFrame,
    *,
    source: str,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw the rank-biserial correlation of each code with the rating, with its interval, for one source.

    One row per code, from the top in the codebook's order (without one, in the frame's); right of the line
    at zero, texts with the code are rated higher. A code whose interval is missing is a hollow point marked
    "no interval"; one whose correlation is missing is marked "not computable".

    Parameters
    ----------
    links : DataFrame
        The result of `links.code_to_rating`: code, source, rank_biserial, rank_biserial_low,
        rank_biserial_high (each −1 to 1), confidence_level.
    source : str
        Whose decisions: a coder, "majority" or "consensus".
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, there is no such source, a code has several rows for it, or rows were computed
        with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `columns` is out of range.

    Examples
    --------
    >>> result = pd.DataFrame({"code": ["prosocial"], "source": ["majority"], "rank_biserial": [0.21],
    ...     "rank_biserial_low": [-0.01], "rank_biserial_high": [0.41], "confidence_level": [0.95]})
    >>> print(link_plot(result, source="majority").description)
    Rank-biserial r with 95% CI (majority) for each code. prosocial: .21 [−.01, .41].
    """
    check_arguments(link_plot, locals())
    names = ("rank_biserial", "rank_biserial_low", "rank_biserial_high")
    chosen = _present.of_source(links, source)
    rows, interval = read_points(chosen, names, frame_name="links", codebook=codebook)
    title = f"Rank-biserial r with {interval} ({source})"
    sizes = [abs(row[name]) for row in rows for name in ("at", "low", "high") if row[name] is not None]
    limit = min(1.0, max(0.4, math.ceil(max(sizes, default=0.0) * 5) / 5))
    return draw_rows(
        rows,
        domain=(-limit, limit),
        titles=(title, "← rated lower with code · higher\u00a0→"),
        marks={0.0: ""},
        columns=columns,
        description=f"{title} for each code.",
    )

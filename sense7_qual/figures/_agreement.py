"""The agreement of each code with its interval."""

from __future__ import annotations

import math

import pandas as pd

from sense7_qual import _present
from sense7_qual._arguments import check_arguments
from sense7_qual.codebook import Codebook
from sense7_qual.figures._figure import Columns, Figure
from sense7_qual.figures._forest import draw_rows, read_points

__all__ = ["agreement_plot"]


def agreement_plot(
    agreement: pd.DataFrame,
    *,
    codebook: Codebook | None = None,
    columns: Columns = 1,
) -> Figure:
    """Draw Krippendorff's alpha of each code with its interval.

    One row per code, from the top in the codebook's order (without one, in the frame's). Dashed lines stand
    at .667 and .800, Krippendorff's conventions; they decide nothing. A code whose interval is missing is a
    hollow point marked "no interval"; one whose alpha is missing is marked "not computable".

    Parameters
    ----------
    agreement : DataFrame
        The result of `agreement.by_code`: code, alpha, alpha_low, alpha_high (each at most 1),
        confidence_level.
    codebook : Codebook, optional
        Gives the labels and the order of the codes.
    columns : {1, 2}
        Width on the page: one column (85 mm) or two (178 mm).

    Raises
    ------
    TableError
        A column is missing, a code has several rows, or rows were computed with different levels.
    CodebookError
        A code is not in the codebook.
    ArgumentError
        `columns` is out of range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), chapter 11.

    Examples
    --------
    >>> result = pd.DataFrame({"code": ["prosocial"], "alpha": [0.77], "alpha_low": [0.64],
    ...     "alpha_high": [0.87], "confidence_level": [0.95]})
    >>> print(agreement_plot(result).description)
    Krippendorff's α with 95% CI for each code. prosocial: .77 [.64, .87].
    """
    check_arguments(agreement_plot, locals())
    names = ("alpha", "alpha_low", "alpha_high")
    rows, interval = read_points(agreement, names, frame_name="agreement", codebook=codebook)
    title = f"Krippendorff's α with {interval}"
    lowest = min([0.0, *(row[name] for row in rows for name in ("at", "low") if row[name] is not None)])
    return draw_rows(
        rows,
        domain=(math.floor((lowest + 0.002) * 5) / 5, 1.0),
        titles=(title, "Dashed: conventions .667 and .800"),
        marks={0.667: ".667", 0.8: ".800"},
        columns=columns,
        description=f"{title} for each code.",
        printed=_present.alpha,
    )

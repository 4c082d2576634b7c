"""Agreement category by category, each against all others together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual.agreement._results import CATEGORIES
from sense7_qual.agreement._values import read_values
from sense7_qual.agreement.coefficients._compute import compute
from sense7_qual.agreement.coefficients._patterns import Patterns, tally
from sense7_qual.agreement.coefficients._weights import check_scale

__all__ = ["per_category"]


@CATEGORIES.returns
def per_category(
    values: npt.ArrayLike | Patterns, *, categories: Sequence[Any] | None = None
) -> pd.DataFrame:
    """Return the agreement on each category against all others together.

    Use it to see which category of a scale coders cannot tell from the others. A category is taken for given
    or not given; where codes are not exclusive, take `by_code` instead.

    Parameters
    ----------
    values : array-like (coders, units), frame of `from_wide`, or Patterns
        What each coder gave each unit; None or NaN is missing. Units with two or more values count, for alpha
        and specific agreement; for the chance agreement of Fleiss' kappa all units do.
    categories : sequence, optional
        All values that could have been given; any other is refused. Without it, a number that looks like a
        code for missing is.

    Raises
    ------
    TableError
        `values` is not a table of numbers or of strings, or a number looks like a code for missing.
    ArgumentError
        A value is missing in `categories`.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters, Psychological Bulletin 76, 378–382:
    the conditional kappa of a category is the kappa of the category against the rest.

    Examples
    --------
    >>> per_category([["a", "a", "b", "c"], ["a", "b", "b", "c"]])[["category", "fleiss_kappa"]].round(3)
      category  fleiss_kappa
    0        a         0.467
    1        b         0.467
    2        c         1.000
    """
    check_arguments(per_category, locals())
    patterns = values if isinstance(values, Patterns) else tally(read_values(values))
    check_scale(patterns, categories)
    paired = patterns.pairable()
    rows = []
    for place, category in enumerate(patterns.categories):
        binary = _against_rest(patterns, place)
        given = _against_rest(paired, int(np.flatnonzero(paired.categories == category)[:1].sum()), category)
        alpha = compute("krippendorff_alpha", binary, {"level": "nominal"})
        rows.append(
            {
                "category": category,
                "n_units": int(given.n_units[given.counts[:, -1] > 0].sum()),
                "prevalence": given.marginals[-1] / given.marginals.sum() if len(given.n_units) else np.nan,
                "alpha": alpha.coefficient.estimate,
                "fleiss_kappa": compute("fleiss_kappa", binary, {}).coefficient.estimate,
                "specific_agreement": compute(
                    "specific_agreement", binary, {"category": 1}
                ).coefficient.estimate,
                "reason": alpha.reason,
            }
        )
    return CATEGORIES.frame(rows)


def _against_rest(patterns: Patterns, place: int, category: object = None) -> Patterns:
    """Return the patterns of a category given (1) or another (0)."""
    known = category is None or (place < len(patterns.categories) and patterns.categories[place] == category)
    given = patterns.counts[:, place] if known else np.zeros(len(patterns.counts), dtype=np.int64)
    counts = np.stack([patterns.n_values - given, given], axis=1)
    return Patterns(np.array([0.0, 1.0]), counts, patterns.n_units)

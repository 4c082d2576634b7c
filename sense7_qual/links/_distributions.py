"""How ratings are distributed among the units with and without each code."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._rests_on import rests_on
from sense7_qual.links import _inputs
from sense7_qual.links._inputs import RatingRange
from sense7_qual.links._results import DISTRIBUTIONS


@rests_on("decisions")
@DISTRIBUTIONS.returns
def distributions(
    decisions: pd.DataFrame,
    units: pd.DataFrame,
    *,
    rating: str,
    rating_range: RatingRange = None,
    sources: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Count the units at each level of the rating, with and without each code.

    Parameters
    ----------
    decisions : DataFrame
        unit_id, coder, code, applied (bool). A unit that a source has not decided on is missing for it.
    units : DataFrame
        unit_id and the column named by `rating`. A unit without a rating is left out.
    rating : str
        The column of numeric ratings.
    rating_range, sources
        As for `code_to_rating`, except "pooled", which has no units of its own.

    Raises
    ------
    TableError
        A column is missing or of the wrong type, or a source is unknown.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": list("abc"), "empathy": [5, 4, 4]})
    >>> decisions = pd.DataFrame({"unit_id": list("abc"), "coder": "ana", "code": "prosocial",
    ...                           "applied": [True, True, False]})
    >>> counts = distributions(decisions, units, rating="empathy")
    >>> counts[["applied", "level", "n", "share"]].values.tolist()
    [[True, 4.0, 1, 0.5], [True, 5.0, 1, 0.5], [False, 4.0, 1, 1.0], [False, 5.0, 0, 0.0]]
    """
    check_arguments(distributions, locals())
    decisions = _inputs.checked_decisions(decisions, sources, function="distributions")
    chosen = [name for name in _inputs.chosen_sources(decisions, sources) if name != "pooled"]
    rated = _inputs.rated_units(decisions, units, rating, "unit_id", rating_range=rating_range)
    levels = sorted(rated["rating"].unique())
    codes = list(decisions["code"].unique())
    parts = []
    for source, decided in _inputs.by_source(decisions, chosen).items():
        grid = pd.MultiIndex.from_product([codes, [True, False], levels], names=["code", "applied", "rating"])
        counts = decided.merge(rated, on="unit_id", how="inner").groupby(["code", "applied", "rating"]).size()
        parts.append(counts.reindex(grid, fill_value=0).rename("n").reset_index().assign(source=source))
    if not parts:
        return DISTRIBUTIONS.empty()
    whole = pd.concat(parts, ignore_index=True).rename(columns={"rating": "level"})
    of_side = whole.groupby(["source", "code", "applied"])["n"].transform("sum")
    return DISTRIBUTIONS.frame(whole.assign(share=whole["n"] / of_side.where(of_side > 0)))

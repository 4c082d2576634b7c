"""Agreement of a coder with their earlier self."""

from __future__ import annotations

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._bootstrap import check_resampling
from sense7_qual._messages import first_three
from sense7_qual.agreement._by_code import by_code
from sense7_qual.agreement._counts import own_decisions
from sense7_qual.errors import TableError

__all__ = ["stability"]


def stability(
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    units: pd.DataFrame | None = None,
    cluster: str | None = None,
    n_boot: int = 2000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Return how well each coder agrees with their own earlier decisions: intra-coder agreement.

    Use it where one coder codes alone, or to tell a coder's own wavering from a disagreement between
    coders. Do not report it as the reliability of the data: it is the weakest form, which also a coder who
    is consistently wrong attains.

    Parameters
    ----------
    first, second : DataFrame
        unit_id, coder, code, applied (bool): the earlier and the later decisions, such as those of two
        rounds. A unit counts for a coder who decided on it in both.
    units, cluster, n_boot, confidence_level, seed
        As for `by_code`.

    Returns
    -------
    DataFrame
        One row per coder × code, coders sorted: coder, and all columns of `by_code`, in which the two times
        stand in the place of two coders.

    Raises
    ------
    TableError
        A frame is not what its contract says, or no coder stands in both.
    ArgumentError
        A setting of the resampling is out of its range.

    References
    ----------
    Krippendorff (2004), Content Analysis: An Introduction to Its Methods (2nd ed.), section 11.2: stability.

    Examples
    --------
    >>> rows = [(f"m{i}", "ana", "interest", i % 2 == 0) for i in range(10)]
    >>> first = pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])
    >>> second = first.assign(applied=[not first["applied"][0], *first["applied"][1:]])
    >>> stability(first, second, seed=7)[["coder", "n_units", "percent"]].values.tolist()
    [['ana', 10, 0.9]]
    """
    check_arguments(stability, locals())
    check_resampling("stability", n_boot=n_boot, confidence_level=confidence_level, seed=seed)
    earlier, later = (own_decisions(frame, function="stability") for frame in (first, second))
    coders = sorted(set(earlier["coder"]) & set(later["coder"]))
    if not coders:
        known = [*earlier["coder"].unique(), *later["coder"].unique()]
        raise TableError(
            f"decisions: expected a coder with decisions at both times – found "
            f"{first_three(known) or 'no decisions'}, each at one – pass the decisions of both rounds."
        )
    parts = []
    for coder in coders:
        times = [
            frame[frame["coder"] == coder].assign(coder=name)
            for name, frame in (("first", earlier), ("second", later))
        ]
        both = pd.concat(times, ignore_index=True)
        rows = by_code(
            both, units=units, cluster=cluster, n_boot=n_boot, confidence_level=confidence_level, seed=seed
        )
        parts.append(rows.assign(coder=pd.array([coder] * len(rows), dtype="string")))
    rows = pd.concat(parts, ignore_index=True)
    return rows[["coder", *(name for name in rows if name != "coder")]]

"""Which theme of a new run is which of those recorded before: optimal matching of the units they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act
from sense7_qual.errors import ArgumentError
from sense7_qual.themes._communities import NO_GROUP
from sense7_qual.themes._neighbours import Floats
from sense7_qual.themes._results import MATCHED
from sense7_qual.themes._study_themes import StudyThemes, study_themes
from sense7_qual.themes._themes import Themes

__all__ = ["match_recorded"]

#: A theme keeps its number where it shares at least so much with the one before.
_SAME: Final = 0.5

_Members = Mapping[int, frozenset[str]]


@MATCHED.returns
def match_recorded(themes: Themes, acts: Iterable[Act]) -> pd.DataFrame:
    """Match the themes of a run to those that the study has, before or without recording it.

    The themes of both runs are paired so that the sum of their Jaccard similarities, over the units that both
    runs had, is largest; a pair of .5 or more is one theme, which keeps its number and so its name, its code,
    and whether it is merged or dismissed. A theme without such a partner is compared with merged themes, and
    with themes before they were split, as a whole. Otherwise it is a new one.

    Parameters
    ----------
    themes
        The result of `fit`.
    acts
        The acts of the study, such as ``store.acts()``.

    References
    ----------
    Crouse (2016), IEEE Transactions on Aerospace and Electronic Systems 52, 1679–1696 (the assignment, as
    SciPy solves it); Jaccard (1901).

    Examples
    --------
    >>> themes = Themes(terms=pd.DataFrame(), summary=pd.DataFrame({"theme": [0, 1]}), quotes=pd.DataFrame(),
    ...     assignments=pd.DataFrame({"unit_id": ["a", "b", "c"], "theme": [0, 0, 1]}), parameters={})
    >>> match_recorded(themes, [])[["run_theme", "theme", "is_new"]]
       run_theme  theme  is_new
    0          0      0    True
    1          1      1    True
    """
    acts = read_once(acts)
    check_arguments(match_recorded, locals())
    if not isinstance(themes, Themes):
        raise ArgumentError(
            f"match_recorded: expected the result of themes.fit – found {type(themes).__name__} – pass that."
        )
    before = study_themes(acts)
    inside = themes.assignments[themes.assignments["theme"] != NO_GROUP]
    new = {int(n): frozenset[str]() for n in themes.summary["theme"]}
    new |= {int(str(n)): frozenset(ids) for n, ids in inside.groupby("theme")["unit_id"]}
    had = frozenset() if before.run is None else frozenset(before.run.assignments["unit_id"])
    common = had & frozenset(themes.assignments["unit_id"])
    similar = _jaccard(new, before.members, common)
    numbers = _pairs(similar, list(new), list(before.members))
    numbers |= _wholes(new, before, common, numbers)
    return _rows(new, before, numbers, similar)


def _jaccard(new: _Members, old: _Members, common: frozenset[str]) -> Floats:
    """Return the Jaccard similarity of each new theme (row) to each old one (column) on the common units."""
    place = {unit_id: number for number, unit_id in enumerate(sorted(common))}
    rows, columns = np.zeros((len(new), len(place)), bool), np.zeros((len(old), len(place)), bool)
    for table, members in ((rows, new), (columns, old)):
        for number, units in enumerate(members.values()):
            table[number, [place[unit_id] for unit_id in units & common]] = True
    both = rows.astype(np.float32) @ columns.T.astype(np.float32)
    either = rows.sum(axis=1)[:, None] + columns.sum(axis=1)[None, :] - both
    similar: Floats = np.divide(both, either, out=np.zeros(both.shape), where=either > 0)
    return similar


def _pairs(similar: Floats, new: list[int], old: list[int]) -> dict[int, int]:
    """Return the old number of each new theme that has a partner, by the largest sum of similarities."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(similar, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {new[row]: old[column] for row, column in pairs if similar[row, column] >= _SAME}


def _wholes(
    new: _Members, before: StudyThemes, common: frozenset[str], numbers: Mapping[int, int]
) -> dict[int, int]:
    """Match what has no partner to merged themes, and to themes before a split, as a whole."""
    wholes = {root: before.units_of(root) for root, parts in before.groups.items() if parts != [root]}
    wholes |= before.unsplit
    taken = set(numbers.values())
    left = {number: units for number, units in new.items() if number not in numbers}
    free = {number: units for number, units in wholes.items() if number not in taken}
    return _pairs(_jaccard(left, free, common), list(left), list(free))


def _rows(new: _Members, before: StudyThemes, numbers: Mapping[int, int], similar: Floats) -> pd.DataFrame:
    fresh = iter(range(before.n_numbers, before.n_numbers + len(new)))
    old = np.array(list(before.members), dtype=np.int64)
    ended = [place for place, number in enumerate(old.tolist()) if number not in numbers.values()]
    rows: list[tuple[object, ...]] = []
    for place, number in enumerate(new):
        nearest = int(similar[place].argmax()) if len(old) else None
        rows.append((number, numbers[number] if number in numbers else next(fresh), number not in numbers,
                     pd.NA if nearest is None else int(old[nearest]),
                     np.nan if nearest is None else similar[place, nearest]))  # fmt: skip
    rows += [(pd.NA, int(old[place]), False, int(old[place]), similar[:, place].max(initial=0.0))
             for place in ended]  # fmt: skip
    return MATCHED.frame(rows)

"""The acts that record themes in a study, and those with which people change them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import UNITS
from sense7_qual.themes._communities import NO_GROUP
from sense7_qual.themes._neighbours import Floats
from sense7_qual.themes._record import EDITS, Edit, StudyThemes, edit_text, run_text, study_themes
from sense7_qual.themes._results import MATCHED
from sense7_qual.themes._themes import Themes


def record(
    themes: Themes, acts: Iterable[Act], *, coder: str, codebook: Codebook
) -> tuple[Act, pd.DataFrame]:
    """Make the act that records themes, each under its permanent number in the study.

    The act holds ids of units and numbers, but no words: terms and labels are computed from the study's texts
    each time they are read (`recorded`). `Store.record_themes` calls this function and appends the act.

    Parameters
    ----------
    themes
        The result of `fit`.
    acts
        The acts of the study so far.
    coder
        The pseudonym of the person who records them.
    codebook
        The codebook of the study.

    Returns
    -------
    tuple of Act and DataFrame
        The act, and the result of `match_recorded`.

    Raises
    ------
    ArgumentError
        `themes` is not the result of `fit`.

    Examples
    --------
    >>> themes = Themes(terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={"seed": 0},
    ...     summary=pd.DataFrame({"theme": [0], "stability": .8, "dissolved": .0, "recovered": .9}),
    ...     assignments=pd.DataFrame({"unit_id": ["a"], "theme": [0], "similarity": [.7], "coarse": [0],
    ...         "sub": [0]}), hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [.8]}))
    >>> act, numbers = record(themes, [], coder="lead", codebook=Codebook.read("sense7"))
    >>> act.kind, numbers["theme"].tolist()
    ('record_themes', [0])
    """
    acts = read_once(acts)
    check_arguments(record, locals())
    numbers = match_recorded(themes, acts)
    run = study_themes(acts).run
    own = numbers.dropna(subset="run_theme")
    lasting = dict(zip(own["run_theme"].astype(int).tolist(), own["theme"].tolist(), strict=True))
    text = run_text(themes, lasting, "" if run is None else run.act_id)
    return Act(kind="record_themes", text=text, **stamp(coder, codebook, None, None)), numbers


def edit(
    theme: int,
    acts: Iterable[Act],
    units: pd.DataFrame,
    *,
    coder: str,
    codebook: Codebook,
    name: str | None = None,
    merge_into: int | None = None,
    dismissed: bool | None = None,
    parts: Sequence[Collection[str]] | None = None,
    code: str | None = None,
    why: str = "",
) -> Act:
    """Make the act with which a person names, merges, dismisses or splits a theme, or links it to a code.

    `Store.edit_theme` calls this function and appends the act. An edit is undone by its opposite.

    Parameters
    ----------
    theme
        Its number in the study.
    acts, units
        The acts and the units of the study.
    coder, codebook
        The person's pseudonym, and the codebook of the study.
    name
        Its name, in one line; "" to use its terms again.
    merge_into
        The number of the theme that it becomes part of; its own number to separate it again.
    dismissed
        True to dismiss it; False to bring it back.
    parts
        Ids of units that become themes of their own, one collection each; units with an equal text go with
        them. The other units keep the number; if there are none, the largest part does.
    code
        The id of the code made from it; "" for none.
    why
        The reason, of at most 1,000 characters, for the themes' `history`.

    Returns
    -------
    Act

    Raises
    ------
    TableError
        No run was recorded.
    ArgumentError
        The theme or code does not exist, not exactly one edit is asked for, or it is impossible.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["a"], "text": ["So kind"], "document_id": "d", "case_id": "p",
    ...     "position": 1})
    >>> sense7 = Codebook.read("sense7")
    >>> themes = Themes(terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={"seed": 0},
    ...     summary=pd.DataFrame({"theme": [0], "stability": .8, "dissolved": .0, "recovered": .9}),
    ...     assignments=pd.DataFrame({"unit_id": ["a"], "theme": [0], "similarity": [.7], "coarse": [0],
    ...         "sub": [0]}), hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [.8]}))
    >>> act, _ = record(themes, [], coder="lead", codebook=sense7)
    >>> edit(0, [act], units, name="Kindness", coder="lead", codebook=sense7).kind
    'edit_theme'
    """
    acts = read_once(acts)
    check_arguments(edit, locals())
    values = {"name": name, "merge_into": merge_into, "dismissed": dismissed, "parts": parts, "code": code}
    given = {what: value for what, value in values.items() if value is not None}
    if len(given) != 1:
        raise ArgumentError(
            f"edit_theme: expected one edit – found {first_three(given) if given else 'none'} – pass "
            f"one of {', '.join(EDITS)}."
        )
    state = study_themes(acts)
    run = _run_with(state, theme, given)
    [(what, value)] = given.items()
    made = Edit(run, theme, what, _checked(what, value, theme, state, codebook), why=_reason(why))
    if what == "parts":
        made = _split(made, state, UNITS.check(units))
    return Act(kind="edit_theme", text=edit_text(made), **stamp(coder, codebook, None, None))


def _reason(why: str) -> str:
    reason = " ".join(why.split())
    if len(reason) > 1000:
        raise ArgumentError(
            f"edit_theme: expected a reason of at most 1,000 characters as why – found {len(reason):,} – "
            "write the rest as a memo on the study."
        )
    return reason


def _run_with(state: StudyThemes, theme: int, given: Collection[str]) -> str:
    if state.run is None:
        raise TableError(
            "edit_theme: expected themes in the study's record – found none – record them first, with "
            "store.record_themes(themes.fit(store.units, embed=…), coder=…)."
        )
    parts_too = [*state.members, *state.groups] if "merge_into" in given else [*state.groups]
    if theme not in parts_too:
        into = f", which was merged into {state.root(theme)}" if theme in state.merged else ""
        raise ArgumentError(
            f"edit_theme: expected the number of a theme of the study ({first_three(sorted(state.groups))}) "
            f"– found {theme}{into} – see store.themes.summary."
        )
    return state.run.act_id


def _checked(what: str, value: Any, theme: int, state: StudyThemes, codebook: Codebook) -> Any:
    problem = None
    if what == "name" and (value != value.strip() or len(value) > 200 or len(value.splitlines()) > 1):
        problem = "a name in one line of at most 200 characters, without space at its ends", "another"
    elif what == "code" and value and value not in codebook:
        problem = "the id of a code of the codebook", repr(value[:60])
    elif what == "merge_into":
        problem = _merge_problem(theme, value, state)
    if problem:
        raise ArgumentError(
            f"edit_theme: expected {problem[0]} as {what} of theme {theme} – found {problem[1]} – nothing "
            "was recorded."
        )
    return [sorted(set(part)) for part in value] if what == "parts" else value


def _merge_problem(theme: int, into: int, state: StudyThemes) -> tuple[str, str] | None:
    if into == theme:
        return None if theme in state.merged else ("another theme", "itself, which is not merged")
    if theme in state.merged:
        return "its own number", f"{into}; it is merged into {state.root(theme)}: separate it first"
    return None if into in state.groups else ("the number of a theme of the study", str(into))


def _split(made: Edit, state: StudyThemes, units: pd.DataFrame) -> Edit:
    """Return the split with units of equal text in one part, and the numbers of the parts."""
    own = state.units_of(made.theme) & frozenset(units["unit_id"])
    there = units[units["unit_id"].isin(own)]
    text_of = dict(zip(there["unit_id"], there["text"].fillna("").str.strip(), strict=True))
    unknown = [unit_id for part in made.value for unit_id in part if unit_id not in own]
    if unknown or not made.value or not all(made.value):
        raise ArgumentError(
            f"edit_theme: expected parts of units of theme {made.theme} – found "
            f"{first_three(unknown) if unknown else 'an empty part'} – see store.themes.assignments."
        )
    part_of: dict[str, int] = {}
    for number, part in enumerate(made.value):
        for unit_id in part:
            if part_of.setdefault(text_of[unit_id], number) != number:
                raise ArgumentError(
                    "edit_theme: expected each text in one part – found a unit, or two units with an equal "
                    "text, in two – leave one of them out."
                )
    parts = [
        sorted(unit_id for unit_id, text in text_of.items() if part_of.get(text) == number)
        for number in range(len(made.value))
    ]
    numbers = list(range(state.n_numbers, state.n_numbers + len(parts)))
    if sum(map(len, parts)) == len(own):  # nothing else would keep the number
        if len(parts) == 1:
            raise ArgumentError(
                f"edit_theme: expected parts of theme {made.theme} – found all {len(own)} units in one – "
                "name two parts, or fewer units."
            )
        largest = max(range(len(parts)), key=lambda number: len(parts[number]))
        numbers = [*numbers[:largest], made.theme, *numbers[largest:-1]]
    return replace(made, value=parts, numbers=tuple(numbers))


#: A theme keeps its number where it shares at least so much with the one before.
_SAME: Final = 0.5

_Members = Mapping[int, frozenset[str]]


@MATCHED.returns
def match_recorded(themes: Themes, acts: Iterable[Act]) -> pd.DataFrame:
    """Match the themes of a run with the recorded themes of the study, without recording it.

    Two themes are one if their Jaccard similarity, over the units of both runs, is .5 or more; among such
    pairs, those with the largest sum are taken. The theme keeps its number and so its name, its code, and
    whether it is merged or dismissed. A theme without a partner is compared with merged themes, and with
    themes before they were split, as a whole. Otherwise it is new.

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
            f"match_recorded: expected the result of themes.fit, found {type(themes).__name__}."
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
    """Return the old number of each new theme that has a partner, by the largest sum of similarities.

    A pair below the threshold adds nothing to the sum, or two weak pairs would part a strong one.
    """
    from scipy.optimize import linear_sum_assignment

    counted = np.where(similar >= _SAME, similar, 0.0)
    rows, columns = linear_sum_assignment(counted, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {new[row]: old[column] for row, column in pairs if counted[row, column] > 0}


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
        rows.append(
            (
                number,
                numbers[number] if number in numbers else next(fresh),
                number not in numbers,
                pd.NA if nearest is None else int(old[nearest]),
                np.nan if nearest is None else similar[place, nearest],
            )
        )
    rows += [
        (pd.NA, int(old[place]), False, int(old[place]), similar[:, place].max(initial=0.0))
        for place in ended
    ]
    return MATCHED.frame(rows)

"""How the themes of a study came about: when each was recorded, and what people did with it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act
from sense7_qual.themes._record import Edit, Run
from sense7_qual.themes._results import HISTORY
from sense7_qual.themes._study_themes import StudyThemes, steps

__all__ = ["history"]

_DONE: Final = {
    "name": ("named", "name taken off"), "merge_into": ("merged into", "separated again"),
    "dismissed": ("dismissed", "brought back"), "parts": ("split into", ""),
    "code": ("made a code", "code taken off"),
}  # fmt: skip

Row = tuple[str, str, int, str | None, str, str | None, str | None, int]


@HISTORY.returns
def history(acts: Iterable[Act]) -> pd.DataFrame:
    """Return how the themes of a study came about, step by step.

    Parameters
    ----------
    acts
        The acts of the study, such as ``store.acts()``.

    Raises
    ------
    ActError
        An act on themes cannot be read.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.themes import Themes, edit, record
    >>> units = pd.DataFrame({"unit_id": ["a"], "text": ["So kind"], "document_id": "d", "case_id": "p",
    ...     "position": 1})
    >>> sense7 = Codebook.read("sense7")
    >>> themes = Themes(terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={"seed": 0},
    ...     summary=pd.DataFrame({"theme": [0], "stability": .8, "dissolved": .0, "recovered": .9}),
    ...     assignments=pd.DataFrame({"unit_id": ["a"], "theme": [0], "similarity": [.7], "coarse": [0],
    ...         "sub": [0]}), hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [.8]}))
    >>> run, _ = record(themes, [], coder="lead", codebook=sense7)
    >>> named = edit(0, [run], units, name="Kindness", why="All thank it", coder="lead", codebook=sense7)
    >>> history([run, named])[["theme", "done", "value", "why"]].values.tolist()
    [[0, 'recorded', <NA>, <NA>], [0, 'named', 'Kindness', 'All thank it']]
    """
    acts = read_once(acts)
    check_arguments(history, locals())
    state, seen = StudyThemes(), set[int]()
    rows: list[Row] = []
    for act, step in steps(acts):
        if isinstance(step, Run):
            rows += _of_run(act, step, state, seen)
        else:
            rows += _of_edit(act, step, state)
    return HISTORY.frame(rows)


def _of_run(act: Act, run: Run, state: StudyThemes, seen: set[int]) -> Iterator[Row]:
    before = {theme: len(units) for theme, units in state.members.items()}
    state.take(run)
    for theme, units in sorted(state.members.items()):
        if theme not in seen:
            yield (act.at, act.coder, theme, None, "recorded", None, None, len(units))
    for theme in sorted(before.keys() - state.members.keys()):
        yield (act.at, act.coder, theme, state.names.get(theme), "not found again", None, None, before[theme])
    seen |= state.members.keys()


def _of_edit(act: Act, edit: Edit, state: StudyThemes) -> Iterator[Row]:
    name, n_units, left_out = state.names.get(edit.theme), len(state.units_of(edit.theme)), state.n_left_out
    state.take(edit)
    if state.n_left_out == left_out:
        done, value = _told(edit)
        yield (act.at, act.coder, edit.theme, name, done, value, edit.why or None, n_units)


def _told(edit: Edit) -> tuple[str, str | None]:
    does, takes_back = _DONE[edit.what]
    value: Any = edit.value
    if edit.what == "merge_into":
        return (takes_back, None) if value == edit.theme else (does, str(value))
    if edit.what == "parts":
        return does, ", ".join(map(str, edit.numbers))
    if edit.what == "dismissed":
        return (does if value else takes_back), None
    return (does, value) if value else (takes_back, None)

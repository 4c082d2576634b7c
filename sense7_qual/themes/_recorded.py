"""The themes that a study has now, and how they came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act
from sense7_qual.errors import TableError
from sense7_qual.themes._communities import NO_GROUP, Labels
from sense7_qual.themes._fit import described, typical
from sense7_qual.themes._record import Edit, Run, StudyThemes, steps, study_themes
from sense7_qual.themes._results import HISTORY
from sense7_qual.themes._terms import Terms
from sense7_qual.themes._texts import Texts, distinct_texts
from sense7_qual.themes._themes import Themes

_STABILITY = ["stability", "dissolved", "recovered"]


def recorded(acts: Iterable[Act], units: pd.DataFrame) -> Themes:
    """Read the current themes of a study: the last recorded run with people's edits.

    Parameters
    ----------
    acts, units
        The acts and the units of the study, such as ``store.acts()`` and ``store.units``. Units added after
        the run have no row in `assignments`; those of participants who withdrew are left out.

    Returns
    -------
    Themes
        As `fit` returns them, but `theme` is the permanent number of a theme in the study, over all runs.
        `summary` also has `name` (given by a person, then also its `label`; else missing), `dismissed`,
        `code` (the id of the code made from it; missing without one) and `merged` (the number of themes
        merged into it, 1 if none were); and `expected` if the run was given the codebook. Dismissed themes
        are in all frames. Stability is that of the run; missing for a theme that people merged or split.
        ``parameters["n_edits_left_out"]`` counts edits left out because they conflict with another person's,
        made in another copy at the same time. `codes` is empty.

    Raises
    ------
    TableError
        No themes were recorded, or `units` is not a `units` frame.
    ActError
        An act on themes cannot be read.

    Examples
    --------
    >>> from sense7_qual.codebook import Codebook
    >>> from sense7_qual.themes import edit, record
    >>> units = pd.DataFrame({"unit_id": ["a", "b"], "text": ["So kind", "Kind words"], "document_id": "d",
    ...     "case_id": ["p", "q"], "position": 1})
    >>> sense7 = Codebook.read("sense7")
    >>> themes = Themes(terms=pd.DataFrame(), quotes=pd.DataFrame(), parameters={"seed": 0},
    ...     summary=pd.DataFrame({"theme": [0], "stability": .8, "dissolved": .0, "recovered": .9}),
    ...     assignments=pd.DataFrame({"unit_id": ["a", "b"], "theme": 0, "similarity": .7, "coarse": 0,
    ...         "sub": 0}), hierarchy=pd.DataFrame({"level": ["theme"], "group": [0], "stability": [.8]}))
    >>> run, _ = record(themes, [], coder="lead", codebook=sense7)
    >>> name = edit(0, [run], units, name="Kindness", coder="lead", codebook=sense7)
    >>> recorded([run, name], units).summary[["theme", "label", "n_units", "stability"]]
       theme     label  n_units  stability
    0      0  Kindness        2        0.8
    """
    acts = read_once(acts)
    check_arguments(recorded, locals())
    state = study_themes(acts)
    run = state.run
    if run is None:
        raise TableError(
            "themes: the study has no recorded themes – record them first with "
            "store.record_themes(themes.fit(store.units, embed=…), coder=…)."
        )
    theme_of = {unit: root for root in state.groups for unit in state.units_of(root)}
    rows = run.assignments.assign(theme=run.assignments["unit_id"].map(theme_of).fillna(NO_GROUP))
    known = distinct_texts(units[units["unit_id"].isin(rows["unit_id"])])
    rows = rows.set_index("unit_id").loc[known.units["unit_id"]].reset_index()
    rows = rows.astype({"unit_id": known.units["unit_id"].dtype, "theme": "int64", "similarity": "float64"})
    return _themes(known, rows, run, state)


def _themes(texts: Texts, rows: pd.DataFrame, run: Run, state: StudyThemes) -> Themes:
    stop_words = run.parameters.get("stop_words", "english")
    terms = Terms(texts.distinct, stop_words)
    listed = {name: terms.of(_of_texts(texts, rows[name])) for name in ("coarse", "theme", "sub")}
    stability = _stability(run, state)
    summary = described(texts, rows["theme"], listed["theme"]).join(stability)
    summary.insert(4, "similarity", rows.groupby("theme")["similarity"].mean().reindex(summary.index))
    summary = _with_edits(summary, state)
    if run.expected is not None:
        summary = summary.assign(expected=_expected(run, run.expected, rows))
    return Themes(
        assignments=rows,
        terms=listed["theme"],
        summary=summary.rename_axis("theme").reset_index(),
        quotes=typical(texts, rows),
        parameters=run.parameters | {"n_edits_left_out": state.n_left_out, "n_themes": len(summary)},
        granularities=run.granularities,
        hierarchy=_hierarchy(texts, rows, run, listed, summary),
    )


def _of_texts(texts: Texts, labels: pd.Series) -> Labels:
    """Return the label of each distinct text; a blank text has none."""
    of_text = np.full(len(texts.distinct), NO_GROUP, dtype=np.int64)
    inside = texts.text_of >= 0
    of_text[texts.text_of[inside]] = labels.to_numpy()[inside]
    return of_text


def _stability(run: Run, state: StudyThemes) -> pd.DataFrame:
    """Return the run's stability of the themes that are still those of the run."""
    same = [root for root, parts in state.groups.items() if parts == [root] and root not in state.unsplit]
    values = run.summary.set_index("theme")[_STABILITY].astype("float64")
    return values.loc[values.index.isin(same)]


def _expected(run: Run, codes: dict[int, str], rows: pd.DataFrame) -> pd.Series:
    """Return the code that the run expected of most units of each theme; missing where that is none."""
    of_unit = run.assignments.set_index("unit_id")["theme"].map(codes).fillna("")
    most = rows["unit_id"].map(of_unit).groupby(rows["theme"]).agg(lambda found: found.mode().iloc[0])
    named = most.astype("string")
    return named.where(named != "")


def _with_edits(summary: pd.DataFrame, state: StudyThemes) -> pd.DataFrame:
    numbers = [int(number) for number in summary.index]
    names = pd.Series([state.names.get(number) for number in numbers], summary.index, dtype="string")
    return summary.assign(
        label=names.fillna(summary["label"]),
        name=names,
        dismissed=[number in state.dismissed for number in numbers],
        code=pd.Series([state.codes.get(number) for number in numbers], summary.index, dtype="string"),
        merged=[len(state.groups[number]) for number in numbers],
    )


def _hierarchy(
    texts: Texts, rows: pd.DataFrame, run: Run, listed: dict[str, pd.DataFrame], themes: pd.DataFrame
) -> pd.DataFrame:
    """Return the levels of the run with the themes as they stand; a theme that was merged over two coarse
    ones stands in the one with most of its units."""
    columns = ["label", "n_units", "n_texts", "n_cases", "stability"]
    levels = []
    for name, above in (("coarse", None), ("theme", "coarse"), ("sub", "theme")):
        stability = run.hierarchy[run.hierarchy["level"] == name].set_index("group")[["stability"]]
        level = themes if name == "theme" else described(texts, rows[name], listed[name]).join(stability)
        parent = pd.Series(pd.NA, index=level.index, dtype="Int64")
        if above is not None:
            inside = rows[(rows[name] != NO_GROUP) & (rows[above] != NO_GROUP)]
            most = inside.groupby(name)[above].agg(lambda numbers: numbers.mode().iloc[0])
            parent = most.reindex(level.index).astype("Int64")
        level = level[columns].rename_axis("group").reset_index()
        level.insert(0, "level", pd.Series(name, index=level.index, dtype="string"))
        level.insert(2, "parent", parent.to_numpy())
        levels.append(level)
    return pd.concat(levels, ignore_index=True)


_DONE: Final = {
    "name": ("named", "name taken off"),
    "merge_into": ("merged into", "separated again"),
    "dismissed": ("dismissed", "brought back"),
    "parts": ("split into", ""),
    "code": ("made a code", "code taken off"),
}

Row = tuple[str, str, int, str | None, str, str | None, str | None, int]


@HISTORY.returns
def history(acts: Iterable[Act]) -> pd.DataFrame:
    """List the history of the themes of a study, step by step.

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

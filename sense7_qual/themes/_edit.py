"""The acts by which themes come into the study's record, and by which people change them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual._messages import first_three
from sense7_qual.acts import Act, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.frames import UNITS
from sense7_qual.themes._identities import match_recorded
from sense7_qual.themes._record import EDITS, Edit, edit_text, run_text
from sense7_qual.themes._study_themes import StudyThemes, study_themes
from sense7_qual.themes._themes import Themes

__all__ = ["edit", "record"]


def record(
    themes: Themes, acts: Iterable[Act], *, coder: str, codebook: Codebook
) -> tuple[Act, pd.DataFrame]:
    """Make the act that records themes, each under the number that it keeps in the study.

    The act holds ids of units and numbers, and no words: terms and labels are computed anew from the texts
    that the study has when they are read (`recorded`). `Store.record_themes` calls it and appends the act.

    Parameters
    ----------
    themes
        The result of `fit`.
    acts
        The acts of the study so far.
    coder
        The pseudonym of who records them.
    codebook
        The codebook of the study.

    Returns
    -------
    tuple of Act and DataFrame
        The act, and what `match_recorded` returns.

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
    """Make the act by which a person names, merges, dismisses or splits a theme, or links it to a code.

    `Store.edit_theme` calls it and appends the act. What is done is taken back by its opposite.

    Parameters
    ----------
    theme
        Its number in the study.
    acts, units
        The acts and the units of the study.
    coder, codebook
        Who does it, and the codebook of the study.
    name
        What people call it, in one line; "" for its terms again.
    merge_into
        The number of the theme that it becomes part of; its own, to be a theme by itself again.
    dismissed
        Whether it is left out as no theme; False brings it back.
    parts
        Ids of units that become themes of their own, one collection each. Units with an equal text go with
        them. What is in none keeps the number; where all are in one, the largest part does.
    code
        The id of the code that was made of it; "" for none.
    why
        The reason, in at most 1,000 characters, for the history of the themes (`history`).

    Returns
    -------
    Act

    Raises
    ------
    TableError
        No run was recorded.
    ArgumentError
        There is no such theme or code, none or several things are to be done, or they are impossible.

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
            f"edit_theme: expected one thing to do – found {first_three(given) if given else 'none'} – pass "
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

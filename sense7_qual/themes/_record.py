"""What acts of kind ``record_themes`` and ``edit_theme`` hold, and the themes after them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._arguments import check_arguments, read_once
from sense7_qual.acts import Act
from sense7_qual.errors import ActError
from sense7_qual.themes._communities import NO_GROUP
from sense7_qual.themes._themes import Themes

#: What a person may do with a theme, and the type that says it.
EDITS: Final[dict[str, type]] = {
    "name": str,
    "merge_into": int,
    "dismissed": bool,
    "parts": list,
    "code": str,
}

_COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "assignments": ("unit_id", "theme", "similarity", "coarse", "sub"),
    "summary": ("theme", "stability", "dissolved", "recovered"),
    "granularities": (
        "granularity",
        "n_themes",
        "largest",
        "n_resamples",
        "ari",
        "ari_low",
        "ari_high",
        "ari_chance",
        "beyond_chance",
        "chosen",
    ),
    "hierarchy": ("level", "group", "stability"),
}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Run:
    """A run of a topic model that was recorded: numbers and ids of units, no words.

    `base` is the act_id of the run that was recorded before it ("" for the first). The numbers of its themes
    are those that they keep in the study. `expected` has the code that each theme shows, where the run looked
    for those of the codebook.
    """

    act_id: str
    base: str
    parameters: dict[str, Any]
    assignments: pd.DataFrame
    summary: pd.DataFrame
    granularities: pd.DataFrame
    hierarchy: pd.DataFrame
    expected: dict[int, str] | None = None

    @property
    def members(self) -> dict[int, frozenset[str]]:
        """The units of each theme."""
        inside = self.assignments[self.assignments["theme"] != NO_GROUP]
        return {int(str(n)): frozenset(ids) for n, ids in inside.groupby("theme")["unit_id"]}


@dataclass(frozen=True, slots=True, repr=False)
class Edit:
    """What a person did with a theme of the run `run`: one of `EDITS`, its value, and why, where they say."""

    run: str
    theme: int
    what: str
    value: Any
    numbers: tuple[int, ...] = field(default=())  # of the parts of a theme that was split
    why: str = ""


def run_text(themes: Themes, numbers: dict[int, int], base: str) -> str:
    """Return the text of the act that records `themes` under lasting `numbers` (by number in the run)."""
    renumbered = {NO_GROUP: NO_GROUP} | numbers
    frames = {name: getattr(themes, name).reindex(columns=columns) for name, columns in _COLUMNS.items()}
    for name in ("assignments", "summary"):
        frames[name] = frames[name].assign(theme=frames[name]["theme"].map(renumbered))
    hierarchy = frames["hierarchy"]
    own = hierarchy["level"] == "theme"
    lasting = hierarchy["group"].where(~own, hierarchy["group"].map(renumbered))
    frames["hierarchy"] = hierarchy.assign(group=lasting.astype("int64"))
    content: dict[str, Any] = {name: _lists(frame) for name, frame in frames.items()}
    if "expected" in themes.summary:
        known = themes.summary.dropna(subset="expected")
        content["expected"] = {
            str(renumbered[int(theme)]): str(code)
            for theme, code in zip(known["theme"], known["expected"], strict=True)
        }
    return _json({"base": base, "parameters": themes.parameters, **content})


def run_of(act: Act) -> Run:
    """Return the run that an act of kind ``record_themes`` records."""
    try:
        content = json.loads(str(act.text))
        frames = {name: _frame(content[name], columns) for name, columns in _COLUMNS.items()}
        base, parameters = content["base"], dict(content["parameters"])
        expected = content.get("expected")
        if expected is not None:
            expected = {int(theme): value for theme, value in dict(expected).items()}
            if not all(type(code) is str for code in expected.values()):
                raise ValueError("another form")
        if not isinstance(base, str) or frames["assignments"]["unit_id"].duplicated().any():
            raise ValueError("another form")
        _check_numbers(frames)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"record_themes: expected the themes of a run in act {act.act_id!r} – found something else – "
            "record them with store.record_themes."
        ) from None
    return Run(act.act_id, base, parameters, **frames, expected=expected)


def edit_text(edit: Edit) -> str:
    """Return the text of the act that records `edit`."""
    more: dict[str, Any] = {"numbers": list(edit.numbers)} if edit.numbers else {}
    more |= {"why": edit.why} if edit.why else {}
    return _json({"run": edit.run, "theme": edit.theme, edit.what: edit.value, **more})


def edit_of(act: Act) -> Edit | None:
    """Read the edit from an act of kind ``edit_theme``; None if it was erased."""
    if not act.text:
        return None
    try:
        content = json.loads(act.text)
        [what] = set(content) - {"run", "theme", "numbers", "why"}
        numbers, why = tuple(content.get("numbers", ())), content.get("why", "")
        edit = Edit(content["run"], content["theme"], what, content[what], numbers, why)
        whole = all(type(number) is int for number in (edit.theme, *edit.numbers)) and type(why) is str
        if type(edit.value) is not EDITS[what] or not whole or edit_text(edit) != act.text:
            raise ValueError("another form")
        if what == "parts":
            _check_parts(edit)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ActError(
            f"edit_theme: expected what is done with a theme in act {act.act_id!r} – found something else – "
            "do it with store.edit_theme."
        ) from None
    return edit


def check_recorded(acts: Iterable[Act], *, units: Iterable[str] | None = None) -> None:
    """Raise `ActError` if an act on themes cannot be read, or names units that are not in `units`.

    Parameters
    ----------
    acts
        Acts of any kind; those on themes are checked.
    units
        The ids of the units of the study; None skips this check.

    Examples
    --------
    >>> erased = Act(kind="edit_theme", coder="lead", at="2026-01-01T00:00:00Z", codebook="f", text="",
    ...     act_id="0f0e1c9a-52f6-4c39-9d4e-0b1a2c3d4e5f")
    >>> check_recorded([erased])
    """
    acts, units = read_once(acts), None if units is None else read_once(units)
    check_arguments(check_recorded, locals())
    known = None if units is None else set(units)
    for act in acts:
        named: Sequence[str] = ()
        if act.kind == "record_themes":
            named = run_of(act).assignments["unit_id"].tolist()
        elif act.kind == "edit_theme" and (edit := edit_of(act)) is not None and edit.what == "parts":
            named = [unit_id for part in edit.value for unit_id in part]
        unknown = [] if known is None else sorted(set(named) - known)
        if unknown:
            raise ActError(
                f"{act.kind}: expected units of this study – found {len(unknown)} others, such as "
                f"{unknown[0][:60]!r} – compute the themes from store.units."
            )


def _check_parts(edit: Edit) -> None:
    named = [unit_id for part in edit.value for unit_id in part]
    each_once = len(set(named)) == len(named) and all(type(unit_id) is str for unit_id in named)
    if not each_once or not all(edit.value) or len(edit.numbers) != len(edit.value):
        raise ValueError("another form")


def _check_numbers(frames: dict[str, pd.DataFrame]) -> None:
    numbers = [frames["assignments"][name] for name in ("theme", "coarse", "sub")]
    numbers += [frames["summary"]["theme"], frames["hierarchy"]["group"]]
    if any(column.dtype != np.int64 and len(column) for column in numbers):
        raise ValueError("another form")
    if frames["summary"]["theme"].duplicated().any():
        raise ValueError("another form")


def _lists(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns as lists that JSON holds: missing numbers as None."""
    return {
        str(name): [None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame
    }


def _frame(content: dict[str, list[Any]], columns: Sequence[str]) -> pd.DataFrame:
    frame = pd.DataFrame({name: content[name] for name in columns})
    for name in frame.columns:
        if frame[name].dtype == object and frame[name].isna().any():
            frame[name] = frame[name].astype("float64")  # a column of missing numbers
    return frame


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(slots=True, repr=False)
class StudyThemes:
    """The last run that was recorded, and what people did with its themes.

    Attributes
    ----------
    run
        The run; None before the first.
    members
        The units of each theme before merges, by its lasting number; `unsplit` as it was before a split.
    merged, names, codes, dismissed
        Into which theme another was merged; what people call it; the code made of it; which are dismissed.
    n_numbers
        How many numbers were given: the next theme's.
    n_left_out
        Edits that could not be carried out, since two people worked in two copies at once.
    """

    run: Run | None = None
    members: dict[int, frozenset[str]] = field(default_factory=dict)
    unsplit: dict[int, frozenset[str]] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    codes: dict[int, str] = field(default_factory=dict)
    dismissed: set[int] = field(default_factory=set)
    n_numbers: int = 0
    n_left_out: int = 0

    def root(self, theme: int) -> int:
        """Return the theme under whose number the units of `theme` stand."""
        while theme in self.merged:
            theme = self.merged[theme]
        return theme

    @property
    def groups(self) -> dict[int, list[int]]:
        """The themes as people see them: of each number the themes that were merged in it, itself among
        them where the last run has it."""
        groups: dict[int, list[int]] = {}
        for theme in sorted(self.members):
            groups.setdefault(self.root(theme), []).append(theme)
        return groups

    def units_of(self, theme: int) -> frozenset[str]:
        """Return the units of a theme with all that was merged in it."""
        return frozenset().union(*(self.members[one] for one in self.groups.get(theme, ())))

    def begin(self, run: Run) -> None:
        """Go on with the next run: its units; names, merges, codes and dismissals stay."""
        self.run, self.members, self.unsplit = run, run.members, {}
        self.n_numbers = max([self.n_numbers, *(number + 1 for number in self.members)])

    def take(self, step: Run | Edit) -> None:
        """Go on with the next run, or carry out what a person did."""
        if isinstance(step, Run):
            self.begin(step)
        else:
            self.apply(step)

    def apply(self, edit: Edit) -> None:
        """Carry out what a person did; what is impossible by now is counted."""
        if edit.theme not in self.groups and edit.theme not in self.members:
            self.n_left_out += 1
        elif edit.what == "merge_into":
            self._merge(edit)
        elif edit.what == "parts":
            self._split(edit)
        elif edit.what == "dismissed":
            (self.dismissed.add if edit.value else self.dismissed.discard)(edit.theme)
        else:
            self._say({"name": self.names, "code": self.codes}[edit.what], edit)

    def _say(self, values: dict[int, str], edit: Edit) -> None:
        values.pop(edit.theme, None)
        if edit.value:
            values[edit.theme] = edit.value

    def _merge(self, edit: Edit) -> None:
        if edit.value == edit.theme:
            self.merged.pop(edit.theme, None)
        elif (
            edit.theme in self.merged or edit.value not in self.groups or self.root(edit.value) == edit.theme
        ):
            self.n_left_out += 1
        else:
            self.merged[edit.theme] = edit.value

    def _split(self, edit: Edit) -> None:
        units = self.units_of(edit.theme)
        parts = [frozenset(part) for part in edit.value]
        taken = {*self.members, *self.merged} - {edit.theme}
        if (
            not units.issuperset(frozenset().union(*parts))
            or taken & set(edit.numbers)
            or edit.theme not in self.groups
        ):
            self.n_left_out += 1
            return
        self.unsplit[edit.theme] = units
        for one in self.groups[edit.theme]:
            del self.members[one]
        self.merged = {one: into for one, into in self.merged.items() if self.root(one) != edit.theme}
        self.members |= dict(zip(edit.numbers, parts, strict=True))
        remaining = units.difference(*parts)
        if remaining:
            self.members[edit.theme] = self.members.get(edit.theme, frozenset()) | remaining
        self.n_numbers = max([self.n_numbers, *(number + 1 for number in edit.numbers)])


def study_themes(acts: Iterable[Act]) -> StudyThemes:
    """Return the themes after `acts`.

    The run that was recorded last counts (by its time, then its act_id), after those that it goes back to,
    each with what was done with its themes. Runs that were recorded at once in two copies do not mix: what
    was done with the themes of the other one is not among its history.
    """
    state = StudyThemes()
    for _, step in steps(acts):
        state.take(step)
    return state


def steps(acts: Iterable[Act]) -> Iterator[tuple[Act, Run | Edit]]:
    """Yield the runs and the edits that led to the themes of now, in the order in which they count."""
    ordered = sorted(
        (act for act in acts if act.traits.subject == "themes"),
        key=lambda act: (act.at, act.act_id),
    )
    by_id = {act.act_id: act for act in ordered}
    runs = {act.act_id: run_of(act) for act in ordered if act.kind == "record_themes"}
    edits = [
        (act, edit) for act in ordered if act.kind == "edit_theme" and (edit := edit_of(act)) is not None
    ]
    for run in _line(runs):
        yield by_id[run.act_id], run
        yield from ((act, edit) for act, edit in edits if edit.run == run.act_id)


def _line(runs: dict[str, Run]) -> list[Run]:
    """Return the last run and those that it goes back to, oldest first."""
    line: list[Run] = []
    now = runs.pop(next(reversed(runs)), None) if runs else None
    while now is not None:
        line.append(now)
        now = runs.pop(now.base, None)
    return line[::-1]

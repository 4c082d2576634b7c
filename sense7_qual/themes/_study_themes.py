"""The themes of a study after all acts: which units each has, and what people made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sense7_qual.acts import Act
from sense7_qual.themes._record import Edit, Run, edit_of, run_of

__all__ = ["StudyThemes", "steps", "study_themes"]


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

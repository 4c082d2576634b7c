"""The one question of `sense7-qual new`: which column is what, and what is left out."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from sense7_qual._commands.words import count
from sense7_qual._messages import did_you_mean, places
from sense7_qual.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

    from sense7_qual._formats import Recognised

PREVIEW: Final = ("skip", "keep")
ROLES: Final[Mapping[str, tuple[str, str]]] = {
    "text": ("text", "texts to code (several, such as 19,22: the answers to several questions)"),
    "case_id": ("participant", "participant"),
    "document_id": ("conversation", "conversation"),
    "rating": ("rating", "rating (several, such as 18,20: one for each of the texts)"),
    "unit_id": ("id", "id of each row"),
    "position": ("position", "position in the conversation"),
    "context": ("context", "conversation before the text"),
}
"""What the question and the help call each role."""

_NONE: Final = "-"  # the answer for "no column"
_ALWAYS: Final = ("text", "case_id", "rating")  # said also where there is no column
_LONGEST: Final = 60
_WIDE: Final = 40  # columns: from here on those that are alike are told together
_FEWEST_TOGETHER: Final = 4
_ALONE: Final = ("words", "checklist", "conversation", "labels", "personal")


@dataclass(frozen=True, slots=True, repr=False)
class Choice:
    """The columns of each role, and whether previews are skipped or kept ("" until it is said)."""

    columns: Mapping[str, tuple[str, ...]]
    preview: str

    @property
    def taken(self) -> set[str]:
        """The columns that have a role."""
        return {name for names in self.columns.values() for name in names}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `corpus.read`."""
        given: dict[str, Any] = {
            role: names[0] if len(names) == 1 else list(names)
            for role, names in self.columns.items()
            if names
        }
        rated = given.pop("rating", [])
        given["ratings"] = {"rating": rated} if len(self.columns["rating"]) > 1 else rated
        return given | ({"preview": self.preview} if self.preview else {})


def listed(found: Recognised) -> Iterator[str]:
    """Yield a line for each column: its number, what it is, how many cells are filled, its name and wording.

    A long name may be somebody's text where the file has no header: then only its length is shown. In a wide
    file neighbours that are neither words nor in a role have one line.
    """
    columns = found.columns.fillna({"wording": "", "role": ""})
    filled = [f"{n:,} of {n_rows:,}" for n, n_rows in columns[["n_filled", "n_rows"]].values]
    wide, wider = max(map(len, columns["what"])), max(map(len, filled))
    of_many = len(columns) > _WIDE
    rows = zip(columns[["number", "column", "wording", "what", "role"]].values, filled, strict=True)
    for alone, group in groupby(rows, key=lambda row: bool(row[0][4]) or row[0][3] in _ALONE):
        neighbours = list(group)
        if of_many and not alone and len(neighbours) >= _FEWEST_TOGETHER:
            (first, name, *_), (last, *_) = neighbours[0][0], neighbours[-1][0]
            kinds = ", ".join(dict.fromkeys(what for (_, _, _, what, _), _ in neighbours))
            yield f"{first:>4}–{last}  {kinds}: {len(neighbours)} columns from {known_as(found, name)}"
            continue
        for (number, column, wording, what, _), n_filled in neighbours:
            asked = f" – {_shortened(wording)}" if wording else ""
            yield f"{number:>4}  {what:<{wide}}  {n_filled:>{wider}}  {known_as(found, column)}{asked}"


def known_as(found: Recognised, column: str) -> str:
    """Return a column's name as it is shown: short, or only its length where it may be somebody's text."""
    return _shortened(column) if found.evident else hidden(column)


def choose(
    found: Recognised,
    given: Mapping[str, str | None],
    *,
    preview: str | None,
    skip_empty: bool,
    fixed: Collection[str],
    ask: bool,
) -> Choice:
    """Take the guessed columns, changed by `given` and by the answer; roles in `fixed` do not change."""
    question = _Question(found, fixed)
    choice = question.proposed(given, preview)
    if not ask:
        question.refuse_open(choice, skip_empty=skip_empty)
    print(question.sentence(choice))
    while ask:
        try:
            answer = input(question.prompt(choice)).strip()
        except EOFError:
            raise ArgumentError(
                "new: not a terminal, so it cannot ask about columns – name them (--text …), or accept the "
                "guesses with --yes."
            ) from None
        try:
            choice = question.changed(choice, answer)
        except ArgumentError as error:
            print(error)
            continue
        if answer:
            print(question.sentence(choice))
        ask = not choice.columns["text"]
    return choice


class _Question:
    """The question about one file: what is proposed, in which words, and what an answer changes."""

    def __init__(self, found: Recognised, fixed: Collection[str]) -> None:
        self._found, self._fixed = found, fixed
        self._columns = found.columns
        self._names: list[str] = self._columns["column"].tolist()
        self._previews = next((ask for ask in found.asks if ask.parameter == "preview"), None)

    def proposed(self, given: Mapping[str, str | None], preview: str | None) -> Choice:
        """Return the guesses with what is given; no text where several columns fit alike."""
        chosen = {role: self._named(role, answer) for role, answer in given.items() if answer is not None}
        guesses = self._guesses
        if len(guesses.get("text", ())) > 1:
            guesses["text"] = ()
        return Choice(self._joined(chosen, guesses), preview or "")

    @staticmethod
    def _joined(
        chosen: Mapping[str, tuple[str, ...]], others: Mapping[str, tuple[str, ...]]
    ) -> dict[str, tuple[str, ...]]:
        """Combine the chosen roles with the others, minus columns that now have another role."""
        taken = {name for names in chosen.values() for name in names}
        left = {role: names for role, names in others.items() if role == "unit_id" or not taken & {*names}}
        if len(chosen.get("text", ())) > 1:  # a questionnaire is no conversation
            left |= {"document_id": (), "position": ()}
        return {role: chosen.get(role, left.get(role, ())) for role in ROLES}

    @property
    def _guesses(self) -> dict[str, tuple[str, ...]]:
        """The columns of each role by the marks of the program, else by their names and cells."""
        roles = self._columns["role"]
        guessed = {role: tuple(self._columns["column"][roles == role]) for role in roles.dropna()}
        marked = {
            role: (names,) if isinstance(names, str) else names for role, names in self._found.roles.items()
        }
        return guessed | marked

    def _named(self, role: str, answer: str) -> tuple[str, ...]:
        """Return the columns that an answer names, by name or number."""
        if answer == _NONE:
            return ()
        several = role in ("text", "unit_id", "rating") and answer not in self._names
        return tuple(
            self._column(each.strip(), role) for each in (answer.split(",") if several else [answer])
        )

    def _column(self, answer: str, role: str) -> str:
        if answer in self._names:
            return answer
        if answer.isdecimal() and 0 < int(answer) <= len(self._names):
            return self._names[int(answer) - 1]
        raise ArgumentError(
            f"new: the file has no column {hidden(answer)!r}, which was named for {ROLES[role][0]} – "
            f"{did_you_mean(answer, map(hidden, self._names))}"
        )

    def changed(self, choice: Choice, answer: str) -> Choice:
        """Return the choice with an answer such as "text=19,22 rating=-"; "19,22" alone is the text."""
        roles = {word: role for role, (word, _) in ROLES.items()}
        chosen, preview = {}, choice.preview
        for part in _parted(answer):
            word, value = part.split("=", 1) if "=" in part else ("text", part)
            if word == "preview" and value in PREVIEW:
                preview = value
            elif word in roles and roles[word] not in self._fixed:
                chosen[roles[word]] = self._named(roles[word], value)
            else:
                known = ", ".join(f"{each}=…" for each, role in roles.items() if role not in self._fixed)
                raise ArgumentError(f"new: expected {known} – found {hidden(word)!r} – type it again.")
        return Choice(self._joined(chosen, choice.columns), preview or "skip" if self._previews else "")

    # What is said

    def sentence(self, choice: Choice) -> str:
        """Say which column is what, and what is left out."""
        chosen = [
            f"{ROLES[role][0]} {self._shown(names)}"
            for role, names in choice.columns.items()
            if names or role in _ALWAYS
        ]
        left_out = ", ".join(self._left_out(choice)) or "nothing"
        return f"Columns: {', '.join(chosen)}. Left out: {left_out}."

    def prompt(self, choice: Choice) -> str:
        """Return the question that follows the proposal."""
        if choice.columns["text"]:
            preview = " preview=keep" if self._previews and not choice.preview else ""
            return f"Enter accepts, or type what differs (such as text=19,22 rating={_NONE}{preview}): "
        if alike := self._alike:
            return (
                f"Columns {', '.join(alike)} fit alike. Which has the texts ({alike[0]}, or for the answers "
                f"to several questions {','.join(alike[:2])})? "
            )
        return "No column looks like answers. Which has the texts (its number)? "

    @property
    def _alike(self) -> list[str]:
        names = self._guesses.get("text", ())
        return [self._number(name) for name in names] if len(names) > 1 else []

    def _number(self, name: str) -> str:
        return str(self._names.index(name) + 1)

    def _shown(self, names: Sequence[str]) -> str:
        known = (f" ({name})" if hidden(name) == name else "" for name in names)
        return (
            ", ".join(self._number(name) + by_name for name, by_name in zip(names, known, strict=True))
            or "none"
        )

    def _left_out(self, choice: Choice) -> Iterator[str]:
        for names, of in ((self._found.personal, "of personal data"), (self._found.labelled, "of labels")):
            if left := len({*names} - choice.taken):
                yield f"{count(left, 'column')} {of}"
        if self._previews and choice.preview != "keep":
            yield count(len(self._previews.at), "preview or test", "previews and tests")
        without, n_blank = self._blank(choice)
        if len(without):
            yield f"{count(len(without), 'row')} without a text"
        if n_blank:
            yield count(n_blank, "blank answer")

    def _blank(self, choice: Choice) -> tuple[pd.Index[Any], int]:
        """Return the rows without any text, and the number of blank answers in the others."""
        from sense7_qual._missing_words import (
            no_answers,
        )  # it brings pandas, which a coder's server does without

        names = list(choice.columns["text"])
        table = self._found.rows_of(names)[names]
        if self._previews and choice.preview != "keep":
            table = table.drop(index=self._previews.at)
        blank = table.apply(lambda column: column.fillna("").str.strip().eq("") | no_answers(column))
        without = blank.all(axis="columns") & bool(names)
        return table.index[without], int(blank[~without].to_numpy().sum())

    def refuse_open(self, choice: Choice, *, skip_empty: bool) -> None:
        """Raise an error for what has to be asked and no option says."""
        without, _ = self._blank(choice)
        if not choice.columns["text"] and (alike := self._alike):
            raise ArgumentError(
                f"new: expected one column of texts – found {len(alike)} that fit alike: "
                f"{', '.join(alike)} – name one, or several: --text {','.join(alike[:2])}."
            )
        if not choice.columns["text"]:
            raise ArgumentError(
                "new: expected a column that looks like answers – found none among "
                f"{len(self._names)} – name it by its number: --text 4."
            )
        if self._previews and not choice.preview:
            raise ArgumentError(
                f"new: expected responses – found {self._previews} – pass --preview skip to leave them "
                "out, or --preview keep."
            )
        if len(without) and not skip_empty:
            raise ArgumentError(
                f"new: expected a text in every row – found none in {places(without)} – pass --skip-empty to "
                "leave these rows out."
            )


def _parted(answer: str) -> list[str]:
    """Return the words of an answer; what is in quotation marks is one word."""
    try:
        return shlex.split(answer)
    except ValueError:
        raise ArgumentError("new: expected each quotation mark twice – type it again.") from None


def _shortened(name: str) -> str:
    """Return the first letters of a name or wording, in one line."""
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def hidden(column: object) -> str:
    """Return a column's name; only its length if it may be a text, as in a file without a header."""
    name = str(column)
    is_short = len(name) <= 40 and len(name.split()) <= 4 and name.isprintable()
    return name if is_short else f"({len(name)} characters)"

"""What a number rests on: which decisions of a study are in it, and which were left out.

A `Basis` travels as the column ``basis`` of a frame of decisions: its line, in every row, so that it survives
what pandas does (merging, filtering, writing to CSV). The statistics read it and write the line of what they
were given into their results; tables, figures, texts and widgets print it.

What is *in* is counted from the rows in hand, so that a filter cannot lie; what was left out is remembered.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd

from sense7_qual._absent_rows import COLUMN as COLUMN, NOT_STATED as NOT_STATED
from sense7_qual._coder_names import RESERVED_CODERS, is_model
from sense7_qual._contract import Column

FIRST: Final = "first independent"
FIRST_IN_ROUND: Final = "first in the round"
"""The rule of a round asked for by name, where decisions after seeing others or a suggestion are in, too."""
LAST: Final = "last"
ANY_CODER: Final = "any coder"
"""The coder of decisions in which a code counts once anybody applied it."""
BY_VALUE: Final[Mapping[str, str]] = {"narrow": "narrowed", "widen": "widened", "split": "split"}
"""The changes of a code after which what waits for review depends on what was decided."""

BASIS: Final = {f"{COLUMN}*": Column("any", "which decisions the numbers of the row rest on, in words")}
"""The column of a basis, for the contract of a result."""

SEVERAL: Final = "several – "
"""How the line begins where one estimate is of decisions that rest on several bases."""
_BETWEEN: Final = " · "
_OUTSIDE: Final = "outside rounds, blindness not on record"
_NO_ROUND: Final = "none"
_PLAIN_NAME: Final = re.compile(r"[\w.@-]+(?: [\w.@-]+)*")
_WAITS: Final = re.compile(
    r"(?P<code>“.*”) (?P<n>[\d,]+) of (?P<of>[\d,]+)(?: \((?P<how>\w+): no figure\))?", re.DOTALL
)
_TEXTS: Final = re.compile(r"(?:(?P<some>[\d,]+) of )?(?P<n>[\d,]+) texts?(?:: (?P<coders>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Decisions on a code that wait for review since the codebook changed.

    Attributes
    ----------
    code : str
        The code.
    n, of : int
        How many of how many decisions wait.
    how : str
        "narrowed", "widened" or "split", where what waits depends on what was decided: then the code has no
        figure. Empty where every decision is asked for again.
    """

    code: str
    n: int
    of: int
    how: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What decisions rest on.

    Attributes
    ----------
    rule : str
        Which decision of a coder on a text counts, or how disagreements were settled.
    rounds : tuple of str
        The rounds of the decisions that are in; "" for those outside rounds.
    codebook : str
        The fingerprint of the codebook in whose codes they are, its first eight digits.
    n_texts : int
        The number of texts that were decided on.
    selected : int or None
        The number of these texts that are still in, where some were taken out since.
    coders : tuple of (str, int)
        Who decided, each on how many texts.
    inside, left_out : tuple of (str, int)
        What is in and what is not, with the number of texts, or of decisions where they were settled.
    waiting : tuple of Waiting
        What waits for review.
    until : str
        The time (UTC) of the last act that was read.
    """

    rule: str = NOT_STATED
    rounds: tuple[str, ...] = ()
    codebook: str = ""
    n_texts: int = 0
    selected: int | None = None
    coders: tuple[tuple[str, int], ...] = ()
    inside: tuple[tuple[str, int], ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    waiting: tuple[Waiting, ...] = ()
    until: str = ""

    def __str__(self) -> str:
        return _BETWEEN.join(part for part in self._parts() if part)

    def _parts(self) -> Iterator[str]:
        yield self.rule
        if self.rounds == ("",):
            yield _OUTSIDE
        elif self.rounds:
            yield "rounds " + ", ".join(_quoted(name) if name else _NO_ROUND for name in self.rounds)
        yield f"codebook {self.codebook}" if self.codebook else ""
        yield self._texts()
        yield _listed("inside", self.inside) if self.selected is None else ""
        yield _listed("left out", self.left_out)
        if self.waiting:
            yield "waiting for review: " + ", ".join(map(_waits, self.waiting))
        yield f"until {self.until}" if self.until else ""

    def _texts(self) -> str:
        if not self.n_texts:
            return ""
        said = f"{self.n_texts:,} {'text' if self.n_texts == 1 else 'texts'}"
        if self.selected is not None:
            said = f"{self.selected:,} of {said}"
        every = self.n_texts if self.selected is None else self.selected
        alike = {n for _, n in self.coders} <= {every}
        names = [_name(name) if alike else f"{_name(name)} ({n:,})" for name, n in self.coders]
        return f"{said}: {', '.join(names)}" if names else said

    @classmethod
    def parse(cls, line: str) -> Basis:
        """Return the basis that a line says; "not stated" for any other text.

        A line of several bases is kept as it is: it says what an estimate is of, and nothing can be counted.
        """
        if line.startswith(SEVERAL):
            return cls(rule=line)
        rule, *parts = _split(line, _BETWEEN)
        known: dict[str, Any] = {}
        for part in parts:
            for read in _READERS:
                if (found := read(part)) is not None:
                    known |= found
                    break
        return cls(rule=rule, **known) if known or rule == NOT_STATED else cls()

    @classmethod
    def of(cls, decisions: pd.DataFrame) -> Basis:
        """Return the basis of decisions that have one; see `parts` for those that have several."""
        every = parts(decisions)
        return every[0][1] if len(every) == 1 else cls()

    def with_rows(self, decisions: pd.DataFrame) -> Basis:
        """Return this basis with the texts and coders counted from the rows in hand."""
        if self.rule.startswith(SEVERAL):
            return self
        n_texts = len({str(unit).strip() for unit in decisions["unit_id"].unique()})
        coders = self.coders
        if "coder" in decisions and not set(_coders(decisions)) <= {*RESERVED_CODERS, ANY_CODER}:
            coders = _counted(decisions)
        if self.rule == NOT_STATED or not self.n_texts:
            return replace(self, n_texts=n_texts, coders=coders)
        return replace(self, selected=n_texts if n_texts < self.n_texts else None, coders=coders)


def state(decisions: pd.DataFrame, basis: Basis) -> pd.DataFrame:
    """Return decisions with a basis in every row."""
    return decisions.assign(**{COLUMN: stated_column(str(basis), len(decisions), decisions.index)})


def parts(decisions: pd.DataFrame) -> list[tuple[list[str], Basis]]:
    """Return each basis of decisions, and the coders whose decisions rest on it, people first."""
    if COLUMN not in decisions.columns:
        return [(_coders(decisions), Basis().with_rows(decisions))]
    column = decisions[COLUMN]
    if not len(decisions):
        known = list(column.cat.categories) if isinstance(column.dtype, pd.CategoricalDtype) else []
        return [([], Basis.parse(str(known[0])).with_rows(decisions) if known else Basis())]
    lines = column.astype("object").where(column.notna(), NOT_STATED)
    read = {line: Basis.parse(str(line)) for line in lines.unique()}
    said = lines.map({line: str(basis) for line, basis in read.items()})
    found = []
    for basis in {str(basis): basis for basis in read.values()}.values():
        rows = decisions[(said == str(basis)).to_numpy(dtype=bool)]
        found.append((_coders(rows), basis.with_rows(rows)))
    return sorted(found, key=lambda part: (_rank(part[0]), part[0], str(part[1])))


def is_mixed(decisions: pd.DataFrame) -> bool:
    """Return True if people's decisions rest on several bases, so that one estimate would be of both.

    Also where computed decisions were computed from such.
    """
    if any(basis.rule.startswith(SEVERAL) for _, basis in parts(decisions)):
        return True
    return "coder" in decisions and len(parts(of_people(decisions))) > 1


def line_of(*frames: pd.DataFrame) -> str:
    """Return the line of one or several frames of decisions; with several bases, who rests on which."""
    each = [part for frame in frames for part in parts(frame)]
    lines = list(dict.fromkeys(str(basis) for _, basis in each))
    if len(lines) == 1:
        return lines[0]
    named = [f"{_who(coders)}: {basis}".replace(SEVERAL, "") for coders, basis in each]
    return (SEVERAL if any(map(is_mixed, frames)) else "") + "; ".join(dict.fromkeys(named))


def short(line: str) -> str:
    """Return a line without what was left out, who decided, and until when: for a figure."""
    basis = Basis.parse(line)
    if str(basis) != line:  # of several, or in words of its own
        return line
    return str(replace(basis, codebook="", coders=(), inside=(), left_out=(), until=""))


def in_short(lines: Mapping[str, Sequence[str]]) -> str:
    """Return lines in short, each with the sources that rest on it, and once what they have in common."""
    every = {line: _split(short(line), _BETWEEN) for line in lines}
    if len(every) == 1:
        return _BETWEEN.join(*every.values())
    common = [part for part in next(iter(every.values())) if all(part in parts for parts in every.values())]
    own = {
        f"{', '.join(lines[line])}: {_BETWEEN.join(part for part in parts if part not in common)}"
        for line, parts in every.items()
    }
    return "; ".join(sorted(own)) + (f"; all: {_BETWEEN.join(common)}" if common else "")


def to_be_reviewed(line: object, code: str) -> str:
    """Return in words how many decisions on a code wait for review, as a line says.

    >>> to_be_reviewed("last · waiting for review: “cold” 15 of 44 (narrowed: no figure)", "cold")
    '15 of 44 to be reviewed'
    """
    found = re.search(re.escape(_quoted(code)) + r" ([\d,]+) of ([\d,]+)", str(line))
    return f"{found[1]} of {found[2]} to be reviewed" if found else "to be reviewed"


def waiting_in(*frames: pd.DataFrame) -> tuple[Waiting, ...]:
    """Return the codes without a row here that have no figure until their decisions are reviewed.

    These are the codes of which what waits depends on what was decided, and those that wait altogether.
    """
    every = {one.code: one for frame in frames for _, basis in parts(frame) for one in basis.waiting}
    there = {_stem(str(code)) for frame in frames if "code" in frame for code in frame["code"].unique()}
    return tuple(one for one in every.values() if (one.how or one.n == one.of) and one.code not in there)


def partly_reviewed(*frames: pd.DataFrame) -> set[str]:
    """Return the codes that were asked for again on some texts, and rest on the others meanwhile."""
    waiting = {one.code for frame in frames for _, basis in parts(frame) for one in basis.waiting}
    there = {str(code) for frame in frames if "code" in frame for code in frame["code"].unique()}
    return {code for code in there if _stem(code) in waiting}


def line_of_people(decisions: pd.DataFrame) -> str:
    """Return the line of people's decisions; of computed ones where there is nothing else."""
    return line_of(that_count(decisions, with_models=False))


def from_people(decisions: pd.DataFrame, rule: str, *, with_models: bool = False, **changed: Any) -> Basis:
    """Return the basis of what is computed from people's decisions by a rule.

    A rule is applied to each coder's last decisions; which others it was applied to is named with it.
    """
    people = of_people(decisions, with_models=with_models) if "coder" in decisions else decisions
    line = line_of(people)
    basis = Basis.parse(line)
    if basis.rule.startswith(SEVERAL):
        return replace(basis, **changed)
    if len(found := parts(people)) > 1:  # of people and models
        return Basis(rule=f"{rule} of {line}")
    basis = found[0][1]
    return replace(basis, rule=rule if basis.rule == LAST else f"{rule} ({basis.rule})", **changed)


def of_people(decisions: pd.DataFrame, *, with_models: bool = False) -> pd.DataFrame:
    """Return the rows of people, and of models where they count."""
    return of_coders(decisions, lambda name: _is_person(name) or (with_models and is_model(name)))


def of_coders(decisions: pd.DataFrame, counts: Callable[[str], bool]) -> pd.DataFrame:
    """Return the rows of the coders that count."""
    names = _stripped(decisions["coder"])
    known = {name: counts(name) for name in set(names)}
    return decisions[np.array([known[name] for name in names], dtype=np.bool_)]


def that_count(decisions: pd.DataFrame, *, with_models: bool) -> pd.DataFrame:
    """Return people's decisions, and models' that count; computed decisions where there is nothing else."""
    if "coder" not in decisions:
        return decisions
    own = of_people(decisions, with_models=with_models)
    return own if len(own) else of_coders(decisions, lambda name: with_models or not is_model(name))


def stated_column(line: str, n: int, index: pd.Index) -> pd.Series:
    """Return the column of a basis: one line in `n` rows."""
    return pd.Series(pd.Categorical([line] * n, categories=[line]), index=index)


def _is_person(name: str) -> bool:
    return name not in (*RESERVED_CODERS, ANY_CODER) and not is_model(name)


def _stripped(names: pd.Series) -> list[str]:
    known = {name: str(name).strip() for name in names.unique()}
    return [known[name] for name in names]


def _coders(decisions: pd.DataFrame) -> list[str]:
    return sorted({str(name).strip() for name in decisions["coder"].unique()} if "coder" in decisions else [])


def _rank(coders: Sequence[str]) -> int:
    """Return the place of people, of computed decisions, of models."""
    return 0 if any(map(_is_person, coders)) else 2 if any(map(is_model, coders)) else 1


def _stem(code: str) -> str:
    """Return the code of a decision by a facet (relational.valence=met: relational)."""
    return code.partition("=")[0].rpartition(".")[0] if "=" in code else code


def _counted(decisions: pd.DataFrame) -> tuple[tuple[str, int], ...]:
    n_texts: dict[str, int] = {}
    for name, n in decisions.groupby("coder", observed=True)["unit_id"].nunique().items():
        n_texts[str(name).strip()] = n_texts.get(str(name).strip(), 0) + int(n)
    return tuple(sorted(n_texts.items()))


def _who(coders: Iterable[str]) -> str:
    names = list(coders)
    if not names:
        return "decisions"
    return "people" if len(names) > 1 and all(map(_is_person, names)) else ", ".join(map(_name, names))


def _quoted(name: str) -> str:
    return "“" + name.replace("\\", "\\\\").replace("”", "\\”") + "”"


def _unquoted(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith("“") else name


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else _quoted(name)


def _listed(what: str, counts: Iterable[tuple[str, int]]) -> str:
    said = ", ".join(f"{n:,} {name}" for name, n in counts)
    return f"{what}: {said}" if said else ""


def _waits(one: Waiting) -> str:
    how = f" ({one.how}: no figure)" if one.how else ""
    return f"{_quoted(one.code)} {one.n:,} of {one.of:,}{how}"


def _split(text: str, between: str) -> list[str]:
    """Split at `between`, but not within quotation marks."""
    found, start, place, inside = [], 0, 0, False
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] in "“”":
            inside = text[place] == "“"
        elif not inside and text.startswith(between, place):
            found.append(text[start:place])
            start = place = place + len(between)
            continue
        place += 1
    return [*found, text[start:]]


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _read_rounds(part: str) -> dict[str, Any] | None:
    if part == _OUTSIDE:
        return {"rounds": ("",)}
    if not part.startswith("rounds "):
        return None
    names = _split(part.removeprefix("rounds "), ", ")
    return {"rounds": tuple("" if name == _NO_ROUND else _unquoted(name) for name in names)}


def _read_word(name: str, part: str) -> dict[str, Any] | None:
    return {name: part.removeprefix(f"{name} ")} if part.startswith(f"{name} ") else None


def _read_texts(part: str) -> dict[str, Any] | None:
    found = _TEXTS.fullmatch(part)
    if found is None:
        return None
    n_texts, some = _number(found["n"]), found["some"]
    coders = []
    for one in _split(found["coders"], ", ") if found["coders"] else []:
        counted = re.fullmatch(r"(.*) \(([\d,]+)\)", one, re.DOTALL)
        n = n_texts if some is None else _number(some)
        name, n = (counted[1], _number(counted[2])) if counted else (one, n)
        coders.append((_unquoted(name), n))
    return {
        "n_texts": n_texts,
        "selected": None if some is None else _number(some),
        "coders": tuple(coders),
    }


def _read_counts(name: str, part: str) -> dict[str, Any] | None:
    said = name.replace("_", " ") + ": "
    if not part.startswith(said):
        return None
    counts = (one.split(" ", 1) for one in _split(part.removeprefix(said), ", "))
    # A number of thousands has a comma, though none with a space after it.
    return {name: tuple((what, _number(n)) for n, what in counts)}


def _read_waiting(part: str) -> dict[str, Any] | None:
    said = "waiting for review: "
    if not part.startswith(said):
        return None
    found = [_WAITS.fullmatch(one) for one in _split(part.removeprefix(said), ", ")]
    return {
        "waiting": tuple(
            Waiting(_unquoted(one["code"]), _number(one["n"]), _number(one["of"]), one["how"] or "")
            for one in found
            if one is not None
        )
    }


_READERS: Final[Sequence[Callable[[str], dict[str, Any] | None]]] = (
    _read_rounds,
    functools.partial(_read_word, "codebook"),
    functools.partial(_read_word, "until"),
    functools.partial(_read_counts, "inside"),
    functools.partial(_read_counts, "left_out"),
    _read_waiting,
    _read_texts,
)

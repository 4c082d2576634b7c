"""A finished text with the call that gives each number, and how it is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from string import Formatter
from types import MappingProxyType, SimpleNamespace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from sense7_qual import (
    _present,
    _reasons,
    acts,
    adjudication,
    agreement,
    codebook,
    codings,
    links,
    rounds,
    suggestions,
)
from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import write_by_suffix
from sense7_qual._basis import Basis
from sense7_qual.report._docx import word_text
from sense7_qual.report._escape import Paper, clean, escape_html, escape_markdown, no_formula, one_line
from sense7_qual.report._latex import latex_text
from sense7_qual.report._review import review
from sense7_qual.report._table import html_page

_QUESTIONS = "To be answered: not in the record"


@dataclass(frozen=True, slots=True, repr=False)
class Number:
    """A number, a name or a date in a sentence, from the record.

    Attributes
    ----------
    printed : str
        As printed in the text, rounded.
    value : object
        What the call gives, unrounded.
    call : str
        The call that gives it, or the frame that it is taken from.
    where : str
        Its place in what the call returns; empty where it is all of that. ``call + where`` is a Python
        expression with the value `value`.
    """

    printed: str
    value: Any
    call: str
    where: str

    def __repr__(self) -> str:
        return f"Number({self.call[:40]!r} …)"

    def __str__(self) -> str:
        return self.printed


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """A sentence: words, and between them numbers, names and dates from the record."""

    parts: tuple[str | Number, ...]

    def __repr__(self) -> str:
        return f"Sentence({len(self.numbers)} numbers)"

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers, names and dates, in order."""
        return tuple(part for part in self.parts if isinstance(part, Number))


@dataclass(frozen=True, slots=True, repr=False)
class Paragraph:
    """Sentences on one thing, under a heading."""

    heading: str
    sentences: tuple[Sentence, ...]

    def __repr__(self) -> str:
        return f"Paragraph({self.heading!r}, {len(self.sentences)} sentences)"

    def __str__(self) -> str:
        return " ".join(map(str, self.sentences))


@dataclass(frozen=True, slots=True, repr=False)
class Text:
    """A text for a paper: paragraphs of full sentences, and what the record cannot answer, as questions.

    Attributes
    ----------
    title : str
        Such as "Methods".
    paragraphs : tuple of Paragraph
        Each with `heading` and `sentences`; a sentence has `parts`: words, and `Number` between them.
    questions : tuple of str
        What a reader will want to know and the record does not hold. They are printed below the text.

    Notes
    -----
    ``repr`` has counts only; ``str`` is the text.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]
    questions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n_numbers = sum(len(one.numbers) for one in self.sentences)
        return f"Text({self.title!r}, {len(list(self.sentences))} sentences, {n_numbers} numbers)"

    def __str__(self) -> str:
        blocks = [self.title]
        blocks += [f"{clean(one.heading)}\n{clean(str(one))}" for one in self.paragraphs]
        if self.questions:
            blocks.append("\n".join([f"{_QUESTIONS}:", *(f"- {clean(one)}" for one in self.questions)]))
        return "\n\n".join(blocks) + "\n"

    @property
    def sentences(self) -> Iterator[Sentence]:
        """All sentences, in order."""
        return (sentence for paragraph in self.paragraphs for sentence in paragraph.sentences)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each number, name and date: sentence, printed, value (unrounded), call, where.

        ``call + where`` is an expression in Python that gives the value.
        """
        rows = [
            (str(sentence), one.printed, one.value, one.call, one.where)
            for sentence in self.sentences
            for one in sentence.numbers
        ]
        kinds = {
            "sentence": "string",
            "printed": "string",
            "value": "object",
            "call": "string",
            "where": "string",
        }
        return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)

    def markdown(self) -> str:
        """Return the text as Markdown, the questions as a list below it."""
        blocks = [f"## {one_line(self.title, escape_markdown)}"]
        for one in self.paragraphs:
            blocks += [f"### {one_line(one.heading, escape_markdown)}", one_line(str(one), escape_markdown)]
        if self.questions:
            listed = [f"- {one_line(question, escape_markdown)}" for question in self.questions]
            blocks += [f"### {_QUESTIONS}", "\n".join(listed)]
        return "\n\n".join(blocks) + "\n"

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def html(self) -> str:
        """Return the text as HTML, the questions as a list below it."""
        blocks = [f"<h2>{one_line(self.title, escape_html)}</h2>"]
        for one in self.paragraphs:
            heading, words = one_line(one.heading, escape_html), one_line(str(one), escape_html)
            blocks.append(f'<h3>{heading}</h3>\n<p dir="auto">{words}</p>')
        if self.questions:
            listed = [f'<li dir="auto">{one_line(question, escape_html)}</li>' for question in self.questions]
            blocks.append("\n".join([f"<h3>{_QUESTIONS}</h3>", "<ul>", *listed, "</ul>"]))
        return "\n".join(['<section class="qual-text">', *blocks, "</section>"]) + "\n"

    def csv(self) -> str:
        """Return each number, name and date of the text as CSV, with the call that gives it."""
        rows = self.frame[["sentence", "printed", "call", "where"]]
        return rows.map(no_formula).to_csv(index=False, lineterminator="\n")

    def latex(self) -> str:
        """Return the text as LaTeX, for pdfLaTeX, XeLaTeX and LuaLaTeX, as `Table.latex` escapes it."""
        return latex_text(self.title, self._blocks(), _QUESTIONS, self.questions)

    def write(self, path: str | Path, *, overwrite: bool = False, paper_size: Paper = "a4") -> None:
        """Write the text to `path` in the format of its suffix, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where, ending in .md, .docx, .tex (to be read in by a document), .html (a whole page), .txt, or
            .csv (one row for each number in it, with the call that gives it).
        overwrite : bool
            Whether to replace an existing file: what somebody wrote into it would be lost.
        paper_size : {"a4", "letter"}
            The page of a Word document.

        Raises
        ------
        ArgumentError
            The suffix or the paper size is another one; nothing was written.
        StoreError
            There is a file and `overwrite` is false; it is unchanged.
        """
        check_arguments(Text.write, locals())
        formats = {
            ".md": lambda: self.markdown().encode(),
            ".docx": lambda: word_text(
                clean(self.title), self._blocks(), _QUESTIONS, [*map(clean, self.questions)], paper=paper_size
            ),
            ".tex": lambda: self.latex().encode(),
            ".html": lambda: html_page(self.title, self.html()).encode(),
            ".txt": lambda: str(self).encode(),
            ".csv": lambda: self.csv().encode("utf-8-sig"),
        }
        write_by_suffix(path, formats, what="text", overwrite=overwrite)

    def _blocks(self) -> list[tuple[str, str]]:
        return [(clean(one.heading), " ".join(clean(str(one)).split("\n"))) for one in self.paragraphs]


Part: TypeAlias = str | Number
Phrase: TypeAlias = tuple[Part, ...]


def phrase(template: str, **parts: Part | Phrase) -> Phrase:
    """Return words with the parts between them, as ``{name}``."""
    made: list[Part] = []
    for words, name, _, _ in Formatter().parse(template):
        made += [words] if words else []
        if name is not None:
            part = parts[name]
            made += part if isinstance(part, tuple) else [part]
    return tuple(made)


def sentence(template: str, **parts: Part | Phrase) -> Sentence:
    """Return a sentence, as `phrase` makes it."""
    return Sentence(phrase(template, **parts))


def listed(items: Sequence[Part | Phrase], *, between: str = ", ", last: str = " and ") -> Phrase:
    """Return items one after the other, with ``and`` before the last."""
    made: list[Part] = []
    for place, item in enumerate(items):
        if place:
            made.append(last if place == len(items) - 1 else between)
        made += item if isinstance(item, tuple) else [item]
    return tuple(made)


def count(traced: Traced) -> Number:
    """Return a count, with commas between thousands."""
    return _number(traced, _present.count)


def plural(traced: Traced, one: str, several: str | None = None, *, none: str = "no") -> Phrase:
    """Return a count with its noun or verb; of none the word for it."""
    number = count(traced) if traced.value else _number(traced, lambda _: none)
    return (number, " ", one if traced.value == 1 else several or f"{one}s")


def times(traced: Traced) -> Phrase:
    """Return a count of occasions in words: "once", or "n times"."""
    return (_number(traced, lambda _: "once"),) if traced.value == 1 else plural(traced, "time")


def percent(traced: Traced) -> Number:
    """Return a share of 0 to 1 as a percentage, without the sign."""
    return _number(traced, _present.percent)


def level(traced: Traced) -> Number:
    """Return a confidence level as a percentage, with as many decimals as it has."""
    return _number(traced, lambda share: f"{100 * share:.10g}")


def alpha(traced: Traced) -> Number:
    """Return Krippendorff's alpha as the tables print it."""
    return _number(traced, lambda value: _present.alpha(value, 2))


def p_value(traced: Traced) -> Phrase:
    """Return a p value with its sign of equality."""
    printed = _number(traced, _present.p_value)
    return (printed,) if printed.printed.startswith(("<", ">")) else ("= ", printed)


def reason(traced: Traced) -> Number:
    """Return the reason for a missing number, in words."""
    return _number(traced, _reasons.reason_words)


def grouped(items: Sequence[tuple[str, Part]]) -> dict[str, list[Part]]:
    """Return the second of each pair under its first, in order."""
    groups: dict[str, list[Part]] = {}
    for key, item in items:
        groups.setdefault(key, []).append(item)
    return groups


def coefficient(traced: Traced, digits: int = 2) -> Number:
    """Return a number that cannot exceed 1."""
    return _number(traced, lambda value: _present.coefficient(value, digits))


def number(traced: Traced, digits: int = 2) -> Number:
    """Return any other number."""
    return _number(traced, lambda value: _present.number(value, digits))


def interval(of: Traced, low: Part, high: Part) -> Phrase:
    """Return an interval as tables head it, ``95% CI [.61, .80]``; `of` is its confidence level."""
    return phrase("{level}% CI [{low}, {high}]", level=level(of), low=low, high=high)


def quoted(names: Sequence[Part]) -> Phrase:
    """Return names in quotation marks, one after the other."""
    return listed([phrase("“{name}”", name=name) for name in names])


def date(traced: Traced) -> Number:
    """Return the day of a time in UTC."""
    return _number(traced[:10], str)


def named(traced: Traced) -> Number:
    """Return a name, as in the record."""
    return _number(traced, lambda value: " ".join(str(value).split()))


def _number(traced: Traced, printed: Callable[[Any], str]) -> Number:
    value = traced.value.item() if isinstance(traced.value, np.generic) else traced.value
    value = None if value is pd.NA else value
    return Number(printed(traced.value), value, traced.call, traced.where)


NAMES: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "Basis": Basis,
        "acts": acts,
        "adjudication": adjudication,
        "agreement": agreement,
        "codebook": codebook,
        "codings": codings,
        "json": json,
        "links": links,
        "metadata": metadata,
        "report": SimpleNamespace(review=review),
        "rounds": rounds,
        "suggestions": suggestions,
    }
)
"""The names in calls, in addition to ``store``: packages of sense7_qual, `Basis`, json, and metadata."""


class Traced:
    """A value, the call that gives the frame or object it is taken from, and its place in that."""

    __slots__ = ("_known", "call", "value", "where")

    def __init__(self, value: Any, call: str, where: str = "", known: dict[str, Any] | None = None) -> None:
        self.value, self.call, self.where = value, call, where
        self._known: dict[str, Any] = {} if known is None else known

    def __repr__(self) -> str:
        return f"Traced({self.expression})"

    @property
    def expression(self) -> str:
        """The Python expression that gives the value."""
        return self.call + self.where

    def __getattr__(self, name: str) -> Traced:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._step(f".{name}", lambda: getattr(self.value, name))

    def __getitem__(self, key: Any) -> Traced:
        return self._step(f"[{written_as(key)}]", lambda: self.value[_plain(key)])

    def __call__(self, *given: Any, **named: Any) -> Traced:
        words = [*map(written_as, given), *(f"{name}={written_as(value)}" for name, value in named.items())]
        return self._step(
            f"({', '.join(words)})",
            lambda: self.value(*map(_plain, given), **{name: _plain(value) for name, value in named.items()}),
        )

    def __truediv__(self, other: Traced) -> Traced:
        expression = f"{self.expression} / {other.expression}"
        return Traced(self.value / other.value, expression, "", self._known)

    def how_many(self) -> Traced:
        """Return the number of items in the value."""
        return Traced(len(self.value), f"len({self.expression})", "", self._known)

    def given(self, expression: str, value: Any) -> Traced:
        """Return a value with a call that cannot be written step by step, such as a count in a loop."""
        return Traced(value, expression, "", self._known)

    def _step(self, written: str, compute: Callable[[], Any]) -> Traced:
        """Return what one step leads to, which is computed once for each expression."""
        expression = self.expression + written
        if expression not in self._known:
            self._known[expression] = compute()
        value = self._known[expression]
        if not self.where and (self.call in _ROOTS or callable(self.value)):
            return Traced(value, expression, "", self._known)
        return Traced(value, self.call, self.where + written, self._known)


_ROOTS: Final = frozenset({"store", "agreement.diagnosis", "links.models", *NAMES})


def trace(store: Any) -> dict[str, Traced]:
    """Return the study and the packages, traced, by the names that they have in calls."""
    known: dict[str, Any] = {}
    return {name: Traced(value, name, "", known) for name, value in {**NAMES, "store": store}.items()}


def written_as(value: Any) -> str:
    """Return a value as it is written in a call, texts in double quotation marks where they can be.

    >>> written_as(["case_id", 3]), written_as(slice(None, 10))
    ('["case_id", 3]', ':10')
    """
    if isinstance(value, Traced):
        return value.expression
    if isinstance(value, slice):
        return ":".join("" if end is None else repr(end) for end in (value.start, value.stop))
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written_as, value))
        return f"[{inside}]" if isinstance(value, list) else inside
    if isinstance(value, str):
        text = repr(value)
        return text if '"' in text else f'"{text[1:-1]}"'
    return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Traced):
        return value.value
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    return value

"""A finished text whose every number says which call gives it, and how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import write_by_suffix
from sense7_qual.report._docx import word_text
from sense7_qual.report._escape import clean, escape_html, escape_markdown, no_formula, one_line
from sense7_qual.report._latex import latex_text
from sense7_qual.report._styles import Paper
from sense7_qual.report._table import html_page

__all__ = ["Number", "Paragraph", "Sentence", "Text"]

_QUESTIONS = "To be answered: the record does not hold it"


@dataclass(frozen=True, slots=True, repr=False)
class Number:
    """What stands in a sentence from the record: a number, a name or a date.

    Attributes
    ----------
    printed : str
        As it stands in the text, rounded.
    value : object
        What the call gives, unrounded.
    call : str
        The call that gives it, or the frame that it is taken from.
    where : str
        Where it stands in what the call returns; empty where it is that. ``call + where`` is an expression in
        Python whose value is `value`.
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
    """A sentence: words, and between them what stands in the record."""

    parts: tuple[str | Number, ...]

    def __repr__(self) -> str:
        return f"Sentence({len(self.numbers)} numbers)"

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """What stands in it from the record, in order."""
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
        What a reader will want to know and the record does not hold. They stand below the text, as questions.

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
        kinds = {"sentence": "string", "printed": "string", "value": "object", "call": "string",
                 "where": "string"}  # fmt: skip
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
            Whether to replace a file that is there: what somebody wrote into it would be lost.
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

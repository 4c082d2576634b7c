"""What survey programs write above the responses, made from drawn tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from openpyxl import Workbook

Row = list[str]


@dataclass(frozen=True)
class Export:
    """The header rows of a program, and responses with an id, a rating and a text each."""

    names: Row
    below: list[Row]
    """The header rows below the names."""
    responses: list[Row]
    named: Row
    """What the columns are called when the header is read."""

    @property
    def block(self) -> list[Row]:
        return [self.names, *self.below]

    def rows(self, again: Sequence[int] = (), *, with_names: bool = True) -> list[Row]:
        """Return all rows; the header comes again above the responses at these places."""
        rows = list(self.block)
        for place, response in enumerate(self.responses):
            rows += (self.block if with_names else self.below) * list(again).count(place)
            rows.append(response)
        return rows


def qualtrics(answers: Sequence[tuple[int, str]], *, quote: str = '"') -> Export:
    ids = ["startDate", "_recordId", "QID1", "QID2_TEXT"]
    names = ["StartDate", "ResponseId", "Q1", "Q2"]
    asked = ["Start Date", "Response ID", "How satisfied were you?", "Why did you say so?\nPlease explain."]
    marks = ["{" + f"{quote}ImportId{quote}:{quote}{one}{quote}" + "}" for one in ids]
    responses = [
        ["2026-01-31 10:00:00", f"R_{n}", str(stars), text] for n, (stars, text) in enumerate(answers)
    ]
    return Export(names, [asked, marks], responses, names)


def legacy_qualtrics(answers: Sequence[tuple[int, str]]) -> Export:
    first = ["ResponseID", "ResponseSet", "Name", "ExternalDataReference", "EmailAddress", "IPAddress"]
    first += ["Status", "StartDate", "EndDate", "Finished"]
    names = [*(f"V{n}" for n in range(1, 11)), "Q1", "Q2", ""]
    when = ["2015-01-31 10:00:00", "2015-01-31 10:02:00"]
    responses = [
        [f"R_{n}", "Default", "Anonymous", "", "", "", "0", *when, "1", str(stars), text, ""]
        for n, (stars, text) in enumerate(answers)
    ]
    return Export(names, [[*first, "How satisfied were you?", "Why?", ""]], responses, [*first, "Q1", "Q2"])


def surveymonkey(answers: Sequence[tuple[int, str]]) -> Export:
    names = ["Respondent ID", "Collector ID", "Start Date", "How satisfied?", "Why?", "Colours", "", ""]
    parts = ["", "", "", "Response", "Open-Ended Response", "Red", "Blue", "Other"]
    responses = [
        [str(100 + n), "7", "01/31/2026 10:00", str(stars), text, "Red", "", ""]
        for n, (stars, text) in enumerate(answers)
    ]
    named = [*names[:5], "Colours – Red", "Colours – Blue", "Colours – Other"]
    return Export(names, [parts], responses, named)


FORMS = ("csv", "tsv", "xlsx", "frame")


def written(rows: Sequence[Row], folder: Path, form: str) -> Path | pd.DataFrame:
    """Write the rows as a file, the TSV in UTF-16 as Qualtrics does, or return what pandas.read_csv makes."""
    path = folder / f"export.{'csv' if form == 'frame' else form}"
    if form == "xlsx":
        book = Workbook()
        for row in rows:
            book.active.append([cell or None for cell in row])
        book.save(path)
        return path
    lines = io.StringIO()
    csv.writer(lines, delimiter="\t" if form == "tsv" else ",", lineterminator="\n").writerows(rows)
    path.write_bytes(lines.getvalue().encode("utf-16" if form == "tsv" else "utf-8"))
    return pd.read_csv(path) if form == "frame" else path

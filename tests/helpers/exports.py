"""What survey, annotation and analysis programs write, made from drawn answers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


# Programs that are known by the names of their columns, or by JSON

Answers = Sequence[tuple[int, str]]


def limesurvey(answers: Answers) -> list[Row]:
    names = ["id", "submitdate", "lastpage", "startlanguage", "seed", "Q1[SQ001]", "Q2", "interviewtime"]
    when = "2026-01-31 10:00:00"
    return [names] + [
        [str(n), when if n else "", "3", "en", "77", str(stars), text, "61.5"]
        for n, (stars, text) in enumerate(answers)
    ]


def microsoft_forms(answers: Answers) -> list[Row]:
    names = ["Id", "Start time", "Completion time", "Email", "Name", "Total points", "Why?", "Points - Why?"]
    names += ["Feedback - Why?", "How satisfied?"]
    when = ["1/31/2026 10:00:00", "1/31/2026 10:02:00"]
    return [names] + [
        [str(n), *when, "anonymous", "", "0", text, "0", "", str(stars)]
        for n, (stars, text) in enumerate(answers)
    ]


def redcap(answers: Answers) -> list[Row]:
    """Return an export with a row per person and form: the base form, and a repeated one with the texts."""
    names = ["record_id", "redcap_repeat_instrument", "redcap_repeat_instance", "age", "base_complete"]
    names += ["stars", "why", "visit_complete"]
    rows = [names]
    for n, (stars, text) in enumerate(answers):
        rows.append([f"p{n}", "", "", "33", "2", "", "", ""])
        rows.append([f"p{n}", "visit", "1", "", "", str(stars), text, "1"])
    return rows


def redcap_forms(answers: Answers) -> list[Row]:
    names = ["record_id", "stars", "why", "visit_complete"]
    return [names] + [[f"p{n}", str(stars), text, "2"] for n, (stars, text) in enumerate(answers)]


def prolific(answers: Answers) -> list[Row]:
    names = ["Submission id", "Participant id", "Status", "Started at", "Age"]
    return [names] + [
        [f"{n:024x}", f"{n:024x}", "APPROVED", "2026-01-31", str(stars)]
        for n, (stars, _) in enumerate(answers)
    ]


def mturk(answers: Answers) -> list[Row]:
    names = [
        "HITId",
        "AssignmentId",
        "WorkerId",
        "AssignmentStatus",
        "Input.url",
        "Answer.why",
        "Answer.stars",
    ]
    return [names] + [
        [f"H{n}", f"A{n}", f"W{n}", "Approved", "a.html", text, str(stars)]
        for n, (stars, text) in enumerate(answers)
    ]


def maxqda(answers: Answers) -> list[Row]:
    names = ["Color", "Document group", "Document name", "Code", "Beginning", "End", "Segment"]
    return [names] + [
        ["●", "", f"d{n}", "Trust > Warm", "1", "1", text] for n, (_, text) in enumerate(answers)
    ]


def maxqda_german(answers: Answers) -> list[Row]:
    names = ["Farbe", "Dokumentgruppe", "Dokumentname", "Code", "Segment", "Autor"]
    return [names] + [["●", "", f"d{n}", "Warm", text, "ana"] for n, (_, text) in enumerate(answers)]


def atlas_ti(answers: Answers) -> list[Row]:
    names = ["ID", "Document", "Quotation Content", "Codes", "Reference", "Created by"]
    return [names] + [
        [f"1:{n}", "d1", text, "tone: warm\ntone: cold", "1 - 1", "ana"]
        for n, (_, text) in enumerate(answers)
    ]


def dedoose(answers: Answers) -> list[Row]:
    names = ["Media Title", "Excerpt Range", "Excerpt Creator", "Excerpt Copy", "Codes Applied Combined"]
    names += ["Code: Tone\\Warm Applied"]
    return [names] + [["d1", "1-9", "ana", text, "Warm", "true"] for _, text in answers]


def taguette(answers: Answers) -> list[Row]:
    return [["id", "document", "tag", "content"]] + [
        [str(n), "d1", "warm", text] for n, (_, text) in enumerate(answers)
    ]


def taguette_codebook(answers: Answers) -> list[Row]:
    return [["tag", "description", "number of highlights"]] + [
        [f"t{n}", text, str(stars)] for n, (stars, text) in enumerate(answers)
    ]


def table_of_codes(answers: Answers) -> list[Row]:
    return [["Code", "Definition", "Example"]] + [
        [f"t{n}", text, str(stars)] for n, (stars, text) in enumerate(answers)
    ]


def label_studio_rows(answers: Answers) -> list[Row]:
    names = ["annotation_id", "annotator", "created_at", "id", "lead_time", "text", "tone", "updated_at"]
    when = "2026-01-31T10:00:00Z"
    return [names] + [
        [f"{n}{by}", f"{by}@example.org", when, str(n), "3.5", text, '{"choices":["warm","cold"]}', when]
        for n, (_, text) in enumerate(answers)
        for by in (1, 2)
    ]


def label_studio(answers: Answers) -> list[dict[str, Any]]:
    result = [{"type": "choices", "value": {"choices": ["warm"]}}]
    return [
        {
            "id": n,
            "annotations": [{"id": n, "completed_by": 1, "result": result, "was_cancelled": False}],
            "data": {"text": text, "stars": stars},
            "predictions": [],
        }
        for n, (stars, text) in enumerate(answers)
    ]


def doccano(answers: Answers) -> list[dict[str, Any]]:
    return [
        {"id": n, "text": text, "label": ["warm"], "stars": stars} for n, (stars, text) in enumerate(answers)
    ]


def prodigy(answers: Answers) -> list[dict[str, Any]]:
    return [
        {
            "text": text,
            "stars": stars,
            "_input_hash": n,
            "_task_hash": 10 * n + k,
            "label": label,
            "answer": "accept",
        }
        for n, (stars, text) in enumerate(answers)
        for k, label in enumerate(["warm", "cold"])
    ]


def argilla(answers: Answers) -> list[dict[str, Any]]:
    return [
        {
            "id": str(n),
            "status": "completed",
            "text": text,
            "stars": stars,
            "tone.responses": ["warm"],
            "tone.responses.users": ["u1"],
            "tone.responses.status": ["submitted"],
            "tone.suggestion": "cold",
        }
        for n, (stars, text) in enumerate(answers)
    ]


ROWS = {
    "limesurvey": limesurvey,
    "microsoft forms": microsoft_forms,
    "prolific": prolific,
    "mturk": mturk,
    "maxqda segments": maxqda,
    "atlas.ti quotations": atlas_ti,
    "dedoose excerpts": dedoose,
    "taguette highlights": taguette,
    "taguette codebook": taguette_codebook,
    "table of codes": table_of_codes,
    "label studio rows": label_studio_rows,
    "redcap": redcap,
}
"""By kind the maker of the rows of its file."""
OBJECTS = {"label studio": label_studio, "labelled texts": doccano, "prodigy": prodigy, "argilla": argilla}
"""By kind the maker of the objects of its JSON file."""


def made(kind: str, answers: Answers, folder: Path) -> Path:
    """Write a file of a kind: its rows as CSV, its objects as JSON lines or, for Label Studio, one list."""
    if kind in HEADED:
        return written(HEADED[kind](answers).rows(), folder, "csv")  # type: ignore[return-value]
    if kind in ROWS:
        return written(ROWS[kind](answers), folder, "csv")  # type: ignore[return-value]
    objects = OBJECTS[kind](answers)
    path = folder / ("export.json" if kind == "label studio" else "export.jsonl")
    lines = json.dumps(objects) if kind == "label studio" else "\n".join(map(json.dumps, objects))
    path.write_text(lines, "utf-8")
    return path


HEADED = {"qualtrics": qualtrics, "qualtrics legacy": legacy_qualtrics, "surveymonkey": surveymonkey}
"""By kind the maker of an export with header rows below the first."""

"""Files of codings as programs and people write them, made from drawn decisions, with the right answers."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from openpyxl import Workbook

from sense7_qual.codebook import Code, Codebook
from tests.helpers.private_words import SAID

BOOK = Codebook(
    name="tone",
    codes=(
        Code(id="tone", label="Tone", codable=False),
        Code(id="warm", label="Warm", parent="tone"),
        Code(id="cold", label="Cold, distant", parent="tone"),
        Code(id="ui", label="UI/UX"),
    ),
)
LABELS = {code.id: code.label for code in BOOK.codable}
PATHS = {"warm": ("Tone", "Warm"), "cold": ("Tone", "Cold, distant"), "ui": ("UI/UX",)}
Coded = Mapping[tuple[str, str], frozenset[str]]
"""By unit and coder the codes applied; what is not there was not finished. Ids of units are numbers."""


@dataclass
class Export:
    """What is passed to `codings.read`: the source, answers that are asked for, and others that fit."""

    source: Any
    answers: dict[str, Any] = field(default_factory=dict)
    fitting: dict[str, Any] = field(default_factory=dict)


def decisions(coded: Coded) -> pd.DataFrame:
    rows = [
        (unit, coder, code, code in applied) for (unit, coder), applied in coded.items() for code in LABELS
    ]
    return pd.DataFrame(rows, columns=["unit_id", "coder", "code", "applied"])


def pairs(coded: Coded) -> pd.DataFrame:
    return pd.DataFrame([*coded], columns=["unit_id", "coder"])


def segments(coded: Coded) -> list[tuple[str, str, str]]:
    return [(unit, coder, code) for (unit, coder), codes in coded.items() for code in sorted(codes)]


def coders(coded: Coded) -> list[str]:
    return sorted({coder for _, coder in coded})


def path_of(code: str, sign: str) -> str:
    return sign.join(PATHS[code])


def csv_of(path: Path, rows: Iterable[Mapping[str, Any]], columns: list[str], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def xlsx_of(path: Path, sheets: Mapping[str, pd.DataFrame]) -> Path:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, frame in sheets.items():
        sheet = book.create_sheet(name)
        sheet.append(list(frame.columns))
        for row in frame.itertuples(index=False):
            sheet.append([None if pd.isna(cell) else cell for cell in row])
    book.save(path)
    return path


def json_of(path: Path, items: list[Any]) -> Path:
    lines = path.suffix == ".jsonl"
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in items) if lines else json.dumps(items)
    path.write_text(text, "utf-8")
    return path


# Programs for qualitative analysis


def maxqda(coded: Coded, folder: Path) -> Export:
    rows = [
        (
            "●",
            "",
            "G1",
            unit,
            path_of(code, " > "),
            1,
            1,
            0,
            SAID,
            who,
            "2026-01-31",
            1,
            "0,5",
        )
        for unit, who, code in segments(coded)
    ]
    names = [
        "Farbe",
        "Kommentar",
        "Dokumentgruppe",
        "Dokumentname",
        "Code",
        "Anfang",
        "Ende",
        "Gewicht",
        "Segment",
        "Autor",
        "Erstellt am",
        "Fläche",
        "Abdeckungsgrad %",
    ]
    path = xlsx_of(folder / "segments.xlsx", {"Codings": pd.DataFrame(rows, columns=names)})
    return Export(path, {"finished": pairs(coded)})


def maxqda_by_coder(coded: Coded, folder: Path) -> Export:
    files = {}
    for who in coders(coded):
        rows = [
            {"Document group": "G1", "Document name": unit, "Code": path_of(code, " > "), "Segment": SAID}
            for unit, coder, code in segments(coded)
            if coder == who
        ]
        names = ["Document group", "Document name", "Code", "Segment"]
        files[who] = csv_of(folder / f"{who}.csv", rows, names, ";")
    return Export(files, {"finished": pairs(coded)})


def atlas_ti(coded: Coded, folder: Path) -> Export:
    rows = [
        (
            f"{unit}:1",
            unit,
            SAID,
            "\n".join(LABELS[code] for code in sorted(codes)),
            "1 - 1",
            who,
        )
        for (unit, who), codes in coded.items()
    ]
    names = ["ID", "Document", "Quotation Content", "Codes", "Reference", "Created by"]
    path = xlsx_of(folder / "quotations.xlsx", {"Quotations": pd.DataFrame(rows, columns=names)})
    return Export(path, {"finished": "rows"})


def dedoose(coded: Coded, folder: Path) -> Export:
    columns = {code: f"Code: {path_of(code, chr(92))} Applied" for code in LABELS}
    rows = [
        {
            "Media Title": unit,
            "Excerpt Creator": who,
            "Excerpt Copy": SAID,
            "Codes Applied Combined": ", ".join(LABELS[code] for code in sorted(codes)),
            **{name: code in codes for code, name in columns.items()},
        }
        for (unit, who), codes in coded.items()
    ]
    path = xlsx_of(folder / "excerpts.xlsx", {"Excerpts": pd.DataFrame(rows)})
    return Export(path, {"finished": "rows", "unit_id": "Media Title"})


def taguette(coded: Coded, folder: Path) -> Export:
    files = {}
    for who in coders(coded):
        rows = [
            {"id": 7, "document": unit, "tag": LABELS[code] if code else "", "content": SAID}
            for (unit, coder), codes in coded.items()
            for code in (sorted(codes) or [""])
            if coder == who
        ]
        files[who] = csv_of(folder / f"{who}.csv", rows, ["id", "document", "tag", "content"])
    return Export(files, {"finished": "rows"})


# Annotation tools


def label_studio(coded: Coded, folder: Path) -> Export:
    tasks = []
    for unit in dict.fromkeys(unit for unit, _ in coded):
        made = [
            {
                "id": number,
                "completed_by": {"id": number, "email": f"{who}@example.org", "first_name": ""},
                "was_cancelled": False,
                "result": [region("topics", LABELS[code]) for code in sorted(codes)],
            }
            for number, ((of, who), codes) in enumerate(coded.items())
            if of == unit
        ]
        skipped = {"id": 99, "completed_by": 9, "was_cancelled": True, "result": [region("topics", "Warm")]}
        task = {"id": int(unit), "data": {"text": SAID, "number": 7}, "annotations": [*made, skipped]}
        tasks.append({**task, "predictions": [{"result": [region("topics", "Warm")], "score": 0.9}]})
    pseudonyms = {f"{who}@example.org": who for who in coders(coded)}
    return Export(json_of(folder / "tasks.json", tasks), {"coders": pseudonyms})


def region(control: str, label: str) -> dict[str, Any]:
    return {
        "id": "a1",
        "type": "choices",
        "value": {"choices": [label]},
        "from_name": control,
        "to_name": "text",
    }


def label_studio_rows(coded: Coded, folder: Path) -> Export:
    rows = []
    for number, ((unit, who), codes) in enumerate(coded.items()):
        named = [LABELS[code] for code in sorted(codes)]
        cell = json.dumps({"choices": named}) if len(named) > 1 else "".join(named)
        rows.append(
            {
                "text": SAID,
                "id": unit,
                "topics": cell,
                "annotator": who,
                "annotation_id": number,
                "created_at": "2026-01-31",
                "lead_time": 1.5,
            }
        )
    path = csv_of(folder / "rows.csv", rows, [*rows[0]])
    return Export(path, {"code": "topics"})


def doccano(coded: Coded, folder: Path) -> Export:
    files = {}
    for who in coders(coded):
        texts = [
            {
                "id": int(unit),
                "text": SAID,
                "label": [LABELS[code] for code in sorted(codes)],
                "Comments": [],
            }
            for (unit, coder), codes in coded.items()
            if coder == who
        ]
        files[who] = json_of(folder / f"{who}.jsonl", texts)
    # A member who applied no code has no column of words: then nothing tells which column holds the labels.
    return Export(files, {"finished": "rows"}, {"code": "label"})


def doccano_spans(coded: Coded, folder: Path) -> Export:
    texts = [
        {
            "id": int(unit),
            "text": SAID,
            "annotator": who,
            "entities": [[0, 5, LABELS[code]] for code in sorted(codes)],
        }
        for (unit, who), codes in coded.items()
    ]
    path = json_of(folder / "all.jsonl", texts)
    return Export(path, {"finished": "rows"}, {"code": "entities", "coder": "annotator"})


def doccano_csv(coded: Coded, folder: Path) -> Export:
    files = {}
    for who in coders(coded):
        rows = [
            {"id": unit, "text": SAID, "label": "#".join(LABELS[code] for code in sorted(codes))}
            for (unit, coder), codes in coded.items()
            if coder == who
        ]
        files[who] = csv_of(folder / f"{who}.csv", rows, ["id", "text", "label"])
    return Export(files, {"finished": "rows", "unit_id": "id", "code": "label"}, {"separator": "#"})


def prodigy(coded: Coded, folder: Path) -> Export:
    """Return one line per text and label."""
    lines = [
        {**task(unit, who), "label": label, "answer": "accept" if code in codes else "reject"}
        for (unit, who), codes in coded.items()
        for code, label in LABELS.items()
    ]
    lines.append({**task("1", "ana"), "label": "Warm", "answer": "ignore"})
    return Export(json_of(folder / "binary.jsonl", lines), {"coder": "_annotator_id"})


def prodigy_choice(coded: Coded, folder: Path) -> Export:
    options = [{"id": label, "text": label} for label in LABELS.values()]
    lines = [
        {
            **task(unit, who),
            "options": options,
            "accept": [LABELS[code] for code in sorted(codes)],
            "answer": "accept",
        }
        for (unit, who), codes in coded.items()
    ]
    lines.append({**task("99", "ana"), "options": options, "accept": [], "answer": "ignore"})
    return Export(json_of(folder / "choice.jsonl", lines), {"coder": "_annotator_id"})


def prodigy_spans(coded: Coded, folder: Path) -> Export:
    lines = [
        {
            **task(unit, who),
            "answer": "accept",
            "spans": [{"start": 0, "end": 5, "label": LABELS[code]} for code in sorted(codes)],
        }
        for (unit, who), codes in coded.items()
    ]
    lines.append({**task("99", "ana"), "spans": [], "answer": "ignore"})
    return Export(json_of(folder / "spans.jsonl", lines), {"coder": "_annotator_id"})


def task(unit: str, who: str) -> dict[str, Any]:
    return {"text": SAID, "_input_hash": int(unit), "_task_hash": 7, "_annotator_id": who}


def argilla(coded: Coded, folder: Path) -> Export:
    records = []
    for unit in dict.fromkeys(unit for unit, _ in coded):
        answers = [
            ([LABELS[code] for code in sorted(codes)], who, "submitted")
            for (of, who), codes in coded.items()
            if of == unit
        ]
        answers.append((["Warm"], "dee", "draft"))
        values, users, statuses = (list(each) for each in zip(*answers, strict=True))
        name = "topics.responses"
        records.append(
            {
                "id": unit,
                "text": SAID,
                name: values,
                f"{name}.users": users,
                f"{name}.status": statuses,
                "topics.suggestion": ["Warm"],
            }
        )
    return Export(json_of(folder / "records.jsonl", records))


# Spreadsheets


def sheet_by_coder(coded: Coded, folder: Path) -> Export:
    """Return a workbook with a sheet of marks for each coder, blank where a code is absent."""
    sheets = {
        who: pd.DataFrame(
            [
                {"text no": unit, **{label: "x" if code in codes else None for code, label in LABELS.items()}}
                for (unit, coder), codes in coded.items()
                if coder == who
            ]
        )
        for who in coders(coded)
    }
    path = xlsx_of(folder / "sheets.xlsx", sheets)
    return Export(
        path, {"sheets": coders(coded), "unit_id": "text no"}, {"blank": "absent", "finished": "rows"}
    )


def marks(coded: Coded, folder: Path) -> Export:
    rows = [
        {"unit_id": unit, "coder": who, **{label: int(code in codes) for code, label in LABELS.items()}}
        for (unit, who), codes in coded.items()
    ]
    path = csv_of(folder / "marks.csv", rows, [*rows[0]], "\t")
    return Export(path, {}, {"finished": "rows"})


def category_columns(coded: Coded, folder: Path) -> Export:
    """Return columns "primary", "secondary" and "tertiary", with ids of codes."""
    rows, columns = [], ["primary", "secondary", "tertiary"]
    for (unit, who), codes in coded.items():
        named = zip(columns, [one for one in LABELS if one in codes], strict=False)
        rows.append({"unit_id": unit, "coder": who, **dict(named)})
    path = csv_of(folder / "categories.csv", rows, ["unit_id", "coder", *columns])
    return Export(path, {"code": columns, "finished": "rows"})


def column_by_coder(coded: Coded, folder: Path) -> Export:
    units = dict.fromkeys(unit for unit, _ in coded)
    rows = [
        {
            "unit_id": unit,
            **{f"Rater {who}": "; ".join(sorted(coded.get((unit, who), ()))) for who in coders(coded)},
        }
        for unit in units
    ]
    path = csv_of(folder / "raters.csv", rows, ["unit_id", *(f"Rater {who}" for who in coders(coded))])
    columns = {who: f"Rater {who}" for who in coders(coded)}
    return Export(path, {"code": columns, "finished": pairs(coded)}, {"separator": "; "})


Form = Callable[[Coded, Path], Export]
FORMS: tuple[Form, ...] = (
    maxqda,
    maxqda_by_coder,
    atlas_ti,
    dedoose,
    taguette,
    label_studio,
    label_studio_rows,
    doccano,
    doccano_spans,
    doccano_csv,
    prodigy,
    prodigy_choice,
    prodigy_spans,
    argilla,
    sheet_by_coder,
    marks,
    category_columns,
    column_by_coder,
)

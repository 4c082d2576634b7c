"""A study of five texts whose coders work in Excel, and how its sheets are filled in and read."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from sense7_qual import corpus, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.small_study import facet

BOOK = Codebook(
    name="small",
    facets=(facet("valence", "met", "unmet"),),
    codes=(
        Code(id="warm", label="Warm", definition="Sounds kind", examples=("So kind",)),
        Code(id="cold", label="=Cold()"),
        Code(id="other", label="text"),
        Code(id="top", label="Top", codable=False),
    ),
)
TEXTS = ["=1+1 listened", "It listened.\r\nTwice.", "héllo 👩‍👩‍👧 שלום", "a\x01b", "It listened."]
IDS = [f"m{n}" for n in range(len(TEXTS))]


def study(folder: Path, **named: Any) -> Store:
    table = folder / "answers.csv"
    rows = [
        f'{unit},"{text}",p{n % 2},{n % 5 + 1}' for n, (unit, text) in enumerate(zip(IDS, TEXTS, strict=True))
    ]
    table.write_text("id,said,who,stars\n" + "\n".join(rows) + "\n", "utf-8", newline="")
    units = corpus.read(table, text="said", unit_id="id", case_id="who", ratings=["stars"])
    store = Store.create(folder / "study", units=units, codebook=BOOK, lead="lead")
    store.assign(coders=["ana", "ben"], overlap=1.0, seed=1, coder="lead", **named)
    return store


def edit(path: Path, **cells: Any) -> None:
    """Change cells of a sheet, such as m1_warm=1."""
    book = load_workbook(path)
    sheet = book["coding"]
    columns = {cell.value: cell.column for cell in sheet[2]}
    labels = {"warm": "Warm", "cold": "=Cold()", "other": "text (other)"}
    rows = {sheet.cell(row, 1).value: row for row in range(3, sheet.max_row + 1)}
    for name, value in cells.items():
        unit_id, column = name.split("_", 1)
        cell = sheet.cell(rows[unit_id], columns[labels.get(column, column)])
        cell.value = value
        if isinstance(value, str):
            cell.data_type = "s"
    book.save(path)


def read_in(store: Store, path: Path, *, undo: bool = False) -> int:
    return store.append(exchange.read_coding_sheets(store, path, undo=undo))


def read_with_warnings(store: Store, path: Path, *, undo: bool = False) -> str:
    """Read a sheet into the record, and return what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_in(store, path, undo=undo)
    return " ".join(str(one.message) for one in caught)


def decided(store: Store, coder: str = "ana") -> dict[tuple[str, str], bool]:
    frame = store.decisions()
    own = frame[frame["coder"] == coder]
    return dict(zip(zip(own["unit_id"], own["code"], strict=True), own["applied"], strict=True))


def recorded(store: Store, unit_id: str) -> tuple[set[str], str, bool]:
    """Return ana's codes and memo on a text, and whether it is finished."""
    codings, coverage = store.codings(coder="ana"), store.coverage(coder="ana")
    memos = store.memos(coder="ana")
    memos = memos[(memos["target_kind"] == "unit") & (memos["target_id"] == unit_id)]
    codes = set(codings.loc[codings["unit_id"] == unit_id, "code"])
    return codes, "".join(memos["text"]), unit_id in set(coverage["unit_id"])

"""Coding sheets: a workbook per coder, for people who code in Excel.

A sheet holds the coder's own texts and marks, never a rating or a colleague's coding. A hidden sheet says
whose it is and what it held when it was written (`About`).
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments
from sense7_qual._atomic import make_folder, save, undated
from sense7_qual._messages import did_you_mean, first_three
from sense7_qual.codebook import Code
from sense7_qual.errors import ActError, TableError
from sense7_qual.exchange._about_sheet import ABOUT, About
from sense7_qual.exchange._project import require_study
from sense7_qual.exchange._sheet_record import Base, Own, Row, cell_text, hash_of

CODING, _CODES = "coding", "codes"
_ESCAPE: Final = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
RULE: Final = (
    "Write 1 where a code applies, and 1 under “finished” once you are done with a text. In a finished row a "
    "blank means: does not apply. In any other row, nothing but the marks counts."
)
_LONGEST: Final = 32_000  # UTF-16 units of a cell; Excel cuts at 32,767
_WIDTHS: Final = {"unit_id": 14, "question": 30, "conversation": 40, "text": 60, "memo": 30}


def write_coding_sheets(
    store: Any,
    folder: str | Path,
    *,
    round: str | None = None,
    coders: Sequence[str] | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write a workbook for each coder, to code in Excel or LibreOffice, and return their paths.

    A workbook has the coder's texts in the order of the plan, with the question or the conversation before
    them, a column for each code to be marked with 1, and the columns ``unsure``, ``memo`` and ``finished``;
    the coder's own work so far is filled in. In a finished row a blank means that the code is absent; in any
    other row only the marks count. A second sheet holds definitions and rules. Ratings and the codings of
    others are left out. The same study gives the same bytes.

    Parameters
    ----------
    store : Store
        The study. The files hold the participants' words.
    folder : str or Path
        Where to write ``ana.xlsx`` and so on; made if missing.
    round : str, optional
        The round to code; by default the texts assigned outside rounds.
    coders : sequence of str, optional
        Only these coders.
    overwrite : bool
        Whether to replace existing files.

    Raises
    ------
    ArgumentError
        `store` is no study.
    ActError
        A coder has no texts in the plan, or in this round.
    TableError
        A text is longer than a cell (32,000 UTF-16 units). Nothing was written.
    StoreError
        A file exists, and `overwrite` is false; those before it were written. Or `store` is a bundle, or on a
        server the role is neither the lead's nor the coder's.

    Examples
    --------
    ``exchange.write_coding_sheets(store, "sheets")``
    """
    check_arguments(write_coding_sheets, locals(), but=("store",))
    require_study(store, "write_coding_sheets")
    plan = plan_of(store, round)
    if plan.empty and coders is None:
        raise ActError(f"write_coding_sheets: expected texts in {named(round)} – found none – assign some.")
    written = {}
    for coder in plan["coder"].unique() if coders is None else dict.fromkeys(coders):
        own = plan.loc[plan["coder"] == coder, "unit_id"].tolist()
        if not own:
            raise ActError(
                f"write_coding_sheets: expected a coder with texts in {named(round)} – found {coder!r} – "
                f"{did_you_mean(coder, plan['coder'].unique())}"
            )
        written[Path(folder, f"{coder}.xlsx")] = _workbook(store, coder, round, own)
    make_folder(Path(folder))
    for path, content in written.items():
        save(path, content, overwrite=overwrite)
    return list(written)


def plan_of(store: Any, round: str | None) -> pd.DataFrame:
    """Return the assignment of a round, or outside rounds."""
    plan: pd.DataFrame = store.plan
    return plan if plan.empty else plan[plan["round"].isna() if round is None else plan["round"] == round]


def named(round: str | None) -> str:
    """Name a round in an error."""
    return "the plan" if round is None else f"round {round!r}"


# The workbook


def _workbook(store: Any, coder: str, round: str | None, unit_ids: Sequence[str]) -> bytes:
    from openpyxl import Workbook

    record = Own(store, coder, round)
    units = store.units.set_index("unit_id").loc[list(unit_ids)]
    sizes = units["text"].map(lambda text: len(cell_text(text).encode("utf-16-le")))
    long = sizes.index[sizes > 2 * _LONGEST].tolist()
    if long:
        raise TableError(
            f"write_coding_sheets: expected texts of at most {_LONGEST:,} UTF-16 units, which a cell holds – "
            f"found longer ones: {first_three(long)} – code these in the coding widget."
        )
    before = _turns(units)
    codes = [code for code, _ in store.codebook.tree if code.codable]
    names = ["unit_id", *before, "text", *_labels(codes), "unsure", "memo", "finished"]
    held = {unit_id: record.row(unit_id) for unit_id in units.index}
    book = Workbook()
    rows = [
        [unit_id, *(column[place] for column in before.values()), text, *_marks(held[unit_id], codes)]
        for place, (unit_id, text) in enumerate(units["text"].items())
    ]
    _fill(book.active, CODING, [[RULE], names, *rows], [_WIDTHS.get(name, 16) for name in names])
    _offer_marks(book.active, names, len(rows))
    _fill(book.create_sheet(), _CODES, [[RULE], *_rules(codes)], [24, 50, 50, 50, 50])
    about = About(
        study=str(store.desk.study_id),
        coder=coder,
        round=round,
        codebook=store.codebook.fingerprint,
        last_act=record.acts[-1].act_id if record.acts else "",
        columns={name: code.id for name, code in zip(_labels(codes), codes, strict=True)},
        texts={unit_id: hash_of(text) for unit_id, text in units["text"].items()},
        rows={unit_id: Base.of(row) for unit_id, row in held.items()},
    )
    _fill(book.create_sheet(), ABOUT, about.sealed(store.desk.sheet_key(coder)))
    book[ABOUT].sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    return undated(file.getvalue())


def _turns(units: pd.DataFrame) -> dict[str, list[str]]:
    """Return the turns before each text, as a column named question or conversation, if there are any."""
    if "context" not in units.columns or units["context"].isna().all():
        return {}
    turns = [json.loads(context) if pd.notna(context) else [] for context in units["context"]]
    roles = {turn.get("role") for each in turns for turn in each}
    said = [
        "\n".join(
            (f"{turn['role']}: " if roles != {"question"} else "")
            + str(turn.get("text", turn.get("content", "")))
            for turn in each
        )
        for each in turns
    ]
    return {"question" if roles == {"question"} else "conversation": [one[-_LONGEST // 2 :] for one in said]}


def _labels(codes: Sequence[Code]) -> list[str]:
    """Name each code's column: its label, with its id where two are alike."""
    times = Counter(code.label for code in codes)
    taken = {"unit_id", "question", "conversation", "text", "unsure", "memo", "finished"}
    return [
        cell_text(
            code.label if times[code.label] == 1 and code.label not in taken else f"{code.label} ({code.id})"
        )
        for code in codes
    ]


def _marks(row: Row, codes: Sequence[Code]) -> list[str | int | None]:
    marks = [1 if code.id in row.codes else None for code in codes]
    return [*marks, 1 if row.unsure else None, row.memo or None, 1 if row.finished else None]


def _rules(codes: Sequence[Code]) -> Iterator[list[str]]:
    yield ["code", "definition", "use when", "do not use when", "examples"]
    for label, code in zip(_labels(codes), codes, strict=True):
        lists = (code.use_when, code.avoid_when, code.examples)
        yield [label, code.definition, *("\n".join(each) for each in lists)]


def _fill(sheet: Any, title: str, rows: Sequence[list[Any]], widths: Sequence[int] = ()) -> None:
    """Write rows into a sheet; those below a rule and a header are as high as their texts need."""
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    sheet.title = title
    for column, width in enumerate(widths, start=1):
        sheet.column_dimensions[get_column_letter(column)].width = width
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            cell.alignment, cell.font = (
                Alignment(wrap_text=number > 1, vertical="top"),
                Font(bold=number == 2),
            )
            if isinstance(value, str):
                cell.value, cell.data_type = _escaped(cell_text(value)) or None, "s"  # "=1" is text, too
            else:
                cell.value = value
        if widths and number > 1:
            sheet.row_dimensions[number].height = min(409, 15 * max(map(_lines, map(str, row), widths)))


def _escaped(text: str) -> str:
    """Return a text so that Excel takes no "_x1234_" in it for a character."""
    return _ESCAPE.sub("_x005F_", text)


def _lines(text: str, width: int) -> int:
    """Return about how many lines a text takes in a column of so many characters."""
    return sum(1 + len(line) // (width - 2) for line in text.split("\n"))


def _offer_marks(sheet: Any, names: Sequence[str], n_rows: int) -> None:
    """Offer 1 to pick where a mark is made, and the rule for blanks where a text is finished."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    first = names.index("text") + 2
    sheet.freeze_panes = sheet.cell(3, first)
    pick: dict[str, Any] = {
        "type": "list",
        "formula1": '"1"',
        "allow_blank": True,
        "showErrorMessage": True,
        "errorTitle": "1 or blank",
        "error": "Write 1, or leave the cell blank.",
    }
    marks = DataValidation(**pick)
    done = DataValidation(**pick, showInputMessage=True, promptTitle="Finished", prompt=RULE)
    for column, name in enumerate(names[first - 1 :], start=first):
        letter = get_column_letter(column)
        if name == "memo":
            for number in range(3, n_rows + 3):
                sheet.cell(number, column).number_format = "@"  # what is typed here is text
        else:
            (done if name == "finished" else marks).add(f"{letter}3:{letter}{n_rows + 2}")
    sheet.add_data_validation(marks)
    sheet.add_data_validation(done)

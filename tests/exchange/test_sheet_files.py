"""Coding sheets as people use them: sorted, filtered, protected, with tabs added; and whose sheet one is."""

from __future__ import annotations

import shutil
import stat
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from openpyxl import load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from sense7_qual import corpus, exchange
from sense7_qual.codebook import Code
from sense7_qual.errors import ImportRefused, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.coding_sheets import (
    BOOK,
    decided,
    edit,
    read_in,
    read_with_warnings,
    recorded,
    study,
)
from tests.helpers.engines import office
from tests.helpers.two_coders import Team

KEY = "sheet_key.json"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return study(tmp_path)


@pytest.fixture
def ana(store: Store, tmp_path: Path) -> Path:
    """Ana's sheet, filled in."""
    (sheet,) = exchange.write_coding_sheets(store, tmp_path, coders=["ana"])
    edit(sheet, m0_warm=1, m0_finished=1, m1_cold=1, m1_memo="=so", m2_other=1)
    return sheet


def change(path: Path, work: Callable[[Any], object]) -> None:
    """Change the workbook at a path."""
    book = load_workbook(path)
    work(book)
    book.save(path)


def rows_of(sheet: Worksheet) -> list[list[Any]]:
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def put_rows(sheet: Worksheet, rows: list[list[Any]]) -> None:
    """Write rows in the place of those of a sheet."""
    sheet.delete_rows(1, sheet.max_row)
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            cell = sheet.cell(number, column)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"


def sorted_down(book: Any) -> None:
    """Sort the whole sheet, as if it had no header."""
    sheet = book["coding"]
    put_rows(sheet, sorted(rows_of(sheet), key=lambda row: str(row[0]), reverse=True))


def sorted_up(book: Any) -> None:
    sheet = book["coding"]
    put_rows(sheet, sorted(rows_of(sheet), key=lambda row: str(row[1])))


def columns_moved(book: Any) -> None:
    sheet = book["coding"]
    put_rows(sheet, [row[::-1] for row in rows_of(sheet)])


def tab_added(book: Any) -> None:
    book.create_sheet("notes", 0).append(["unit_id", "ask the others"])


def filtered(book: Any) -> None:
    sheet = book["coding"]
    sheet.auto_filter.ref = f"A2:H{sheet.max_row}"
    sheet.auto_filter.add_filter_column(0, ["m0"])
    for number in range(4, sheet.max_row + 1):
        sheet.row_dimensions[number].hidden = True


def protected(book: Any) -> None:
    for sheet in book.worksheets:
        sheet.protection.set_password("secret")
        sheet.protection.enable()


def marked_by_other_hands(book: Any) -> None:
    """1.0, a text and spaces instead of the number 1."""
    marks = iter([1.0, "1", " 1 ", "1\u00a0"])
    for row in book["coding"].iter_rows(min_row=3, min_col=3):
        for cell in row:
            if cell.value == 1:
                cell.value = next(marks)


@pytest.mark.parametrize("through_office", [False, True])
@pytest.mark.parametrize(
    "work",
    [sorted_down, sorted_up, columns_moved, tab_added, filtered, protected, marked_by_other_hands],
)
def test_what_people_do_to_a_sheet_changes_no_mark(
    store: Store, ana: Path, tmp_path: Path, work: Callable[[Any], object], through_office: bool
) -> None:
    change(ana, work)
    if through_office:
        office("xlsx", [ana], tmp_path / "saved")
        ana = tmp_path / "saved" / ana.name
    assert read_with_warnings(store, ana) == ""
    assert {key for key, applied in decided(store).items() if applied} == {("m0", "warm")}
    assert recorded(store, "m1") == ({"cold"}, "=so", False)
    assert recorded(store, "m2") == ({"other"}, "", False)
    assert exchange.read_coding_sheets(store, ana) == []


def test_rows_that_were_deleted_are_named_and_keep_their_record(store: Store, ana: Path) -> None:
    read_in(store, ana)

    def without_two(book: Any) -> None:
        sheet = book["coding"]
        put_rows(sheet, [row for row in rows_of(sheet) if row[0] not in ("m0", "m3")])

    change(ana, without_two)
    assert "rows missing from the sheet: 2 – 'm0', 'm3'" in read_with_warnings(store, ana, undo=True)
    assert recorded(store, "m0") == ({"warm"}, "", True)


def test_cells_below_no_name_are_told_of(store: Store, ana: Path) -> None:
    def aside(book: Any) -> None:
        book["coding"].cell(3, 12).value = "zqcanary"

    change(ana, aside)
    said = read_with_warnings(store, ana)
    assert "cells below no column name: 1" in said
    assert "zqcanary" not in said


def test_two_sheets_of_marks_in_a_workbook_are_refused(store: Store, ana: Path) -> None:
    change(ana, lambda book: book.copy_worksheet(book["coding"]))
    with pytest.raises(ImportRefused, match="expected one sheet of marks – found 2"):
        exchange.read_coding_sheets(store, ana)


@pytest.mark.parametrize("mark", ["x", True, "TRUE", 2, 0, "1,0"])
def test_other_marks_are_refused(store: Store, ana: Path, mark: Any) -> None:
    edit(ana, m3_warm=mark)
    with pytest.raises(ImportRefused, match="expected 1 or a blank cell in 'Warm' of unit 'm3'"):
        exchange.read_coding_sheets(store, ana)
    assert store.acts(coder="ana") == []


def test_an_error_in_a_cell_is_told_of_unless_it_is_in_a_tab_that_was_added(store: Store, ana: Path) -> None:
    change(ana, lambda book: book.create_sheet("sums").append(["=1/0"]))
    assert read_with_warnings(store, ana) == ""
    change(ana, lambda book: setattr(book["coding"]["D6"], "value", "=1"))
    with pytest.raises(ImportRefused, match="a formula without its value in 'D6'"):
        exchange.read_coding_sheets(store, ana)


def test_what_was_typed_over_an_id_is_not_repeated(store: Store, ana: Path) -> None:
    edit(ana, m3_unit_id="Josefine said no")
    with pytest.raises(ImportRefused) as caught:
        exchange.read_coding_sheets(store, ana)
    assert "Josefine" not in str(caught.value)


def test_ids_and_texts_like_excels_own_escapes_come_back(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,said\nu_x1234_1,"a _x0041_ b"\n', "utf-8")
    units = corpus.read(tmp_path / "a.csv", text="said", unit_id="id")
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK, lead="lead")
    store.assign(coders=["ana"], overlap=1.0, seed=1, coder="lead")
    (sheet,) = exchange.write_coding_sheets(store, tmp_path / "sheets")
    assert exchange.read_coding_sheets(store, sheet) == []
    office("xlsx", [sheet], tmp_path / "saved")
    assert exchange.read_coding_sheets(store, tmp_path / "saved" / sheet.name) == []


# Whose sheet it is


def about_cell(book: Any, first: str, second: str | None = None) -> Any:
    """Find a cell of the hidden sheet: the last of the row that begins so."""
    sheet = book["about this sheet"]
    row = next(row for row in sheet.iter_rows() if row[0].value == first and second in (None, row[1].value))
    return [cell for cell in row if cell.value is not None][-1]


def handed_to_ben(book: Any) -> None:
    about_cell(book, "coder").value = "ben"


def codes_swapped(book: Any) -> None:
    about_cell(book, "column", "Warm").value = "cold"
    about_cell(book, "column", "=Cold()").value = "warm"


def emptied_before(book: Any) -> None:
    about_cell(book, "unit", "m0").value = about_cell(book, "unit", "m4").value


def row_added(book: Any) -> None:
    book["about this sheet"].append(["column", "Hot", "hot"])


def seal_doubled(book: Any) -> None:
    sheet = book["about this sheet"]
    sheet.append([cell.value for cell in list(sheet.iter_rows())[-1]])


@pytest.mark.parametrize("work", [handed_to_ben, codes_swapped, emptied_before, row_added, seal_doubled])
def test_a_hidden_sheet_that_was_changed_is_refused(
    store: Store, tmp_path: Path, work: Callable[[Any], object]
) -> None:
    edit_first = exchange.write_coding_sheets(store, tmp_path / "first", coders=["ana"])[0]
    edit(edit_first, m0_warm=1, m0_finished=1)
    read_in(store, edit_first)
    (sheet,) = exchange.write_coding_sheets(store, tmp_path, coders=["ana"])
    sheet = sheet.replace(tmp_path / "sheet.xlsx")
    n_acts = len(store.acts())
    change(sheet, work)
    with pytest.raises(ImportRefused, match="expected the hidden sheet as this study wrote it"):
        exchange.read_coding_sheets(store, sheet)
    assert len(store.acts()) == n_acts


def test_a_sheet_of_a_version_before_seals_is_refused(store: Store, ana: Path) -> None:
    change(ana, lambda book: setattr(about_cell(book, "seal"), "value", None))
    with pytest.raises(ImportRefused, match="write the sheets again and copy the marks"):
        exchange.read_coding_sheets(store, ana)


def test_a_file_named_after_a_person_leaves_no_name_in_the_record(store: Store, ana: Path) -> None:
    read_in(store, ana.replace(ana.with_name("Josefine Zqcanary.xlsx")))
    assert store.memos(coder="ana")["text"].str.startswith("Coding sheet (").any()
    assert not store.memos(coder="ana")["text"].str.contains("Zqcanary").any()


def test_the_secret_is_made_once_and_its_owner_alone_reads_it(store: Store, tmp_path: Path) -> None:
    assert not (store.path / KEY).exists()
    exchange.write_coding_sheets(store, tmp_path)
    secret = (store.path / KEY).read_bytes()
    assert stat.S_IMODE((store.path / KEY).stat().st_mode) == 0o600
    exchange.write_coding_sheets(store, tmp_path, overwrite=True)
    assert (store.path / KEY).read_bytes() == secret
    assert store.verify()["ok"].all()
    assert store.desk.sheet_key("ana") != store.desk.sheet_key("ben")
    for name in ("ana.xlsx", "ben.xlsx"):
        assert secret not in (tmp_path / name).read_bytes()


def test_a_copy_of_the_folder_reads_sheets_and_an_archive_does_not(
    store: Store, ana: Path, tmp_path: Path
) -> None:
    store.copies.backup(tmp_path / "backup")
    shutil.copytree(store.path, tmp_path / "copied")
    for name in ("backup", "copied"):
        assert read_in(Store(tmp_path / name), ana) > 0
    store.copies.archive(tmp_path / "study.zip")
    secret = (store.path / KEY).read_text()
    assert secret.encode() not in (tmp_path / "study.zip").read_bytes()
    restored = Store.restore(tmp_path / "study.zip", tmp_path / "restored")
    assert not (restored.path / KEY).exists()
    with pytest.raises(ImportRefused, match="read it in the study that wrote it"):
        exchange.read_coding_sheets(restored, ana)
    (again,) = exchange.write_coding_sheets(restored, tmp_path / "again", coders=["ana"])
    assert exchange.read_coding_sheets(restored, again) == []


def test_what_leaves_the_study_has_no_secret(store: Store, ana: Path, tmp_path: Path) -> None:
    read_in(store, ana)
    store.copies.hand_out(None, "ana", tmp_path / "for ana")
    assert not (tmp_path / "for ana" / KEY).exists()
    handed = Store(tmp_path / "for ana")
    (sheet,) = exchange.write_coding_sheets(handed, tmp_path / "handed", coders=["ana"])
    edit(sheet, m4_warm=1)
    assert read_in(handed, sheet) > 0
    handed.copies.hand_in(tmp_path / "back.zip")
    assert KEY.encode() not in (tmp_path / "back.zip").read_bytes()
    with pytest.raises(ImportRefused, match="read it in the study that wrote it"):
        exchange.read_coding_sheets(store, sheet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.copies.bundle(tmp_path / "bundle", texts="withheld", formats=["csv"])
    assert not [path for path in (tmp_path / "bundle").rglob("*") if path.name == KEY]
    with pytest.raises(StoreError, match="bundle"):
        exchange.write_coding_sheets(Store(tmp_path / "bundle"), tmp_path / "of bundle")


@pytest.mark.parametrize("content", [b"", b"{}", b'{\n  "secret": "00"\n}\n'])
def test_a_damaged_secret_is_told_of_and_never_replaced(store: Store, ana: Path, content: bytes) -> None:
    (store.path / KEY).write_bytes(content)
    with pytest.raises(StoreError, match=r"put the file of a backup back"):
        exchange.read_coding_sheets(store, ana)
    assert (store.path / KEY).read_bytes() == content
    assert store.verify().set_index("file").loc[KEY, "ok"] == False  # noqa: E712
    with pytest.raises(StoreError):
        store.copies.backup(store.path.with_name("backup"))


def test_a_revision_is_told_of_before_the_marks(store: Store, ana: Path) -> None:
    store.revise(replace(BOOK, codes=(*BOOK.codes, Code(id="hot", label="Hot"))), why="No.", coder="lead")
    with pytest.raises(ImportRefused, match="expected the present codebook"):
        exchange.read_coding_sheets(store, ana)


@pytest.fixture
def team(postgres: Any) -> Iterator[Team]:
    team = Team(postgres)
    team.lead.assign(coders=["ana", "ben"], overlap=1.0, seed=1, coder="lead")
    yield team
    for address in team.addresses.values():
        server.connect(address).engine.dispose()


@pytest.mark.postgres
def test_on_a_server_a_coder_has_their_own_key_alone(team: Team, tmp_path: Path) -> None:
    (sheet,) = exchange.write_coding_sheets(team.lead, tmp_path, coders=["ana"])
    (bens,) = exchange.write_coding_sheets(team.lead, tmp_path, coders=["ben"])
    change(sheet, lambda book: setattr(book["coding"].cell(3, 3), "value", 1))
    ana = Store(team.addresses["ana"])
    assert [act.kind for act in exchange.read_coding_sheets(ana, sheet)] == ["apply", "memo"]
    assert exchange.read_coding_sheets(team.lead, bens) == []
    with pytest.raises(StoreError):
        exchange.read_coding_sheets(ana, bens)
    with pytest.raises(StoreError):
        exchange.write_coding_sheets(ana, tmp_path / "more", coders=["ben"])
    with team.sql("ana") as connection:
        for query in (
            f'SELECT * FROM "{team.name}".sheet_secret',
            f"SELECT \"{team.name}\".sheet_key('ben')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(query)  # type: ignore[arg-type]


@pytest.mark.postgres
def test_on_a_server_the_secret_is_made_once(team: Team) -> None:
    asked = ["ana", "ben"] * 4
    with ThreadPoolExecutor(8) as threads:
        keys = list(threads.map(lambda coder: Store(team.addresses[coder]).desk.sheet_key(coder), asked))
    assert len(set(keys)) == 2
    assert team.lead.desk.sheet_key("ana") == keys[0]


@pytest.mark.postgres
def test_a_team_of_layout_2_gets_a_secret_from_its_lead(team: Team, tmp_path: Path) -> None:
    with team.sql("postgres") as connection:
        for statement in (
            f'DROP FUNCTION "{team.name}".sheet_key(text)',
            f'DROP TABLE "{team.name}".sheet_secret',
            f'CREATE OR REPLACE FUNCTION "{team.name}".layout() RETURNS integer LANGUAGE sql IMMUTABLE '
            "AS $sql$ SELECT 2 $sql$",
        ):
            connection.execute(statement)  # type: ignore[arg-type]
    with pytest.raises(StoreError, match="Ask the lead to open it once"):
        Store(team.addresses["ana"])
    lead = Store(team.addresses["lead"])
    (sheet,) = exchange.write_coding_sheets(lead, tmp_path, coders=["ana"])
    assert exchange.read_coding_sheets(Store(team.addresses["ana"]), sheet) == []
    assert lead.verify()["ok"].all()

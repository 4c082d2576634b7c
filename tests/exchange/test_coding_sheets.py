"""Coding sheets: out to Excel, edited, and back as the acts that lead there; safe to read twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from openpyxl import load_workbook

from sense7_qual import acts, corpus, exchange, rounds
from sense7_qual.codebook import Code
from sense7_qual.errors import ActError, ArgumentError, ImportRefused, StoreError, TableError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.coding_sheets import BOOK, IDS, decided, edit, read_in, read_with_warnings, study
from tests.helpers.engines import office
from tests.helpers.places import ROOT
from tests.helpers.small_study import put
from tests.helpers.two_coders import Team


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return study(tmp_path)


def test_a_sheet_leads_to_decisions_and_a_second_reading_to_none(store: Store, tmp_path: Path) -> None:
    ana, ben = exchange.write_coding_sheets(store, tmp_path / "sheets")
    assert (ana.name, ben.name) == ("ana.xlsx", "ben.xlsx")
    assert exchange.read_coding_sheets(store, ana) == []
    edit(ana, m0_warm=1, m0_finished=1, m1_finished=1, m2_cold=1, m3_memo="=odd, isn't it", m0_unsure="1")
    made = exchange.read_coding_sheets(store, ana)
    assert {act.at for act in made} == {made[0].at}
    assert store.append(made) == len(made) == 6
    assert decided(store) == {
        (unit, code): (unit, code) == ("m0", "warm")
        for unit in ("m0", "m1")
        for code in ("warm", "cold", "other")
    }
    assert (
        store.codings(coder="ana")[["unit_id", "code", "confidence"]].values.tolist()
        == [["m0", "warm", "unsure"], ["m2", "cold", None]]
        or store.codings(coder="ana")["confidence"].tolist()[0] == "unsure"
    )
    assert exchange.read_coding_sheets(store, ana) == []
    memos = store.memos(coder="ana").set_index("target_kind")["text"]
    assert memos["unit"] == "=odd, isn't it"
    assert re.fullmatch(r"Coding sheet \([0-9a-f]{16}\) was read: 4 texts\.", memos["study"])


def test_a_sheet_that_was_filled_in_further_is_read_again(store: Store, tmp_path: Path) -> None:
    (ana, _) = exchange.write_coding_sheets(store, tmp_path)
    edit(ana, m0_warm=1, m0_finished=1)
    read_in(store, ana)
    edit(ana, m0_warm=None, m0_cold=1, m1_warm=1, m1_finished=1, m1_memo="first")
    read_with_warnings(store, ana, undo=True)
    edit(ana, m1_finished=None, m1_memo="second")
    read_with_warnings(store, ana, undo=True)
    assert {key for key, applied in decided(store).items() if applied} == {("m0", "cold")}
    assert store.memos(coder="ana").query("target_kind == 'unit'")["text"].tolist() == ["second"]
    edit(ana, m1_memo=None)
    read_with_warnings(store, ana, undo=True)
    assert store.memos(coder="ana").query("target_kind == 'unit'").empty


def test_work_done_elsewhere_is_shown_and_never_overwritten(store: Store, tmp_path: Path) -> None:
    mine: dict[str, Any] = {"coder": "ana", "codebook": BOOK}
    span = acts.apply(unit_id="m1", code="warm", start=0, end=2, facets={"valence": "met"}, **mine)
    store.append([span, acts.finish(unit_id="m1", **mine), acts.memo(unit_id="m1", text="hm", **mine)])
    (ana, _) = exchange.write_coding_sheets(store, tmp_path / "one")
    sheet = load_workbook(ana)["coding"]
    row = next(row for row in sheet.iter_rows(min_row=3) if row[0].value == "m1")
    shown = {name.value: cell.value for name, cell in zip(sheet[2], row, strict=True)}
    assert (shown["Warm"], shown["=Cold()"], shown["memo"], shown["finished"]) == (1, None, "hm", 1)
    edit(ana, m1_unsure=1, m2_warm=1, m2_finished=1, m3_warm=1)
    there = acts.apply(unit_id="m2", code="cold", **mine)
    store.append([there, acts.undo(there, codebook=BOOK), acts.redo(there, codebook=BOOK)])
    with pytest.warns(UserWarning, match="'ana.xlsx': texts in which .*: 1 – marks of 'm2'"):
        read_in(store, ana)
    codings = store.codings(coder="ana").set_index("unit_id")
    assert codings["code"].to_dict() == {"m1": "warm", "m2": "cold", "m3": "warm"}
    assert codings.loc["m1", ["start", "end", "confidence", "valence"]].tolist() == [0, 2, "unsure", "met"]


def test_a_sheet_holds_no_colleagues_coding_and_no_rating(store: Store, tmp_path: Path) -> None:
    before = [path.read_bytes() for path in exchange.write_coding_sheets(store, tmp_path / "before")]
    ben = {"coder": "ben", "codebook": BOOK}
    marks = [acts.apply(unit_id="m0", code="warm", **ben), acts.finish(unit_id="m0", **ben)]
    store.append([*marks, acts.memo(unit_id="m0", text="zqcanary", **ben)])
    after = exchange.write_coding_sheets(store, tmp_path / "after")
    assert after[0].read_bytes() == before[0]
    assert after[1].read_bytes() != before[1]
    sheet = load_workbook(after[0])["coding"]
    assert [cell.value for cell in sheet[2]] == [
        "unit_id",
        "text",
        "Warm",
        "=Cold()",
        "text (other)",
        "unsure",
        "memo",
        "finished",
    ]
    assert [sheet.cell(3 + n, 1).value for n in range(5)] == store.plan.query("coder == 'ana'")[
        "unit_id"
    ].tolist()
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}


def test_questions_and_conversations_stand_before_the_text(tmp_path: Path) -> None:
    for name, role in (("question", "question"), ("conversation", "user")):
        folder = tmp_path / name
        folder.mkdir()
        row = {"id": "m0", "said": "Yes, it did.", "before": [{"role": role, "text": "Did it?"}]}
        (folder / "a.jsonl").write_text(json.dumps(row), "utf-8")
        units = corpus.read(folder / "a.jsonl", text="said", unit_id="id", context="before")
        store = Store.create(folder / "study", units=units, codebook=BOOK, lead="lead")
        store.assign(coders=["ana"], overlap=1.0, seed=1, coder="lead")
        sheet = load_workbook(exchange.write_coding_sheets(store, folder)[0])["coding"]
        assert sheet["B2"].value == name
        assert sheet["B3"].value == ("Did it?" if name == "question" else "user: Did it?")
        assert exchange.read_coding_sheets(store, folder / "ana.xlsx") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda path: edit(path, m1_text="It listened."), "expected the text of unit 'm1' as it was written"),
        (
            lambda path: edit(path, m1_unit_id="m9"),
            "each id as it was written – found another in the row",
        ),
        (lambda path: edit(path, m1_unit_id="m4", m1_text="It listened."), "found 'm4' twice"),
        (lambda path: edit(path, m1_warm="yes"), "expected 1 or a blank cell in 'Warm' of unit 'm1'"),
        (lambda path: edit(path, m1_warm=0), "expected 1 or a blank cell in 'Warm'"),
        (lambda path: edit(path, m1_finished="done"), "blank cell in 'finished' of unit 'm1'"),
        (lambda path: header(path, 3, "Hot"), "expected the columns as they were written"),
        (lambda path: path.replace(path.with_name("ben.xlsx")), "of a coder of the plan, under their name"),
        (lambda path: about(path, "study", "x"), "expected a sheet of this study – found one of another"),
        (lambda path: about(path, "coder", "eve"), "found that of another coder"),
        (lambda path: about(path, "codebook", "x"), "expected the hidden sheet as this study wrote it"),
        (lambda path: about(path, "last_act", "x"), "expected the hidden sheet as this study wrote it"),
        (lambda path: without(path), "expected a workbook of write_coding_sheets"),
    ],
)
def test_a_sheet_that_is_not_as_it_was_is_refused_and_nothing_recorded(
    store: Store, tmp_path: Path, change: Callable[[Path], Any], said: str
) -> None:
    (ana,) = exchange.write_coding_sheets(store, tmp_path, coders=["ana"])
    edit(ana, m0_warm=1)
    path = change(ana) or ana
    with pytest.raises(ImportRefused, match=said) as caught:
        exchange.read_coding_sheets(store, path)
    assert "listened" not in str(caught.value)
    assert "nothing was recorded" in str(caught.value)
    assert store.acts(coder="ana") == []


def header(path: Path, column: int, name: str) -> None:
    book = load_workbook(path)
    book["coding"].cell(2, column).value = name
    book.save(path)


def about(path: Path, key: str, value: str) -> None:
    book = load_workbook(path)
    next(row for row in book["about this sheet"].iter_rows() if row[0].value == key)[1].value = value
    book.save(path)


def without(path: Path) -> None:
    book = load_workbook(path)
    del book["about this sheet"]
    book.save(path)


def test_a_revised_codebook_or_another_study_needs_new_sheets(store: Store, tmp_path: Path) -> None:
    (ana, _) = exchange.write_coding_sheets(store, tmp_path / "sheets")
    (tmp_path / "other").mkdir()
    with pytest.raises(ImportRefused, match="expected a sheet of this study"):
        exchange.read_coding_sheets(study(tmp_path / "other"), ana)
    edit(ana, m0_warm=1, m0_finished=1, m1_finished=1)
    read_in(store, ana)
    hot = replace(BOOK, codes=(*BOOK.codes, Code(id="hot", label="Hot")))
    store.revise(hot, why="Missing.", coder="lead")
    with pytest.raises(ImportRefused, match="expected the present codebook"):
        exchange.read_coding_sheets(store, ana)
    (ana, _) = exchange.write_coding_sheets(store, tmp_path / "new")
    columns = {cell.value: cell.column for cell in load_workbook(ana)["coding"][2]}
    sheet = load_workbook(ana)["coding"]
    assert {sheet.cell(row, columns["finished"]).value for row in range(3, 8)} == {
        None
    }  # undecided on the new code
    assert exchange.read_coding_sheets(store, ana) == []
    edit(ana, m0_finished=1)
    read_in(store, ana)
    assert [decided(store)["m0", code] for code in ("warm", "cold", "hot")] == [True, False, False]
    assert ("m1", "hot") not in decided(store)


def test_a_withdrawn_participants_texts_are_left_out(store: Store, tmp_path: Path) -> None:
    (ana, _) = exchange.write_coding_sheets(store, tmp_path)
    edit(ana, m0_warm=1, m1_warm=1)
    store.forget("p0", why="Withdrew.")
    with pytest.warns(UserWarning, match="no longer in the study: 3 – 'm"):
        read_in(store, ana)
    assert store.codings(coder="ana")["unit_id"].tolist() == ["m1"]


def test_a_round_has_sheets_of_its_own(store: Store, tmp_path: Path) -> None:
    named: dict[str, Any] = {"units": ["m0", "m1"], "coders": ["ana", "ben"], "coder": "lead"}
    store.append([rounds.open_round("pilot", codebook=BOOK, **named)])
    (ana, ben) = exchange.write_coding_sheets(store, tmp_path, round="pilot")
    edit(ana, m0_warm=1, m0_finished=1)
    read_in(store, ana)
    codings = store.codings(coder="ana")
    assert codings[["unit_id", "code", "round"]].values.tolist() == [["m0", "warm", "pilot"]]
    assert [act.unit_id for act in store.acts(coder="ben")] == []
    assert exchange.read_coding_sheets(store, ben) == []


def test_what_cannot_be_written_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(ActError, match=r"expected a coder with texts in the plan – found 'eve'"):
        exchange.write_coding_sheets(store, tmp_path / "x", coders=["eve"])
    with pytest.raises(ActError, match=r"expected texts in round 'none' – found none"):
        exchange.write_coding_sheets(store, tmp_path / "x", round="none")
    assert not (tmp_path / "x").exists()
    exchange.write_coding_sheets(store, tmp_path / "x")
    with pytest.raises(StoreError, match=r"ana\.xlsx"):
        exchange.write_coding_sheets(store, tmp_path / "x")
    exchange.write_coding_sheets(store, tmp_path / "x", overwrite=True)
    with pytest.raises(ArgumentError, match="expected an open study"):
        exchange.write_coding_sheets(store.units, tmp_path)
    with pytest.raises(ImportRefused, match="expected a file"):
        exchange.read_coding_sheets(store, tmp_path / "none.xlsx")


def test_a_text_longer_than_a_cell_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "m0", "said": "😀" * 16_001}), "utf-8")
    units = corpus.read(tmp_path / "a.jsonl", text="said", unit_id="id")
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK, lead="lead")
    store.assign(coders=["ana"], overlap=1.0, seed=1, coder="lead")
    with pytest.raises(TableError, match="found longer ones: 'm0'"):
        exchange.write_coding_sheets(store, tmp_path / "x")


@pytest.mark.postgres
def test_a_coder_on_a_server_writes_and_reads_their_own_sheet_alone(postgres: Any, tmp_path: Path) -> None:
    team = Team(postgres)
    try:
        team.lead.assign(coders=["ana", "ben"], overlap=1.0, seed=1, coder="lead")
        team.work("ben", 3, None)
        team.ana.append([put(unit_id="m2")])
        ana = Store(team.addresses["ana"])
        (sheet,) = exchange.write_coding_sheets(ana, tmp_path, coders=["ana"])
        book = load_workbook(sheet)
        columns = {cell.value: cell.column for cell in book["coding"][2]}
        rows = {book["coding"].cell(row, 1).value: row for row in range(3, 6)}
        book["coding"].cell(rows["m1"], columns["Interest"]).value = 1
        book["coding"].cell(rows["m1"], columns["finished"]).value = 1
        book.save(sheet)
        made = exchange.read_coding_sheets(ana, sheet)
        assert [(act.kind, act.unit_id) for act in made] == [
            ("apply", "m1"),
            ("finish", "m1"),
            ("memo", None),
        ]
        with pytest.raises((ActError, StoreError)):
            team.ben.append(made)
        assert ana.append(made) == 3
        assert exchange.read_coding_sheets(ana, sheet) == []
    finally:
        for address in team.addresses.values():
            server.connect(address).engine.dispose()


marks = st.sampled_from([None, 1])
rows = st.fixed_dictionaries(
    dict.fromkeys(("warm", "cold", "other", "unsure", "finished"), marks)
    | {"memo": st.sampled_from([None, "hm", "=2", "two\nlines"])}
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=st.lists(st.dictionaries(st.sampled_from(IDS), rows, max_size=4), min_size=1, max_size=3))
def test_decisions_equal_the_edits_whatever_they_are(tmp_path_factory: Any, edits: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    store = study(folder)
    (ana, _) = exchange.write_coding_sheets(store, folder)
    now: dict[str, Any] = {}
    for drawn in edits:
        now |= drawn
        edit(ana, **{f"{unit}_{name}": value for unit, row in drawn.items() for name, value in row.items()})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unsure without a code, and what is taken back
            read_in(store, ana, undo=True)
            assert exchange.read_coding_sheets(store, ana) == []
        assert decided(store) == {
            (unit, code): row[code] == 1
            for unit, row in now.items()
            if row["finished"]
            for code in ("warm", "cold", "other")
        }
        written = store.memos(coder="ana").query("target_kind == 'unit'")
        assert dict(zip(written["target_id"], written["text"], strict=True)) == {
            unit: row["memo"] for unit, row in now.items() if row["memo"]
        }


READ = """
import sys
from sense7_qual import exchange
from sense7_qual.store import Store
store = Store(sys.argv[1])
made = exchange.read_coding_sheets(store, sys.argv[2], undo=True)
print(len(made), flush=True)
store.append(made)
print("done", flush=True)
"""


@pytest.mark.crash
def test_killed_at_any_moment_nothing_half_is_recorded(store: Store, tmp_path: Path) -> None:
    (ana, _) = exchange.write_coding_sheets(store, tmp_path)
    n_expected, survived = 0, []
    for attempt in range(8):
        marks = {f"{unit}_{code}": 1 for unit in IDS for code in ("warm", "cold")}
        edit(ana, **{name: value if attempt % 2 == 0 else None for name, value in marks.items()})
        before = len(store.acts(coder="ana"))
        command = [sys.executable, "-c", READ, str(store.path), str(ana)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
            assert child.stdout is not None
            n_expected = int(child.stdout.readline())
            time.sleep(attempt * 0.004)
            os.kill(child.pid, signal.SIGKILL)
        new = len(Store(store.path).acts(coder="ana")) - before
        assert new in (0, n_expected)
        survived.append(new > 0)
        read_with_warnings(store := Store(store.path), ana, undo=True)
        assert exchange.read_coding_sheets(store, ana) == []
    assert n_expected > 0


def test_libreoffice_opens_a_sheet_and_what_it_saves_is_read(store: Store, tmp_path: Path) -> None:
    (ana,) = exchange.write_coding_sheets(store, tmp_path, coders=["ana"])
    edit(ana, m0_warm=1, m1_finished=1, m2_memo="=so")
    want = [(act.kind, act.unit_id, act.code) for act in exchange.read_coding_sheets(store, ana)]
    saved = tmp_path / "saved"
    office("xlsx", [ana], saved)
    with zipfile.ZipFile(saved / "ana.xlsx") as archive:
        assert b"dataValidation" in archive.read("xl/worksheets/sheet1.xml")
    assert [
        (act.kind, act.unit_id, act.code) for act in exchange.read_coding_sheets(store, saved / "ana.xlsx")
    ] == want

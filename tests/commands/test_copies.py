"""`sense7-qual verify`, `merge`, `backup`, `archive`, `restore`: what they print, and their exit status."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual._commands import main
from tests.helpers.coding_page import SENTINEL, study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return study(tmp_path / "study")


def finish(folder: Path, unit_id: str, *, coder: str = "ana") -> None:
    store = qual.Store(folder)
    store.append([qual.acts.finish(coder=coder, unit_id=unit_id, codebook=store.codebook)])


def test_a_sound_study_is_verified(folder, capsys) -> None:
    finish(folder, "t0/1")
    finish(folder, "t1/1", coder="ben")
    assert main(["verify", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("with 2 acts of 2 coders: all intact.\n")


def test_a_damaged_study_is_told_with_status_1(folder, capsys) -> None:
    finish(folder, "t0/1")
    file = folder / "acts" / "ana.sqlite"
    file.write_bytes(file.read_bytes()[:200])
    assert main(["verify", str(folder)]) == 1
    printed = capsys.readouterr().out
    assert "NOT OK  " in printed
    assert "ana.sqlite" in printed
    assert "Traceback" not in printed


@pytest.mark.long
def test_an_archive_becomes_a_study_again_and_never_over_one(folder, tmp_path, capsys) -> None:
    finish(folder, "t0/1")
    assert main(["archive", str(folder), str(tmp_path / "study.zip")]) == 0
    assert main(["restore", str(tmp_path / "study.zip"), str(tmp_path / "again")]) == 0
    assert capsys.readouterr().out.endswith("with 1 act of 1 coder: all intact.\n")
    assert qual.Store(tmp_path / "again").acts() == qual.Store(folder).acts()
    finish(folder, "t1/1")
    assert main(["restore", str(tmp_path / "study.zip"), str(folder)]) == 1
    assert len(qual.Store(folder).acts()) == 2


@pytest.mark.long
def test_a_copy_is_made_verified_and_merged_back(folder, tmp_path, capsys) -> None:
    finish(folder, "t0/1")
    assert main(["backup", str(folder), str(tmp_path / "copy")]) == 0
    assert main(["archive", str(folder), str(tmp_path / "study.zip")]) == 0
    assert main(["verify", str(tmp_path / "copy")]) == 0
    finish(tmp_path / "copy", "t1/1")
    capsys.readouterr()
    assert main(["merge", str(folder), str(tmp_path / "copy"), str(tmp_path / "study.zip")]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{tmp_path / 'copy'}: 1 new act merged, 1 already here"
    assert second == f"{tmp_path / 'study.zip'}: 0 new acts merged, 1 already here"
    assert sorted(qual.Store(folder).coverage()["unit_id"]) == ["t0/1", "t1/1"]


def test_a_withdrawal_in_the_other_copy_has_to_be_repeated(folder, tmp_path, capsys, monkeypatch) -> None:
    units = qual.Store(folder).units.assign(case_id=["p1", "p1", "p1", "p1", "p2"], document_id="d1")
    place = tmp_path / "two"
    qual.Store.create(place, units=units, codebook=qual.Codebook.read("sense7"))
    shutil.copytree(place, tmp_path / "other")
    with monkeypatch.context() as another_computer:
        another_computer.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        qual.Store(tmp_path / "other").forget("p2", why="asked for it")
    assert main(["merge", str(place), str(tmp_path / "other")]) == 1
    assert "withdrawn there but not here: 'p2'" in capsys.readouterr().out


def test_a_withdrawal_of_this_computer_is_repeated_before_a_merge(folder, tmp_path, capsys) -> None:
    units = qual.Store(folder).units.assign(case_id=["p1", "p1", "p1", "p1", "p2"], document_id="d1")
    place = tmp_path / "two"
    qual.Store.create(place, units=units, codebook=qual.Codebook.read("sense7"))
    shutil.copytree(place, tmp_path / "other")
    qual.Store(tmp_path / "other").forget("p2", why="asked for it")
    assert main(["merge", str(place), str(tmp_path / "other")]) == 1
    assert "forget_again" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ["verify", "nothing"],
        ["merge", "{study}", "nothing"],
        ["merge", "{study}", "{other}"],
        ["backup", "{study}", "{taken}"],
        ["archive", "{study}", "{taken}"],
        ["backup", "{study}", "postgresql://ana:hush@127.0.0.1/lab"],
        ["archive", "{study}", "postgresql://ana:hush@127.0.0.1/lab"],
        ["verify", "postgresql://ana:hush@127.0.0.1/lab"],
        ["merge", "{study}", "postgresql://ana:hush@127.0.0.1/lab"],
        ["verify", "postgresql://ana@127.0.0.1/lab?password=hush"],
        ["restore", "nothing", "new"],
        ["restore", "{taken}", "new"],
        ["restore", "{taken}", "postgresql://ana:hush@127.0.0.1/lab"],
    ],
)
def test_an_error_is_one_sentence_and_changes_nothing(words, folder, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    places = {
        "study": folder,
        "taken": tmp_path / "taken",
        "other": study(tmp_path / "other", ["One", "Two"]),
    }
    before = sorted(tmp_path.rglob("*"))
    assert main([word.format(**places) for word in words]) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("sense7-qual: ")
    assert printed.err.count("\n") == 1
    assert "hush" not in printed.err + printed.out
    assert SENTINEL not in printed.err + printed.out
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before] == []
    assert (tmp_path / "taken").read_text("utf-8") == "mine"


def test_words_that_are_too_many_show_no_password(folder, capsys) -> None:
    for address in ("postgresql://ana:hush@127.0.0.1/lab", "postgresql://ana@127.0.0.1/lab?password=hush"):
        with pytest.raises(SystemExit) as ended:
            main(["verify", str(folder), address])
        assert ended.value.code == 2
        printed = capsys.readouterr().err
        assert "hush" not in printed
        assert "postgresql://ana" in printed


@pytest.mark.postgres
def test_a_study_in_postgresql_is_made_verified_and_archived(postgres, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    address = postgres()
    name = address.rpartition("study=")[2]
    Path("data.csv").write_text("PID,Why\np1,It listened to me.\np2,It lectured me.\n", encoding="utf-8")
    assert main(["new", address, "--data", "data.csv", "--yes", "--coders", "ana"]) == 0
    assert Path(f"{name}_coding.ipynb").exists()
    assert main(["verify", address]) == 0
    assert main(["archive", address, "study.zip"]) == 0
    assert main(["merge", address, "study.zip"]) == 0
    assert "0 new acts merged, 2 already here" in capsys.readouterr().out  # its plan and its lead

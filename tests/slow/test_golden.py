"""What the package writes of two studies is what was accepted, and the comparison shows what changed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from scripts import golden, golden_texts
from sense7_qual import report
from tests.helpers.places import ROOT

pytestmark = pytest.mark.long

FORMATS = (".docx", ".tex", ".csv", ".md", ".html")
NUMBER, OTHER_NUMBER = ".344", ".345"
SENTENCE, OTHER_SENTENCE = "Disagreements were settled.", "Disagreements are open."
NOTE = (
    "Of 6 codes tested, 2 were linked with the rating. " * 5 + SENTENCE + " Ratings of 13 texts are missing."
)


@pytest.mark.parametrize("study", golden.STUDIES)
def test_what_is_written_of_a_study_is_what_was_accepted(study: str) -> None:
    """In a process of its own, in which no other test has set anything."""
    script = str(ROOT / "scripts" / "golden.py")
    compared = subprocess.run(
        [sys.executable, script, "--study", study], capture_output=True, text=True, encoding="utf-8"
    )
    assert compared.returncode == 0, compared.stdout + compared.stderr


def changed(write: Callable[[Path, str, str], object], folder: Path) -> dict[str, str]:
    """Write something, accept it, write it with another number and sentence, and return what is shown."""
    written = {}
    for name, words in (("before", (NUMBER, SENTENCE)), ("now", (OTHER_NUMBER, OTHER_SENTENCE))):
        (folder / name).mkdir()
        write(folder / name, *words)
        written[name] = golden_texts.readable(folder / name, folder)
    golden.accept(written["before"], folder / "accepted")
    accepted = golden.accepted(folder / "accepted")
    assert golden.differences(accepted, written["before"]) == {}
    return golden.differences(accepted, written["now"])


def lines(shown: str, sign: str) -> str:
    """Return the lines of a diff that went, or that came."""
    return "\n".join(line for line in shown.splitlines()[2:] if line.startswith(sign))


@pytest.mark.parametrize("ending", FORMATS)
def test_a_changed_number_and_sentence_of_a_table_are_shown_in_every_format(
    ending: str, tmp_path: Path
) -> None:
    def write(folder: Path, number: str, sentence: str) -> None:
        rows = (("heard", number), ("odd", ".777"))
        notes = (NOTE.replace(SENTENCE, sentence),)
        report.Table("Links", ("Code", "p"), rows, notes).write(folder / f"links{ending}")

    (shown,) = changed(write, tmp_path).values()
    went, came = lines(shown, "-"), lines(shown, "+")
    assert (NUMBER in went, OTHER_NUMBER in came, ".777" in went + came) == (True, True, False)
    if ending != ".csv":  # which has no notes
        assert (SENTENCE in went, OTHER_SENTENCE in came) == (True, True)
        assert "13 texts" not in went + came, "of a long note, only the sentence that changed is shown"


def in_workbook(folder: Path, number: str, sentence: str) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append([sentence, float(number)])
    workbook.save(folder / "coded.xlsx")


def in_database(folder: Path, number: str, sentence: str) -> None:
    with closing(sqlite3.connect(folder / "ana.sqlite")) as database, database:
        database.execute("CREATE TABLE acts (text TEXT, share REAL)")
        database.execute("INSERT INTO acts VALUES (?, ?)", (sentence, float(number)))


def in_archive(folder: Path, number: str, sentence: str) -> None:
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("acts.jsonl", f'{{"text": "{sentence}", "share": {number}}}\n')


def unrounded(folder: Path, number: str, sentence: str) -> None:
    """Numbers with as many digits as a hash, which was once masked as one."""
    frame = pd.DataFrame({"sentence": [sentence], "p": [float(f"{number}0123456789012")]})
    frame.to_csv(folder / "numbers_links.csv", index=False)


@pytest.mark.parametrize("write", [in_workbook, in_database, in_archive, unrounded])
def test_a_changed_number_and_sentence_of_a_file_are_shown(
    write: Callable[[Path, str, str], object], tmp_path: Path
) -> None:
    shown = "\n".join(changed(write, tmp_path).values())
    went, came = lines(shown, "-"), lines(shown, "+")
    assert (NUMBER in went, SENTENCE in went) == (True, True)
    assert (OTHER_NUMBER in came, OTHER_SENTENCE in came) == (True, True)


def test_what_differs_from_run_to_run_is_masked() -> None:
    same = golden_texts.mask("0.123456789012345 p of 12 texts")
    assert same == golden_texts.mask("0.123456789012399 p of 12 texts")
    assert "0.123457" in same
    day = f"{golden_texts.STARTED:%Y-%m-%d}"
    assert day not in golden_texts.mask(f"written on {day}, at {day}T10:11:12Z")
    identified = golden_texts.mask(
        '{"act_id": "90c4fddb-4e69-4a5b-97af-0123456789ab", "hash": "0a1b2c3d4e5f"}'
    )
    assert identified == '{"act_id": "<id>", "hash": "<hash>"}'


def test_files_whose_names_differ_in_a_hash_are_all_compared(tmp_path: Path) -> None:
    for name in ("0a1b2c3d4e5f6071", "1a1b2c3d4e5f6071"):
        (tmp_path / f"{name}.yaml").write_text(f"codes of {name[0]}", "utf-8")
    texts = golden_texts.readable(tmp_path, tmp_path)
    assert texts == {"HASH.yaml.txt": "codes of 0\n", "HASH-2.yaml.txt": "codes of 1\n"}


def test_a_copy_names_what_it_is_a_copy_of_and_is_shown_where_it_differs(tmp_path: Path) -> None:
    table = "a row of the table\n" * 40
    for folder in ("bundle", "report"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "links.csv").write_text(table, "utf-8")
    before = golden_texts.readable(tmp_path, tmp_path)
    assert before["bundle/links.csv.txt"] == "the same as report/links.csv.txt\n"
    (tmp_path / "bundle" / "links.csv").write_text(table + "one more\n", "utf-8")
    (shown,) = golden.differences(before, golden_texts.readable(tmp_path, tmp_path)).values()
    assert "+a row of the table" in shown


def test_what_is_new_and_what_is_gone_is_shown() -> None:
    shown = golden.differences({"gone.md.txt": "words\n"}, {"new.md.txt": "words\n"})
    assert lines(shown["gone.md.txt"], "-") == "-words"
    assert lines(shown["new.md.txt"], "+") == "+words"

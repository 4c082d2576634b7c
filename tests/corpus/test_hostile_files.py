"""Files made to fill the memory or to lose rows: refused, with the setting named, under 1 GB.

Each bomb is at most 600 kB. One child process reads them all, and the most that it held for each is taken
from the kernel (VmHWM, set back before each).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sense7_qual import corpus
from sense7_qual._formats import read_grids, read_strings
from sense7_qual._limits import Limits
from sense7_qual.errors import ImportRefused, TableError
from tests.helpers.nightly import nightly_but
from tests.helpers.places import ROOT, program
from tests.helpers.written_files import BOMBS, sheet_of, workbook

READ_EACH = program("read_each_file")
LARGE = ["below.xlsx", "references.xlsx"]  # two thirds of the seconds
N_CELLS = Limits().cells if os.environ.get("SOAK") else 1_000_000  # a fifth of what is usual, in its time


@pytest.mark.crash
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="no /proc to read the memory from")
@pytest.mark.parametrize(
    "names", nightly_but([LARGE, sorted(BOMBS.keys() - set(LARGE))], here=[sorted(BOMBS.keys() - set(LARGE))])
)
def test_every_bomb_is_refused_under_a_gigabyte(tmp_path: Path, names: list[str]) -> None:
    paths = [BOMBS[name][0](tmp_path / name) for name in names]
    assert {path.name: path.stat().st_size for path in paths if path.stat().st_size > 600_000} == {}
    done = subprocess.run(
        [sys.executable, "-c", READ_EACH, str(N_CELLS), *map(str, paths)],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
    )
    for name, (said, megabytes, seconds) in json.loads(done.stdout).items():
        print(f"{name:20s} {megabytes:6.0f} MB {seconds:5.1f} s  {said}")
        assert re.search(BOMBS[name][1], said), (name, said)
        assert megabytes < 1_000, name


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (b'<row r="3"><c><v>1</v></c></row><row r="2"><c><v>2</v></c></row>', "not in order"),
        (b'<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>', "not in order"),
        (b'<row r="x"/>', "without a place"),
        (b'<row><c r="3"/></row>', "not in order"),
    ],
)
def test_rows_that_a_reader_would_drop_are_refused(tmp_path: Path, rows: bytes, found: str) -> None:
    """openpyxl leaves out a row or cell that stands before one that it has read."""
    with pytest.raises(ImportRefused, match=found):
        read_strings(workbook(tmp_path / "a.xlsx", sheet=sheet_of(rows)))


def test_a_part_in_an_encoding_that_only_some_read_is_refused(tmp_path: Path) -> None:
    styles = '<?xml version="1.0" encoding="cp500"?><a/>'.encode("cp500")
    odd = b'<?xml version="1.0" encoding="windows-31j"?><a/>'
    for part in (odd, styles):
        with pytest.raises(ImportRefused):
            read_strings(workbook(tmp_path / "a.xlsx", styles=part))


def test_limits_are_numbers_and_each_is_named_with_what_to_do(tmp_path: Path) -> None:
    for wrong in (0, True, 1.5, "9"):
        with pytest.raises(TableError, match="a whole number above 0 for rows"):
            Limits(rows=wrong)  # type: ignore[arg-type]
    for name, content in (("a.csv", "a,b\n1,2\n3,4\n"), ("a.jsonl", '{"a": 1, "b": "xy"}\n' * 2)):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        for setting, limit, found in (("rows", 1, 2), ("cells", 2, 4), ("file_bytes", 5, len(content))):
            with pytest.raises(
                ImportRefused, match=rf"limits.{setting}\) – found {found} – .*Limits\({setting}=…"
            ):
                corpus.read(path, text="a", limits=Limits(**{setting: limit}))
        assert len(corpus.read(path, text="a", limits=Limits(rows=2))) == 2


def test_a_cell_that_is_too_long_is_named_by_its_row_in_every_format(tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": ["1", "2"], "said": ["x", "y" * 30]})
    rows.to_csv(tmp_path / "a.csv", index=False)
    rows.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    rows.to_parquet(tmp_path / "a.parquet")
    rows.to_excel(tmp_path / "a.xlsx", index=False)
    for suffix, place in ((".csv", "line 3"), (".jsonl", "line 2"), (".parquet", "row 2"), (".xlsx", "")):
        with pytest.raises(
            ImportRefused, match=r"at most 20 characters in a cell.*cell_characters\) – found 30"
        ) as no:
            read_strings(tmp_path / f"a{suffix}", limits=Limits(cell_characters=20))
        assert place in str(no.value)


def test_a_long_line_of_quoted_newlines_is_read_or_refused_but_never_split(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,said\n1,"' + "a\n" * 50_000 + '"\n2,b\n', encoding="utf-8")
    found = read_strings(tmp_path / "a.csv")
    assert found.index.tolist() == [2, 50_003]
    assert found.loc[2, "said"] == "a\n" * 50_000
    (tmp_path / "b.csv").write_text('id,said\n1,"' + "a\n" * 80_000, encoding="utf-8")
    with pytest.raises(ImportRefused, match="in the row from line 2: field larger than field limit"):
        read_strings(tmp_path / "b.csv")


def test_deep_json_is_refused_with_its_place(tmp_path: Path) -> None:
    for depth, refused in ((60, False), (70, True), (900, True), (200_000, True)):
        objects = ['{"a": 1}', '{"a": ' + "[" * depth + "]" * depth + "}"]
        (tmp_path / "a.jsonl").write_text("\n".join(objects), encoding="utf-8")
        (tmp_path / "a.json").write_text(f"[{','.join(objects)}]", encoding="utf-8")
        for name, place in (("a.jsonl", "line 2"), ("a.json", "item 2|maximum recursion depth")):
            if refused:
                with pytest.raises(ImportRefused, match=place):
                    read_strings(tmp_path / name)
            else:
                assert read_strings(tmp_path / name)["a"].tolist() == ["1", "[" * 60 + "]" * 60]


def test_many_merged_cells_take_no_quadratic_time(tmp_path: Path) -> None:
    """Ranges that lie upon each other would fill each row again and again."""
    rows = b"".join(b'<row r="%d"><c r="A%d"><v>1</v></c></row>' % (n, n) for n in range(1, 2_001))
    ranges = b"".join(b'<mergeCell ref="A%d:A1048576"/>' % n for n in range(2, 2_001))
    sheet = sheet_of(rows).replace(b"</worksheet>", b"<mergeCells>" + ranges + b"</mergeCells></worksheet>")
    path, limits = workbook(tmp_path / "a.xlsx", sheet=sheet), Limits(cells=100_000)
    start = time.perf_counter()
    with pytest.raises(ImportRefused, match=r"limits\.cells"):
        read_strings(path, limits=limits)
    with pytest.raises(ImportRefused, match=r"limits\.cells"):
        read_grids(path.read_bytes(), path.name, None, limits)
    assert time.perf_counter() - start < 10


FLIP_EACH = program("read_with_each_bit_flipped")


@pytest.mark.long
@pytest.mark.parametrize("with_dictionary", [False, True])
def test_no_broken_footer_ends_the_process(tmp_path: Path, with_dictionary: bool) -> None:
    """Arrow calls std::terminate where a histogram of levels does not fit its column: no kernel survives."""
    pq.write_table(
        pa.table({"said": ["a", None, "ab"], "list": [["x"], [], ["y", "z"]]}),
        tmp_path / "a.parquet",
        use_dictionary=with_dictionary,
    )
    done = subprocess.run(
        [sys.executable, "-c", FLIP_EACH, str(tmp_path / "a.parquet")],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-500:]
    flipped, read, refused = map(int, done.stdout.split())
    assert flipped == read + refused
    assert read > 50
    assert refused > 50


def test_pages_that_claim_less_than_the_footer_are_not_believed(tmp_path: Path) -> None:
    """The header of each page counts, not the file's account of them: it is broken byte by byte."""
    pq.write_table(pa.table({"said": ["x" * 100] * 50}), tmp_path / "a.parquet", compression="none")
    packed = (tmp_path / "a.parquet").read_bytes()
    assert packed[4] == 0x15  # field 1 of a page header: its type
    for at in range(4, 40):
        for bit in range(8):
            (tmp_path / "b.parquet").write_bytes(
                packed[:at] + bytes([packed[at] ^ 1 << bit]) + packed[at + 1 :]
            )
            try:
                assert read_strings(tmp_path / "b.parquet").shape == (50, 1)
            except ImportRefused:
                continue


@pytest.mark.long
def test_many_columns_take_no_quadratic_time(tmp_path: Path) -> None:
    """A header of 350 kB took a minute to be looked through for names that stand twice."""
    seconds = {12_500: 0.0}
    for columns in (12_500, 12_500, 50_000):  # the slower of two: other work on the machine slows all of them
        path = tmp_path / "wide.csv"
        header = [f"c{number}" for number in range(columns)]
        path.write_text(",".join([*header, "c7"]) + "\n" + "," * columns + "\n")
        start = time.process_time()
        assert corpus.recognise(path, limits=Limits(columns=60_000)).renamed == ("c7",)
        seconds[columns] = max(seconds.get(columns, 0), time.process_time() - start)
    with pytest.raises(ImportRefused, match=r"at most 16,384 columns \(limits.columns\) – found 50,001"):
        corpus.read(path, text="c1")
    # Four times the columns: 4 times the work, or 16 times where each is compared with all.
    assert seconds[50_000] < 10 * seconds[12_500]

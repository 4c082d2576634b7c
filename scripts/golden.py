"""Compare what the package writes with what it wrote before: papers, bundles, exports, commands, notebooks.

Two studies that were written before (tests/golden/studies) are opened, and all that can be written of them is
written. Names of acts, times and hashes differ from run to run: they are masked. What is left is compared
with tests/golden/outputs.json by its hash.

python scripts/golden.py                  # list what differs, exit with 1 where something does
python scripts/golden.py --keep FOLDER    # and keep what was compared there, to look for the difference
python scripts/golden.py --notebooks      # with the outputs of the notebooks (minutes)
python scripts/golden.py --accept         # take what is written now as right
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
GOLDEN: Final = ROOT / "tests" / "golden"
STUDIES: Final = ("explanations", "reflexive")
RATINGS: Final = {"explanations": "EmpathyOverall"}
WRITTEN: Final = datetime(2026, 11, 25, tzinfo=UTC)
"""The day on which the studies were written, and on which outputs are compared for the first time."""
ZIPPED: Final = (".docx", ".xlsx", ".qdpx", ".zip")
OF_THE_MODEL: Final = "of-the-model"
"""The tag of cells that show what a language model answered, which differs from processor to processor."""
# What no two runs share, or no two machines: what is drawn is compared by its SVG's text and its data.
_LEFT_OUT: Final = (".pdf", ".png", ".sav", ".dta", ".parquet")
_MASKS: Final = (
    (re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I), b"<id>"),
    (re.compile(rb"\b[0-9a-f]{12,64}\b"), b"<hash>"),
    (re.compile(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?"), b"<time>"),
    (re.compile(rb"\b\d+(\.\d+)? (ms|s|seconds|min)\b"), b"<duration>"),
    (re.compile(rb"0x[0-9a-f]+"), b"<address>"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what the package writes with what it wrote before.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what was compared")
    parser.add_argument("--notebooks", action="store_true", help="run the notebooks, too")
    parser.add_argument("--accept", action="store_true", help="take what is written now as right")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["XDG_STATE_HOME"] = f"{temporary}/state"
        written = Path(temporary) / "written"
        for name in STUDIES:
            write(name, Path(temporary) / name, written / name)
        if given.notebooks:
            run_notebooks(Path(temporary) / "notebooks", written / "notebooks")
        now = dict(masked(written, Path(temporary), given.keep))
    file = GOLDEN / "outputs.json"
    before: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if not given.notebooks:
        now |= {name: value for name, value in before.items() if name.startswith("notebooks/")}
    if given.accept:
        file.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n", "utf-8")
        return
    differing = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
    print(f"{len(now)} outputs compared, {len(differing)} differ", *differing, sep="\n")
    sys.exit(bool(differing))


def write(name: str, folder: Path, out: Path) -> None:
    """Write all that can be written of a study."""
    from sense7_qual import exchange
    from sense7_qual.store import Store

    out.mkdir(parents=True)
    store = Store.restore(GOLDEN / "studies" / f"{name}.archive.zip", folder)
    store.copies.archive(out / "archive.zip")
    store.copies.backup(out / "backup")
    store.copies.bundle(out / "bundle", texts="all", rating=RATINGS.get(name))
    exchange.write_project(store, out / "project.qdpx")
    exchange.export(store, out / "export.xlsx")
    for table in ("texts", "codings", "reliability", "memos"):
        exchange.export(store, out / f"{table}.csv", table=table)
    rating = ["--rating", RATINGS[name]] if name in RATINGS else []
    formats = ["--format", "docx,tex,csv,md,html"]
    command(out, "report", str(folder), "--out", str(out / "report"), "--with-texts", *formats, *rating)
    command(out, "verify", str(folder))


def command(out: Path, *words: str) -> None:
    """Run a command of the shell and write down what it prints."""
    from sense7_qual._commands import main as shell

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = shell(list(words))
    lines = sorted(mask(printed.getvalue().encode()).splitlines())  # notes come in the order of their ids
    (out / f"{words[0]}.printed").write_bytes(b"\n".join([*lines, f"exit code {code}".encode()]))


def run_notebooks(folder: Path, out: Path) -> None:
    """Run the notebooks in a copy, and write down the text of every output."""
    import nbformat
    from nbclient import NotebookClient

    ignored = shutil.ignore_patterns("studies", "paper*", ".cache", ".ipynb_checkpoints", "__pycache__")
    for name in ("notebooks", "data"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    out.mkdir(parents=True)
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        place = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
        texts = [
            str(output.get("text") or output.get("data", {}).get("text/plain", ""))
            for cell in notebook.cells
            if OF_THE_MODEL not in cell.metadata.get("tags", [])
            for output in cell.get("outputs", [])
            if output.get("name") != "stderr"
        ]
        (out / f"{path.stem}.txt").write_text("\n\n".join(texts), "utf-8")


def masked(folder: Path, temporary: Path, keep: Path | None) -> Iterator[tuple[str, str]]:
    """Yield the name of every output and the hash of what is left of it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in _LEFT_OUT:
            name = re.sub("[0-9a-f]{12,}", "HASH", str(path.relative_to(folder)))
            total = hashlib.sha256()
            for member, content in contents(path):
                left = mask(content.replace(str(temporary).encode(), b"<folder>"))
                total.update(member.encode() + b"\0" + left)
                if keep is not None:
                    target = keep / (f"{name}!" if member else name) / member
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(left)
            yield name, total.hexdigest()[:16]


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield a file's content: of an archive its members, of a database its rows."""
    if path.suffix in ZIPPED:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if not name.endswith(_LEFT_OUT):
                    yield name, archive.read(name)
    elif path.suffix == ".sqlite":
        with contextlib.closing(sqlite3.connect(path)) as database:
            yield "", "\n".join(database.iterdump()).encode()
    else:
        yield "", path.read_bytes()


def mask(content: bytes) -> bytes:
    for at in (datetime.now(UTC), WRITTEN):
        for day in (f"{at:%Y-%m-%d}", f"{at.day} {at:%B %Y}", f"{at:%B} {at.day}, {at.year}"):
            content = content.replace(day.encode(), b"<day>")
    for pattern, instead in _MASKS:
        content = pattern.sub(instead, content)
    return content


if __name__ == "__main__":
    main()

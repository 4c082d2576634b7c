"""Compare what the package writes with what it wrote before: papers, bundles, exports, commands, notebooks.

Two studies that were written before (tests/golden/studies) are opened, and all that can be written of them is
written. It is compared, as text, with tests/golden/outputs (`scripts/golden_texts.py` makes the text).

python scripts/golden.py                      # show what differs, exit with 1 where something does
python scripts/golden.py --study reflexive    # of one study
python scripts/golden.py --notebooks          # with what the notebooks print (minutes)
python scripts/golden.py --accept             # take what is written now as right; `git diff` shows the change
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.golden_texts import mask, readable, words_of_html  # noqa: E402 – not installed with the package

GOLDEN: Final = ROOT / "tests" / "golden"
OUTPUTS: Final = GOLDEN / "outputs"
STUDIES: Final = ("explanations", "reflexive")
NOTEBOOKS: Final = "notebooks"
RATINGS: Final = {"explanations": "EmpathyOverall"}
SETTLED_BY: Final = {"explanations": "rulings"}
"""How disagreements count in a study that several people coded: that has no default."""
OF_THE_MODEL: Final = "of-the-model"
"""The tag of cells that show what a language model answered, which differs from processor to processor."""
_A_DURATION: Final = re.compile(r"\b\d+(\.\d+)? (ms|s|seconds|min)\b")
_LINES_SHOWN: Final = 24
"""Of each difference; `--accept` and `git diff` show all."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare what the package writes with what it wrote before.")
    parser.add_argument("--study", choices=STUDIES, help="only what is written of this study")
    parser.add_argument("--notebooks", action="store_true", help="run the notebooks, too")
    parser.add_argument("--accept", action="store_true", help="take what is written now as right")
    given = parser.parse_args()
    groups = [given.study] if given.study else [*STUDIES]
    groups += [NOTEBOOKS] * given.notebooks
    n_differing = 0
    for group in groups:
        with tempfile.TemporaryDirectory() as temporary:
            now = texts_of(group, Path(temporary))
        if given.accept:
            accept(now, OUTPUTS / group)
        differing = differences(accepted(OUTPUTS / group), now)
        n_differing += len(differing)
        print(f"{group}: {len(now)} outputs compared, {len(differing)} differ")
        for shown in differing.values():
            print("", shown, sep="\n")
    if n_differing:
        print("", "Where each change is meant: --accept, and say why in the commit's body.", sep="\n")
    sys.exit(bool(n_differing))


def texts_of(group: str, temporary: Path) -> dict[str, str]:
    """Write all that there is of a study, or run the notebooks, and return it as text by its name."""
    out = temporary / "written"
    out.mkdir()
    if group == NOTEBOOKS:
        run_notebooks(temporary / NOTEBOOKS, out)
    else:
        write(group, temporary / group, out)
    return readable(out, temporary)


def write(name: str, folder: Path, out: Path) -> None:
    """Write all that can be written of a study."""
    from sense7_qual import exchange
    from sense7_qual.store import Store

    os.environ["XDG_STATE_HOME"] = str(folder.parent / "state")
    store = Store.restore(GOLDEN / "studies" / f"{name}.archive.zip", folder)
    store.copies.archive(out / "archive.zip")
    store.copies.backup(out / "backup")
    store.copies.bundle(
        out / "bundle", texts="all", rating=RATINGS.get(name), settled_by=SETTLED_BY.get(name)
    )
    exchange.write_project(store, out / "project.qdpx")
    exchange.export(store, out / "export.xlsx")
    for table in ("texts", "codings", "reliability", "memos"):
        exchange.export(store, out / f"{table}.csv", table=table)
    asked = ["--rating", RATINGS[name], "--settled-by", SETTLED_BY[name]] if name in RATINGS else []
    formats = ["--format", "docx,tex,csv,md,html"]
    command(out, "report", str(folder), "--out", str(out / "report"), "--with-texts", *formats, *asked)
    command(out, "verify", str(folder))


def command(out: Path, *words: str) -> None:
    """Run a command of the shell and write down what it prints."""
    from sense7_qual._commands import main as shell

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        code = shell(list(words))
    # Notes come in the order of their ids, which are drawn.
    lines = sorted(printed.getvalue().splitlines(), key=mask)
    (out / f"{words[0]}.printed").write_text("\n".join([*lines, f"exit code {code}"]), "utf-8")


def run_notebooks(folder: Path, out: Path) -> None:
    """Run the notebooks in a copy, and write down the text of every output."""
    import nbformat
    from nbclient import NotebookClient

    ignored = shutil.ignore_patterns("studies", "paper*", ".cache", ".ipynb_checkpoints", "__pycache__")
    for name in ("notebooks", "data"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # this checkout, whichever is installed
    for path in sorted((folder / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        place = {"metadata": {"path": str(path.parent)}}
        NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute(env=environment)
        texts = [
            output.get("text") or of_a_cell(output.get("data", {}))
            for cell in notebook.cells
            if OF_THE_MODEL not in cell.metadata.get("tags", [])
            for output in cell.get("outputs", [])
            if output.get("name") != "stderr"
        ]
        without_durations = _A_DURATION.sub("<duration>", "\n\n".join(texts))
        (out / path.stem).write_text(without_durations, "utf-8")


def of_a_cell(shown: Mapping[str, str]) -> str:
    """Return the words of what a cell shows: of a table its rows (in plain text it says its size alone)."""
    rows = words_of_html(shown.get("text/html", ""))
    return rows or str(shown.get("text/markdown") or shown.get("text/plain", ""))


def accepted(folder: Path) -> dict[str, str]:
    """Read the texts that were accepted, by their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}


def accept(now: Mapping[str, str], folder: Path) -> None:
    """Replace the texts that were accepted."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in now.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="\n")


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return, by name, a short unified diff of each text that is not as it was."""
    names = sorted({*before, *now}, key=_plain_first)
    return {
        name: "\n".join(_shortened(_difference(name, before.get(name), now.get(name))))
        for name in names
        if before.get(name) != now.get(name)
    }


def _difference(name: str, before: str | None, now: str | None) -> Iterator[str]:
    return difflib.unified_diff(
        (before or "").split("\n"),
        (now or "").split("\n"),
        "(not written before)" if before is None else f"accepted/{name}",
        "(not written any more)" if now is None else f"now/{name}",
        n=0,
        lineterm="",
    )


def _plain_first(name: str) -> tuple[bool, str]:
    """Sort what is easiest to read before the same words in other formats."""
    return not name.endswith((".md.txt", ".printed.txt", ".csv.txt")), name


def _shortened(lines: Iterator[str]) -> Sequence[str]:
    shown = list(lines)
    left = len(shown) - _LINES_SHOWN
    return shown if left <= 0 else [*shown[:_LINES_SHOWN], f"… and {left:,} more lines"]


if __name__ == "__main__":
    main()

"""The tables on paper, by LaTeX and by Word: nothing is broken, lost or outside of the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sense7_qual.report import Table
from tests.helpers import documents

pytestmark = pytest.mark.documents

ENGINES = [
    ("pdflatex", "a4paper,10pt", ""),
    ("pdflatex", "letterpaper,12pt", "\\usepackage[T1]{fontenc}\\usepackage{lmodern}"),
    ("xelatex", "letterpaper,11pt", ""),
    ("lualatex", "a4paper,11pt", ""),
    ("xelatex", "a4paper,10pt", "\\usepackage{fontspec}\\setmainfont{DejaVu Serif}[Scale=0.8]"),
]


def program(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, but where CI is set that is a failure."""
    path = shutil.which(name)
    if path is None and os.environ.get("CI"):
        pytest.fail(f"expected {name} – found none – `make system` installs it")
    if path is None:
        pytest.skip(f"{name} is not installed (`make system` installs it)")
    return path


def text_of(pdf: Path) -> str:
    shown = subprocess.run([program("pdftotext"), str(pdf), "-"], capture_output=True, check=True)
    return unicodedata.normalize("NFKC", shown.stdout.decode())


def whole_words(*texts: str) -> Counter[str]:
    return Counter(word for text in texts for word in re.split(r"[^A-Za-z]+", text))


def in_heads_and_labels(table: Table) -> set[str]:
    texts = [*table.headers, *(row[0] for row in table.rows)]
    return {word for text in texts for word in re.findall(r"(?<!\S)[A-Za-z]{3,24}(?!\S)", text)}


def broken_words(table_list: list[Table], shown: str) -> dict[str, tuple[int, int]]:
    """Return the words of heads and labels that are on paper less often than in the tables."""
    printed, expected = whole_words(shown), Counter[str]()
    for table in table_list:
        expected += whole_words(*table.headers, *(cell for row in table.rows for cell in row))
    words = set[str]().union(*map(in_heads_and_labels, table_list))
    return {word: (expected[word], printed[word]) for word in words if printed[word] < expected[word]}


@pytest.mark.parametrize(("engine", "options", "preamble"), ENGINES)
def test_every_table_compiles_and_stays_within_its_page(
    engine: str, options: str, preamble: str, tmp_path: Path
) -> None:
    tables = documents.tables()
    bodies = "\\clearpage\n".join(
        f"\\typeout{{TABLE {name}}}\n{table.latex(label=f'tab:{place}')}\n"
        for place, (name, table) in enumerate(tables.items())
    )
    packages = "\\usepackage{array,booktabs,longtable,pdflscape}"
    source = f"\\documentclass[{options}]{{article}}\n{preamble}{packages}\n\\begin{{document}}\n{bodies}"
    (tmp_path / "all.tex").write_text(
        f"{source}\\clearpage\\tiny\\listoftables\n\\end{{document}}\n", "utf-8"
    )
    command = [program(engine), "-interaction=nonstopmode", "-no-shell-escape", "all.tex"]
    for _ in range(2):  # the list of tables is read in the second run
        subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300)
    log = (tmp_path / "all.log").read_text("utf-8", errors="replace").partition("\\tiny")[0]
    log = (
        log[: log.rindex("TABLE characters")]
        + log[log.rindex("TABLE characters") :].partition("(./all.lot")[0]
    )
    assert not re.findall(r"^!.*", log, re.MULTILINE)
    assert not re.findall(r"Missing character.*|Float too large.*|.*Font shape.*undefined", log)
    overfull = re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log)
    assert [points for points in overfull if float(points) > 1] == []
    shown = text_of(tmp_path / "all.pdf")
    assert broken_words([table for name, table in tables.items() if name != "characters"], shown) == {}
    assert shown.count("thumbs up sign") >= 4  # in no font here
    if engine != "pdflatex" or preamble:  # in its old encoding the accents are drawn apart from the letters
        assert "caf\u00e9, na\u00efve, \u0141\u00f3d\u017a" in shown


def test_every_word_document_stays_within_its_page(tmp_path: Path) -> None:
    tables = {name.replace(" ", "_"): table for name, table in documents.tables().items()}
    for name, table in tables.items():
        table.write(tmp_path / f"{name}.docx")
    command = [program("soffice"), "--headless", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"]
    command += ["--convert-to", "pdf", "--outdir", str(tmp_path)]
    subprocess.run(
        [*command, *(f"{name}.docx" for name in tables)], cwd=tmp_path, capture_output=True, timeout=300
    )
    broken = {
        name: broken_words([table], text_of(tmp_path / f"{name}.pdf"))
        for name, table in tables.items()
        if name != "characters"
    }
    assert {name: words for name, words in broken.items() if words} == {}
    assert {name: outside for name in tables if (outside := outside_of_page(tmp_path / f"{name}.pdf"))} == {}


def outside_of_page(pdf: Path) -> list[str]:
    """Return the words that stand in the margins (of 20 mm) of their page, or beyond."""
    command = [program("pdftotext"), "-bbox", str(pdf), "-"]
    shown = subprocess.run(command, capture_output=True, check=True).stdout.decode(errors="replace")
    shown = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", "", shown)
    margin = 20 * 72 / 25.4 - 2
    outside = []
    for page in ElementTree.fromstring(shown).iter("{http://www.w3.org/1999/xhtml}page"):  # noqa: S314
        for word in page:
            left, right = float(word.attrib["xMin"]), float(word.attrib["xMax"])
            if left < margin or right > float(page.attrib["width"]) - margin:
                outside.append(str(word.text))
    return outside

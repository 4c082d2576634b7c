"""The tables on paper, by LaTeX and by Word: nothing is broken, lost or outside of the page."""

from __future__ import annotations

import re
import subprocess
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

import docx
import pytest

from sense7_qual import report
from sense7_qual.report import Table
from sense7_qual.report._escape import Style
from tests.helpers import documents
from tests.helpers.engines import office, program
from tests.helpers.example_papers import PLAN, shipped
from tests.helpers.nightly import nightly_but

pytestmark = pytest.mark.documents

ENGINES = [
    ("pdflatex", "a4paper,10pt", ""),
    ("pdflatex", "letterpaper,12pt", "\\usepackage[T1]{fontenc}\\usepackage{lmodern}"),
    ("pdflatex", "letterpaper,10pt,twocolumn", ""),
    ("xelatex", "letterpaper,11pt", ""),
    ("xelatex", "a4paper,10pt,twocolumn", ""),
    ("lualatex", "a4paper,11pt", ""),
    ("lualatex", "a4paper,11pt,twocolumn", ""),
    ("xelatex", "a4paper,10pt", "\\usepackage{fontspec}\\setmainfont{DejaVu Serif}[Scale=0.8]"),
]

TOO_WIDE = {"links_of_long_labels"}
"""The table that no page of Word holds, of several sources and labels as long as an address: there a list."""
ANY_TEXT = {"characters", "hostile grid", "hostile list", "hostile_grid", "hostile_list"}


def text_of(pdf: Path) -> str:
    shown = subprocess.run([program("pdftotext"), str(pdf), "-"], capture_output=True, check=True)
    return unicodedata.normalize("NFKC", shown.stdout.decode())


def whole_words(*texts: str) -> Counter[str]:
    return Counter(word for text in texts for word in re.split(r"[^A-Za-z]+", text))


def printed_heads(table: Table, *, may_fold: bool) -> tuple[str, ...]:
    """Return the heads that are on paper for certain: a list has none over its entries' names."""
    return table.headers[1:] if may_fold or table.layout == "list" else table.headers


def in_heads_and_labels(table: Table, *, may_fold: bool) -> set[str]:
    texts = [*printed_heads(table, may_fold=may_fold), *(row[0] for row in table.rows)]
    return {word for text in texts for word in re.findall(r"(?<!\S)[A-Za-z]{3,24}(?!\S)", text)}


def broken_words(
    table_list: list[Table], shown: str, *, may_fold: bool = False
) -> dict[str, tuple[int, int]]:
    """Return the words of heads and labels that are on paper less often than in the tables."""
    printed, expected = whole_words(shown), Counter[str]()
    for table in table_list:
        heads = printed_heads(table, may_fold=may_fold)
        expected += whole_words(*heads, *(cell for row in table.rows for cell in row))
    words = set[str]().union(*(in_heads_and_labels(table, may_fold=may_fold) for table in table_list))
    return {word: (expected[word], printed[word]) for word in words if printed[word] < expected[word]}


@pytest.mark.parametrize(
    ("engine", "options", "preamble"), nightly_but(ENGINES, here=[ENGINES[0], ENGINES[4], ENGINES[5]])
)
def test_every_table_compiles_and_stays_within_its_page(
    engine: str, options: str, preamble: str, tmp_path: Path
) -> None:
    tables = documents.tables()
    style: Style = "acm" if engine == "lualatex" else "apa" if "letter" in options else "plain"
    columns: Literal[1, 2] = 2 if "twocolumn" in options else 1
    bodies = "\\clearpage\n".join(
        f"\\typeout{{TABLE {name}}}\n{table.latex(label=f'tab:{place}', style=style, page_columns=columns)}\n"
        for place, (name, table) in enumerate(tables.items())
    )
    packages = f"\\usepackage{{array,booktabs,longtable,pdflscape{'' if style == 'plain' else ',caption'}}}"
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
    readable = [table for name, table in tables.items() if name not in ANY_TEXT]
    assert broken_words(readable, shown, may_fold=columns == 2) == {}
    assert shown.count("thumbs up sign") >= 4  # in no font here
    if engine != "pdflatex" or preamble:  # in its old encoding the accents are drawn apart from the letters
        assert "caf\u00e9, na\u00efve, \u0141\u00f3d\u017a" in shown


@pytest.mark.parametrize("columns", nightly_but([1, 2], here=[2]))
def test_the_files_of_a_paper_compile_in_a_document_of_one_and_of_two_columns(
    columns: Literal[1, 2], tmp_path: Path
) -> None:
    """Read in as they are: what the folder holds is laid out for the pages that were asked for."""
    store = shipped(tmp_path / "study")
    done = report.paper(
        store,
        PLAN,
        tmp_path / "paper",
        formats=["tex", "docx"],
        page_columns=columns,
        paper_size="letter",
        codebook_layout="grid" if columns == 2 else "list",
        conditions=["Model"],
    )
    files = [name.removesuffix(".tex") for name in done.files["file"] if name.endswith(".tex")]
    assert {"links", "codes", "codebook", "checklist_coreq", "methods"} <= set(files)
    read = "\\clearpage\n".join(f"\\input{{paper/{name}}}\n" for name in files)
    options = "letterpaper,10pt" + (",twocolumn" if columns == 2 else "")
    packages = "\\usepackage[T1]{fontenc}\\usepackage{lmodern,array,booktabs,longtable,pdflscape}"
    (tmp_path / "all.tex").write_text(
        f"\\documentclass[{options}]{{article}}\n{packages}\n\\begin{{document}}\n{read}\\end{{document}}\n",
        "utf-8",
    )
    command = [program("pdflatex"), "-interaction=nonstopmode", "-no-shell-escape", "all.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300)
    log = (tmp_path / "all.log").read_text("utf-8", errors="replace")
    assert not re.findall(r"^!.*", log, re.MULTILINE)
    assert not re.findall(r"Missing character.*|Float too large.*", log)
    shown = text_of(tmp_path / "all.pdf")
    assert "5.94" in shown.replace(" ", ""), "the table of links is there"
    pages = zipfile.ZipFile(tmp_path / "paper" / "results.docx").read("word/document.xml").decode()
    assert 'w:w="12240"' in pages


def test_every_word_document_stays_within_its_page(tmp_path: Path) -> None:
    tables = {name.replace(" ", "_"): table for name, table in documents.tables().items()}
    for name, table in tables.items():
        table.write(tmp_path / f"{name}.docx")
    office("pdf", [tmp_path / f"{name}.docx" for name in tables], tmp_path)
    in_lists = {name for name in tables if not docx.Document(str(tmp_path / f"{name}.docx")).tables}
    assert in_lists == TOO_WIDE | {name for name, table in tables.items() if table.layout == "list"}
    broken = {
        name: broken_words([table], text_of(tmp_path / f"{name}.pdf"), may_fold=name in TOO_WIDE)
        for name, table in tables.items()
        if name not in ANY_TEXT
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

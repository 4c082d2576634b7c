"""Over 200 hostile strings in the fields of a study: all documents compile, nothing runs or computes."""

from __future__ import annotations

import re
import subprocess
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sense7_qual import report
from tests.helpers.engines import office, program
from tests.helpers.hostile_study import STRINGS, TYPED, hostile_study
from tests.helpers.nightly import nightly_but

pytestmark = pytest.mark.documents

CONDITION = '=1+1"</b>\\input{x}'
FORMATS = ("docx", "tex", "md", "html", "csv")
HARMLESS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "table",
    "caption",
    "thead",
    "tbody",
    "tfoot",
    "tr",
    "th",
    "td",
    "p",
    "br",
    "em",
    "strong",
    "figure",
    "figcaption",
    "dl",
    "dt",
    "dd",
    "ul",
    "li",
    "footer",
    "section",
    "h2",
    "h3",
}


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that a paper prints of a hostile study, in all formats."""
    folder = tmp_path_factory.mktemp("hostile")
    store = hostile_study(folder / "study")
    memos = store.memos()
    position = memos.loc[memos["target_kind"] == "study", "memo_id"].iloc[0]
    report.paper(
        store,
        None,
        folder / "paper",
        formats=FORMATS,
        conditions=[CONDITION],
        with_texts=True,
        settled_by="rulings",
        positionality=position,
    )
    return folder / "paper"


def test_there_are_enough_of_them_and_they_are_in_the_files(paper: Path) -> None:
    assert len(STRINGS) >= 200
    assert len(TYPED) >= 200
    told = "".join(path.read_text("utf-8-sig") for path in paper.glob("*.csv"))
    plain = "".join(told.split()).replace('""', '"')
    shown = [one for one in STRINGS if one.isprintable() and "".join(one.split()) in plain]
    assert len(shown) >= 195


@pytest.mark.parametrize("engine", nightly_but(["pdflatex", "xelatex", "lualatex"], here=["pdflatex"]))
def test_every_document_compiles_to_its_end_and_nothing_runs(
    engine: str, paper: Path, tmp_path: Path
) -> None:
    """With the shell allowed, so that whatever comes through as a command would show."""
    names = sorted(path.stem for path in paper.glob("*.tex"))
    assert len(names) >= 15
    for name in names:
        (tmp_path / f"{name}.tex").write_bytes((paper / f"{name}.tex").read_bytes())
    inputs = "".join(f"\\clearpage\\input{{{name}}}\n" for name in names)
    packages = "\\usepackage{array,booktabs,longtable,pdflscape}"
    (tmp_path / "all.tex").write_text(
        f"\\documentclass[a4paper,10pt]{{article}}{packages}\\begin{{document}}\n{inputs}\\clearpage THEEND\n"
        "\\end{document}\n",
        "utf-8",
    )
    before = {path.name for path in tmp_path.iterdir()}
    command = [program(engine), "-interaction=nonstopmode", "-shell-escape", "all.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300)
    log = (tmp_path / "all.log").read_text("utf-8", errors="replace")
    assert not re.findall(r"^!.*", log, re.MULTILINE)
    assert "runsystem" not in log.partition("\\begin{document}")[2]
    assert [pt for pt in re.findall(r"Overfull \\hbox \(([0-9.]+)pt", log) if float(pt) > 1] == []
    made = {path.name for path in tmp_path.iterdir()} - before
    assert made <= {"all.pdf", "all.log", "all.aux"}
    shown = subprocess.run(
        [program("pdftotext"), "all.pdf", "-"], cwd=tmp_path, capture_output=True, check=True
    )
    assert b"THEEND" in shown.stdout


class Elements(HTMLParser):
    """Collects the elements of a page and their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_no_page_has_an_element_that_we_did_not_make(paper: Path) -> None:
    pages = list(paper.glob("*.html"))
    for page in pages:
        seen = Elements()
        seen.feed(page.read_text("utf-8"))
        assert seen.tags <= HARMLESS, page.name
        assert seen.attributes <= {"class", "style", "scope", "colspan", "dir", "charset", "lang"}, page.name
    assert len(pages) >= 15


def test_word_opens_every_document_and_has_no_field_but_numbers_of_tables(
    paper: Path, tmp_path: Path
) -> None:
    fields, names = set(), sorted(paper.glob("*.docx"))
    for path in names:
        content = zipfile.ZipFile(path).read("word/document.xml").decode()
        fields |= set(re.findall(r"<w:instrText[^>]*>([^<]*)<", content))
        assert "w:hyperlink" not in content
    assert fields <= {" SEQ Table \\* ARABIC "}
    office(
        "pdf", [path for path in names if path.stem in ("methods", "themes", "codebook", "memos")], tmp_path
    )
    assert len(list(tmp_path.glob("*.pdf"))) == 4


def test_a_spreadsheet_computes_nothing(paper: Path, tmp_path: Path) -> None:
    (tmp_path / "control.csv").write_text("a,b\n=1+1,x\n+2+2,y\n", "utf-8")
    files = [*paper.glob("*.csv"), paper / "coded.xlsx", tmp_path / "control.csv"]
    office("fods", files, tmp_path / "out")
    formulas = {
        path.stem: path.read_text("utf-8").count("table:formula")
        for path in (tmp_path / "out").glob("*.fods")
    }
    if formulas.get("control") is None:
        pytest.skip("LibreOffice Calc is not installed (`make system` installs it)")
    assert formulas.pop("control") > 0, "or else nothing would be found"
    assert len(formulas) == len(files) - 1
    assert {name: n for name, n in formulas.items() if n} == {}

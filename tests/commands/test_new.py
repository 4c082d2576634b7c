"""`sense7-qual new`: a file becomes a study with its plan and notebooks; nothing that is there is changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual._commands import main
from tests.helpers.exports import qualtrics, written
from tests.helpers.places import ROOT

SENTINEL = "Sentinel-Quokka"
TABLE = pd.DataFrame(
    {
        "Id": [f"m{n}" for n in range(8)],
        "PID": [f"p{n // 2}" for n in range(8)],
        "Chat": [f"c{n // 2}" for n in range(8)],
        "Stars": [str(n % 5 + 1) for n in range(8)],
        "Why": [f"{SENTINEL} listened to me, time {n}." for n in range(8)],
    }
)
TEMPLATES = ROOT / "sense7_qual" / "_commands" / "notebooks"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a data file in which the command is typed."""
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("data.csv", index=False)
    return tmp_path


def answers(monkeypatch: pytest.MonkeyPatch, *lines: str) -> list[str]:
    """Answer the questions with these lines, then with the end of the input; return the questions."""
    asked: list[str] = []
    left = list(lines)

    def answer(question: str) -> str:
        asked.append(question)
        if not left:
            raise EOFError
        return left.pop(0)

    monkeypatch.setattr("builtins.input", answer)
    return asked


def nobody(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return answers(monkeypatch)


def parameters(path: Path) -> dict[str, object]:
    """Run the cell of parameters of a notebook."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    named: dict[str, object] = {}
    exec(cell.source, named)  # noqa: S102 – the notebook that was just written
    return {name: value for name, value in named.items() if name != "__builtins__"}


def test_a_study_with_its_plan_and_notebooks_and_nothing_is_asked(here, monkeypatch, capsys) -> None:
    asked = nobody(monkeypatch)
    words = ["new", "pilot", "--data", "data.csv", "--text", "Why", "--case-id", "PID", "--rating", "Stars"]
    words += ["--codebook", "sense7", "--coders", "ana, ben", "--overlap", "0.5", "--yes"]
    assert main(words) == 0
    assert asked == []
    store = qual.Store("pilot")
    units = store.units.set_index("unit_id")
    assert units["text"].tolist() == TABLE["Why"].tolist()
    assert units["case_id"].tolist() == TABLE["PID"].tolist()
    assert units["document_id"].tolist() == TABLE["Chat"].tolist()
    assert units["Stars"].tolist() == [float(n) for n in TABLE["Stars"]]
    plan = store.plan
    assert plan["coder"].value_counts().to_dict() == {"ana": 6, "ben": 6}
    assert parameters(here / "pilot_coding.ipynb") == {"study": "pilot", "rating": "Stars", "coder": ""}
    assert parameters(here / "pilot_lead.ipynb") == {"study": "pilot", "rating": "Stars", "lead": "lead"}
    printed = capsys.readouterr().out
    assert "Assigned: ana 6, ben 6 (4 texts to several coders)." in printed
    assert "a study of 8 texts by 4 participants, codebook sense7 (7 codes)" in printed
    assert SENTINEL not in printed + "".join(path.read_text("utf-8") for path in here.glob("*.ipynb"))


def test_enter_takes_what_is_guessed_and_a_dash_means_none(here, monkeypatch, capsys) -> None:
    asked = answers(monkeypatch, "", "PDI", "PID", "-", "", "")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    units = qual.Store("pilot").units
    assert units["document_id"].isna().all()
    assert units["case_id"].tolist() == TABLE["PID"].tolist()
    assert "Stars" in units
    assert asked[0] == "Column of the text to code [Why]: "
    printed = capsys.readouterr().out
    assert "No such column: did you mean 'PID'?" in printed
    assert "  kept as further columns: Chat\n" in printed
    assert qual.Store("pilot").plan.empty


def test_without_anybody_to_ask_the_error_names_the_way_out(here, monkeypatch, capsys) -> None:
    nobody(monkeypatch)
    assert main(["new", "pilot", "--data", "data.csv"]) == 1
    assert "accept the guesses with --yes" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--text", "Wy"], "did you mean 'Why'?"),
        (["--text", "-"], "name it with --text COLUMN"),
        (["--coders", "ana,a na"], "expected a pseudonym"),
        (["--coders", "ana,ana"], "'ana'"),
        (["--coders", "ana", "--overlap", "7"], "overlap"),
        (["--lead", "the lead"], "expected a pseudonym"),
        (["--codebook", "sense8"], "sense7"),
        (["--rating", "Chat"], "expected numbers"),
        (["--encoding", "klingon"], "encoding"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(here, words, error, capsys) -> None:
    assert main(["new", "pilot", "--data", "data.csv", "--yes", *words]) == 1
    refused = capsys.readouterr()
    assert error in refused.err
    assert refused.err.startswith("sense7-qual: ")
    assert "Traceback" not in refused.err
    assert SENTINEL not in refused.err + refused.out
    assert [path.name for path in here.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("taken", ["pilot_coding.ipynb", "pilot_lead.ipynb", "pilot"])
def test_what_is_there_already_stays_and_nothing_is_asked(here, taken, monkeypatch, capsys) -> None:
    asked = nobody(monkeypatch)
    (here / taken).write_text("mine", encoding="utf-8")
    assert main(["new", "pilot", "--data", "data.csv"]) == 1
    assert asked == []
    assert (here / taken).read_text("utf-8") == "mine"
    assert sorted(path.name for path in here.iterdir()) == sorted(["data.csv", taken])
    assert capsys.readouterr().err.startswith("sense7-qual: ")


def test_a_file_without_a_header_shows_nobodys_text(here, capsys) -> None:
    TABLE["Why"].to_csv("bare.csv", index=False, header=False)
    main(["new", "pilot", "--data", "bare.csv", "--yes"])
    printed = capsys.readouterr()
    assert SENTINEL not in printed.out
    assert main(["new", "other", "--data", "bare.csv", "--yes", "--text", "Why"]) == 1
    assert SENTINEL not in capsys.readouterr().err


ANSWERS = [(n % 5 + 1, f"{SENTINEL} listened to me, time {n}.") for n in range(8)]


def test_header_rows_are_left_out_and_printed(here, capsys) -> None:
    written(qualtrics(ANSWERS).rows(again=[3]), here, "csv")
    assert main(["new", "pilot", "--data", "export.csv", "--yes"]) == 0
    printed = capsys.readouterr()
    assert "  left out 5 header rows of Qualtrics in lines 2, 4, 8 (5 in all).\n" in printed.out
    assert SENTINEL not in printed.out
    assert printed.err == ""
    units = qual.Store("pilot").units
    assert units["text"].tolist() == [text for _, text in ANSWERS]
    assert units["Q1"].tolist() == [stars for stars, _ in ANSWERS]


def test_a_second_row_that_may_be_a_response_is_asked_about_by_its_option(here, capsys) -> None:
    names, asked, _, *responses = qualtrics(ANSWERS).rows()
    written([names, asked, *responses], here, "csv")
    words = ["new", "pilot", "--data", "export.csv", "--yes", "--text", "Q2"]
    assert main(words) == 1
    assert "--header 1,2 or --header 1" in capsys.readouterr().err
    assert main([*words, "--header", "1,2"]) == 0
    assert len(qual.Store("pilot").units) == 8
    assert main(["new", "other", *words[2:], "--header", "1"]) == 0
    assert len(qual.Store("other").units) == 9


def test_earlier_labels_do_not_reach_the_coders(here, capsys) -> None:
    TABLE.assign(label=[["warm"], ["cold"]] * 4).to_json("data.jsonl", orient="records", lines=True)
    assert main(["new", "pilot", "--data", "data.jsonl", "--yes"]) == 0
    assert "  left out 1 column of earlier labels, 'label' (" in capsys.readouterr().out
    units = qual.Store("pilot").units
    assert units["context"].isna().all()
    assert "label" not in units


@pytest.mark.long
@pytest.mark.parametrize("form", ["xlsx", "tsv", "jsonl", "parquet"])
def test_every_format_that_read_reads(here, form) -> None:
    path = f"data.{form}"
    match form:
        case "xlsx":
            TABLE.to_excel(path, index=False)
        case "tsv":
            TABLE.to_csv(path, index=False, sep="\t")
        case "jsonl":
            TABLE.to_json(path, orient="records", lines=True)
        case _:
            TABLE.to_parquet(path)
    assert main(["new", "pilot", "--data", path, "--yes"]) == 0
    assert qual.Store("pilot").units["text"].tolist() == TABLE["Why"].tolist()


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_template_is_a_valid_notebook_without_outputs(path: Path) -> None:
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in cells) == 1


def executed(path: Path, old: str, new: str) -> str:
    """Run a notebook with one line changed, and return all of it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    source = path.read_text("utf-8")
    assert old in source
    notebook = nbformat.reads(source.replace(old, new), as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    return json.dumps(notebook)


@pytest.mark.nightly
@pytest.mark.notebook
def test_the_notebooks_run_before_anybody_coded_and_when_all_is_coded(here) -> None:
    assert main(["new", "pilot", "--data", "data.csv", "--yes", "--coders", "ana,ben", "--lead", "eva"]) == 0
    assert SENTINEL not in executed(here / "pilot_coding.ipynb", 'coder = \\"\\"', 'coder = \\"ana\\"')
    assert SENTINEL not in executed(
        here / "pilot_lead.ipynb", "coding_is_done = False", "coding_is_done = 0 > 1"
    )
    store = qual.Store("pilot")
    code = store.codebook.codable[0].id
    for place, (coder, unit_id) in enumerate(store.plan[["coder", "unit_id"]].values):
        named = {"coder": coder, "unit_id": unit_id, "codebook": store.codebook}
        applied = [qual.acts.apply(code=code, **named)] if place % 3 else []
        store.append([*applied, qual.acts.finish(**named)])
    done = executed(here / "pilot_lead.ipynb", "coding_is_done = False", "coding_is_done = True")
    assert SENTINEL not in done
    assert {"codebook.docx", "reliability.tex"} <= {path.name for path in (here / "paper").iterdir()}
    assert not any(SENTINEL.encode() in path.read_bytes() for path in (here / "paper").iterdir())


@pytest.mark.long
def test_a_column_that_the_output_cannot_hold_is_no_error(here) -> None:
    """As on Windows, where a pipe may know a few hundred letters only."""
    TABLE.rename(columns={"PID": "参加者"}).to_csv("data.csv", index=False)
    command = [sys.executable, "-m", "sense7_qual", "new", "pilot", "--data", "data.csv", "--yes"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, env=env, capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u53c2\u52a0\u8005" in done.stdout

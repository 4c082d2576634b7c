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
from tests.helpers.exports import maxqda, mturk, qualtrics, redcap, written
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


def test_one_question_holds_the_whole_proposal_and_takes_what_differs(here, monkeypatch, capsys) -> None:
    asked = answers(monkeypatch, "participant=PDI", "conversation=- rating=-", "")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    units = qual.Store("pilot").units
    assert units["document_id"].isna().all()
    assert units["case_id"].tolist() == TABLE["PID"].tolist()
    assert asked[0] == asked[1] == "Enter accepts, or type what differs (such as text=19,22 rating=-): "
    assert asked[2].startswith("Pseudonyms of the coders")
    printed = capsys.readouterr().out
    proposal = (
        "Columns: text 5 (Why), participant 2 (PID), conversation 3 (Chat), rating 4 (Stars), id 1 (Id)."
    )
    assert f"{proposal} Left out: nothing.\n" in printed
    assert "did you mean 'PID'?" in printed
    assert (
        "Columns: text 5 (Why), participant 2 (PID), rating none, id 1 (Id). Left out: nothing.\n" in printed
    )
    assert "Kept as further columns: Chat, Stars\n" in printed
    assert qual.Store("pilot").plan.empty


def test_enter_accepts_and_the_columns_are_listed_with_their_numbers(here, monkeypatch, capsys) -> None:
    asked = answers(monkeypatch, "", "ana,ben")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    assert len(asked) == 2
    printed = capsys.readouterr().out
    assert "   2  few answers  8 of 8  PID\n" in printed
    assert "   5  words        8 of 8  Why\n" in printed


def test_long_names_are_shown_where_line_1_is_a_header_and_numbers_choose(here, monkeypatch, capsys) -> None:
    why = "Why did you give this rating? Please explain in your own words."
    other = f"{SENTINEL} and what else would you like to tell us about the assistant?"
    rows = {
        "Timestamp": ["1", "2"],
        "How satisfied were you?": ["4", "2"],
        why: TABLE["Why"][:2],
        other: ["No", "Yes"],
    }
    pd.DataFrame(rows).to_csv("survey.csv", index=False)
    assert main(["new", "pilot", "--data", "survey.csv", "--yes"]) == 0
    printed = capsys.readouterr().out
    assert f"   3  words    2 of 2  {why[:59]}…\n" in printed
    assert "Columns: text 3, participant none, rating 2 (How satisfied were you?)." in printed
    assert main(["new", "two", "--data", "survey.csv", "--yes", "--text", "3,4", "--rating", "-"]) == 0
    units = qual.Store("two").units
    assert units["unit_id"].tolist() == ["row-1/Q3", "row-2/Q3", "row-1/Q4", "row-2/Q4"]
    assert units["case_id"].tolist() == ["row-1", "row-2"] * 2


def test_a_name_that_is_a_number_means_the_name(here) -> None:
    TABLE.rename(columns={"Why": "1", "Id": "5"}).to_csv("data.csv", index=False)
    assert main(["new", "pilot", "--data", "data.csv", "--yes", "--text", "1", "--unit-id", "5"]) == 0
    assert qual.Store("pilot").units["text"].tolist() == TABLE["Why"].tolist()


def test_columns_that_fit_alike_are_asked_about_and_a_number_answers(here, monkeypatch, capsys) -> None:
    TABLE.assign(Whatfor=[f"{text} Again." for text in TABLE["Why"]], Wherefore=TABLE["Why"]).rename(
        columns={"Why": "First", "Whatfor": "Second", "Wherefore": "Third"}
    ).to_csv("data.csv", index=False)
    assert main(["new", "pilot", "--data", "data.csv", "--yes"]) == 1
    assert "found 3 that fit alike: 5, 6, 7 – name one, or several: --text 5,6." in capsys.readouterr().err
    asked = answers(monkeypatch, "", "8", "6,7", "")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    assert asked[0] == asked[1] == asked[2]
    assert asked[0].startswith(
        "Columns 5, 6, 7 fit alike. Which has the texts (5, or for the answers to several"
    )
    units = qual.Store("pilot").units
    assert units["question"].unique().tolist() == ["Second", "Third"]
    assert units["document_id"].isna().all()  # a questionnaire is no conversation
    assert "Columns: text 6 (Second), 7 (Third), participant 2 (PID), rating 4 (Stars), id 1 (Id)." in (
        capsys.readouterr().out
    )


def test_a_file_of_something_else_is_refused_before_anything_is_asked(here, monkeypatch, capsys) -> None:
    asked = answers(monkeypatch, "", "")
    written(maxqda([(1, SENTINEL)]), here, "csv")
    assert main(["new", "pilot", "--data", "export.csv"]) == 1
    assert "read them with codings.read" in capsys.readouterr().err
    written(mturk([(1, SENTINEL)]), here, "csv")
    assert main(["new", "pilot", "--data", "export.csv"]) == 1
    assert "(sense7-qual new: --kind table)" in capsys.readouterr().err
    assert asked == []


def test_rows_of_other_forms_are_not_counted_as_rows_without_a_text(here, capsys) -> None:
    written(redcap(ANSWERS), here, "csv")
    assert main(["new", "pilot", "--data", "export.csv", "--yes", "--text", "why"]) == 0
    assert "Left out: nothing.\n" in capsys.readouterr().out


def test_no_column_that_looks_like_answers_is_asked_about(here, monkeypatch, capsys) -> None:
    TABLE.drop(columns="Why").to_csv("data.csv", index=False)
    assert main(["new", "pilot", "--data", "data.csv", "--yes"]) == 1
    error = (
        "expected a column that looks like answers – found none among 4 – name it by its number: --text 4."
    )
    assert error in capsys.readouterr().err
    asked = answers(monkeypatch, "3", "")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    assert asked[0] == "No column looks like answers. Which has the texts (its number)? "
    assert qual.Store("pilot").units["text"].tolist() == TABLE["Chat"].tolist()


def test_rows_without_a_text_are_counted_and_left_out_by_enter(here, monkeypatch, capsys) -> None:
    TABLE.assign(Why=[" ", *TABLE["Why"][1:7], ""]).to_csv("data.csv", index=False)
    assert main(["new", "pilot", "--data", "data.csv", "--yes"]) == 1
    assert "found none in lines 2, 9 – pass --skip-empty to leave these rows out." in capsys.readouterr().err
    answers(monkeypatch, "", "")
    assert main(["new", "pilot", "--data", "data.csv"]) == 0
    assert "Left out: 2 rows without a text.\n" in capsys.readouterr().out
    assert len(qual.Store("pilot").units) == 6
    assert main(["new", "other", "--data", "data.csv", "--yes", "--skip-empty"]) == 0


EXPORT = ROOT / "data" / "survey_export.csv"


def test_previews_are_never_answered_by_yes(here, monkeypatch, capsys) -> None:
    words = ["--data", str(EXPORT), "--text", "Q2"]
    assert main(["new", "pilot", *words, "--yes"]) == 1
    error = capsys.readouterr().err
    assert (
        "marks as previews or tests, Status 1, in lines 5, 6 – pass --preview skip to leave them out" in error
    )
    answers(monkeypatch, "", "", "preview=keep", "")
    for study, n_units in (("skipped", 40), ("kept", 42)):
        assert main(["new", study, *words]) == 0
        units = qual.Store(study).units
        assert len(units) == n_units
        assert units["unit_id"].str.startswith("R_").all()
        assert {"IPAddress", "RecipientEmail", "LocationLatitude"}.isdisjoint(units.columns)
    assert main(["new", "yes", *words, "--yes", "--preview", "skip"]) == 0
    assert "Left out: 6 columns of personal data, 2 previews and tests.\n" in capsys.readouterr().out


def test_two_questions_with_a_rating_each_are_one_study(here, capsys) -> None:
    words = ["--text", "19,21", "--rating", "18,20", "--preview", "skip", "--yes", "--coders", "ana,ben"]
    assert main(["new", "pilot", "--data", str(EXPORT), *words]) == 0
    units = qual.Store("pilot").units
    how = {"preview": "skip", "variables": (), "empty": "skip"}
    with pytest.warns(
        UserWarning, match="left out 2 header rows of Qualtrics in lines 2, 4; 2 responses that"
    ):
        first = qual.corpus.read(EXPORT, text="Q2", ratings="Q1", **how)
    with pytest.warns(UserWarning, match="left out 2 header rows"):
        second = qual.corpus.read(EXPORT, text="Q4", ratings="Q3", **how)
    assert units["text"].tolist() == [*first["text"], *second["text"]]
    assert units["rating"].fillna(-1).tolist() == [*first["Q1"].fillna(-1), *second["Q3"].fillna(-1)]
    assert parameters(here / "pilot_lead.ipynb")["rating"] == "rating"
    shared = qual.Store("pilot").plan["unit_id"].value_counts().loc[lambda times: times > 1].index
    assert pd.Series(shared).str.endswith("/Q4").sum() in (9, 10)  # of each question a quarter
    n_blank = 2 * len(first) - len(units)
    assert f", 2 previews and tests, {n_blank} blank answers.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--text", "Wy"], "did you mean 'Why'?"),
        (["--text", "-"], "name it by its number: --text 4"),
        (["--text", "6"], "no column '6'"),
        (["--text", "0"], "no column '0'"),
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
    assert "  left out: lines 2, 4, 8 (5 in all) (" in printed.out
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
    assert "  labels of others: label\n" in capsys.readouterr().out
    units = qual.Store("pilot").units
    assert units["context"].isna().all()
    assert "label" not in units


BOOKS = {
    "a": "id,label,definition\nwarm,Warm,It is kind.\nboth,Both,In both.\n",
    "b": "id,label,definition\ncold,Cold,It is not.\nboth,Both,In both.\n",
}


def test_a_codebook_for_each_question_makes_a_study_of_each_with_the_same_participants(
    here, monkeypatch, capsys
) -> None:
    for name, book in BOOKS.items():
        (here / f"{name}.csv").write_text(book, encoding="utf-8")
    words = ["new", "pilot", "--data", str(EXPORT), "--preview", "skip", "--yes", "--coders", "ana,ben"]
    assert main([*words, "--codebook", "Q2=a.csv", "--codebook", "21=b.csv"]) == 0
    first, second = qual.Store("pilot_Q2"), qual.Store("pilot_21")
    assert (len(first.units), len(second.units)) == (40, 37)
    assert set(second.units["case_id"]) < set(first.units["case_id"])
    assert [code.id for code in second.codebook.codes] == ["cold", "both"]
    assert parameters(here / "pilot_21_lead.ipynb")["study"] == "pilot_21"
    assert (
        "Created a study of 40 texts by 40 participants, codebook a (2 codes).\n" in capsys.readouterr().out
    )
    (here / "b.csv").write_text(BOOKS["b"].replace("In both", "In the other"), encoding="utf-8")
    assert main([*words, "--codebook", "Q2=a.csv", "--codebook", "Q4=b.csv"]) == 1
    assert "one code for each id in all codebooks – found others for 'both'" in capsys.readouterr().err
    assert main([*words, "--codebook", "a.csv", "--codebook", "Q4=b.csv"]) == 1
    assert "expected a question for each of several codebooks" in capsys.readouterr().err
    assert not (here / "pilot_Q4").exists()
    (here / "b.csv").write_text(BOOKS["b"], encoding="utf-8")
    asked = answers(monkeypatch, "text=21,19", "", "")  # which would exchange the codebooks
    words = ["--codebook", "Q2=a.csv", "--codebook", "Q4=b.csv", "--rating", "-"]
    assert main(["new", "third", "--data", str(EXPORT), *words]) == 0
    assert len(asked) == 3
    assert qual.Store("third_Q2").units["question"].unique().tolist() == ["Q2"]


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


def test_a_wide_file_is_listed_by_its_words_and_the_rest_together(here, monkeypatch, capsys) -> None:
    wide = TABLE.assign(**{f"Likert {n}": [str(row % 5) for row in range(8)] for n in range(50)})
    wide["Last"] = [f"And {SENTINEL} said more, time {n}." for n in range(8)]
    wide.to_csv("wide.csv", index=False)
    answers(monkeypatch, "text=Why", "", "")
    assert main(["new", "study", "--data", "wide.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.lstrip()[:1].isdigit() for line in lines) < 12
    assert any(line.startswith("   6–55") and "50 columns from Likert 0" in line for line in lines)
    assert any(line.startswith("  56  words") for line in lines)
    kept = next(line for line in lines if line.startswith("Kept as further columns"))
    assert kept.endswith("and 43 more")

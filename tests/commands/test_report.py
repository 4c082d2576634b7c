"""`sense7-qual report`: which files it writes, that they are those of the package, and what it refuses."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

import sense7_qual as qual
from sense7_qual._commands import main
from tests.helpers.places import ROOT

RULED = ["--settled-by", "rulings"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of ten participants of the example, coded by ana and ben."""
    place = tmp_path_factory.mktemp("report") / "study"
    units = qual.corpus.read(
        ROOT / "data" / "explanations.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        ratings=["EmpathyOverall"],
    )
    units = units[units["case_id"].isin(sorted(set(units["case_id"]))[:10])].reset_index(drop=True)
    store = qual.Store.create(place, units=units, codebook=qual.Codebook.read("sense7"))
    known = set(units["unit_id"])
    lines = (ROOT / "data" / "example_acts.jsonl").read_text("utf-8").splitlines()
    acts = [qual.acts.Act(**json.loads(line)) for line in lines]
    for coder in ("ana", "ben"):
        store.append([act for act in acts if act.coder == coder and act.unit_id in known])
    return place


@pytest.mark.nightly
@pytest.mark.long
def test_tables_and_figures_without_a_rating(folder, tmp_path, capsys) -> None:
    out = tmp_path / "paper"
    laid_out = ["--columns", "2", "--paper-size", "letter", "--codebook", "grid"]
    words = ["report", str(folder), "--out", str(out), "--format", "csv, tex,docx", "--seed", "7", *RULED]
    assert main([*words, *laid_out]) == 0
    assert "longtable" not in (out / "codebook.tex").read_text("utf-8"), "it cannot stand in two columns"
    prose = ("methods", "results", "use_of_ai", "checklist_coreq", "checklist_srqr")
    names = ("codebook", "reliability", "disagreements", "codes", "co_occurrence", "review")
    tables = [f"{name}.{form}" for name in (*prose, *names) for form in ("csv", "docx", "tex")]
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*tables, "agreement.pdf", "agreement.png", "reliability_data.csv", "basis.md", "paper.json"]
    )
    store = qual.Store(folder)
    agreement = qual.agreement.by_code(store.decisions(), units=store.units, cluster="case_id", seed=7)
    own = qual.report.tables.reliability(agreement, codebook=store.codebook, cluster_name="participants")
    own.write(tmp_path / "own.csv")
    assert (out / "reliability.csv").read_bytes() == (tmp_path / "own.csv").read_bytes()
    printed = capsys.readouterr().out
    first, *rest = printed.splitlines()
    assert first == (
        f"37 files in {out}: methods, results, use_of_ai, checklist_coreq, checklist_srqr, codebook, "
        "reliability, agreement, disagreements, reliability_data, codes, co_occurrence, "
        "review, basis."
    )
    assert "Left out: links – the analysis plan names no rating." in rest
    read = [path for path in out.iterdir() if path.suffix in (".tex", ".csv") and path.stem != "codebook"]
    written = "".join(path.read_text("utf-8") for path in read)
    assert not [text for text in store.units["text"] if text in written]


@pytest.mark.long
def test_agreement_is_that_of_before_suggestions(folder, tmp_path) -> None:
    shutil.copytree(folder, tmp_path / "study")
    store = qual.Store(tmp_path / "study")
    before = qual.agreement.by_code(store.decisions(), units=store.units, cluster="case_id", seed=7)
    for unit_id in store.coverage(coder="ana")["unit_id"][:20]:
        mine = {"coder": "ana", "unit_id": unit_id, "codebook": store.codebook}
        code = next(code.id for code in store.codebook.codable)
        store.append(
            [qual.acts.contents.show_suggestions(**mine, model="words"), qual.acts.apply(**mine, code=code)]
        )
    out = tmp_path / "paper"
    assert main(["report", str(store.path), "--out", str(out), "--format", "csv", "--seed", "7", *RULED]) == 0
    own = qual.report.tables.reliability(before, codebook=store.codebook, cluster_name="participants")
    own.write(tmp_path / "own.csv")
    assert (out / "reliability.csv").read_bytes() == (tmp_path / "own.csv").read_bytes()


@pytest.mark.long
def test_a_rating_adds_the_links_by_what_counts(folder, tmp_path) -> None:
    out = tmp_path / "paper"
    words = ["--rating", "EmpathyOverall", "--format", "csv", "--cluster", "case_id", *RULED]
    assert main(["report", str(folder), "--out", str(out), *words]) == 0
    assert (out / "links_plot.pdf").stat().st_size > 1000
    with (out / "links.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    store = qual.Store(folder)
    links = qual.links.code_to_rating(
        store.decisions(settled_by="rulings"),
        store.units,
        rating="EmpathyOverall",
        cluster="case_id",
        sources=["consensus"],
    )
    own = qual.report.tables.link(
        links,
        source="consensus",
        codebook=store.codebook,
        rating="EmpathyOverall",
        cluster_name="participants",
    )
    assert tuple(rows[0]) == own.headers
    assert [tuple(row) for row in rows[1 : 1 + len(own.rows)]] == list(own.rows)


@pytest.mark.long
def test_an_earlier_report_stays_unless_it_may_be_written_over(folder, tmp_path, capsys) -> None:
    out = tmp_path / "paper"
    out.mkdir()
    (out / "reliability.csv").write_text("mine", encoding="utf-8")
    words = ["report", str(folder), "--out", str(out), "--format", "csv", *RULED]
    assert main(words) == 1
    assert "'reliability.csv'" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["reliability.csv"]
    assert (out / "reliability.csv").read_text("utf-8") == "mine"
    assert main([*words, "--overwrite"]) == 0
    assert (out / "reliability.csv").read_text("utf-8-sig").startswith("Code")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--format", "docs"], "did you mean 'docx'?"),
        (["--rating", "Empathy"], "did you mean 'EmpathyOverall'?"),
        (["--rating", "text"], "expected rating to be a column of the study's units"),
        (["--rating", "EmpathyOverall", "--cluster", "caseid"], "did you mean 'case_id'?"),
        (["--round", "blind"], "round"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_no_file(folder, tmp_path, words, error, capsys) -> None:
    assert main(["report", str(folder), "--out", str(tmp_path / "paper"), *RULED, *words]) == 1
    printed = capsys.readouterr().err
    assert error in printed
    assert printed.startswith("sense7-qual: ")
    assert printed.count("\n") == 1
    assert not (tmp_path / "paper").exists()


def test_a_study_that_nobody_has_coded_has_no_report(tmp_path, capsys) -> None:
    data = ROOT / "data" / "explanations.csv"
    assert main(["new", str(tmp_path / "study"), "--data", str(data), "--yes"]) == 0
    assert main(["report", str(tmp_path / "study"), "--out", str(tmp_path / "paper")]) == 1
    assert "expected texts that a coder has finished" in capsys.readouterr().err
    assert not (tmp_path / "paper").exists()


@pytest.mark.nightly
@pytest.mark.long
def test_the_rating_that_a_study_was_made_with_is_linked_unless_another_is_named(tmp_path, capsys) -> None:
    """`new --rating` is kept in the study; `report --rating` comes first."""
    rows = "\n".join(f"m{n},p{n % 8},It listened {n}.,{n % 5 + 1}" for n in range(40))
    (tmp_path / "texts.csv").write_text(f"id,who,said,warmth\n{rows}\n", encoding="utf-8")
    roles = ["--text", "said", "--unit-id", "id", "--case-id", "who", "--rating", "warmth", "--yes"]
    study = tmp_path / "study"
    assert main(["new", str(study), "--data", str(tmp_path / "texts.csv"), *roles]) == 0
    store = qual.Store(study)
    assert store.options.rating_column == "warmth"
    for coder, every in (("çelik", 2), ("ben", 3)):
        named = {"coder": coder, "codebook": store.codebook}
        codings = [qual.acts.apply(unit_id=f"m{n}", code="interest", **named) for n in range(0, 40, every)]
        store.append([*codings, *(qual.acts.finish(unit_id=f"m{n}", **named) for n in range(40))])
    for name, asked in (("warmth", []), ("position", ["--rating", "position"])):
        out = tmp_path / name
        assert main(["report", str(study), "--out", str(out), "--format", "md", *RULED, *asked]) == 0
        assert name in (out / "links.md").read_text("utf-8")
        assert {"warmth": "position", "position": "warmth"}[name] not in (out / "links.md").read_text("utf-8")


@pytest.mark.long
def test_how_disagreements_count_is_asked_at_a_terminal(folder, tmp_path, capsys, monkeypatch) -> None:
    out, answers = tmp_path / "paper", tmp_path / "answers"
    answers.write_text("ruled\nmajority\n", encoding="utf-8")
    with answers.open(encoding="utf-8") as typed:
        monkeypatch.setattr("sys.stdin", typed)
        assert main(["report", str(folder), "--out", str(out), "--format", "csv"]) == 0
    asked = capsys.readouterr().out
    store = qual.Store(folder)
    n_open = dict(qual._basis.Basis.of(store.decisions(settled_by="rulings")).left_out)["unsettled"]
    assert "How do disagreements count" in asked
    assert f"'rulings' (0 ruled on, {n_open} unsettled left out)" in asked
    assert asked.count("One of rulings") == 1
    assert "counts: majority" in (out / "basis.md").read_text("utf-8")


def test_without_a_terminal_it_is_refused_in_the_same_words(folder, tmp_path, capsys, monkeypatch) -> None:
    empty = tmp_path / "nothing"
    empty.touch()
    for command in (["report"], ["bundle", "--texts", "withheld"]):
        with empty.open(encoding="utf-8") as typed:
            monkeypatch.setattr("sys.stdin", typed)
            name, *words = command
            assert main([name, str(folder), "--out", str(tmp_path / "out"), *words]) == 1
        printed = capsys.readouterr().err
        for words_of_it in ("How do disagreements count", "unsettled left out", "--settled-by"):
            assert words_of_it in printed
        assert not (tmp_path / "out").exists()

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import krippendorff
import numpy as np
import openpyxl
import pandas as pd
import pytest

from sense7_qual import acts, codings, corpus
from sense7_qual.codebook import Codebook
from tests.helpers.places import ROOT

DATA = ROOT / "data"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((DATA / "explanations.csv").read_text("utf-8"), newline="")))


@pytest.fixture(scope="module")
def record() -> list[acts.Act]:
    lines = (DATA / "example_acts.jsonl").read_text("utf-8").splitlines()
    return [acts.Act(**json.loads(line)) for line in lines]


@pytest.fixture(scope="module")
def units() -> pd.DataFrame:
    return corpus.read(
        DATA / "explanations.csv",
        text="Comment",
        unit_id="MessageId",
        document_id="TaskId",
        case_id="PID",
        position="Position",
        context="Context",
        ratings=["EmpathyOverall"],
    )


@pytest.fixture(scope="module")
def decisions(record: list[acts.Act]) -> pd.DataFrame:
    folded = acts.fold(record)
    return codings.decisions(folded.codings, folded.coverage, Codebook.read("sense7"))


def cells(path: Path) -> dict[str, list[tuple[object, ...]]]:
    book = openpyxl.load_workbook(path, read_only=True)
    found = {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}
    book.close()
    return found


@pytest.mark.long
def test_the_script_gives_the_committed_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(ROOT / "scripts" / "make_example.py"), str(tmp_path)], check=True)
    for name in (
        *("explanations.csv", "survey_export.csv", "example_acts.jsonl"),
        *("follow_up.csv", "follow_up_acts.jsonl"),
    ):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name
    # How a workbook is packed is up to the version of openpyxl; what it says is not.
    assert cells(tmp_path / "sense7_synthetic.xlsx") == cells(DATA / "sense7_synthetic.xlsx")


@pytest.mark.long
def test_everything_is_labelled_synthetic(rows: list[dict[str, str]], record: list[acts.Act]) -> None:
    assert (DATA / "README.md").read_text("utf-8").startswith("# Example data: SYNTHETIC")
    assert {row["Origin"] for row in rows} == {"synthetic"}
    assert {row["PID"] for row in rows} == {f"S{number:02}" for number in range(1, 41)}
    assert "SYNTHETIC" in str(cells(DATA / "sense7_synthetic.xlsx")["About"])
    assert any(act.kind == "memo" and "SYNTHETIC" in (act.text or "") for act in record)


def test_the_texts_are_300_and_none_stands_twice(rows: list[dict[str, str]]) -> None:
    texts = [row["Comment"] for row in rows]
    assert len(texts) == 300
    assert len({text.casefold().strip() for text in texts}) == 300
    assert len({row["MessageId"] for row in rows}) == 300


def test_the_texts_are_as_varied_as_real_ones(rows: list[dict[str, str]]) -> None:
    texts = [row["Comment"] for row in rows]
    words = np.array([len(text.split()) for text in texts])
    assert words.min() >= 4
    assert words.max() <= 60
    assert words.std() > 8
    for sign in ("🇵🇹", "عربي", "e\u0301", "é", "“", '"', "\n", ",", "'"):
        assert any(sign in text for text in texts), ascii(sign)
    # A flag, or a skin tone, in front of a coded span shows whether offsets count code points.
    assert any(ord(letter) > 0xFFFF for text in texts for letter in text)


def test_ratings_lie_in_the_scale_and_some_are_missing(rows: list[dict[str, str]]) -> None:
    overall = Counter(row["EmpathyOverall"] for row in rows)
    assert set(overall) == {"", "1", "2", "3", "4", "5"}
    assert 5 <= overall[""] <= 30
    names = [code.capitalize() for code in Codebook.read("sense7").ids]
    dimensions = [row[name] for row in rows for name in names]
    assert set(dimensions) == {"", "1", "2", "3", "4", "5"}
    assert dimensions.count("") > len(dimensions) / 2


def test_people_differ_and_so_do_the_codes_links_to_the_rating(
    units: pd.DataFrame, decisions: pd.DataFrame
) -> None:
    rated = units.dropna(subset="EmpathyOverall")
    assert rated.groupby("case_id")["EmpathyOverall"].mean().std() > 0.4
    ana = decisions[decisions["coder"] == "ana"].merge(rated, on="unit_id")
    mean = ana.groupby(["code", "applied"])["EmpathyOverall"].mean().unstack()
    difference = mean[True] - mean[False]
    assert difference["affective"] > 0.25
    assert difference["response"] < -0.25


def test_the_workbook_holds_the_same_conversations(units: pd.DataFrame) -> None:
    """Two readers, two files: the same ids, texts, contexts and ratings."""
    workbook = corpus.read_sense7(DATA / "sense7_synthetic.xlsx").set_index("unit_id").loc[units["unit_id"]]
    for name in ("text", "context", "document_id", "case_id", "position", "EmpathyOverall", "Model"):
        pd.testing.assert_series_equal(
            workbook[name].reset_index(drop=True), units[name], check_names=False, check_dtype=False, obj=name
        )


def test_the_acts_are_about_the_texts_and_the_shipped_codebook(
    record: list[acts.Act], rows: list[dict[str, str]]
) -> None:
    sense7 = Codebook.read("sense7")
    known = {row["MessageId"] for row in rows}
    assert {act.unit_id for act in record if act.unit_id} == known
    assert {act.codebook for act in record} == {sense7.fingerprint}
    assert {act.code for act in record if act.code} <= set(sense7.ids)
    assert len({act.act_id for act in record}) == len(record)
    assert {act.coder for act in record} == {"ana", "ben", "chi", "lead"}
    assert {act.kind for act in record} == set(acts.kinds_where(lambda kind: kind.by != "team")) - {
        "propose",
        "show_suggestions",
        "reject_suggestion",
        "quote",
        "describe",
        "abstain",
    }  # no other is missing
    for coder in ("ana", "ben", "chi", "lead"):
        times = [act.at for act in record if act.coder == coder]
        assert times == sorted(times)


def test_spans_begin_and_end_with_whole_words_of_the_text(
    record: list[acts.Act], units: pd.DataFrame
) -> None:
    """An offset counted in UTF-16 or in bytes would cut words in texts with emoji and accents."""
    texts = dict(zip(units["unit_id"], units["text"], strict=True))
    found = acts.fold(record).codings
    spans = found[found["start"].notna()]
    assert 0.4 < len(spans) / len(found) < 0.6
    behind_wide = 0
    for unit_id, start, end in spans[["unit_id", "start", "end"]].itertuples(index=False):
        text = texts[unit_id]
        quote = text[start:end]
        assert 0 <= start < end <= len(text)
        assert quote == quote.strip()
        assert not (start and text[start - 1].isalnum() and text[start].isalnum()), unit_id
        assert not (text[end - 1].isalnum() and text[end : end + 1].isalnum()), unit_id
        behind_wide += any(ord(letter) > 0xFFFF for letter in text[:start])
    assert behind_wide >= 5


def test_coders_agree_as_people_do(decisions: pd.DataFrame) -> None:
    alphas: dict[str, float] = {}
    for code, rows in decisions.groupby("code"):
        wide = rows.pivot(index="coder", columns="unit_id", values="applied").astype(float).to_numpy()
        alphas[code] = krippendorff.alpha(wide, level_of_measurement="nominal")
    weak = alphas.pop("contextual")
    assert round(weak, 2) == 0.42
    assert round(min(alphas.values()), 2) == 0.59
    assert round(max(alphas.values()), 2) == 0.84


def test_coverage_is_partial_and_some_coded_units_are_unfinished(record: list[acts.Act]) -> None:
    folded = acts.fold(record)
    finished = {coder: set(rows["unit_id"]) for coder, rows in folded.coverage.groupby("coder")}
    assert len(finished["ana"]) == 300
    assert 130 <= len(finished["ben"]) <= 150
    assert 130 <= len(finished["chi"]) <= 150
    assert 60 <= len(finished["ben"] & finished["chi"]) <= 80
    coded = {coder: set(rows["unit_id"]) for coder, rows in folded.codings.groupby("coder")}
    assert not coded["ana"] - finished["ana"]
    assert len(coded["ben"] - finished["ben"]) >= 3
    assert len(coded["chi"] - finished["chi"]) >= 3


def test_rulings_are_about_disagreements(record: list[acts.Act], decisions: pd.DataFrame) -> None:
    given = decisions.groupby(["unit_id", "code"])["applied"].agg(["any", "all"])
    disputed = set(given.index[given["any"] & ~given["all"]])
    rulings = [(act.unit_id, act.code) for act in record if act.kind == "rule"]
    assert len(set(rulings)) == len(rulings) >= 50
    assert set(rulings) <= disputed


def test_themes_that_the_codebook_lacks_are_in_the_texts(rows: list[dict[str, str]]) -> None:
    texts = [row["Comment"].lower() for row in rows]
    privacy = (
        "data",
        "private",
        "privacy",
        "stores",
        "saved",
        "deleted",
        "confidential",
        "server",
        "who else can",
    )
    speed = ("waited", "waiting", "slow", "took", "instantly", "a second", "lag", "loaded", "dots", "fast")
    assert sum(any(word in text for word in privacy) for text in texts) >= 12
    assert sum(any(word in text for word in speed) for text in texts) >= 10


FOLLOW_UP = {
    "privacy": (
        "who else can read",
        "company to have",
        "left out the names",
        "it store what",
        "chat is deleted",
        "privacy",
        "my employer",
        "private stuff",
        "false name",
        "who stores",
        "my secrets",
        "confidential",
        "personal data",
        "saved chat",
    ),
    "speed": (
        "to reply",
        "to load",
        "typing dots",
        "per message",
        "instantly",
        "fast replies",
        "froze and",
        "the lag",
        "within a second",
        "page had loaded",
        "slow",
    ),
}


@pytest.fixture(scope="module")
def follow_up() -> pd.DataFrame:
    return pd.read_csv(DATA / "follow_up.csv", dtype=str, keep_default_na=False)


def test_the_follow_up_is_a_study_of_its_own(follow_up: pd.DataFrame, units: pd.DataFrame) -> None:
    assert len(follow_up) == follow_up["Comment"].str.casefold().nunique() == 240
    assert not set(follow_up["MessageId"]) & set(units["unit_id"])
    assert set(follow_up["PID"]) == {f"S{number:02}" for number in range(41, 81)}
    assert set(follow_up["Origin"]) == {"synthetic"}
    lines = (DATA / "follow_up_acts.jsonl").read_text("utf-8").splitlines()
    record = [acts.Act(**json.loads(line)) for line in lines]
    assert {act.unit_id for act in record if act.unit_id} == set(follow_up["MessageId"])
    assert {act.codebook for act in record} == {Codebook.read("sense7").fingerprint}
    assert any(act.kind == "memo" and "SYNTHETIC" in (act.text or "") for act in record)
    readme = (DATA / "README.md").read_text("utf-8")
    assert f"240 texts, {follow_up['TaskId'].nunique()} conversations" in readme
    assert f"{len(record):,} acts |\n\n## explanations.csv" in readme


def test_the_follow_up_holds_two_matters_without_a_code_and_feelings_about_no_matter(
    follow_up: pd.DataFrame,
) -> None:
    texts = follow_up["Comment"].str.lower().str.replace("\u2019", "'")
    about = {
        name: texts.map(lambda text, words=words: any(word in text for word in words))
        for name, words in FOLLOW_UP.items()
    }
    assert all(40 <= found.sum() <= 70 for found in about.values())
    of_system = pd.crosstab(follow_up["Model"], about["speed"], normalize="index")[True]
    assert of_system["system-a"] > 1.4 * of_system["system-b"]
    said = follow_up["Feeling"] != ""
    assert 0.75 < said.mean() < 0.85
    pleased = follow_up.loc[said, "Feeling"] == "pleased"
    for found in about.values():
        assert abs(pleased[found[said]].mean() - pleased[~found[said]].mean()) < 0.2
    rating = pd.to_numeric(follow_up.loc[said, "EmpathyOverall"])
    assert rating[pleased].mean() - rating[~pleased].mean() > 1.2


def test_the_readme_counts_right(
    record: list[acts.Act], rows: list[dict[str, str]], decisions: pd.DataFrame
) -> None:
    said = (DATA / "README.md").read_text("utf-8")
    assert f"{len(record):,} acts" in said
    assert f"{len(rows)} texts, {len({row['TaskId'] for row in rows})} conversations, 40 participants" in said
    finished = {coder: set(group["unit_id"]) for coder, group in decisions.groupby("coder")}
    assert f"{len(finished['ben'] & finished['chi'])} of them in common" in said
    assert "alpha is .59 to .84 for six codes and .42 for Contextual" in said  # as computed above

"""Every sentence of a paper over none, one and many: no "0 texts" or "1 texts", intervals written alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, corpus, report
from sense7_qual.acts.contents import AnalysisPlan
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.example_papers import PLAN, shipped
from tests.helpers.nightly import nightly_but
from tests.helpers.planned_study import planned_study
from tests.helpers.reflexive_study import reflexive_study
from tests.helpers.written_studies import STUDIES

pytestmark = pytest.mark.long

_NOUNS = (
    "text|participant|coder|code|coding|decision|ruling|memo|act|step|round|suggestion|disagreement|resample|"
    "character|pseudonym|heading|time|cluster|adjudicator"
)
WRONG = {
    "a zero in figures": re.compile(r"(?<![\d.,−-])0 (?!of\b)[a-z]"),
    "one with a plural": re.compile(rf"(?<![\d.,])1 (?:{_NOUNS}|pair|conversation|document)s\b"),
    "one with a plural verb": re.compile(r"(?<![\d.,])1 (?:were|are|have)\b"),
    "many with a singular": re.compile(rf"(?<![\d.,])(?:[2-9]|[1-9]\d+) (?:{_NOUNS})\b(?! or)"),
    "all of them as a share": re.compile(r"\(100\.0 ?%"),
    "a space before the sign": re.compile(r"\d %"),
    "an interval by another name": re.compile(r"% (?:interval|confidence interval \[)"),
    "missing decisions without agreement": re.compile(r"counts as missing"),
}


def made(path: Path, n: int, coders: dict[str, bool], *, codes: int = 1) -> Store:
    """Make a study of n texts, read from a file, in which each coder applies the first code or not."""
    file = path.with_name(f"{path.name}.csv")
    pd.DataFrame(
        {
            "id": [f"m{i}" for i in range(n)],
            "words": [f"Said it {i}." for i in range(n)],
            "who": [f"p{i}" for i in range(n)],
            "rated": [i % 5 + 1 for i in range(n)],
        }
    ).to_csv(file, index=False)
    units = corpus.read(file, text="words", unit_id="id", case_id="who", ratings=["rated"])
    book = Codebook(name="b", codes=tuple(Code(id=f"c{i}", label=f"Code {i}") for i in range(codes)))
    store = Store.create(path, units=units, codebook=book)
    for coder, applies in coders.items():
        mine = {"coder": coder, "codebook": book}
        store.append(
            [
                act
                for unit_id in units["unit_id"]
                for act in ([acts.apply(unit_id=unit_id, code="c0", **mine)] if applies else [])
                + [acts.finish(unit_id=unit_id, **mine)]
            ]
        )
    return store


MADE: dict[str, Callable[[Path], Store]] = {
    "one text, one coder": lambda path: made(path, 1, {"ana": True}),
    "one text, nothing found": lambda path: made(path, 1, {"ana": False}),
    "one disagreement": lambda path: made(path, 1, {"ana": True, "ben": False}),
    "two alike": lambda path: made(path, 3, {"ana": True, "ben": True}, codes=3),
    "many": shipped,
    "as planned": lambda path: planned_study(path, deviation="codes_added"),
    "discussed": STUDIES["discussed"],
    "suggested": STUDIES["suggested"],
    "alone": STUDIES["alone"],
}


def faults(text: str, *, with_agreement: bool) -> list[tuple[str, str]]:
    plain = text.replace("\\", "")
    return [
        (what, plain[max(0, found.start() - 50) : found.end() + 20])
        for what, pattern in WRONG.items()
        if not (with_agreement and what.startswith("missing"))
        for found in pattern.finditer(plain)
    ]


@pytest.mark.parametrize("with_agreement", nightly_but([True, False], here=[True]))
@pytest.mark.parametrize(
    "name", nightly_but(MADE, here=["one text, one coder", "one disagreement", "as planned"])
)
def test_no_sentence_of_a_paper_counts_in_the_wrong_form(
    name: str, with_agreement: bool, tmp_path: Path
) -> None:
    store = MADE[name](tmp_path / "study")
    rating = next((one for one in store.units.columns if one in ("rated", "Rating", PLAN.rating)), None)
    plan = AnalysisPlan(question="Why?", rating=rating, settled_by="rulings", n_boot=20)
    report.paper(store, plan, tmp_path / "paper", formats=["md"], with_agreement=with_agreement)
    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "paper").glob("*.md")}
    wrong = {file: faults(text, with_agreement=with_agreement) for file, text in written.items()}
    assert {file: found for file, found in wrong.items() if found} == {}


@pytest.mark.parametrize("with_agreement", [True, False])
def test_of_a_study_that_nobody_has_coded_nothing_is_counted(with_agreement: bool, tmp_path: Path) -> None:
    store = made(tmp_path / "study", 2, {})
    made_of = [make(store, with_agreement=with_agreement) for make in (report.methods, report.results)]
    for text in (*made_of, report.ai_statement(store)):
        assert faults(str(text), with_agreement=with_agreement) == []
    assert "from no" not in str(report.methods(store))


def test_the_patterns_find_what_they_are_for() -> None:
    for words in (
        "from 0 conversations",
        "1 texts",
        "1 were",
        "300 texts (100.0 % of these)",
        "5 text.",
        "95 % CI",
        "95% interval",
    ):
        assert faults(words, with_agreement=True), words
    assert faults("There were 0.5 points, 1 text, 21 texts, 95% CI [.10, .20].", with_agreement=True) == []


def test_the_reflexive_paper_counts_codes_once_and_has_no_phi(tmp_path: Path) -> None:
    store = reflexive_study(tmp_path / "study")
    report.paper(store, None, tmp_path / "paper", formats=["md"])
    together, themes, results = (
        (tmp_path / "paper" / f"{name}.md").read_text("utf-8").replace("\\", "")
        for name in ("co_occurrence", "themes", "results")
    )
    assert "φ" not in together
    assert "decided on" not in together
    assert "missing" not in (tmp_path / "paper" / "methods.md").read_text("utf-8")
    (most, often), (least, seldom) = re.findall(r"“(.+?)” \((?:once|[\d,]+ times) in (.+?)\)", results)
    applied = {row[0].split("\n")[0]: row[2] for row in report.tables.theme(store).rows}
    assert (applied[most], applied[least]) == (often, seldom)
    assert often in themes


def test_the_codebook_is_printed_in_the_order_of_its_tree() -> None:
    codes = (
        Code(id="a", label="A"),
        Code(id="b", label="B", codable=False),
        Code(id="c", label="C"),
        Code(id="b1", label="B 1", parent="b"),
        Code(id="a1", label="A 1", parent="a"),
        Code(id="a11", label="A 1 1", parent="a1"),
    )
    book = Codebook(name="tree", codes=codes)
    table = report.tables.codebook(book)
    assert [row[0].split("\n")[0] for row in table.rows] == ["A", "A 1", "A 1 1", "B", "B 1", "C"]
    assert [depth for _, depth in book.tree] == [0, 1, 2, 0, 1, 0]

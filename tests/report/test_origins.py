"""Where codes come from: what nobody stated is said to be not stated, and what came later when it came."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, codings, report
from sense7_qual.codebook import Code, Codebook, emerged
from sense7_qual.store import Store

FIRST = Codebook(
    name="b",
    title="b",
    codes=(Code(id="warm", label="Warm", origin="deductive"), Code(id="cold", label="Cold")),
)
ADDED = (Code(id="hope", label="Hope"), Code(id="doubt", label="Doubt", origin="inductive"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    ids = [f"m{number}" for number in range(12)]
    units = pd.DataFrame(
        {
            "unit_id": ids,
            "text": [f"Text {one}" for one in ids],
            "document_id": ids,
            "case_id": ids,
            "position": 0,
        }
    )
    made = Store.create(tmp_path / "s", units=units, codebook=FIRST)
    for place, code in enumerate(("warm", "cold")):
        on = {"coder": "ana", "codebook": FIRST, "unit_id": ids[place]}
        made.append([acts.apply(code=code, **on), acts.finish(**on)])
    made.revise(replace(FIRST, codes=(*FIRST.codes, *ADDED)), coder="lead", why="Seen in the texts.")
    for place, unit_id in enumerate(ids[2:]):
        on = {"coder": "ana", "codebook": made.codebook, "unit_id": unit_id}
        applied = [acts.apply(code=("hope", "doubt", "warm")[place % 3], **on)]
        made.append([*applied, acts.finish(**on)])
    return made


def origins(table: report.Table) -> dict[str, str]:
    return {row[0]: row[-1] for row in table.rows}


def test_a_code_without_a_stated_origin_has_none() -> None:
    assert FIRST["cold"].origin == ""
    assert "origin" not in str(FIRST.to_yaml().decode().partition("id: cold")[2])
    assert origins(report.tables.codebook(FIRST)) == {"Warm": "deductive", "Cold": "not stated"}


def test_an_origin_survives_every_format(tmp_path: Path) -> None:
    for suffix in (".yaml", ".csv", ".qdc"):
        path = tmp_path / f"b{suffix}"
        FIRST.write(path)
        assert [code.origin for code in Codebook.read(path).codes] == ["deductive", ""], suffix


def test_table_text_and_saturation_agree_on_what_was_added(store: Store) -> None:
    later = emerged(store.revisions, store.codebooks)
    assert later == ("hope", "doubt")
    table = report.tables.codebook(store.codebook, revisions=store.revisions, codebooks=store.codebooks)
    told = origins(table)
    day = store.revisions[0].at[:10]
    assert told == {
        "Warm": "deductive",
        "Cold": "not stated",
        "Hope": f"not stated; added on {day}",
        "Doubt": f"inductive; added on {day}",
    }
    marked = {code.id for code in store.codebook.codes if "added on" in told[code.label]}
    found = codings.saturation(
        store.codings(), store.units, cluster="case_id", coverage=store.coverage(), emerged=later
    )
    assert marked == set(later)
    assert found["n_codes"].iloc[0] == len(marked)


def test_the_paper_prints_when_a_code_was_added(store: Store, tmp_path: Path) -> None:
    report.paper(store, None, tmp_path / "paper", formats=["md"], settled_by="any", with_agreement=False)
    (coreq,) = (tmp_path / "paper").glob("*coreq*.md")
    said = coreq.read_text("utf-8")
    assert "Of 4 codes in the codebook, 2 were added after its first version." in said
    assert "does not state the origin of 2 codes" in said
    printed = (tmp_path / "paper" / "codebook.md").read_text("utf-8")
    day = store.revisions[0].at[:10]
    assert printed.count(f"added on {day}") == 2
    assert "deductive; added" not in printed

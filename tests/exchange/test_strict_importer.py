"""What is written is imported by a reader as strict as QualCoder's, with nothing lost on the way."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pandas as pd
import pytest

from sense7_qual import acts, exchange
from sense7_qual.codebook import Code, Codebook, Facet, FacetValue
from sense7_qual.store import Store
from tests.helpers.projects import valid
from tests.helpers.strict_importer import imported

BOOK = Codebook(
    name="small",
    codes=(
        Code(id="tone", label="Tone", codable=False),
        Code(id="warm", label="Warm", parent="tone"),
        Code(id="cold", label="Cold"),
    ),
    facets=(Facet(name="valence", values=(FacetValue(name="met"), FacetValue(name="unmet"))),),
)
PERSON = str(uuid4())  # who is a text and a participant


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A study with rounds, facets, doubts, and several memos of one coder on the same words."""
    units = pd.DataFrame(
        {
            "unit_id": ["m0", PERSON],
            "text": ["It listened 🙂\nto me.", "Calm"],
            "document_id": "d",
            "case_id": ["p0", PERSON],
            "position": [0, 1],
            "rating": [1, 2],
        }
    )
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    for coder in ("ana", "ben"):
        who = {"coder": coder, "unit_id": "m0", "codebook": BOOK}
        span, round = {"start": 3, "end": 13}, {"round": "one"}
        store.append(
            [
                acts.apply(
                    **who, code="warm", confidence="unsure", facets={"valence": "met"}, **span, **round
                ),
                acts.apply(**who, code="cold", facets={"valence": "unmet"}, **round),
                acts.memo(**who, text="Why?", target_kind="span", **span),
                acts.memo(**who, text="So.", target_kind="span", **span, **round),
                acts.memo(**who, text="On it all"),
                acts.memo(coder=coder, text="Study", target_kind="study", codebook=BOOK),
                acts.finish(**who, **round),
            ]
        )
    return store


@pytest.mark.long
@pytest.mark.parametrize("layout", ["texts", "participants"])
def test_a_study_with_rounds_facets_and_doubts_is_imported(
    store: Store, tmp_path: Path, layout: Literal["texts", "participants"]
) -> None:
    path = tmp_path / "mine.qdpx"
    quotations = pd.DataFrame(
        {"unit_id": "m0", "coder": "ana", "start": [3, 0], "end": [13, 2], "name": None, "at": None}
    )
    exchange.write_project(store, path, layout=layout, quotations=quotations)
    valid(path)
    made = imported(path)
    text = made.texts["m0" if layout == "texts" else "p0"]
    assert "It listened 🙂\nto me." in text
    assert {(coder, code, words) for _, coder, code, words in made.codings} == {
        (coder, code, words)
        for coder in ("ana", "ben")
        for code, words in (("Warm", "listened 🙂"), ("Cold", "It listened 🙂\nto me."))
    }
    said = {(coder, text[start:end]): words for (_, start, end, coder), words in made.annotations.items()}
    assert said.pop(("ana", "It")) == ""
    assert {words for (_, on_it), words in said.items() if on_it == "listened 🙂"} == {"Why?\n\nSo."}


def test_identifiers_are_each_of_one_thing(store: Store, tmp_path: Path) -> None:
    exchange.write_project(store, tmp_path / "mine.qdpx")
    with zipfile.ZipFile(tmp_path / "mine.qdpx") as archive:
        guids = re.findall(r' guid="([^"]+)"', archive.read("project.qde").decode())
    assert len(guids) == len(set(guids))


def test_a_note_on_codings_has_the_time_of_the_first(store: Store, tmp_path: Path) -> None:
    first = exchange.write_project(store, tmp_path / "mine.qdpx")
    before = (tmp_path / "mine.qdpx").read_bytes()
    assert str(exchange.write_project(store, tmp_path / "mine.qdpx", overwrite=True)) == str(first)
    assert (tmp_path / "mine.qdpx").read_bytes() == before


def test_codes_of_one_name_are_counted(tmp_path: Path) -> None:
    codes = (
        Code(id="a", label="A", codable=False),
        Code(id="one", label="Same", parent="a"),
        Code(id="two", label="Same"),
    )
    units = pd.DataFrame({"unit_id": ["m"], "text": "x", "document_id": "d", "case_id": "p", "position": 0})
    store = Store.create(tmp_path / "study", units=units, codebook=Codebook(name="s", codes=codes))
    report = exchange.write_project(store, tmp_path / "x.qdpx")
    assert "2 × codes that share a name: programs that know a code by its name, as QualCoder" in str(report)
    assert len(imported(tmp_path / "x.qdpx").codes) == 1

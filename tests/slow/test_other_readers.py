"""What is written as REFI-QDA is read alike by programs of others, in an environment of their own.

They want other versions of what this package builds on (an older rich and lxml, a spaCy), so they are
installed apart, which takes a network and a minute: in `make soak` alone. `pyrefiqda`, which needs nothing,
reads in `tests/exchange/test_projects.py` every time.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import venv
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from lxml import etree

from sense7_qual import acts, exchange
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.places import ROOT

pytestmark = pytest.mark.nightly  # it installs programs of others

READERS = ("qualitative-coding", "qdapy", "portableqda")  # their versions stand in constraints.txt
QDAPY = """
import json, sys, qdapy
project = qdapy.read_qdpx(sys.argv[1], warn=False)
of = project.fragments[["title", "codedBy", "code", "positionStart", "positionEnd", "text"]]
print(json.dumps({"codings": of.values.tolist(), "codes": project.codebook["code"].tolist(),
                  "texts": project.sources, "coders": project.coders}))
"""
PORTABLEQDA = """
import json, sys, portableqda
book = portableqda.codebookCls()
book.readQdcFile(input=sys.argv[1])
print(json.dumps({code.guid: name for name, code in book.codes.items()}))
"""
BOOK = Codebook(
    name="small",
    codes=(
        Code(id="tone", label="Tone", codable=False, definition="How it sounds."),
        Code(id="warm", label="Warm", parent="tone", colour="#aa3300"),
        Code(id="cold", label="Cold & <clear>", definition='"Said" & <b>'),
        Code(id="told", label="Parent::Child"),
        Code(id="haert", label="Härte 🙂 שלום"),
    ),
)
TEXTS = {
    "m0": "It listened to me.\nIt was kind.\nEnd",
    "m1": "שלום 🙂 ok 👩\u200d👩\u200d👧\nx y",
    "m2": "third & <b>last</b>",
    "m3": "nobody coded this",
}
DONE = {
    "ana": [("m0", "warm", 3, 11), ("m0", "cold", 22, 30), ("m1", "haert", 5, 6), ("m2", "told", None, None)],
    "ben": [("m0", "warm", 0, 18), ("m1", "cold", 7, 9), ("m1", "told", 8, 18), ("m2", "warm", None, None)],
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of others."""
    place = tmp_path_factory.mktemp("others") / "venv"
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if sys.platform == "win32" else "bin")
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--constraint", "constraints.txt"]
    subprocess.run([*install, *READERS], cwd=ROOT, check=True, env=alone())
    return programs


def alone(**more: str) -> dict[str, str]:
    """The environment without this package on its path."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more


def asked(programs: Path, program: str, path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [programs / "python", "-W", "ignore", "-c", program, path],
        capture_output=True,
        check=True,
        env=alone(),
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    units = pd.DataFrame({"unit_id": list(TEXTS), "text": list(TEXTS.values())})
    units = units.assign(document_id="d", case_id=["p0", "p0", "p1", "p1"], position=range(4), rating=2.0)
    store = Store.create(tmp_path_factory.mktemp("study") / "study", units=units, codebook=BOOK)
    for coder, codings in DONE.items():
        who = {"coder": coder, "codebook": BOOK}
        span = [dict(zip(("unit_id", "code", "start", "end"), each, strict=True)) for each in codings]
        store.append([acts.apply(**who, **{k: v for k, v in each.items() if v is not None}) for each in span])
        store.append([acts.finish(**who, unit_id="m0"), acts.memo(**who, unit_id="m1", text="Why? 🙂")])
    return store


@pytest.fixture(scope="module")
def project(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("project") / "mine.qdpx"
    exchange.write_project(store, path)
    return path


def path_of(code: str) -> str:
    """The labels from the root to a code, as qdapy calls it."""
    one = BOOK[code]
    return f"{path_of(one.parent)}/{one.label}" if one.parent else one.label


def test_qdapy_reads_the_same_texts_codes_coders_and_words(project: Path, programs: Path) -> None:
    read = asked(programs, QDAPY, project)
    assert read["texts"] == list(TEXTS)
    assert sorted(read["codes"]) == sorted(path_of(code.id) for code in BOOK.codes)
    assert read["coders"] == sorted(DONE)
    expected = set()
    for coder, codings in DONE.items():
        for unit_id, code, start, end in codings:
            start, end = start or 0, end or len(TEXTS[unit_id])
            expected.add((unit_id, coder, path_of(code), start, end, TEXTS[unit_id][start:end]))
    assert {tuple(each) for each in read["codings"]} == expected


@pytest.fixture(scope="module")
def imported(project: Path, programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of `qc` that was made of our project.

    Version 1.7.8 stops in the middle for somebody to look at it (`breakpoint()` in its reader): not here.
    """
    folder = tmp_path_factory.mktemp("qc")
    env = alone(PYTHONBREAKPOINT="0", PYTHONUTF8="1")
    subprocess.run([programs / "qc", "init", "--import", project], cwd=folder, check=True, env=env)
    return folder


def test_qualitative_coding_reads_the_same_texts_codes_coders_and_who_coded_what(imported: Path) -> None:
    """It checks the file against its own copy of the schema, too. Of a position it keeps a line, and reads
    each as the first one (`get_line_for_position` returns there), whoever wrote the file."""
    assert {each.stem: each.read_text("utf-8") for each in (imported / "corpus").iterdir()} == TEXTS
    tree = yaml.safe_load((imported / "codebook.yaml").read_text("utf-8"))
    assert {"Tone": ["Warm"]} in tree
    flat = {each for each in tree if isinstance(each, str)}
    assert flat == {code.label for code in BOOK.codes if code.id not in ("tone", "warm")}
    with closing(sqlite3.connect(imported / "qualitative_coding.sqlite3")) as database:
        coders = {name for (name,) in database.execute("select name from coder")}
        coded = database.execute(
            "select document_id, coder_id, code_id, line from coded_line "
            "join coded_line_location_association on coded_line_id = coded_line.id "
            "join location on location.id = location_id "
            "join document_index on document_index.id = document_index_id"
        ).fetchall()
    assert coders == set(DONE)
    assert sorted(coded) == sorted(
        (f"{unit_id}.txt", coder, BOOK[code].label, 0)
        for coder, codings in DONE.items()
        for unit_id, code, *_ in codings
    )


def test_what_qualitative_coding_writes_is_read_here(imported: Path, programs: Path) -> None:
    env = alone(PYTHONUTF8="1")
    subprocess.run([programs / "qc", "export", "theirs.qdpx"], cwd=imported, check=True, env=env)
    theirs = exchange.read_project(imported / "theirs.qdpx", offsets="code-points")
    texts = dict(zip(theirs.units["unit_id"].str.removesuffix(".txt"), theirs.units["text"], strict=True))
    assert texts == {unit_id: TEXTS[unit_id] for unit_id in texts}
    assert theirs.codebook is not None
    label = {code.id: code.label for code in theirs.codebook.codes}
    read = zip(theirs.codings["unit_id"], theirs.codings["coder"], theirs.codings["code"], strict=True)
    assert {(unit_id.removesuffix(".txt"), coder, label[code]) for unit_id, coder, code in read} == {
        (unit_id, coder, BOOK[code].label) for coder, codings in DONE.items() for unit_id, code, *_ in codings
    }
    one = next(code for code in theirs.codebook.codes if code.label == "Warm")
    assert label[one.parent] == "Tone"


def test_portableqda_reads_the_codes_of_a_codebook(programs: Path, tmp_path: Path) -> None:
    """It knows no codes under codes: those at the root, and their identifiers, are what it can hold."""
    BOOK.write(tmp_path / "mine.qdc")
    labels = asked(programs, PORTABLEQDA, tmp_path / "mine.qdc")
    assert sorted(labels.values()) == sorted(code.label for code in BOOK.codes if code.parent is None)
    codes = etree.parse(tmp_path / "mine.qdc").findall("{*}Codes/{*}Code")
    assert labels == {code.get("guid"): code.get("name") for code in codes}

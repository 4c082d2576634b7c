"""What participants said stays where it is: no socket, and no text in errors, logs, warnings or reprs."""

from __future__ import annotations

import io
import json
import logging
import traceback
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
import pytest

import sense7_qual as qual
from sense7_qual import corpus, redact
from sense7_qual.errors import QualError
from tests.helpers.private_words import CANARY, NO_SOCKET, PURE_PATH, SAID, in_a_child

OFFLINE = (
    NO_SOCKET
    + """
import json
import sense7_qual as qual

try:
    qual.models.embedder("owner/name-of-none")
    said = "found"
except qual.ImportRefused as refused:
    said = str(refused)
print(json.dumps({"tried": TRIED, "said": said}))
"""
)


@pytest.mark.long
def test_no_socket_at_import_nor_on_the_whole_path_from_file_to_table() -> None:
    found = in_a_child(PURE_PATH)
    assert found["tried"] == []
    assert min(int(str(found[name])) for name in ("codes", "links", "truth")) > 0


def test_the_watch_sees_a_socket() -> None:
    """The control: what the test forbids, it notices."""
    code = (
        NO_SOCKET
        + "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9))\nexcept PermissionError:\n"
    )
    assert in_a_child(code + "    import json; print(json.dumps({'tried': TRIED}))")["tried"]


@pytest.mark.model
def test_offline_means_offline(tmp_path: Path) -> None:
    """With HF_HUB_OFFLINE a model that is not on this machine is refused, and no connection is tried."""
    found = in_a_child(OFFLINE, HF_HUB_OFFLINE="1", HF_HUB_CACHE=str(tmp_path))
    assert found["tried"] == []
    assert "local copy of the hub" in str(found["said"])


# Text in errors, logs, warnings and reprs


@pytest.fixture(scope="module")
def said() -> pd.DataFrame:
    turns = json.dumps([{"role": "user", "text": SAID}])
    return pd.DataFrame(
        {
            "unit_id": ["m1", "m2", "m3", "m4"],
            "text": [SAID, SAID, f"{SAID} again", "fine"],
            "document_id": "d1",
            "case_id": ["p1", "p1", "p2", "p2"],
            "position": pd.array([1, 2, 3, 4], "Int64"),
            "context": turns,
            "stars": [1.0, 2.0, 3.0, 4.0],
        }
    )


def failing(units: pd.DataFrame, folder: Path) -> dict[str, Callable[[], object]]:
    """Return calls that must fail, each with participants' text within its reach."""
    codebook = qual.Codebook.read("sense7")
    code = next(iter(codebook.codes)).id
    raw = units.drop(columns=["unit_id", "document_id", "case_id", "position", "context"]).rename(
        columns={"text": "said"}
    )
    raw = raw.assign(id=units["unit_id"])
    store = qual.Store.create(folder / "study", units=units, codebook=codebook)

    def apply(unit_id: str, *, code: str = code, end: int | None = 11) -> qual.acts.Act:
        start = None if end is None else 0
        return qual.acts.apply(
            coder="ana", unit_id=unit_id, code=code, codebook=codebook, start=start, end=end
        )

    def memo(target: str, text: str = SAID) -> qual.acts.Act:
        return qual.acts.memo(coder="ana", unit_id=target, text=text, codebook=codebook)

    link = qual.links.code_to_rating
    spaced = raw.assign(said=[SAID, f"{SAID} ", "b", "c"])
    widget, twice, few = qual.widgets.CodingWidget, pd.concat([units] * 2), corpus.Limits(cell_characters=5)
    talk = units.assign(Role="user", Content=units["text"])
    store.append([apply("m1"), memo("m1")])
    decisions = pd.DataFrame({"unit_id": ["m1"], "coder": "ana", "code": code, "applied": [SAID]})
    csv, jsonl, latin = folder / "a.csv", folder / "a.jsonl", folder / "b.csv"
    csv.write_text(f'id,said\n1,"{SAID}"x\n', encoding="utf-8")
    jsonl.write_text(f'{{"said": "{SAID}"\n', encoding="utf-8")
    latin.write_bytes(f"id,said\n1,{SAID} \xe9\n".encode("cp1252"))
    return {
        "text column": lambda: corpus.read(raw, text="sad"),
        "texts as ratings": lambda: corpus.read(raw, text="id", ratings=["said"]),
        "texts as ids": lambda: corpus.read(raw, text="id", unit_id="said"),
        "texts as positions": lambda: corpus.read(raw, text="id", position="said"),
        "texts as case ids": lambda: corpus.read(spaced, text="id", case_id="said"),
        "texts as header": lambda: corpus.read(raw.rename(columns={"said": SAID * 2}), text="said"),
        "NUL": lambda: corpus.read(raw.assign(said=f"{SAID}\0"), text="said"),
        "canonical": lambda: corpus.canonical(f"{SAID}\ud800"),
        "csv": lambda: corpus.read(csv, text="said"),
        "jsonl": lambda: corpus.read(jsonl, text="said"),
        "encoding": lambda: corpus.read(latin, text="said"),
        "limits": lambda: corpus.read(latin, text="said", encoding="cp1252", limits=few),
        "span": lambda: store.append([apply("m1", end=999)]),
        "unit": lambda: store.append([apply("m9", end=None)]),
        "code": lambda: apply("m1", code="nope"),
        "long label": lambda: qual.acts.propose(
            coder="ana", unit_id="m1", label=SAID * 20, codebook=codebook
        ),
        "label of two lines": lambda: qual.acts.propose(
            coder="ana", unit_id="m1", label=f"{SAID}\n{SAID}", codebook=codebook
        ),
        "long definition": lambda: qual.acts.propose(
            coder="ana", unit_id="m1", label="x", definition=SAID * 99, codebook=codebook
        ),
        "proposal of another form": lambda: qual.acts.contents.Proposal.from_text(SAID),
        "memo target": lambda: store.append([memo("m9")]),
        "memo of half a pair": lambda: store.append([memo("m1", f"{SAID}\ud800")]),
        "create twice": lambda: qual.Store.create(folder / "study", units=units, codebook=codebook),
        "create of doubled units": lambda: qual.Store.create(folder / "x", units=twice, codebook=codebook),
        "assign": lambda: corpus.assign(units, coders=["ana", "ana"], overlap=0.5, seed=7),
        "decisions": lambda: qual.agreement.by_code(decisions, n_boot=10, seed=7),
        "links": lambda: link(decisions, units, rating="text", cluster="case_id", seed=7),
        "truth": lambda: qual.ratings.ground_truth(units.assign(Role="assistant"), dimensions=["text"]),
        "roles": lambda: qual.ratings.ground_truth(units.assign(Role=units["text"]), dimensions=["stars"]),
        "judge": lambda: qual.ratings.judge(talk.assign(position=1), chat=lambda prompt: "4"),
        "judge's reply": lambda: qual.ratings.judge(talk, chat=lambda prompt: 4),
        "theme texts": lambda: qual.themes.fit(units.assign(text=None), embed=lambda texts: None, seed=7),
        "redact context": lambda: redact.apply(units.assign(context=SAID)),
        "redact names": lambda: redact.apply(units, names=[SAID, "x"]),
        "redact found": lambda: redact.apply(units, found=redact.find(units, names=[CANARY]).assign(end=999)),
        "units contract": lambda: qual.frames.UNITS.check(units.assign(position=units["text"])),
        "memos contract": lambda: qual.frames.MEMOS.check(units),
        "widget": lambda: widget(units.drop(columns="unit_id"), codebook, coder="ana", acts=[], save=print),
    }


class Kept(logging.Handler):
    """Every record of every logger, written out."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def test_no_text_in_what_a_failing_call_says(said: pd.DataFrame, tmp_path: Path) -> None:
    """Message, notes and chain of every error, every log record and warning, and what is printed."""
    kept, out = Kept(), io.StringIO()
    root = logging.getLogger()
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    leaks, silent = [], []
    try:
        with warnings.catch_warnings(record=True) as warned, redirect_stdout(out), redirect_stderr(out):
            warnings.simplefilter("always")
            for name, call in failing(said, tmp_path).items():
                try:
                    call()
                    silent.append(name)
                except QualError as error:
                    # The source lines of this file stand in a traceback, not what the variables hold.
                    if CANARY in "".join(traceback.format_exception(error)) or CANARY in repr(error):
                        leaks.append(name)
    finally:
        root.removeHandler(kept)
        root.setLevel(level)
    assert leaks == []
    assert silent == []
    assert not [line for line in kept.lines if CANARY in line]
    assert not [str(warning.message) for warning in warned if CANARY in str(warning.message)]
    assert CANARY not in out.getvalue()


def test_no_text_in_the_reprs_of_what_is_passed_around(said: pd.DataFrame, tmp_path: Path) -> None:
    codebook = qual.Codebook.read("sense7")
    code = next(iter(codebook.codes)).id
    store = qual.Store.create(tmp_path / "study", units=said, codebook=codebook)
    acts = [
        qual.acts.apply(coder="ana", unit_id="m1", code=code, start=0, end=11, codebook=codebook),
        qual.acts.memo(coder="ana", unit_id="m1", text=SAID, codebook=codebook),
        qual.acts.propose(coder="ana", unit_id="m1", label=SAID, definition=SAID, codebook=codebook),
    ]
    store.append(acts)
    widget = qual.widgets.CodingWidget(said, codebook, coder="ana", acts=acts, save=store.append)
    shown = [
        store,
        *acts,
        *store.acts(),
        qual.acts.fold(acts),
        widget,
        qual.acts.contents.Proposal(label=SAID),
        redact.apply(said, names=[CANARY]),
    ]
    assert [type(thing).__name__ for thing in shown if CANARY in repr(thing) or CANARY in str(thing)] == []
    state = json.dumps(widget.get_state(), default=str)
    assert CANARY not in state
    widget.close()

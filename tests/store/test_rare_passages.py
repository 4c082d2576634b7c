"""Half a sentence of a participant, with a name in it, is listed before a bundle is written, and withheld."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts, corpus, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ArgumentError
from sense7_qual.store import Store
from sense7_qual.store._bundle import write as bundles
from sense7_qual.store._stored import rare_passages
from sense7_qual.store._stored.rare_passages import repeating_rarely, said_in
from sense7_qual.store._stored.repeated_passages import normalised, passages_of, texts_in
from tests.helpers.places import ROOT

WITH_A_NAME = "my neighbour Eberhard"  # 19 letters
SHORT_NAME = "told Eberhard off"  # 15
LONG = "it was all about us now"  # 18, in words that everybody uses
TEXTS = [
    f"Well, {WITH_A_NAME} sat there.",
    f"So I {SHORT_NAME}, as one does.",
    f"Then {LONG}, and no more.",
    "The answer in the conversation was kind.",
    "In the conversation it was cold.",
    "What was said in the conversation was fine.",
]
BOOK = Codebook(name="book", codes=(Code(id="c1", label="One"), Code(id="c2", label="Two")))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    table = pd.DataFrame(
        {"id": [f"m{n}" for n in range(6)], "said": TEXTS, "who": [f"p{n}" for n in range(6)]}
    )
    units = corpus.read(table, text="said", unit_id="id", case_id="who")
    store = Store.create(tmp_path / "study", units=units, codebook=BOOK)
    store.append([acts.finish(coder="ana", unit_id="m0", codebook=BOOK)])
    return store


@pytest.fixture(autouse=True)
def without_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles without tables and figures: `rerun.py` reads the bundle alone (`test_bundles.py`)."""
    monkeypatch.setattr(bundles, "_run", lambda *_, **__: None)


def defined(store: Store, said: str) -> None:
    store.revise(
        replace(BOOK, codes=(replace(BOOK.codes[0], definition=said), BOOK.codes[1])), why="?", coder="lead"
    )


def reasoned(store: Store, said: str) -> None:
    store.revise(replace(BOOK, version="2"), why=said, coder="lead")


def written(folder: Path) -> str:
    return normalised("".join(f.read_bytes().decode("utf-8", "ignore") for f in folder.rglob("*.*")))


@pytest.mark.parametrize("said", [WITH_A_NAME, SHORT_NAME, LONG])
@pytest.mark.parametrize(("plant", "field"), [(defined, "codebook"), (reasoned, "revise")])
def test_half_a_sentence_is_listed_and_withheld_unless_confirmed(
    store: Store, tmp_path: Path, plant: Callable[[Store, str], None], field: str, said: str
) -> None:
    plant(store, f"As in: {said}!")
    with pytest.warns(UserWarning, match=rf"may repeat a passage.*{field}.*accept=\['{field}'\]") as listed:
        store.copies.bundle(tmp_path / "out", texts="withheld")
    assert "Eberhard" not in str(listed[0].message)
    assert normalised(said) not in written(tmp_path / "out")
    store.copies.bundle(tmp_path / "confirmed", texts="withheld", accept=[field])
    assert normalised(said) in written(tmp_path / "confirmed")


def test_what_many_say_and_what_is_too_short_is_published(store: Store, tmp_path: Path) -> None:
    defined(store, "The agent was warm in the conversation, says Eberhard, or cold.")
    store.copies.bundle(tmp_path / "out", texts="withheld")
    assert "intheconversation" in written(tmp_path / "out")


def test_a_name_of_a_round_with_half_a_sentence_is_refused(store: Store, tmp_path: Path) -> None:
    store.append([rounds.open_round(SHORT_NAME, units=["m0"], coders=["ana"], coder="lead", codebook=BOOK)])
    refused = pytest.raises(ArgumentError, match="no words of participants in 'round'")
    with refused, pytest.warns(UserWarning, match="round"):
        store.copies.bundle(tmp_path / "out", texts="withheld")


@pytest.mark.parametrize("said", ["我妈妈昨天打了我然后走了", "она мне рассказала про Аделаиду"])
def test_other_scripts(said: str) -> None:
    told = [("p1", f"{said}。"), ("p2", "别的什么也没有")]
    assert repeating_rarely({f"– {said} –", "None of it at all"}, told) == {f"– {said} –"}


def said_in_example(name: str) -> list[tuple[str, str]]:
    units = corpus.read(
        ROOT / "data" / f"{name}.csv",
        text="Comment",
        unit_id="MessageId",
        case_id="PID",
        document_id="TaskId",
        position="Position",
        context="Context",
    )
    return said_in(units)


def notes_of(name: str) -> Iterator[str]:
    for line in (ROOT / "data" / f"{name}.jsonl").read_text("utf-8").splitlines():
        act = json.loads(line)
        if act.get("text") and act["kind"] in ("rule", "revise", "propose", "memo"):
            yield from texts_in(json.loads(act["text"]) if act["text"][0] == "{" else act["text"])


@pytest.mark.parametrize(
    ("texts", "record"), [("explanations", "example_acts"), ("follow_up", "follow_up_acts")]
)
def test_false_alarms_in_the_example(texts: str, record: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Printed with ``-s``: the shipped codebook never alarms, as somebody's own it does where both were made
    of the same wording."""
    book = set(texts_in(dataclasses.asdict(Codebook.read("sense7"))))
    said, notes = said_in_example(texts), set(notes_of(record))
    of_book, of_notes = repeating_rarely(book, said), repeating_rarely(notes, said)
    monkeypatch.setattr(rare_passages, "_shipped", lambda: ())
    own = repeating_rarely(book, said)
    everything = frozenset().union(*(passages_of(text) for _, text in said))
    sure = {text for text in book if not passages_of(text).isdisjoint(everything)}
    print(
        f"{texts}: {len(of_book)} of {len(book)} texts of sense7, {len(of_notes)} of {len(notes)} notes; as "
        f"a codebook of one's own {len(own)}, of which {len(own & sure)} repeat 25 letters"
    )
    assert not of_book
    assert len(of_notes) <= 0.1 * len(notes)

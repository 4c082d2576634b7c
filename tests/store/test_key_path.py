"""What a key press reads beside the coder's own file: each reading is there for a promise, and none twice."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

import sense7_qual as qual
from sense7_qual import acts
from sense7_qual.errors import ActError
from tests.helpers.small_study import CODEBOOK, finish, frame_of, put

READINGS: Final[list[Path]] = []
"""What was opened for reading, or listed, while a test looked."""

LOOKING: Final[list[bool]] = []


def _heard(event: str, args: tuple[object, ...]) -> None:
    if LOOKING and event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str):
        writes = event == "open" and (isinstance(args[1], str) and set(args[1]) & set("wxa+"))
        flags = args[2] if event == "open" and len(args) > 2 else 0
        if not writes and not (isinstance(flags, int) and flags & 0o3):
            READINGS.append(Path(args[0]))


sys.addaudithook(_heard)


def read_for(store: qual.Store, act: acts.Act) -> Counter[str]:
    """Return what is read while an act is recorded: files by their folder, listings by the folder's name."""
    READINGS.clear()
    LOOKING.append(True)
    try:
        assert store.append([act]) == 1
    finally:
        LOOKING.clear()
    listed = {path for path in READINGS if path.is_dir()}
    return Counter(f"{path.name}/" if path in listed else path.parent.name for path in READINGS)


@pytest.fixture
def store(tmp_path: Path) -> qual.Store:
    """A study that has a note of a withdrawal and one of a copy, and another coder."""
    store = qual.Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)
    store.append([finish(coder="ben")])
    store.copies.backup(tmp_path / "backup")
    store.forget("p1", why="They asked.")
    store.append([put(), put(start=0, end=2)])
    return store


def test_a_key_press_reads_what_was_seen_and_who_withdrew_and_nothing_twice(store: qual.Store) -> None:
    """Before: what was seen last, of the place and of the study. Under the lock: who withdrew. After:
    what was seen of the place, to go on.
    """
    expected = {"heads": 3, "withdrawn/": 1, "withdrawn": 1}
    for press in (put("relational"), put("relational", start=0, end=2), finish()):
        read = read_for(store, press)
        assert {name: read[name] for name in read if name not in ("/", "ana.sqlite")} == expected


def test_the_first_act_of_a_coder_looks_at_the_names_of_the_others_too(store: qual.Store) -> None:
    assert read_for(store, finish(coder="cleo"))["acts/"] >= 1
    with pytest.raises(ActError, match="Cleo"):
        store.append([finish(coder="Cleo")])

"""A participant withdraws while others merge, code, copy and withdraw: no word is left."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier

import pandas as pd
import pytest

from sense7_qual import acts, rounds
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from tests.helpers.disk import another_computer
from tests.helpers.withdrawn_words import CODEBOOK, UNITS, WORDS, contents, has_words, repeating

N_ROUNDS = 500 if os.environ.get("SOAK") else 10


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study as a folder and as an archive, and a copy of it in which others went on."""
    folder = tmp_path_factory.mktemp("races")
    study = Store.create(folder / "pilot", units=UNITS, codebook=CODEBOOK)
    for coder in ("ana", "ben"):
        for unit_id in UNITS["unit_id"]:
            named = {"coder": coder, "unit_id": unit_id, "codebook": CODEBOOK}
            study.append([acts.apply(code="interest", start=0, end=9, **named), acts.finish(**named)])
    named = {"units": ["m1", "m2"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    study.append([rounds.open_round("one", **named), repeating("lead")])
    study.copies.archive(folder / "pilot.zip")
    shutil.rmtree(study.path / "copies")
    shutil.copytree(study.path, folder / "late")
    late = Store(folder / "late")
    for coder in ("ana", "ben", "cy"):
        words = acts.apply(
            coder=coder, unit_id="m1", code="interest", start=0, end=len(WORDS), codebook=CODEBOOK
        )
        late.append([repeating(coder), repeating(coder, unit_id="m2"), words])
    return folder


@dataclass
class Race:
    """One study, in which a participant withdraws while something else happens."""

    store: Store
    copies: Path
    target: Path
    dice: random.Random
    counts: Counter[str] = field(default_factory=Counter)

    def merge(self, store: Store) -> None:
        assert store.copies.merge(self.copies / "late").counts["new"] >= 0

    def merge_one_file(self, store: Store) -> None:
        store.copies.merge(self.copies / "late" / "acts" / "ana.sqlite")

    def append(self, store: Store) -> None:
        for _ in range(4):
            with suppress(ActError):  # refused once the participant has withdrawn
                store.append([repeating("ana", unit_id="m3")])
            with suppress(ActError):
                store.append([repeating("dan")])

    def append_late(self, store: Store) -> None:
        time.sleep(self.dice.uniform(0, 0.2))
        self.append(store)

    def revise(self, store: Store) -> None:
        book = Codebook(name="small", codes=(*CODEBOOK.codes, Code(id="warm", label="Warm")))
        store.revise(book, why="Warmer.", coder="lead")

    def backup(self, store: Store) -> None:
        with suppress(StoreError):  # refused where the participant withdrew meanwhile
            store.copies.backup(self.target / "backup")

    def archive(self, store: Store) -> None:
        with suppress(StoreError):
            store.copies.archive(self.target / "archive")

    def hand_out(self, store: Store) -> None:
        with suppress(StoreError):
            store.copies.hand_out("one", "ana", self.target / "hand-out")

    def restore(self, _: Store) -> None:
        with suppress(StoreError):  # as a copy
            Store.restore(self.copies / "pilot.zip", self.target / "restored")

    def forget(self, store: Store) -> None:
        store.forget("p1", why="withdrew by letter")

    def forget_another(self, store: Store) -> None:
        store.forget("p2", why="withdrew")

    @property
    def rivals(self) -> list[Callable[[Store], None]]:
        return [
            self.merge_one_file,
            self.append,
            self.append_late,
            self.revise,
            self.backup,
            self.archive,
            self.hand_out,
            self.restore,
            self.forget,
            self.forget_another,
        ]

    def run(self, number: int) -> list[str]:
        """Let p1 withdraw while a copy is merged and something else happens; return what is wrong then."""
        deeds = [self.merge, self.rivals[number % len(self.rivals)]]
        begin = Barrier(1 + len(deeds))

        def done(deed: Callable[[Store], object], wait: float) -> object:
            store = Store(self.store.path)
            begin.wait()
            time.sleep(wait)
            return deed(store)

        waits = [self.dice.uniform(0, 0.06) for _ in range(1 + len(deeds))]
        with ThreadPoolExecutor(len(waits)) as pool:
            told = pool.submit(done, lambda store: store.forget("p1", why="withdrew"), waits[0])
            others = [pool.submit(done, deed, wait) for deed, wait in zip(deeds, waits[1:], strict=True)]
        for each in others:
            each.result()
        return self._wrong(told.result().still_held)

    def _wrong(self, still_held: pd.DataFrame) -> list[str]:
        wrong = [f"words in {name}" for name, content in contents(self.store).items() if has_words(content)]
        problems = [text for text in self.store.verify()["problem"] if text]
        for copy in (self.target / name for name in ("backup", "archive", "hand-out")):
            if copy.exists() and has_words(content_of(copy)) and str(copy) not in set(still_held["place"]):
                wrong.append(f"words in a {copy.name} that nothing names")
        again = Store(self.store.path)
        assert "m1" not in set(again.units["unit_id"])
        return [*wrong, *problems]


def content_of(path: Path) -> bytes:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return b"".join(file.read_bytes() for file in files)


def raced(copies: Path, target: Path, open_study: Callable[[int], Store]) -> Iterator[list[str]]:
    for number in range(N_ROUNDS):
        place = target / str(number)
        place.mkdir()
        another_computer()  # on which nobody has withdrawn yet
        store = open_study(number)
        yield Race(store, copies, place, random.Random(number)).run(number)
        shutil.rmtree(place)
        if not isinstance(store.path, Path):
            server.connect(store.path).engine.dispose()


def checked(races: Iterator[list[str]]) -> None:
    wrong = {number: found for number, found in enumerate(races) if found}
    print(f"\n{N_ROUNDS} rounds: {len(wrong)} left words or damage")
    assert wrong == {}


@pytest.mark.crash
def test_nothing_that_races_with_a_withdrawal_leaves_words_in_a_folder(copies: Path, tmp_path: Path) -> None:
    def open_study(number: int) -> Store:
        return Store(shutil.copytree(copies / "pilot", tmp_path / str(number) / "study"))

    checked(raced(copies, tmp_path, open_study))


@pytest.mark.postgres
def test_nothing_that_races_with_a_withdrawal_leaves_words_in_postgresql(
    copies: Path, tmp_path: Path, postgres: Callable[..., str]
) -> None:
    checked(raced(copies, tmp_path, lambda _: Store.restore(copies / "pilot.zip", postgres())))

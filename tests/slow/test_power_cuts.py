"""What was acknowledged outlives a power cut at any moment: simulated on the store's own writes and syncs."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sense7_qual import acts
from sense7_qual.acts import Act
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from tests.helpers import disk
from tests.helpers.places import program

pytestmark = [pytest.mark.nightly, pytest.mark.crash]

SOAK = bool(os.environ.get("SOAK"))
N_CUTS, N_CONTROLS = (50_000, 1_000) if SOAK else (60, 30)
N_SESSIONS, N_BATCHES = (10, 20) if SOAK else (2, 10)
STUDIES = ("lab/studies/pilot", "copies/pilot", "again")
# How often a study with a journal to be played back, and one without, is cut once more while it is opened;
# and how often a participant is forgotten there where nothing asks for it.
AGAIN_HOT, AGAIN, FORGET = (1.0, 0.1, 0.1) if SOAK else (0.15, 0.02, 0.02)
LEFT = "after"  # where a checker puts one of them after a cut
WHOLE = (".zip", "sheets/fay.xlsx")  # what is there as it was written, or not at all
GONE, WORD = "p2", b"Quokka"  # who withdraws, and what every quote, memo and text of theirs holds

SESSION = program("coding_session")


def session(folder: Path, *, seed: int, synchronous: int) -> Path:
    """Record a session and return the log.

    What its trace gives when nothing is lost must be the very files that are there.
    """
    root, log = folder / f"disk-{seed}-{synchronous}", folder / f"log-{seed}-{synchronous}"
    root.mkdir()
    disk.run(SESSION, root, seed, N_BATCHES, synchronous, log=log)
    trace = disk.Trace.read(log)
    there = {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if path.name != disk.ACKNOWLEDGED
    }
    assert dict(sorted(trace.after(trace.n_events, None).items())) == there
    return log


@pytest.fixture
def place() -> Iterator[Path]:
    with disk.memory() as folder:
        yield folder


@dataclass(frozen=True, slots=True)
class Found:
    """A study after a cut: what is wrong with it, if anything; its acts, its current codebook, and whether
    the participant's withdrawal is known there."""

    problem: str = ""
    act_ids: frozenset[str] = frozenset()
    codebook: str = ""
    forgotten: bool = False


@dataclass(slots=True)
class Checker:
    """Opens what is left after cuts; equal studies once. Some are cut once more while that is done."""

    place: Path
    final: disk.Image
    dice: random.Random
    known: dict[bytes, Found] = field(default_factory=dict)
    n_second: int = 0

    def lost(self, image: disk.Image, acknowledged: Sequence[Mapping[str, Any]], *, again: bool) -> list[str]:
        """Return what is wrong on a disk after a cut: nothing, or what was lost or damaged."""
        studies = _studies(image)
        found = {name: self._found(study, again=again) for name, study in studies.items()}
        whole = [name for name in image if name.endswith(WHOLE) and "/." not in name]
        wrong = [name for name in whole if image[name] != self.final[name]]
        for line in acknowledged:
            study = found.get(line["study"]) if "study" in line else Found()
            if study is None or line.get("file", "") not in ("", *image):
                wrong.append(f"{line['step']}: gone")
            elif study.problem or not study.act_ids.issuperset(line.get("acts", ())):
                wrong.append(f"{line['step']}: {study.problem or 'acts are lost'}")
            elif line.get("codebook", "") not in ("", study.codebook):
                wrong.append("revise: the codebook is lost")
            elif line.get("withdrawn", False) > study.forgotten:
                wrong.append("forget: the withdrawal is lost")
            elif line["step"] == "forget" and _words_in(studies[line["study"]]):
                wrong.append("forget: their words are there")  # in the raw files: nobody has opened them
        # Whole or not there at all, also where nothing was acknowledged.
        return wrong + [study.problem for study in found.values() if study.problem]

    def _found(self, study: disk.Image, *, again: bool) -> Found:
        key = hashlib.sha256(repr(sorted(study.items())).encode()).digest()
        if key not in self.known:
            often = AGAIN_HOT if any(name.endswith("-journal") for name in study) else AGAIN
            twice = again and self.dice.random() < often
            self.known[key] = self._cut_again(study) if twice else self._opened(study)
        return self.known[key]

    def _opened(self, study: disk.Image, log: Path | None = None) -> Found:
        for name, content in {"": None, **study}.items():
            path = self.place / LEFT / name
            if content is None:
                path.mkdir(exist_ok=True)
            else:
                path.write_bytes(content)
        disk.another_computer()
        with disk.logged(self.place, log) if log else nullcontext():
            found = opened(self.place / LEFT, forget=self.dice.random() < FORGET)
        shutil.rmtree(self.place / LEFT)
        return found

    def _cut_again(self, study: disk.Image) -> Found:
        """Open what is left, and cut the power at a random moment of that: all must still be there."""
        log = self.place / "log"
        (self.place / disk.ACKNOWLEDGED).unlink(missing_ok=True)
        found = self._opened(study, log)
        before = {f"{LEFT}/{name}".rstrip("/"): content for name, content in {"": None, **study}.items()}
        trace = disk.Trace.read(log, before)
        self.n_second += 1
        moment = self.dice.randrange(trace.n_events + 1)
        lines = [json.loads(line) for line in trace.acknowledged(moment)]
        lines += [{"step": "open", "study": LEFT, "acts": found.act_ids, "withdrawn": found.forgotten}]
        wrong = [] if found.problem else self.lost(trace.after(moment, self.dice), lines, again=False)
        return replace(found, problem=f"after a second cut: {wrong[0]}") if wrong else found


def _studies(image: disk.Image) -> dict[str, disk.Image]:
    """Return the study folders of a disk, each with what it holds by its path within."""
    return {
        study: {
            name[len(study) :].strip("/"): image[name] for name in image if f"{name}/".startswith(f"{study}/")
        }
        for study in (*STUDIES, LEFT)
        if study in image
    }


def _words_in(image: disk.Image) -> bool:
    return any(WORD in content for content in image.values() if content is not None)


def opened(path: Path, *, forget: bool) -> Found:
    """Open a study after a cut, check every act, batch and file of it, and record one more act.

    Where verification asks for the participant's withdrawal, or this call does (`forget`), it is completed.
    """
    try:
        store = Store(path)
        recorded = store.acts()
        forgotten = GONE not in set(store.units["case_id"])
        problem, asked = _problem(store, recorded, path, forgotten=forgotten)
        if not problem and (forget or asked):
            store.forget(GONE, why="They asked for it.")
            _say(path, step="forget", withdrawn=True)
            problem, _ = _problem(store, store.acts(), path, forgotten=False)
            problem = problem or ("words are left" if _words_at(path) else "")
        act = acts.finish(coder="ana", unit_id="m1", codebook=store.codebook)
        store.append([act])
        _say(path, step="append", acts=[act.act_id])
    except StoreError as error:
        return Found(f"refused ({error})")
    ids = frozenset(act.act_id for act in recorded)
    return Found(problem, ids, store.codebook.fingerprint, forgotten)


def _problem(store: Store, recorded: Sequence[Act], path: Path, *, forgotten: bool) -> tuple[str, bool]:
    """Return what is wrong with the acts or files, and whether verification asks for a withdrawal again:
    where one was begun it may, and must while a word is left."""
    sizes = Counter(act.round for act in recorded if act.round)
    if [name for name, size in sizes.items() if size != int(name.rpartition("-")[2])]:
        return "a batch is torn", False
    problems = list(store.verify()["problem"].loc[lambda each: each != ""])
    asked = [each for each in problems if forgotten and "call store.forget again" in each]
    if forgotten and not asked and _words_at(path):
        return "words are left of which verify says nothing", False
    return "; ".join(each for each in problems if each not in asked), bool(asked)


def _words_at(path: Path) -> list[str]:
    return [file.name for file in path.rglob("*") if file.is_file() and WORD in file.read_bytes()]


def _say(path: Path, **what: object) -> None:
    """Acknowledge a step in the line of JSON that the trace tells from the disk."""
    with (path.parent / disk.ACKNOWLEDGED).open("a") as said:
        said.write(json.dumps({"study": path.name, **what}) + "\n")


def cuts(log: Path, n_cuts: int) -> tuple[list[list[str]], Counts]:
    """Cut the power at random moments; return what each lost or damaged, and how much was looked at."""
    trace, dice = disk.Trace.read(log), random.Random(log.name)
    place = log.with_name(f"{log.name}-left")
    place.mkdir()
    checker, losses = Checker(place, trace.after(trace.n_events, None), dice), []
    for _ in range(n_cuts):
        moment = dice.randrange(trace.n_events + 1)
        lines = [json.loads(line) for line in trace.acknowledged(moment)]
        losses.append(checker.lost(trace.after(moment, dice), lines, again=True))
    return losses, Counts(len(trace.said), len(checker.known), checker.n_second)


class Counts(NamedTuple):
    """How many acknowledgements there were, how many different studies were left, and how many second cuts
    there were while one was opened."""

    said: int
    studies: int
    second: int


def run_cuts(place: Path, *, n_cuts: int, n_sessions: int, synchronous: int) -> list[list[str]]:
    """Record sessions, cut the power of each equally often, and tell the counts."""
    begin = time.perf_counter()
    logs = [session(place, seed=7 + number, synchronous=synchronous) for number in range(n_sessions)]
    n_workers = min(n_sessions, os.cpu_count() or 1)
    with disk.preloaded(), ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(partial(cuts, n_cuts=n_cuts // n_sessions), logs))
    losses = [loss for each, _ in found for loss in each]
    counts = Counts(*map(sum, zip(*(each for _, each in found), strict=True)))
    print(
        f"\npower cuts, synchronous={synchronous}: {len(losses):,} in {n_sessions} sessions of "
        f"{counts.said:,} acknowledgements, {counts.studies:,} different studies left, {counts.second:,} "
        f"second cuts while one was opened, {sum(map(bool, losses)):,} cuts with a loss, "
        f"{time.perf_counter() - begin:.0f} s"
    )
    return losses


def test_what_was_acknowledged_outlives_a_power_cut(place: Path) -> None:
    losses = run_cuts(place, n_cuts=N_CUTS, n_sessions=N_SESSIONS, synchronous=3)
    assert len(losses) == N_CUTS
    assert [loss for loss in losses if loss][:3] == []


def test_without_syncing_the_same_cuts_do_lose(place: Path) -> None:
    """The control: SQLite's OFF."""
    losses = run_cuts(place, n_cuts=N_CONTROLS, n_sessions=1, synchronous=0)
    assert sum(map(bool, losses)) >= N_CONTROLS / 10


def test_a_journal_that_a_cut_brings_back_takes_nothing_away(place: Path) -> None:
    """SQLite's usual FULL does not sync the folder after a commit, so that the journal of an acknowledged
    act can be there again: SQLite alone would put its pages back (`journals`)."""
    losses = run_cuts(place, n_cuts=N_CONTROLS, n_sessions=1, synchronous=2)
    assert [loss for loss in losses if loss][:3] == []

"""What was acknowledged outlives a power cut at any moment: simulated on the store's own writes and syncs."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from sense7_qual import acts
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from tests import disk

pytestmark = pytest.mark.crash

SOAK = bool(os.environ.get("SOAK"))
N_CUTS = 50_000 if SOAK else 2_000
N_SESSIONS = 10 if SOAK else 2
STUDIES = ("lab/studies/pilot", "copies/pilot", "again")

# A session of work, as a process of its own: a study is made in a new folder, two coders code, one of them in
# a copy as well, which is merged; the codebook is revised; the study is archived and restored. Each step is
# acknowledged in a line of JSON right after it returned. `round` names a batch and its size, so that a torn
# one would show.
SESSION = """
import json, os, random, sys, uuid
from dataclasses import replace
from pathlib import Path
import pandas as pd
from sense7_qual import acts, database
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store

root, seed, n_batches = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
database.PRAGMAS["synchronous"] = int(sys.argv[4])
dice = random.Random(seed)
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
TEXT = "It listened to me, mostly. " * 40
said = os.open(root / "acknowledged", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)


def say(step, **what):
    os.write(said, (json.dumps({"step": step, **what}) + "\\n").encode())


def code(store, coder):
    size = dice.choice((1, 1, 1, 7, 30))
    name, codebook = f"{uuid.uuid4()}-{size}", store.codebook
    batch = [
        acts.apply(
            coder=coder,
            unit_id=f"m{dice.randrange(20)}",
            code="interest",
            start=(at := dice.randrange(500)),
            end=at + dice.randrange(1, 500),
            round=name,
            codebook=codebook,
        )
        for _ in range(size)
    ]
    store.append(batch)
    ids = [act.act_id for act in batch]
    say("append", study=str(store.path.relative_to(root)), acts=ids)
    return ids


units = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(20)],
        "text": TEXT,
        "document_id": "d1",
        "case_id": "p1",
        "position": range(20),
    }
)
store = Store.create(root / "lab" / "studies" / "pilot", units=units, codebook=CODEBOOK)
say("create", study="lab/studies/pilot")
for _ in range(n_batches):
    code(store, dice.choice(("ana", "ana", "ben")))
before = [act.act_id for act in store.acts()]
store.backup(root / "copies" / "pilot")
say("backup", study="copies/pilot", acts=before)
copy = Store(root / "copies" / "pilot")
apart = [act_id for coder in ("ana", "ben", "cy", "ana") for act_id in code(copy, coder)]
code(store, "ana")
store.merge(copy)
say("merge", study="lab/studies/pilot", acts=apart)
revised = replace(CODEBOOK, codes=(*CODEBOOK.codes, Code(id="warmth", label="Warmth")))
store.revise(revised, why="A second code.", coder="ana")
say("revise", study="lab/studies/pilot", codebook=revised.fingerprint)
code(store, "ana")
store.archive(root / "copies" / "pilot.zip")
say("archive", file="copies/pilot.zip")
before = [act.act_id for act in store.acts()]
Store.restore(root / "copies" / "pilot.zip", root / "again")
say("restore", study="again", acts=before)
for _ in range(n_batches // 4):
    code(store, dice.choice(("ana", "ben")))
"""


def session(folder: Path, *, seed: int, synchronous: int, n_batches: int = 20) -> Path:
    """Record a session and return the log.

    What its trace gives when nothing is lost must be the very files that are there.
    """
    root, log = folder / f"disk-{seed}-{synchronous}", folder / f"log-{seed}-{synchronous}"
    root.mkdir()
    disk.run(SESSION, root, seed, n_batches, synchronous, log=log)
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
    """A study after a cut: what is wrong with it, if anything; its acts and its current codebook."""

    problem: str = ""
    act_ids: frozenset[str] = frozenset()
    codebooks: tuple[str, ...] = ()


@dataclass(slots=True)
class Checker:
    """Opens what is left after cuts; equal studies once."""

    place: Path
    final: disk.Image
    known: dict[bytes, Found] = field(default_factory=dict)

    def lost(self, image: disk.Image, acknowledged: Sequence[str]) -> list[str]:
        """Return what is wrong on a disk after a cut: nothing, or what was lost or damaged."""
        found = {name: self._found(study) for name, study in _studies(image).items()}
        wrong = [name for name in image if name.endswith(".zip") and image[name] != self.final[name]]
        for line in map(json.loads, acknowledged):
            study = found.get(line["study"]) if "study" in line else Found()
            if study is None or line.get("file", "") not in ("", *image):
                wrong.append(f"{line['step']}: gone")
            elif study.problem or not study.act_ids.issuperset(line.get("acts", ())):
                wrong.append(f"{line['step']}: {study.problem or 'acts are lost'}")
            elif line.get("codebook", "") not in ("", *study.codebooks):
                wrong.append("revise: the codebook is lost")
        # Whole or not there at all, also where nothing was acknowledged.
        return wrong + [study.problem for study in found.values() if study.problem]

    def _found(self, study: disk.Image) -> Found:
        key = hashlib.sha256(repr(sorted(study.items())).encode()).digest()
        if key not in self.known:
            folder = self.place / "after"
            for name, content in study.items():
                path = folder / name
                if content is None:
                    path.mkdir(parents=True)
                else:
                    path.write_bytes(content)
            self.known[key] = opened(folder)
            shutil.rmtree(folder)
        return self.known[key]


def _studies(image: disk.Image) -> dict[str, disk.Image]:
    """Return the study folders of a disk, each with what it holds by its path within."""
    return {
        study: {
            name[len(study) :].strip("/"): image[name] for name in image if f"{name}/".startswith(f"{study}/")
        }
        for study in STUDIES
        if study in image
    }


def opened(path: Path) -> Found:
    """Open a study after a cut, check every act, batch and file of it, and record one more act."""
    try:
        store = Store(path)
        recorded = store.acts()
        sizes = Counter(act.round for act in recorded if act.round)
        torn = [name for name, size in sizes.items() if size != int(name.rpartition("-")[2])]
        report = store.verify()
        store.append([acts.finish(coder="ana", unit_id="m1", codebook=store.codebook)])
    except StoreError as error:
        return Found(f"refused ({error})")
    problem = "a batch is torn" if torn else "; ".join(report["problem"][~report["ok"]])
    return Found(problem, frozenset(act.act_id for act in recorded), (store.codebook.fingerprint,))


def cuts(log: Path, n_cuts: int) -> tuple[list[list[str]], int, int]:
    """Cut the power at random moments; return what each lost or damaged, and the numbers of different
    studies that were left and of acknowledgements."""
    trace, dice = disk.Trace.read(log), random.Random(log.name)
    place = log.with_name(f"{log.name}-left")
    place.mkdir()
    checker, losses = Checker(place, trace.after(trace.n_events, None)), []
    for _ in range(n_cuts):
        moment = dice.randrange(trace.n_events + 1)
        losses.append(checker.lost(trace.after(moment, dice), trace.acknowledged(moment)))
    return losses, len(checker.known), len(trace.said)


def run_cuts(place: Path, *, n_cuts: int, n_sessions: int, synchronous: int) -> list[list[str]]:
    """Record sessions, cut the power of each equally often, and tell the counts."""
    begin = time.perf_counter()
    logs = [session(place, seed=7 + number, synchronous=synchronous) for number in range(n_sessions)]
    n_workers = min(n_sessions, os.cpu_count() or 1)
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as workers:
        found = list(workers.map(partial(cuts, n_cuts=n_cuts // n_sessions), logs))
    losses = [loss for each, _, _ in found for loss in each]
    print(
        f"\npower cuts, synchronous={synchronous}: {len(losses):,} in {n_sessions} sessions of "
        f"{sum(n for *_, n in found):,} acknowledgements, {sum(n for _, n, _ in found):,} different studies "
        f"left, {sum(map(bool, losses)):,} cuts with a loss, {time.perf_counter() - begin:.0f} s"
    )
    return losses


def test_what_was_acknowledged_outlives_a_power_cut(place: Path) -> None:
    losses = run_cuts(place, n_cuts=N_CUTS, n_sessions=N_SESSIONS, synchronous=3)
    assert len(losses) == N_CUTS
    assert [loss for loss in losses if loss][:3] == []


@pytest.mark.parametrize("synchronous", [0, 2], ids=["off", "full"])
def test_with_less_syncing_the_same_cuts_do_lose(place: Path, synchronous: int) -> None:
    """The control: SQLite's OFF, and its usual FULL, which does not sync the folder after a commit."""
    losses = run_cuts(place, n_cuts=200, n_sessions=1, synchronous=synchronous)
    assert sum(map(bool, losses)) >= 20

"""Nothing that was acknowledged is ever lost: killed processes, full disks, two writers at once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store
from tests.helpers.killed import wait_until
from tests.helpers.places import ROOT, program

pytestmark = pytest.mark.crash

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"
N_KILLS = 10_000 if os.environ.get("SOAK") else 100


def new_study(path: Path) -> Store:
    units = pd.DataFrame(
        {
            "unit_id": ["m1"],
            "text": [f"It listened to me. {SENTINEL}"],
            "document_id": ["d1"],
            "case_id": ["p1"],
            "position": [0],
        }
    )
    return Store.create(path, units=units, codebook=CODEBOOK)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_study(tmp_path / "pilot")


WRITERS = program("writers_to_kill")


class Writers:
    """The process that forks writers, and what they said."""

    def __init__(self, store: Store, folder: Path, most: int = -1) -> None:
        command = [sys.executable, "-W", "ignore", "-c", WRITERS, str(store.path), str(most)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, text=True, bufsize=1, **pipes)
        self.folder = folder
        self.files: list[Path] = []
        self.pids: list[int] = []

    def start(self, coders: Sequence[str]) -> list[int]:
        """Start a writer for each name in `coders`; return their process ids."""
        begin = len(self.files)
        self.files += [self.folder / f"said-{begin + i}-{coder}" for i, coder in enumerate(coders)]
        self.process.stdin.write(" ".join(map(str, self.files[begin:])) + "\n")
        self.pids = [int(pid) for pid in self.process.stdout.readline().split()]
        return self.pids

    def ended(self) -> list[int]:
        """Wait for the writers of the last start; return how they ended (-9: killed)."""
        return [int(code) for code in self.process.stdout.readline().split()]

    def said(self) -> list[list[str]]:
        """Return the acknowledged ids of each writer."""
        return [path.read_text().split() if path.exists() else [] for path in self.files]

    def __enter__(self) -> Writers:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        """End the process; where a test failed, the writers too, which would go on for ever."""
        if failed is not None:
            for pid in self.pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        with self.process:
            self.process.stdin.close()


def test_two_processes_write_one_coders_first_acts_at_once_without_losing_one(
    store: Store, tmp_path: Path
) -> None:
    with Writers(store, tmp_path, most=45) as writers:
        writers.start(["ana", "ana"])
        assert writers.ended() == [0, 0]
    ids, found = writers.said(), [act.act_id for act in store.acts()]
    assert [len(each) for each in ids] == [135, 135]
    assert len(found) == 270
    for each in ids:
        assert [act_id for act_id in found if act_id in set(each)] == each  # each in its own order
    assert store.verify()["ok"].all()


def test_what_was_acknowledged_outlives_sigkill(tmp_path: Path) -> None:
    """100 kills (10,000 in `make soak`) of writers, each at a moment of its own."""
    dice, begin = random.Random(7), time.perf_counter()
    said = [each for number in range(N_KILLS // 100) for each in kill_writers(tmp_path / f"{number}", dice)]
    n_acts, writing = sum(map(len, said)), sum(bool(each) for each in said)
    print(
        f"\nSIGKILL: {len(said):,} writers killed, {writing:,} of them after an acknowledgement; "
        f"{n_acts:,} acknowledged acts, 0 lost, {time.perf_counter() - begin:.0f} s"
    )
    assert len(said) == N_KILLS
    assert writing >= len(said) / 2


def kill_writers(folder: Path, dice: random.Random) -> list[list[str]]:
    """Kill four writers in each of 25 rounds; return what was acknowledged to each of the 100.

    In every third round they are killed at once, some before their first act; in another third all of them
    write into one file.
    """
    folder.mkdir()
    store = new_study(folder / "pilot")
    with Writers(store, folder) as writers:
        for number in range(25):
            pids = writers.start(["ana"] * 4 if number % 3 == 1 else ["ana", "ben", "cy", "dan"])
            if number % 3:
                wait_until(lambda: sum(map(bool, writers.said()[-4:])) >= 3)
            for pid in pids:
                time.sleep(dice.uniform(0, 0.03))
                os.kill(pid, signal.SIGKILL)
            assert writers.ended() == [-9] * 4
            check_after_crash(Store(store.path), {act_id for each in writers.said() for act_id in each})
    assert store.append([acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)]) == 1
    return writers.said()


def check_after_crash(store: Store, acknowledged: set[str]) -> None:
    found = store.acts()
    assert acknowledged <= {act.act_id for act in found}
    torn = {name: n for name, n in Counter(act.round for act in found).items() if n != int(name[-1])}
    assert torn == {}
    assert store.verify()["ok"].all()


def test_a_kill_while_a_study_is_made_leaves_a_whole_one_or_none(tmp_path: Path) -> None:
    maker = (
        "import itertools, pathlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.slow import test_store_crash as t\n"
        "print('ready', flush=True)\n"
        "for n in itertools.count(): t.new_study(pathlib.Path(sys.argv[2]) / f's{n}'); print(n, flush=True)\n"
    )
    dice = random.Random(7)
    for run in range(4):
        folder = tmp_path / f"run{run}"
        folder.mkdir()
        command = [sys.executable, "-c", maker, str(ROOT), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(dice.uniform(0.1, 0.5))
            process.kill()
            said = process.stdout.read()
            made = said[: said.rfind("\n") + 1].split()  # a line that the kill cut off was not said
        studies = [path for path in folder.iterdir() if not path.name.startswith(".")]
        assert len(studies) >= len(made)
        assert [len(Store(path).units) for path in studies] == [1] * len(studies)


# full disks -----------------------------------------------------------------------------------------

FILLER = program("fill_the_disk")


def run_filler(store: Store, kind: str) -> None:
    command = [sys.executable, "-c", FILLER, str(store.path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(done.stdout)
    assert "'acts/ana.sqlite': disk full or read-only" in found["refused"]
    assert SENTINEL not in found["refused"]
    assert len(found["said"]) >= 7
    assert found["kept"] == found["said"]  # nothing lost, nothing half-written
    assert found["after"] == 7
    assert found["ok"]
    assert found["files"] == ["ana.sqlite"]


def test_a_file_that_may_not_grow_keeps_what_it_has_and_goes_on_later(store: Store) -> None:
    run_filler(store, "limit")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk of its own cannot be mounted here (needs root)")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_keeps_what_it_has_and_goes_on_later(tiny_disk: Path) -> None:
    run_filler(new_study(tiny_disk / "pilot"), "disk")


def test_a_full_disk_has_no_half_made_study_or_acts_file(tiny_disk: Path) -> None:
    store = new_study(tiny_disk / "pilot")
    ballast = tiny_disk / "ballast"
    ballast.write_bytes(bytes(os.statvfs(tiny_disk).f_bavail * os.statvfs(tiny_disk).f_bsize))
    with pytest.raises(StoreError, match="check free space"):
        new_study(tiny_disk / "second")
    act = acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)
    with pytest.raises(StoreError, match="disk full"):
        store.append([act])
    assert sorted(path.name for path in tiny_disk.iterdir()) == ["ballast", "pilot"]
    assert list((store.path / "acts").iterdir()) == []
    ballast.unlink()
    assert store.append([act]) == 1
    assert len(new_study(tiny_disk / "second").units) == 1

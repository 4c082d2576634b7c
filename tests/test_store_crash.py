"""Nothing that was acknowledged is ever lost: killed processes, full disks, two writers at once."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual import acts
from sense7_qual.codebook import Code, Codebook
from sense7_qual.errors import StoreError
from sense7_qual.store import Store

pytestmark = pytest.mark.crash

CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
SENTINEL = "Sentinel-Quokka"


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


# Appends batch after batch to the file of "ana", and says the ids of a batch right after append returned.
# `round` names the batch, so that a torn one would show.
WRITER = """
import sys, uuid
from sense7_qual import acts
from sense7_qual.store import Store

store, most = Store(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
number = 0
while number != most:
    size, name = (1, 1, 7)[number % 3], f"{uuid.uuid4().hex[:8]}-{(1, 1, 7)[number % 3]}"
    batch = [acts.apply(coder="ana", unit_id="m1", code="interest", start=i, end=i + 9, round=name,
                        codebook=store.codebook) for i in range(size)]
    store.append(batch)
    print(*[act.act_id for act in batch], flush=True)
    number += 1
"""


def start(store: Store, most: int = -1) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", WRITER, str(store.path), str(most)], text=True, **pipes)


def release(writers: list[subprocess.Popen[str]]) -> None:
    """Let the writers begin together, once all of them have the store open."""
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()


def said(output: str) -> list[str]:
    """The acknowledged ids; a line that the kill cut off was not said."""
    return output[: output.rfind("\n") + 1].split()


def test_two_processes_write_one_coders_first_acts_at_once_without_losing_one(store: Store) -> None:
    writers = [start(store, most=45) for _ in range(2)]
    release(writers)
    ids = [said(writer.communicate(timeout=60)[0]) for writer in writers]
    found = [act.act_id for act in store.acts()]
    assert [len(each) for each in ids] == [135, 135]
    assert len(found) == 270
    for each in ids:
        assert [act_id for act_id in found if act_id in set(each)] == each  # each in its own order
    assert store.verify()["ok"].all()


def test_what_was_acknowledged_outlives_sigkill(store: Store) -> None:
    """Fourteen rounds of three writers on one file, each killed at a moment of its own: 42 kills."""
    dice, acknowledged, rounds_with_acts = random.Random(7), set(), 0
    for _ in range(14):
        writers = [start(store) for _ in range(3)]
        release(writers)
        for writer in writers:
            time.sleep(dice.uniform(0, 0.05))
            writer.kill()
        now = [act_id for writer in writers for act_id in said(writer.communicate(timeout=60)[0])]
        assert [writer.returncode for writer in writers] == [-9, -9, -9]
        rounds_with_acts += bool(now)
        acknowledged.update(now)
        check_after_crash(Store(store.path), acknowledged)
    assert rounds_with_acts >= 7
    assert store.append([acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)]) == 1


def check_after_crash(store: Store, acknowledged: set[str]) -> None:
    found = store.acts()
    assert acknowledged <= {act.act_id for act in found}
    torn = {name: n for name, n in Counter(act.round for act in found).items() if n != int(name[-1])}
    assert torn == {}
    assert store.verify()["ok"].all()


def test_a_kill_while_a_study_is_made_leaves_a_whole_one_or_none(tmp_path: Path) -> None:
    maker = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_store_crash as t, pathlib, itertools\n"
        "print('ready', flush=True)\n"
        "for n in itertools.count(): t.new_study(pathlib.Path(sys.argv[2]) / f's{n}'); print(n, flush=True)\n"
    )
    dice = random.Random(7)
    for run in range(4):
        folder = tmp_path / f"run{run}"
        folder.mkdir()
        command = [sys.executable, "-c", maker, str(Path(__file__).parent), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(dice.uniform(0.1, 0.5))
            process.kill()
            made = said(process.stdout.read())
        studies = [path for path in folder.iterdir() if not path.name.startswith(".")]
        assert len(studies) >= len(made)
        assert [len(Store(path).units) for path in studies] == [1] * len(studies)


# full disks -----------------------------------------------------------------------------------------

# Appends until the disk refuses, then once more after it has room again; tells what happened as JSON.
FILLER = """
import json, os, resource, signal, sys
from sense7_qual import acts
from sense7_qual.errors import StoreError
from sense7_qual.store import Store

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store, kind = Store(sys.argv[1]), sys.argv[2]
ballast = store.path.parent / "ballast"
said, refused, after = [], "", 0

def fill():
    if kind == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, resource.RLIM_INFINITY))
        return
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - 120_000))

def free():
    if kind == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    else:
        ballast.unlink()

def batch():
    return [acts.apply(coder="ana", unit_id="m1", code="interest", start=i, end=i + 9,
                       codebook=store.codebook) for i in range(7)]

fill()
for number in range(1000):
    wanted = batch()
    try:
        store.append(wanted)
    except StoreError as error:
        refused = str(error)
        break
    said += [act.act_id for act in wanted]
kept = [act.act_id for act in store.acts()]
free()
after = store.append(wanted)
print(json.dumps({"said": said, "kept": kept, "refused": refused, "after": after,
                  "ok": bool(Store(store.path).verify()["ok"].all()),
                  "files": sorted(os.listdir(store.path / "acts"))}))
"""


def run_filler(store: Store, kind: str) -> None:
    command = [sys.executable, "-c", FILLER, str(store.path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    found = json.loads(done.stdout)
    assert "'acts/ana.sqlite': expected room and permission to write" in found["refused"]
    assert SENTINEL not in found["refused"]
    assert len(found["said"]) >= 7
    assert found["kept"] == found["said"]  # nothing lost, nothing half-written
    assert found["after"] == 7
    assert found["ok"]
    assert found["files"] == ["ana.sqlite"]


def test_a_file_that_may_not_grow_keeps_what_it_has_and_goes_on_later(store: Store) -> None:
    run_filler(store, "limit")


@pytest.fixture
def tiny_disk(tmp_path: Path):
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
    with pytest.raises(StoreError, match="check room"):
        new_study(tiny_disk / "second")
    act = acts.finish(coder="ana", unit_id="m1", codebook=CODEBOOK)
    with pytest.raises(StoreError, match="expected room"):
        store.append([act])
    assert sorted(path.name for path in tiny_disk.iterdir()) == ["ballast", "pilot"]
    assert list((store.path / "acts").iterdir()) == []
    ballast.unlink()
    assert store.append([act]) == 1
    assert len(new_study(tiny_disk / "second").units) == 1

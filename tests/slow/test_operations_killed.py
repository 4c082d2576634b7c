"""What any operation acknowledged outlives a kill: acts, merges, withdrawals, bundles, copies, revisions."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store
from tests.helpers.places import program

pytestmark = [pytest.mark.nightly, pytest.mark.crash]

N_STUDIES, N_KILLS = (12, 25) if os.environ.get("SOAK") else (1, 8)
N_CASES = 30
WORKER = program("operations_to_kill")


def new_study(path: Path) -> Store:
    cases = [f"p{number}" for number in range(N_CASES) for _ in range(2)]
    units = pd.DataFrame(
        {
            "unit_id": [f"m{place}" for place in range(len(cases))],
            "text": [f"It listened. {secret(case)} said so." for case in cases],
            "document_id": cases,
            "case_id": cases,
            "position": 0,
        }
    )
    codes = (Code(id="interest", label="Interest"), Code(id="care", label="Care"))
    return Store.create(path, units=units, codebook=Codebook(name="small", codes=codes))


def secret(case: str) -> str:
    return f"Quokka{case}Numbat"


def test_what_any_operation_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    """8 kills (300 in `make soak`), each at a moment of its own."""
    dice, acknowledged, broken_off = random.Random(11), Counter[str](), Counter[str]()
    for number in range(N_STUDIES):
        folder = tmp_path / str(number)
        (folder / "copies").mkdir(parents=True)
        kill_workers(new_study(folder / "study"), folder, dice, acknowledged, broken_off)
        shutil.rmtree(folder)
    print(f"\n{N_STUDIES * N_KILLS} kills; acknowledged {dict(acknowledged)}, broken off {dict(broken_off)}")
    assert acknowledged["append"]
    assert sum(broken_off.values()) >= N_STUDIES * N_KILLS / 2


def kill_workers(
    store: Store, folder: Path, dice: random.Random, acknowledged: Counter[str], broken_off: Counter[str]
) -> None:
    """Kill a worker again and again in one study, and look after each kill at all that was ever promised."""
    command = [sys.executable, "-W", "ignore", "-c", WORKER, str(store.path), str(folder / "copies")]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, bufsize=1, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        promised: list[list[str]] = []
        for number in range(N_KILLS):
            said = folder / f"said-{number}"
            process.stdin.write(f"{dice.getrandbits(32)} {said}\n")
            pid = int(process.stdout.readline())
            time.sleep(dice.uniform(0.3, 9))
            with suppress(ProcessLookupError):  # it failed by itself, as its exit code says
                os.kill(pid, signal.SIGKILL)
            assert int(process.stdout.readline()) == -signal.SIGKILL
            lines = [line.split() for line in said.read_text("utf-8").splitlines()] if said.exists() else []
            done = [line for line in lines if line[0] != "begin"]
            acknowledged.update(line[0] for line in done)
            if lines and lines[-1][0] == "begin":
                broken_off[lines[-1][1]] += 1
            promised += done
            check(Store(store.path), promised, folder / "copies")
        process.stdin.close()


def check(store: Store, promised: list[list[str]], copies: Path) -> None:
    """Everything that was promised is there, and the study is sound."""
    report = store.verify()
    assert report["ok"].all(), report[~report["ok"]].to_string()
    recorded = {act.act_id for act in store.acts()}
    versions = set(store.codebooks)
    gone = {line[1] for line in promised if line[0] == "forget"}
    for operation, *what in promised:
        if operation in ("append", "merge", "hand_out", "hand_in", "sheet", "two_computers"):
            assert set(what) <= recorded, operation
        elif operation == "revise":
            assert set(what) <= versions
        elif operation != "forget":
            assert_whole(Path(what[0]))
    assert not gone & set(store.units["case_id"])
    for file in Path(store.path).rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert not [case for case in gone if secret(case).encode() in content], file.name
    for file in copies.rglob("SHA256SUMS"):
        assert_whole(file.parent)


def assert_whole(place: Path) -> None:
    """A bundle has every file that its list of hashes names; a copy is sound; an archive can be restored.

    Who withdrew since is forgotten in the copy too: this computer knows of it.
    """
    if (place / "SHA256SUMS").exists():
        subprocess.run(["sha256sum", "--quiet", "--check", "SHA256SUMS"], cwd=place, check=True)
    elif place.is_dir():
        assert Store(place, forget_again=True).verify()["ok"].all()
    else:
        with_copy = place.with_suffix(".restored")
        assert Store.restore(place, with_copy, forget_again=True).verify()["ok"].all()
        shutil.rmtree(with_copy)

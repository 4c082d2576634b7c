"""A cell that is interrupted (■ in Jupyter) loses nothing, leaves no lock, and can be run again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

pytestmark = pytest.mark.crash

OPERATIONS = ("append", "merge", "revise", "forget")
N_INTERRUPTS = 300 if os.environ.get("SOAK") else 25  # of each operation

# Does an operation for each line of its input, is interrupted in it or after it, and tells what happened. The
# exception is kept, as IPython keeps it: what its frames hold is not given free. Then the same must work.
WORKER = """
import itertools, json, sys, time
from dataclasses import replace
from pathlib import Path
import pandas as pd
from sense7_qual import acts
from sense7_qual.store._log import sqlite
from sense7_qual.codebook import Code, Codebook
from sense7_qual.store import Store

sqlite.PRAGMAS["busy_timeout"] = 200  # a lock that is left shows at once
root, n_cases = Path(sys.argv[1]), int(sys.argv[2])
CODEBOOK = Codebook(name="small", codes=(Code(id="interest", label="Interest"),))
units = pd.DataFrame(
    {
        "unit_id": [f"m{i}" for i in range(n_cases)],
        "text": [f"It listened to me, said number {i}." for i in range(n_cases)],
        "document_id": [f"d{i}" for i in range(n_cases)],
        "case_id": [f"p{i}" for i in range(n_cases)],
        "position": 0,
    }
)
store = Store.create(root / "pilot", units=units, codebook=CODEBOOK)
store.backup(root / "copy")
copy, versions, kept, acknowledged, gone = Store(root / "copy"), itertools.count(), None, set(), 0


def batch(coder, n):
    named = {"coder": coder, "unit_id": f"m{n_cases - 1}", "codebook": CODEBOOK}
    return [acts.apply(code="interest", start=i, end=i + 9, **named) for i in range(n)]


def append():
    wanted = batch("ana", 5)
    return lambda: store.append(wanted), lambda: {act.act_id for act in wanted}


def merge():
    wanted = [act for coder in ("ana", "ben") for act in batch(coder, 3)]
    copy.append(wanted[:3])
    copy.append(wanted[3:])
    return lambda: store.merge(copy), lambda: {act.act_id for act in wanted}


def revise():
    name = f"version {next(versions)}"

    def do():
        opened = Store(store.path)
        if opened.codebook.name != name:
            opened.revise(replace(opened.codebook, name=name), why="Another name.", coder="ana")

    def done():
        assert Store(store.path).codebook.name == name
        return set()

    return do, done


def forget():
    case_id = f"p{gone}"

    def done():
        found = Store(store.path)
        assert case_id not in set(found.units["case_id"])
        return set()

    return lambda: store.forget(case_id, why="They asked for it."), done


def check():
    lost = acknowledged - {act.act_id for act in store.acts()}
    report = store.verify()
    return [len(lost), "; ".join(report["problem"][~report["ok"]])]


for line in sys.stdin:
    operation = line.strip()
    if operation == "check":
        print(json.dumps(check()), flush=True)
        continue
    do, done = {"append": append, "merge": merge, "revise": revise, "forget": forget}[operation]()
    took = None
    try:
        print("go", flush=True)
        begin = time.perf_counter()
        do()
        took = time.perf_counter() - begin
        time.sleep(60)
    except KeyboardInterrupt as error:
        kept = error
    left = [path.name for path in root.rglob("*") if path.name[0] == "." or path.name.endswith("-journal")]
    store.append(batch("cy", 1))  # nothing is locked
    if took is None:
        do()
    acknowledged |= done()
    gone += operation == "forget"
    print(json.dumps([took, left]), flush=True)
"""


def test_an_interrupted_cell_loses_nothing_and_leaves_no_lock(tmp_path: Path) -> None:
    """Each operation at random moments of its usual duration; the same call again completes it."""
    dice, usual, middle, begin = random.Random(7), {}, Counter(), time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-c", WORKER, str(tmp_path), str(N_INTERRUPTS + 1)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, bufsize=1, cwd=ROOT, **pipes) as worker:
        for number, operation in enumerate(OPERATIONS * N_INTERRUPTS):
            worker.stdin.write(f"{operation}\n")
            assert worker.stdout.readline() == "go\n"
            time.sleep(dice.uniform(0, 1.2 * usual[operation]) if operation in usual else 1)
            worker.send_signal(signal.SIGINT)
            took, left = json.loads(worker.stdout.readline())
            assert left == []
            usual |= {operation: took} if took else {}
            middle[operation] += took is None
            if number % 20 == 0 or number + 1 == len(OPERATIONS) * N_INTERRUPTS:
                worker.stdin.write("check\n")
                assert json.loads(worker.stdout.readline()) == [0, ""]
        worker.stdin.close()
    print(
        f"\ninterrupts: {middle.total():,} in the middle of {dict(middle)}, 0 acknowledged acts lost, "
        f"{time.perf_counter() - begin:.0f} s"
    )
    assert min(middle[operation] for operation in OPERATIONS) > N_INTERRUPTS / 4

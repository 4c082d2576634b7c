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

from tests.helpers.places import ROOT, program

pytestmark = [pytest.mark.nightly, pytest.mark.crash]

OPERATIONS = ("append", "merge", "revise", "forget")
N_INTERRUPTS = 300 if os.environ.get("SOAK") else 12  # of each operation

WORKER = program("interrupted_worker")


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

"""A full disk, an I/O error or SIGKILL at any write: nothing is lost or half, and it works again."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from tests.helpers import disk
from tests.helpers.places import program

pytestmark = [pytest.mark.nightly, pytest.mark.crash]

SENTINEL = "Sentinel-Quokka"
SOAK = bool(os.environ.get("SOAK"))  # each of six faults at every call, not each of three at some

FAULTS = program("operations_that_fail")


@pytest.mark.parametrize(
    "operation",
    ["first append", "batch", "create", "merge", "revise", "backup", "archive", "restore", "forget"],
)
def test_a_fault_or_a_kill_at_any_write_loses_nothing(operation: str) -> None:
    with disk.memory() as root:
        found = json.loads(disk.run(FAULTS, root, operation, SENTINEL, SOAK))
    refused = Counter((error, lasting) for error, lasting, _, message, _ in found if message)
    n_killed = sum(error == "KILLED" for error, *_ in found)
    print(f"\n{operation}: {len(found)} faults, {refused.total()} errors, {n_killed} kills, 0 acts lost")
    assert [row for row in found if row[-1]][:3] == []
    assert min(refused.values()) >= 5
    assert len(refused) == (4 if SOAK else 2)

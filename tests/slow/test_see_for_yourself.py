"""The script with which a sceptic tries to overhear, to undo a withdrawal, to slip acts in …"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

pytestmark = pytest.mark.nightly

SCRIPT = ROOT / "scripts" / "see_for_yourself.py"
LINUX = pytest.mark.skipif(
    not Path("/proc/self/net/unix").exists(), reason="looks a process up as Linux shows it"
)


@pytest.mark.parametrize("name", [pytest.param("overhear", marks=LINUX), "undo", "slip", "finish"])
def test_nobody_succeeds(name: str) -> None:
    command = [sys.executable, "-W", "ignore", str(SCRIPT), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = {"overhear": "0 messages heard", "finish": "finished: False"}.get(name, "refused – ")
    assert said in done.stdout

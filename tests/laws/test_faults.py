"""The table of planted faults fits today's sources and tests, so that `make faults` can plant them all."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from tests.helpers.places import ROOT

SCRIPT = ROOT / "scripts" / "plant_faults.py"


def test_every_fault_fits_in_one_place_and_has_its_tests() -> None:
    checked = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_no_fault_is_named_twice_or_left_out() -> None:
    table = tomllib.loads((ROOT / "tests" / "faults" / "faults.toml").read_text("utf-8"))["fault"]
    names = [(fault["number"], fault.get("letter", "")) for fault in table]
    assert names == sorted(set(names))
    assert {number for number, _ in names} == set(range(1, names[-1][0] + 1))

"""How many studies a test simulates: few in `make nightly`, ten times as many in `make soak`."""

from __future__ import annotations

import os

SOAK = bool(os.environ.get("SOAK"))


def studies(few: int) -> range:
    """Count the studies to simulate; limits that hold for `few` of them hold for more."""
    return range(10 * few if SOAK else few)

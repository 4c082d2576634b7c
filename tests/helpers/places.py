"""Where the project lies, the published figures, what other people wrote, and programs for processes."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared"


def program(name: str) -> str:
    """Return the code of `tests/programs/<name>.py`, which a test runs in a process of its own."""
    return (ROOT / "tests" / "programs" / f"{name}.py").read_text("utf-8")

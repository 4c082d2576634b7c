"""Where the project lies, and the folder beside it with what other people wrote."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"

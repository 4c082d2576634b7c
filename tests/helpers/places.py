"""Where the project lies, the published figures, and the folder beside it with what other people wrote."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared"

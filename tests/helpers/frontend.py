"""The sources of the widgets' pages, and programs of Node that run on them."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from tests.helpers.places import ROOT

FRONTEND = ROOT / "frontend"
SOURCES = FRONTEND / "src"
WIDGETS = sorted(path.name for path in SOURCES.iterdir() if path.name != "shared")


@pytest.fixture(scope="module")
def node_modules() -> None:
    """Skip where Node or its packages are missing; fail under CI, where `make test` has installed them."""
    missing = None if shutil.which("node") else "Node"
    if not missing and not (FRONTEND / "node_modules" / "esbuild").is_dir():
        missing = "the npm packages"
    if missing and os.environ.get("CI"):
        pytest.fail(f"expected {missing} – found none – `make test` installs them")
    if missing:
        pytest.skip(f"{missing} not installed (`make frontend` installs the npm packages)")


def run(*command: str) -> None:
    done = subprocess.run(
        command,
        cwd=FRONTEND,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]

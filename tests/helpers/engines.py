"""The programs that set and open documents, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest


def program(name: str) -> str:
    """Return the path of a program. Without it the test is skipped, but where CI is set that is a failure."""
    path = shutil.which(name)
    if path is None and os.environ.get("CI"):
        pytest.fail(f"expected {name} – found none – `make system` installs it")
    if path is None:
        pytest.skip(f"{name} is not installed (`make system` installs it)")
    return path


def office(target: str, files: Iterable[Path], folder: Path) -> None:
    """Convert files by LibreOffice, all in one run, into a folder."""
    with tempfile.TemporaryDirectory() as profile:
        command = [program("soffice"), "--headless", f"-env:UserInstallation={Path(profile).as_uri()}"]
        command += ["--convert-to", target, "--outdir", str(folder), *map(str, files)]
        subprocess.run(command, capture_output=True, timeout=300)

"""A release: the sdist builds the same wheel as the checkout, and the wheel works in an empty environment."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from pathlib import Path

import pytest

import sense7_qual as qual
from tests.helpers.places import ROOT

pytestmark = pytest.mark.nightly


def run(*command: str | Path, cwd: Path, limit: int = 600) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=limit, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def built(kind: str, root: Path, folder: Path) -> Path:
    run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=root)
    (made,) = folder.iterdir()
    return made


def members(wheel: Path) -> dict[str, int]:
    """The files of a wheel and their checksums, without the list of them."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            each.filename: each.CRC for each in archive.infolist() if not each.filename.endswith("RECORD")
        }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(built("sdist", ROOT, folder / "sdist")) as archive:
        archive.extractall(folder, filter="data")
    return built("wheel", folder / f"sense7_qual-{qual.__version__}", folder / "wheel")


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(wheel: Path, tmp_path: Path) -> None:
    assert members(wheel) == members(built("wheel", ROOT, tmp_path / "wheel"))


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    begun = time.monotonic()
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt"]
    run(*pip, wheel, cwd=tmp_path)
    size = sum(path.stat().st_size for path in (tmp_path / "empty").rglob("*") if path.is_file())
    print(f"installed in {time.monotonic() - begun:.0f} s, {size / 1e9:.2f} GB")
    command = python.with_name("sense7-qual")
    assert run(command, "--version", cwd=tmp_path).split()[-1] == qual.__version__
    run(command, "new", "--help", cwd=tmp_path)
    walked = run(python, ROOT / "tests" / "programs" / "without_posix.py", "example", cwd=tmp_path)
    assert int(re.findall(r"\d+", walked)[0]) > 100, walked

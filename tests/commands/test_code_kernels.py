"""The kernel behind a coder's page ends some time after its browser is gone, and not before."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.helpers.coding_page import study
from tests.helpers.hosts import environment
from tests.helpers.places import ROOT

pytestmark = pytest.mark.long

#: The command, whose kernels wait for three seconds instead of half an hour.
QUICK = """
import sys
from sense7_qual._commands import code, main
code.ends_alone = lambda ends_alone=code.ends_alone: ends_alone(3)
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a page of a study, in which nobody has coded."""
    pytest.importorskip("voila", reason="Voilà is not installed")
    folder = study(tmp_path / "study")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["code", str(folder), "--coder", "ana", "--new", "--no-browser", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, "-c", QUICK, *words], cwd=ROOT, env=environment(tmp_path / "home"),
        stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://\S+", line)))
        finally:
            process.terminate()


def opened(address: str) -> str:
    """Open the page as a browser does, and return the id of its kernel."""
    with urlopen(address, timeout=120) as answer:  # noqa: S310 – on this computer
        page = answer.read().decode()
    return str(re.search(r'"kernelId": ?"([0-9a-f-]{36})"', page)[1])  # type: ignore[index]


def is_there(address: str, kernel: str) -> bool:
    base, _, token = address.partition("?token=")
    try:
        with urlopen(f"{base}api/kernels/{kernel}?token={token}", timeout=30) as answer:  # noqa: S310
            return answer.status == 200
    except HTTPError as error:
        error.close()
        if error.code != 404:
            raise
        return False


@pytest.mark.nightly
def test_a_kernel_without_a_page_ends(address: str) -> None:
    kernel = opened(address)
    assert is_there(address, kernel)
    deadline = time.monotonic() + 60
    while is_there(address, kernel) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert not is_there(address, kernel)
    assert is_there(address, opened(address))  # and the page opens again


@pytest.mark.nightly
def test_a_kernel_with_a_page_stays(address: str) -> None:
    from tornado.websocket import websocket_connect

    kernel = opened(address)
    base, _, token = address.partition("?token=")
    channels = f"{base.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?token={token}"

    async def connected() -> None:
        page = await websocket_connect(channels)
        await asyncio.sleep(12)  # four times as long as one waits without a page
        assert await asyncio.to_thread(is_there, address, kernel)
        page.close()
        while await page.read_message() is not None:  # until the connection is closed
            pass

    asyncio.run(connected())

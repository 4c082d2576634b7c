"""The kernel behind a coder's page: when it ends, and that nobody but the page hears a text of it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen
from uuid import uuid4

import pytest

from tests.helpers.coding_page import SENTINEL, study
from tests.helpers.hosts import environment
from tests.helpers.places import ROOT

pytestmark = pytest.mark.long

#: The command, whose kernels wait for three seconds instead of two minutes.
QUICK = """
import sys
from sense7_qual._commands import main, serve
serve.ALONE = 3
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a page of a study, in which nobody has coded."""
    with page(tmp_path, "-c", QUICK) as served:
        yield served


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same, with the waiting times that a coder has."""
    with page(tmp_path_factory.mktemp("page"), "-m", "sense7_qual") as served:
        yield served


@contextmanager
def page(tmp_path: Path, *program: str) -> Iterator[str]:
    """Serve a page of a study, in which nobody has coded, and return its address."""
    pytest.importorskip("voila", reason="Voilà is not installed")
    folder = study(tmp_path / "study")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["code", str(folder), "--coder", "ana", "--new", "--no-browser", "--port", str(port)]
    with subprocess.Popen(
        [sys.executable, *program, *words],
        cwd=ROOT,
        env=environment(tmp_path / "home"),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
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


def opened_widget(address: str) -> tuple[str, str]:
    """Open the page, and return the ids of its kernel and of its widget."""
    with urlopen(address, timeout=120) as answer:  # noqa: S310 – on this computer
        text = answer.read().decode()
    found = (
        re.search(r'"kernelId": ?"([0-9a-f-]{36})"', text),
        re.search(r'"model_id": ?"([0-9a-f]{32})"', text),
    )
    assert all(found)
    return found[0][1], found[1][1]  # type: ignore[index]


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


#: The command, whose cell fails, or which Voilà fails to run.
FAILING = """
import sys
from sense7_qual._commands import code, main, serve
from voila.notebook_renderer import VoilaExecutor

def made(parsed, notebook=code._notebook):
    page = notebook(parsed)
    page["cells"][0]["source"] = "raise RuntimeError('Zitronenfalter-4711')"
    return page

async def fails(*_, **__):
    raise RuntimeError("Zitronenfalter-4711")

if sys.argv[1] == "cell":
    code._notebook = made
else:
    VoilaExecutor.execute_cell = fails
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("what", ["cell", pytest.param("run", marks=pytest.mark.nightly)])
def test_a_page_that_fails_says_one_sentence_of_ours(tmp_path, what) -> None:
    with page(tmp_path, "-c", FAILING, what) as address, urlopen(address, timeout=120) as answer:  # noqa: S310
        body = answer.read().decode().partition('id="rendered_cells"')[2]
    assert "The page could not be opened. Everything reported as saved is safe." in body
    for word in ("Traceback", "RuntimeError", "tracebacks", "An exception", "There was an error", SENTINEL):
        assert word not in body


class Line:
    """A page's socket to its kernel, as any program may open it that has the page's token."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.heard: list[dict[str, Any]] = []

    async def say(self, kind: str, **content: Any) -> None:
        header = {"msg_id": uuid4().hex, "msg_type": kind, "session": "s", "username": "", "version": "5.3"}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        await self.socket.write_message(json.dumps(message | {"channel": "shell", "buffers": []}))

    async def listen(self, seconds: float) -> None:
        """Note what the kernel says, for so long."""
        with suppress(asyncio.TimeoutError):
            async with asyncio.timeout(seconds):
                while (message := await self.socket.read_message()) is not None:
                    self.heard.append(json.loads(message))

    async def ended(self) -> list[dict[str, Any]]:
        """Close the socket, and return what was heard."""
        self.socket.close()
        while await self.socket.read_message() is not None:
            pass
        return self.heard


async def joined(address: str, kernel: str) -> Line:
    from tornado.websocket import websocket_connect

    base, _, token = address.partition("?token=")
    return Line(
        await websocket_connect(f"{base.replace('http', 'ws', 1)}api/kernels/{kernel}/channels?token={token}")
    )


FOREIGN = [
    ("execute_request", {"code": "import os; print(os.getcwd()); 1/0", "silent": False}),
    ("inspect_request", {"code": "shown", "cursor_pos": 3}),
    ("history_request", {"output": True, "raw": True, "hist_access_type": "tail", "n": 9}),
    ("debug_request", {"type": "request", "seq": 1, "command": "initialize", "arguments": {}}),
    (
        "comm_open",
        {"comm_id": "c0", "target_name": "jupyter.widget", "data": {"state": {"_model_name": "No"}}},
    ),
    (
        "comm_open",
        {
            "comm_id": "c1",
            "target_name": "jupyter.widget",
            "data": {
                "state": {
                    "_model_name": "FileUploadModel",
                    "_model_module": "@jupyter-widgets/controls",
                    "_view_name": "FileUploadView",
                    "_view_module": "@jupyter-widgets/controls",
                }
            },
        },
    ),
    ("comm_open", {"comm_id": "c2", "target_name": "no such target", "data": {}}),
    ("comm_msg", {"comm_id": "c0", "data": {"method": "update", "state": 7}}),
]


def test_the_page_hears_its_widget_alone(patient: str) -> None:
    kernel, model = opened_widget(patient)

    async def asked() -> list[dict[str, Any]]:
        line = await joined(patient, kernel)
        for kind, content in FOREIGN:
            await line.say(kind, **content)
        hello = {"type": "hello", "client": "c", "id": "q1"}
        await line.say("comm_msg", comm_id=model, data={"method": "custom", "content": hello})
        await line.say("comm_msg", comm_id=model, data={"method": "update", "state": {"no such": []}})
        await line.say("comm_msg", comm_id=model, data=[7])
        await line.listen(4)
        return await line.ended()

    heard = asyncio.run(asked())
    assert any(SENTINEL in json.dumps(each) for each in heard)  # the widget's own answer
    widgets = {"status", "comm_open", "comm_msg", "comm_close", "comm_info_reply", "kernel_info_reply"}
    assert {each["msg_type"] for each in heard} <= widgets
    closed = {each["content"]["comm_id"] for each in heard if each["msg_type"] == "comm_close"}
    assert closed == {"c0", "c1", "c2"}
    for word in ("Traceback", "site-packages", "ipykernel", str(ROOT)):
        assert word not in json.dumps(heard)


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="finds ports as Linux shows them")
def test_no_port_of_the_page_gives_a_text_to_another_process(patient: str) -> None:
    kernel, model = opened_widget(patient)
    port = int(re.search(r":(\d+)/", patient)[1])  # type: ignore[index]

    async def while_asked() -> tuple[list[int], bytes, list[dict[str, Any]]]:
        line = await joined(patient, kernel)
        listener = await asyncio.create_subprocess_exec(
            sys.executable, "-c", LISTENER, str(port), stdout=asyncio.subprocess.PIPE
        )
        assert listener.stdout
        ports = [int(each) for each in (await listener.stdout.readline()).split()[1:]]
        for number in range(20):
            hello = {"type": "hello", "client": "c", "id": f"q{number}"}
            await line.say("comm_msg", comm_id=model, data={"method": "custom", "content": hello})
        await line.listen(4)
        taken, _ = await listener.communicate()
        return ports, taken, await line.ended()

    ports, taken, heard = asyncio.run(while_asked())
    assert sum(SENTINEL in json.dumps(each) for each in heard) >= 20
    assert port in ports
    assert b"end" in taken
    assert SENTINEL.encode() not in taken


LISTENER = """
import encodings.idna, os, socket, sys, time  # before this is nobody, who may not read Python's own files
from pathlib import Path
import zmq

page = int(sys.argv[1])
held = {}
for process in Path("/proc").iterdir():
    if process.name.isdigit():
        try:
            held[process.name] = {os.readlink(one)[8:-1] for one in (process / "fd").iterdir()}
        except OSError:
            pass
rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
ports = {row[9]: int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A"}
server = next(pid for pid, sockets in held.items() if any(ports.get(one) == page for one in sockets))
parents = {pid: (Path("/proc") / pid / "stat").read_text().rsplit(")")[1].split()[1] for pid in held}
theirs = {server, *(pid for pid, parent in parents.items() if parent == server)}
open_ports = sorted({ports[one] for pid in theirs for one in held[pid] if one in ports})
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
listener = zmq.Context().socket(zmq.SUB)
listener.subscribe(b"")
plain = []
for port in open_ports:
    listener.connect(f"tcp://127.0.0.1:{port}")
    plain.append(socket.create_connection(("127.0.0.1", port)))
    plain[-1].sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
print("ports", *open_ports, flush=True)
end = time.time() + 3
while time.time() < end:
    if listener.poll(100):
        sys.stdout.buffer.write(b"".join(listener.recv_multipart()))
for one in plain:
    one.settimeout(0.2)
    try:
        while part := one.recv(1 << 16):
            sys.stdout.buffer.write(part)
    except OSError:
        pass
print("end", flush=True)
"""

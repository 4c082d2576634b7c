"""A server on this machine that speaks the chat protocol, and fails in every way that a test asks for."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = "application/json"
Behaviour = Callable[["Handler", dict[str, Any]], None]


def completion(text: str | None, *, finish_reason: str = "stop", **changes: Any) -> bytes:
    """Return the body of an answer; `changes` replace its parts."""
    message = {"role": "assistant", "content": text} | changes.pop("message", {})
    answer = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }
    return json.dumps(answer | changes).encode()


@dataclass
class Server:
    """Where the server is, what it was asked, and what it does next (the last behaviour repeats)."""

    port: int
    behaviours: list[Behaviour]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def destination(self) -> str:
        return f"127.0.0.1:{self.port} (this machine)"


class Handler(BaseHTTPRequestHandler):
    """One request: noted, then answered by the behaviour whose turn it is."""

    protocol_version = "HTTP/1.1"
    state: Server
    lock: threading.Lock

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.lock:
            self.state.requests.append(body)
            self.state.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.state.times.append(time.monotonic())
            behaviours = self.state.behaviours
            behaviour = behaviours.pop(0) if len(behaviours) > 1 else behaviours[0]
        behaviour(self, body)

    do_GET = do_POST  # noqa: N815 - the name that the standard library calls

    def send(
        self, status: int, body: bytes, *, content_type: str = JSON, length: int | None = None, **more: Any
    ) -> None:
        """Send head and body in one write: in two, each answer waits 40 ms for an acknowledgement."""
        head = [
            f"HTTP/1.1 {status} X",
            f"Content-Type: {content_type}",
            f"Content-Length: {length or len(body)}",
        ]
        head += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the tests' output clean."""


def says(text: str | None, **changes: Any) -> Behaviour:
    return lambda handler, body: handler.send(200, completion(text, **changes))


def rates(handler: Handler, body: dict[str, Any]) -> None:
    """Answer with a number that follows from the text, so that a test can tell the answers apart."""
    handler.send(200, completion(str(1 + len(body["messages"][-1]["content"]) % 5)))


def raw(body: bytes, *, status: int = 200, content_type: str = JSON, **headers: Any) -> Behaviour:
    return lambda handler, _: handler.send(status, body, content_type=content_type, **headers)


def fails(status: int, **headers: Any) -> Behaviour:
    """Fail with a body that repeats what was sent, as some servers do."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        echo = {"error": {"message": f"bad: {json.dumps(body)}", "type": "x", "code": "y"}}
        handler.send(status, json.dumps(echo).encode(), **headers)

    return behave


def slow(seconds: float) -> Behaviour:
    def behave(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        with suppress(OSError):  # the client has gone
            says("3")(handler, body)

    return behave


def drips(seconds: float) -> Behaviour:
    """Send a byte of white space ten times a second, so that no single packet is late."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        answer = b" " * int(seconds * 10) + completion("3")
        handler.wfile.write(
            f"HTTP/1.1 200 OK\r\nContent-Type: {JSON}\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
        )
        with suppress(OSError):
            for byte in answer:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                time.sleep(0.1)

    return behave


def gzipped(times: int, size: int) -> Behaviour:
    """Send an answer behind `size` spaces, packed so often: a few kB that unpack to all of it."""

    def packed(parts: Iterator[bytes]) -> Iterator[bytes]:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        yield from (packer.compress(part) for part in parts)
        yield packer.flush()

    parts: Iterator[bytes] = iter([*[b" " * 1_000_000] * (size // 1_000_000), completion("3")])
    for _ in range(times):
        parts = packed(parts)
    return raw(b"".join(parts), content_encoding=", ".join(["gzip"] * times))


def repeats(part: bytes, *, before: bytes = b"", seconds: float = 8.0, pause: float = 0.05) -> Behaviour:
    """Send `part` again and again, for so many seconds, and then an answer."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        until = time.monotonic() + seconds
        with suppress(OSError):  # the client has gone
            handler.wfile.write(before)
            while time.monotonic() < until:
                handler.wfile.write(part)
                time.sleep(pause)
            says("3")(handler, body)

    return behave


@contextmanager
def listening(behave: Callable[[socket.socket], None], *, buffer: int = 65_536) -> Iterator[int]:
    """Hand each connection to `behave`, before anything of it is read; the port is yielded."""

    def accept() -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behave(connection)

    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def cut_off(handler: Handler, body: dict[str, Any]) -> None:
    """Send half a body and break the connection."""
    whole = completion("3")
    handler.send(200, whole[: len(whole) // 2], length=len(whole))
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Server]:
    """Run a server with these behaviours, in turn."""
    handler = type("Bound", (Handler,), {"lock": threading.Lock()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        handler.state = state = Server(http.server_port, list(behaviours))
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield state
        finally:
            http.shutdown()
            thread.join()

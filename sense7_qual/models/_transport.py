"""One HTTP POST with one deadline, whose reply is counted as it is read.

The headers that are sent are those that are named here: no environment variable adds to them, no reply is
unpacked, no redirect followed. A machine elsewhere is reached through the proxy of the environment or the
system where there is one. The proxy is told the name of that machine and passes on what it cannot read.
"""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import httpcore

#: So small that no part of it waits for a server which takes it byte by byte.
_WRITTEN_AT_ONCE: Final = 4_096
_IDLE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """Status, headers (names in lower case) and body of a reply, as they came."""

    status: int
    headers: dict[str, str]
    body: bytes


def connections(base_url: str, *, local: bool) -> httpcore.ConnectionPool:
    """Return the connections to an address: to this machine never through a proxy."""
    shared: dict[str, Any] = {
        "max_connections": None,
        "keepalive_expiry": _IDLE_SECONDS,
        "network_backend": _Network(),
    }
    if base_url.startswith("https:"):  # certificates take .1 s to load, and http has none
        shared["ssl_context"] = httpcore.default_ssl_context()
    proxy = None if local else _proxy(urlsplit(base_url).netloc)
    if proxy is None:
        return httpcore.ConnectionPool(**shared)
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("no http proxy")
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return httpcore.HTTPProxy(f"{parts.scheme}://{host}:{port}", proxy_auth=login, **shared)


def post(
    pool: httpcore.ConnectionPool,
    url: str,
    body: bytes,
    *,
    headers: dict[str, str],
    seconds: float,
    largest: int,
) -> Answer:
    """Send `body` and return the reply, of which no more than `largest` bytes and a packet are read."""
    until = time.monotonic() + seconds
    # httpcore hands each of these on to the connection as it is: here not a time span, but the deadline.
    deadline = {"timeout": {"connect": until, "read": until, "write": until}}
    named = {"Host": urlsplit(url).netloc, "Content-Length": str(len(body)), **headers}
    sent = [(name.encode(), value.encode()) for name, value in named.items()]
    received = bytearray()
    with pool.stream("POST", url, headers=sent, content=body, extensions=deadline) as response:
        for part in response.iter_stream():
            received += part
            if len(received) > largest:
                break
        return Answer(response.status, _named(response.headers), bytes(received))


def _named(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by name; one that comes more than once has all its values, by commas."""
    named: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        named[name] = f"{named[name]}, {value}" if name in named else value
    return named


def _proxy(host: str) -> str | None:
    proxies = urllib.request.getproxies()
    named = proxies.get("https") or proxies.get("all")
    return None if not named or urllib.request.proxy_bypass(host) else named


def _seconds_left(until: float | None) -> float:
    seconds = 0.0 if until is None else until - time.monotonic()
    if seconds <= 0:
        raise httpcore.ReadTimeout("the deadline has passed")
    return seconds


class _Network(httpcore.SyncBackend):
    """Connections whose every step ends at the deadline, which is given in place of a time span."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first of the host's addresses that answers; each has its share of the time."""
        try:
            resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise httpcore.ConnectError("no such host") from None
        addresses = list(dict.fromkeys(str(one[4][0]) for one in resolved))
        for n_left, address in zip(range(len(addresses), 0, -1), addresses, strict=True):
            try:
                stream = super().connect_tcp(
                    address, port, _seconds_left(timeout) / n_left, local_address, socket_options
                )
                return _Stream(stream)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if n_left == 1:
                    raise
        raise httpcore.ConnectError("a host without an address")


class _Stream(httpcore.NetworkStream):
    """A connection whose `timeout` is the moment at which waiting ends, not how long one packet may take."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _seconds_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITTEN_AT_ONCE):
            self._stream.write(buffer[start : start + _WRITTEN_AT_ONCE], _seconds_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, _seconds_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

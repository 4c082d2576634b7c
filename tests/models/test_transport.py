"""What an endpoint is sent (nothing of the environment), and how much memory and time it may take."""

from __future__ import annotations

import os
import socket
import time
import tracemalloc
from email.utils import formatdate
from pathlib import Path

import pytest

from sense7_qual import models
from sense7_qual.models import EndpointError
from tests.helpers.chat_questions import ASK, KEY, asking, failure
from tests.helpers.chat_server import (
    Behaviour,
    Server,
    completion,
    fails,
    gzipped,
    listening,
    raw,
    repeats,
    says,
    serving,
)

MB = 1_000_000


# --- memory ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 2])
def test_a_packed_reply_is_refused_and_never_unpacked(times: int) -> None:
    """300 MB behind some kB: unpacked, they were accepted as an answer."""
    behaviour = gzipped(times, 300 * MB)
    with serving(behaviour) as server:
        tracemalloc.start()
        try:
            message = failure(asking(server, max_retries=2), EndpointError)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert "found a packed one (Content-Encoding)" in message
        assert peak < 20 * MB
        assert len(server.requests) == 1
        assert server.headers[0]["accept-encoding"] == "identity"


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "identity, gzip", "x-made-up"])
def test_every_other_encoding_is_refused_too(encoding: str) -> None:
    with serving(raw(b'{"choices": []}', content_encoding=encoding)) as server:
        assert "a packed one" in failure(asking(server), EndpointError)


def test_a_reply_that_says_it_is_not_packed_is_read() -> None:
    with serving(raw(completion("4"), content_encoding="identity")) as server:
        assert asking(server)(ASK) == "4"


def test_an_endless_body_is_left_after_the_limit() -> None:
    """One chunk after another, 64 kB each: not more than the limit and a packet is taken in."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    with serving(repeats(chunk, before=head, pause=0.0)) as server:
        tracemalloc.start()
        try:
            with pytest.raises(models.NoAnswer, match="up to 2,000,000 bytes – found more"):
                asking(server)(ASK)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 20 * MB


def test_a_count_of_tokens_that_no_reply_can_have_is_no_count() -> None:
    with serving(says("4", usage={"prompt_tokens": 10**400, "completion_tokens": 2})) as server:
        chat = asking(server, price_per_million=1.0)
        assert chat(ASK) == "4"
        assert (chat.usage.n_uncounted, chat.usage.prompt_tokens) == (1, 0)


# --- time --------------------------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\n"
SLOW = {
    "a byte of a header": repeats(b"a", before=HEAD + b"X-Slow: "),
    "a header": repeats(b"X-Slow: a\r\n", before=HEAD),
    "a byte of the first line": repeats(b"0", before=b"HTTP/1.1 200 O"),
    "100 Continue": repeats(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 Continue without a pause": repeats(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000, pause=0.0),
    "102 Processing": repeats(b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a byte of the body": repeats(b" ", before=HEAD + b"Content-Type: application/json\r\n\r\n"),
    "an error's body": repeats(b" ", before=b"HTTP/1.1 404 X\r\nContent-Length: 99999\r\n\r\n"),
}


@pytest.mark.long
@pytest.mark.parametrize("behaviour", list(SLOW.values()), ids=list(SLOW))
def test_one_deadline_holds_over_the_whole_request(behaviour: Behaviour) -> None:
    """Each of these goes on for 8 s, and no packet of it is late."""
    with serving(behaviour) as server:
        started = time.monotonic()
        message = failure(asking(server, timeout=0.5), EndpointError)
        assert time.monotonic() - started < 4
        assert "found none within 0.5 s (asked once)" in message


def _read_slowly(connection: socket.socket) -> None:
    until = time.monotonic() + 8
    while time.monotonic() < until and connection.recv(2_000):
        time.sleep(0.05)
    connection.sendall(b"HTTP/1.1 404 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def _silent(connection: socket.socket) -> None:
    time.sleep(8)


@pytest.mark.long
def test_the_deadline_holds_while_the_request_is_sent() -> None:
    with listening(_read_slowly, buffer=4_096) as port:
        chat = asking(Server(port, []), timeout=0.5)
        started = time.monotonic()
        with pytest.raises(EndpointError, match=r"none within 0\.5 s"):
            chat([{"role": "user", "content": "a" * 20 * MB}])
        assert time.monotonic() - started < 4


@pytest.mark.long
def test_the_deadline_holds_while_the_connection_is_secured() -> None:
    with listening(_silent) as port:
        base_url = f"https://127.0.0.1:{port}/v1"
        chat = asking(Server(port, []), base_url=base_url, timeout=0.5)
        started = time.monotonic()
        assert "found none within 0.5 s" in failure(chat, EndpointError)
        assert time.monotonic() - started < 4


@pytest.mark.long
def test_the_time_that_a_server_asks_for_may_be_a_date_and_not_too_late() -> None:
    in_two_seconds = formatdate(time.time() + 2, usegmt=True)
    with serving(fails(503, Retry_After=in_two_seconds), says("4")) as server:
        assert asking(server, max_retries=1)(ASK) == "4"
        assert server.times[1] - server.times[0] > 0.6  # dates have whole seconds
    with serving(fails(429, Retry_After="3600"), says("4")) as server:
        assert "found status 429" in failure(asking(server, max_retries=3), EndpointError)
        assert len(server.requests) == 1


# --- what is sent ------------------------------------------------------------------------------------

CANARY = "canary-in-the-environment"
#: Each of these is read by some client of this protocol, or by what stands below it.
VARIABLES = [
    *("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID"),
    *("OPENAI_WEBHOOK_SECRET", "OPENAI_API_TYPE", "OPENAI_API_VERSION", "AZURE_OPENAI_API_KEY"),
    *("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT", "AWS_REGION", "AWS_PROFILE", "HF_TOKEN", "USER"),
]


def test_no_variable_and_no_netrc_reaches_an_endpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Other: {CANARY}\nAuthorization: Bearer {CANARY}")
    monkeypatch.setenv("OPENAI_LOG", "debug")
    monkeypatch.setenv("QUAL_TEST_KEY", KEY)
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login {CANARY} password {CANARY}\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    with serving(says("4")) as other, serving(says("4")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", other.base_url)
        asking(server)(ASK)
        asking(server, api_key_env="QUAL_TEST_KEY")(ASK)
        assert other.requests == []
    always = {"host", "content-length", "content-type", "accept", "accept-encoding", "user-agent"}
    assert [set(sent) for sent in server.headers] == [always, always | {"authorization"}]
    assert server.headers[1]["authorization"] == f"Bearer {KEY}"
    assert CANARY not in str(server.headers) + str(server.requests) + caplog.text
    assert "Xanthippe" not in caplog.text


def test_a_proxy_learns_the_name_of_the_other_machine_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    received: list[bytes] = []

    def refuse(connection: socket.socket) -> None:
        received.append(connection.recv(65_536))
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        received.append(connection.recv(65_536))  # the first message of TLS

    _no_proxies(monkeypatch)
    monkeypatch.setenv("QUAL_TEST_KEY", KEY)
    with listening(refuse) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ana:word@127.0.0.1:{port}")
        chat = models.chat(
            base_url="https://api.example.org/v1",
            model="m-1",
            api_key_env="QUAL_TEST_KEY",
            consent="send at most 1 text to api.example.org",
            max_retries=0,
        )
        message = failure(chat, EndpointError)
    assert "no connection, or one cut off" in message
    assert received[0].startswith(b"CONNECT api.example.org:443 HTTP/1.1\r\n")
    assert received[1][:1] == b"\x16"  # a handshake of TLS
    assert all(word not in b"".join(received) for word in (b"Xanthippe", KEY.encode()))
    assert "word" not in message


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_proxies(monkeypatch)
    monkeypatch.setenv("ALL_PROXY", "socks5://ana:word@127.0.0.1:1")
    monkeypatch.setenv("QUAL_TEST_KEY", KEY)
    chat = models.chat(
        base_url="https://api.example.org/v1",
        model="m-1",
        api_key_env="QUAL_TEST_KEY",
        consent="send at most 1 text to api.example.org",
    )
    with pytest.raises(EndpointError, match="to be an http proxy – found another kind") as refused:
        chat(ASK)
    assert "word" not in str(refused.value)


def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def test_nothing_asks_an_endpoint_but_what_checks_the_consent() -> None:
    with serving(says("4")) as server:
        chat = asking(server, consent=None)
        public = [name for name in dir(chat.endpoint) if not name.startswith("_")]
        assert not any(callable(getattr(chat.endpoint, name)) for name in public)

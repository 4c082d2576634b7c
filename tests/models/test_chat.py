"""The client for language models, against a server on this machine that fails in the ways servers fail."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
import traceback
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from sense7_qual import models
from sense7_qual.errors import QualError, StoreError, TableError
from sense7_qual.models import EndpointError, NoAnswer, Usage
from tests.helpers.chat_questions import ASK, KEY, PRIVATE, asking, failure
from tests.helpers.chat_server import (
    Behaviour,
    Server,
    completion,
    cut_off,
    drips,
    fails,
    rates,
    raw,
    says,
    serving,
    slow,
)
from tests.helpers.places import ROOT

# --- asking ------------------------------------------------------------------------------------------


def test_a_reply_comes_back_and_is_counted() -> None:
    with serving(says("4")) as server:
        chat = asking(server, price_per_million=(2.5, 10.0))
        assert chat(ASK) == "4"
        assert server.requests == [{"model": "m-1", "messages": ASK, "temperature": 0}]
        # 100 tokens at 2.50 and 2 at 10.00 a million, by hand.
        assert chat.usage == Usage(1, 0, 0, 0, 100, 2, 0, pytest.approx(0.00027), 0, 0)


def test_parameters_go_along_as_they_are_named() -> None:
    with serving(says("4")) as server:
        asking(server, parameters={"max_completion_tokens": 5, "seed": 7})(ASK)
        assert server.requests[0] == {"model": "m-1", "messages": ASK, "max_completion_tokens": 5, "seed": 7}


def test_a_refusal_is_a_reply() -> None:
    with serving(says(None, message={"refusal": "I cannot rate that."})) as server:
        assert asking(server)(ASK) == "I cannot rate that."


def test_an_answer_without_counts_is_said_to_be_uncounted() -> None:
    with serving(says("4", usage=None)) as server:
        chat = asking(server, price_per_million=1)
        chat(ASK)
        assert (chat.usage.n_answers, chat.usage.n_uncounted, chat.usage.cost) == (1, 1, 0.0)


@pytest.mark.long
def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUAL_TEST_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with serving(fails(500), says(PRIVATE)) as server:
        chat = asking(server, api_key_env="QUAL_TEST_KEY", max_retries=1, cache=tmp_path)
        chat(ASK)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(chat) + str(chat.endpoint) + caplog.text
    assert "Xanthippe" not in repr(chat) + str(chat.usage) + caplog.text
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_the_key_of_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):
        priority = 1  # type: ignore[assignment]
        held: dict[tuple[str, str], str] = {}  # noqa: RUF012

        def get_password(self, service: str, username: str) -> str | None:
            return self.held.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            self.held[service, username] = password

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        with serving(says("4")) as server:
            keyring.set_password("sense7_qual", server.destination, KEY)
            monkeypatch.delenv("QUAL_TEST_KEY", raising=False)
            asking(server, api_key_env="QUAL_TEST_KEY")(ASK)
            assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    finally:
        keyring.set_keyring(before)


def test_a_key_is_never_an_argument() -> None:
    for wrong in (KEY, "two words", "sk_live_1"):
        with pytest.raises(EndpointError, match="name of an environment variable") as refused:
            models.chat(base_url="https://api.example.org/v1", model="m", api_key_env=wrong)
        assert wrong not in str(refused.value)


def test_another_machine_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUAL_TEST_KEY", raising=False)
    chat = models.chat(
        base_url="https://api.example.org/v1",
        model="m",
        api_key_env="QUAL_TEST_KEY",
        consent="send at most 1 text to api.example.org",
    )
    with pytest.raises(
        EndpointError, match=r"found none in the environment \(QUAL_TEST_KEY\) or the keyring"
    ):
        chat(ASK)


@pytest.mark.parametrize("key", ["naïve", "two words", "line\nbreak"])
def test_a_key_that_no_header_can_hold(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUAL_TEST_KEY", key)
    with serving(says("4")) as server, pytest.raises(EndpointError, match="printable") as refused:
        asking(server, api_key_env="QUAL_TEST_KEY")(ASK)
    assert key not in str(refused.value)


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("http://api.example.org/v1", "found http to api.example.org"),
        ("http://localhost.example.org/v1", "found http to localhost.example.org"),
        ("http://128.0.0.1/v1", "found http to 128.0.0.1"),
        ("https://user:word@api.example.org/v1", "without user, key or query"),
        ("https://api.example.org/v1?key=word", "without user, key or query"),
        ("ftp://api.example.org", "without user, key or query"),
        ("https://[api", "without user, key or query"),
        ("api.example.org", "without user, key or query"),
        ("https://api.example.org/v1\r\nX-Other: word", "without user, key or query"),
        ("https://api.exämple.org/v1", "without user, key or query"),
    ],
)
def test_an_address_that_is_not_safe(base_url: str, expected: str) -> None:
    with pytest.raises(EndpointError, match=expected) as refused:
        models.chat(base_url=base_url, model="m")
    assert "word" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"timeout": float("inf")},
        {"parameters": {"stop": {1, 2}}},
        {"parameters": {"temperature": float("nan")}},
        {"max_retries": -1},
        {"model": ""},
        {"parameters": {"stream": True}},
        {"run": 0},
        {"price_per_million": -1},
        {"price_per_million": (1, 2, 3)},
    ],
)
def test_settings_out_of_range(wrong: dict[str, object]) -> None:
    with pytest.raises(QualError, match="expected"):
        models.chat(**{"base_url": "http://localhost:1/v1", "model": "m", **wrong})  # type: ignore[arg-type]


# --- consent -----------------------------------------------------------------------------------------


def test_nothing_is_sent_without_consent_and_the_refusal_says_what_would_be() -> None:
    with serving(rates) as server:
        chat = asking(server, consent=None, price_per_million=(1_000.0, 0.0))
        conversations = [[{"role": "user", "content": f"{PRIVATE} {i:02}"}] for i in range(40)]
        with pytest.raises(QualError, match="found none; nothing was sent") as refused:
            chat.prepare([*conversations, conversations[0]])
        message = str(refused.value)
        assert server.requests == []
        # 29 characters each: 1,160 in all, 290 tokens, and 4 around each text: 450 at 1,000 a million.
        assert "40 texts (1,160 characters, about 450 tokens, about 0.45 in the currency" in message
        assert f"to {server.destination}, where nothing leaves the machine unless" in message
        consent = f"send at most 40 texts to {server.destination}"
        assert f"consent={consent!r}" in message
        assert "Xanthippe" not in message
        assert chat.estimate(conversations).consent == consent
        allowed = asking(server, consent=consent)
        allowed.prepare(conversations)
        assert len({allowed(messages) for messages in conversations}) == 1
        assert len(server.requests) == 40
        with pytest.raises(QualError, match="found one for 40 texts, where 41 are to be sent"):
            allowed([{"role": "user", "content": "one more"}])
        assert len(server.requests) == 40


@pytest.mark.parametrize(
    "consent",
    [
        "yes",
        "send at most 40 texts to api.example.org.evil.example",
        "send at most 40 texts to example.org",
        "send at most 0 texts to api.example.org",
        "send at most 40 redacted texts to api.example.org",
        "send at most ٤٠ texts to api.example.org",
    ],
)
def test_consent_to_something_else_is_none(consent: str) -> None:
    chat = models.chat(base_url="https://api.example.org/v1", model="m", consent=consent)
    with pytest.raises(QualError, match="found one in other words, or for something else; nothing was sent"):
        chat(ASK)


def test_consent_names_the_other_machine_and_its_port() -> None:
    chat = models.chat(base_url="https://api.example.org:8443/v1", model="m")
    found = chat.estimate([ASK, ASK])
    assert found.consent == "send at most 1 text to api.example.org:8443"
    assert (found.leaves_machine, found.n_texts, found.n_to_send, found.cost) == (True, 1, 1, None)
    assert "unless that server" not in str(found)
    with pytest.raises(QualError, match=r"1 texts .* would go to api\.example\.org:8443; 0 more"):
        chat(ASK)


def test_what_is_cached_needs_no_consent_and_the_words_stay_the_same(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "another"}]
    with serving(says("4")) as server:
        asking(server, n=2, cache=tmp_path)(ASK)
        later = asking(server, consent=None, cache=tmp_path)
        assert later(ASK) == "4"
        found = later.estimate([ASK, other])
        assert (found.n_texts, found.n_cached, found.n_to_send) == (2, 1, 1)
        assert found.consent == f"send at most 2 texts to {server.destination}"
        with pytest.raises(QualError, match="nothing was sent"):
            later(other)
        assert len(server.requests) == 1


# --- redaction ---------------------------------------------------------------------------------------


def test_a_text_is_redacted_before_anything_else(tmp_path: Path) -> None:
    def redact(text: str) -> str:
        return text.replace("Xanthippe Quill", "[NAME]")

    turns = json.dumps([{"role": "user", "content": "Hello,\nXanthippe Quill here, rated"}])
    with serving(says("4")) as server:
        chat = asking(server, redact=redact, cache=tmp_path)
        chat([{"role": "system", "content": "Rate."}, {"role": "user", "content": turns}])
        chat(ASK)
        sent = [request["messages"][1]["content"] for request in server.requests]
        assert json.loads(sent[0]) == [{"role": "user", "content": "Hello,\n[NAME] here, rated"}]
        assert sent[1] == "my name is [NAME]"
        with pytest.raises(QualError, match="send at most 1 redacted text to"):
            models.chat(base_url=server.base_url, model="m", redact=redact, cache=tmp_path)(ASK)


def test_escapes_of_json_hide_no_name_from_the_redaction() -> None:
    import re

    def redact(text: str) -> str:
        return re.sub(r"\bAnna\b", "[NAME]", text)

    turns = json.dumps([{"role": "user", "content": "I am\nAnna\tMüller"}], ensure_ascii=False)
    with serving(says("4")) as server:
        asking(server, redact=redact)([{"role": "user", "content": turns}])
        assert (
            json.loads(server.requests[0]["messages"][0]["content"])[0]["content"] == "I am\n[NAME]\tMüller"
        )


def test_a_redaction_that_gives_no_text() -> None:
    with (
        serving(says("4")) as server,
        pytest.raises(TableError, match="function text → text, but it returned NoneType"),
    ):
        asking(server, redact=lambda text: None)(ASK)


@pytest.mark.parametrize(
    "wrong",
    ["text", [PRIVATE], [{"role": "user"}], [{"role": "robber", "content": PRIVATE}], {"role": "user"}],
)
def test_what_are_no_messages(wrong: object) -> None:
    with (
        serving(says("4")) as server,
        pytest.raises(TableError, match="each with role and content") as refused,
    ):
        asking(server)(wrong)  # type: ignore[arg-type]
    assert "Xanthippe" not in str(refused.value)
    assert server.requests == []


# --- failures ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("behaviour", [slow(40), drips(40)], ids=["slow", "a byte at a time"])
def test_an_answer_that_takes_too_long(behaviour: Behaviour) -> None:
    with serving(behaviour) as server:
        started = time.monotonic()
        assert "found none within 0.5 s (asked once)" in failure(asking(server, timeout=0.5), EndpointError)
        assert time.monotonic() - started < 20


@pytest.mark.long
def test_too_many_requests_are_repeated_after_the_time_that_the_server_asks_for() -> None:
    with serving(fails(429, Retry_After="1"), says("4")) as server:
        chat = asking(server, max_retries=1)
        assert chat(ASK) == "4"
        assert server.times[1] - server.times[0] > 0.95  # its own first wait is .5 s at most
        assert chat.usage.n_retries == 1
        assert chat.usage.n_answers == 1


def test_too_many_requests_for_ever() -> None:
    with serving(fails(429, Retry_After="0.05")) as server:
        assert "found status 429 – too many requests" in failure(asking(server, max_retries=2), EndpointError)
        assert len(server.requests) == 3


@pytest.mark.long
def test_a_server_that_recovers_is_asked_again_after_a_growing_wait() -> None:
    with serving(fails(500), fails(503), says("4")) as server:
        chat = asking(server, max_retries=2)
        assert chat(ASK) == "4"
        first, second = server.times[1] - server.times[0], server.times[2] - server.times[1]
        assert first > 0.45
        assert second > 0.95
        assert len(server.requests) == 3


@pytest.mark.long
def test_an_answer_that_is_cut_off_is_asked_for_again() -> None:
    with serving(cut_off, says("4")) as server:
        assert asking(server, max_retries=1)(ASK) == "4"
    with serving(cut_off) as server:
        assert "no connection, or one cut off (asked once)" in failure(asking(server), EndpointError)


def test_nobody_listens() -> None:
    with socket.socket() as held:  # bound, so that no other program takes the port, but not listening
        held.bind(("127.0.0.1", 0))
        chat = asking(Server(held.getsockname()[1], []))
        assert "no connection" in failure(chat, EndpointError)


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (raw(b"<html>Welcome</html>", content_type="text/html"), "a page that is no JSON"),
        (raw(completion("4"), content_type="text/plain"), "a page that is no JSON"),
        (raw(b"%&/ Xanthippe"), "JSON of another protocol"),
        (raw(b"\xff\xfe\x00"), "JSON of another protocol"),
        (raw(b"[" * 100_000), "JSON of another protocol"),
        (raw(b'{"answer": "4 Xanthippe"}'), "JSON of another protocol"),
        (raw(b'"4"'), "JSON of another protocol"),
        (raw(b'{"choices": {"0": "4"}}'), "JSON of another protocol"),
        (fails(401), "the key is not accepted"),
        (fails(403), "the key may not use this model"),
        (fails(404), "there is no such model"),
        (fails(500), "status 500"),
    ],
)
def test_answers_that_are_of_no_use_for_any_text(behaviour: Behaviour, expected: str) -> None:
    with serving(behaviour) as server:
        assert expected in failure(asking(server), EndpointError)


@pytest.mark.parametrize(
    "behaviour",
    [
        raw(completion("4", choices=[])),
        raw(completion("4", choices=["4"])),
        raw(completion("4", choices=[{"message": {"content": ["4"]}}])),
        says(None),
        says("4", finish_reason="length"),
        says("4", finish_reason="content_filter"),
        fails(400),
        fails(413),
        fails(422),
    ],
)
def test_no_answer_to_one_text(behaviour: Behaviour, tmp_path: Path) -> None:
    with serving(behaviour) as server:
        chat = asking(server, cache=tmp_path)
        failure(chat, NoAnswer)
        assert chat.usage.n_no_answer == 1
        assert [path.name for path in tmp_path.iterdir()] == ["key"]  # so that it can be asked for again


def test_a_huge_answer_is_not_read() -> None:
    with serving(says("4" * 3_000_000)) as server:
        chat = asking(server, max_retries=3)
        assert "up to 2,000,000 bytes – found more" in failure(chat, NoAnswer)
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUAL_TEST_KEY", KEY)
    with serving(says("4")) as other:
        there = f"http://localhost:{other.port}/v1/chat/completions"
        with serving(raw(b"{}", status=status, Location=there)) as server:
            chat = asking(server, api_key_env="QUAL_TEST_KEY")
            assert f"found a redirect (status {status}) – it was not followed" in failure(chat, EndpointError)
        assert other.requests == []


def test_a_server_on_this_machine_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says("1")) as proxy, serving(says("4")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        assert asking(server)(ASK) == "4"
        assert proxy.requests == []


# --- the cache ---------------------------------------------------------------------------------------


def test_a_reply_is_paid_for_once(tmp_path: Path) -> None:
    with serving(says("4")) as server:
        assert asking(server, cache=tmp_path)(ASK) == "4"
        again = asking(server, cache=tmp_path, price_per_million=1)
        assert again(ASK) == again(ASK) == "4"
        assert len(server.requests) == 1
        assert again.usage == Usage(0, 2, 0, 0, 0, 0, 0, 0.0, 200, 4)


@pytest.mark.parametrize(
    "changed", [{"model": "m-2"}, {"parameters": {"temperature": 1}}, {"run": 2}, {"base_url": None}]
)
def test_whatever_decides_a_reply_asks_anew(changed: dict[str, object], tmp_path: Path) -> None:
    with serving(says("4"), says("5")) as server:
        assert asking(server, cache=tmp_path)(ASK) == "4"
        if "base_url" in changed:
            changed = {"base_url": server.base_url.replace("/v1", "/v2")}
        assert asking(server, cache=tmp_path, **changed)(ASK) == "5"
        assert asking(server, cache=tmp_path)(ASK) == "4"


def test_the_cache_holds_replies_for_their_owner_and_nothing_that_was_asked(tmp_path: Path) -> None:
    folder = tmp_path / "replies"
    with serving(says("4.5")) as server:
        asking(server, cache=folder)(ASK)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes.pop(folder) == 0o700
    assert list(modes.values()) == [0o600, 0o600]
    stored = b"".join(path.read_bytes() for path in modes)
    assert b"4.5" in stored
    assert b"Xanthippe" not in stored
    assert b"Rate." not in stored


def cut(stored: bytes) -> bytes:
    return stored[: len(stored) // 2]


def another_rating(stored: bytes) -> bytes:
    return stored.replace(b"Quill", b"Quail")


def another_count(stored: bytes) -> bytes:
    return stored.replace(b"100", b"900")


def without_a_seal(stored: bytes) -> bytes:
    return json.dumps(json.loads(stored)["reply"]).encode()


@pytest.mark.parametrize(
    "change",
    [
        cut,
        another_rating,
        another_count,
        without_a_seal,
        lambda _: b"",
        lambda _: b"[]",
        lambda _: b"[" * 10**5,
    ],
)
def test_a_damaged_reply_is_said_and_not_shown(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    with serving(says(PRIVATE)) as server:
        chat = asking(server, cache=tmp_path)
        chat(ASK)
        stored = next(tmp_path.glob("*.json"))
        stored.write_bytes(change(stored.read_bytes()))
        with pytest.raises(StoreError, match=r"found: \w+\.json, which is not the reply") as refused:
            chat(ASK)
        assert "Xanthippe" not in "".join(traceback.format_exception(refused.value))
        stored.unlink()  # as the message says
        assert chat(ASK) == PRIVATE


def test_replies_that_were_swapped_are_noticed(tmp_path: Path) -> None:
    other = [{"role": "user", "content": "another"}]
    with serving(says("1"), says("5")) as server:
        chat = asking(server, cache=tmp_path)
        assert (chat(ASK), chat(other)) == ("1", "5")
        first, second = sorted(tmp_path.glob("*.json"))
        first.rename(tmp_path / "held")
        second.rename(first)
        (tmp_path / "held").rename(second)
        for asked in (ASK, other):
            with pytest.raises(StoreError, match="not the reply that was kept under this name"):
                chat(asked)


def test_a_reply_that_fills_the_disk_is_not_read(tmp_path: Path) -> None:
    with serving(says("4")) as server:
        chat = asking(server, cache=tmp_path)
        chat(ASK)
        os.truncate(next(tmp_path.glob("*.json")), 8 * 2**30)
        tracemalloc.start()
        try:
            with pytest.raises(StoreError, match="8,589,934,592 bytes, more than"):
                chat(ASK)
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", [b"", b"k", b"k" * 31, b"k" * 33])
def test_a_key_that_is_none_is_refused(key: bytes, tmp_path: Path) -> None:
    """With an empty key, whoever has the files could test a guess at what was asked."""
    (tmp_path / "key").write_bytes(key)
    with pytest.raises(StoreError, match=f"found: a key of {len(key)} bytes instead of 32"):
        models.chat(base_url="http://localhost:1/v1", model="m", cache=tmp_path)


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cache of replies: expected a folder"):
        models.chat(base_url="http://localhost:1/v1", model="m", cache=tmp_path / "file")


@pytest.mark.crash
def test_a_killed_run_goes_on_without_paying_twice(tmp_path: Path) -> None:
    """Ten texts; the process is killed at the sixth, which is the only one that is asked for twice."""
    code = """
        import sys
        from sense7_qual import models
        base_url, consent, cache = sys.argv[1:]
        chat = models.chat(base_url=base_url, model="m-1", consent=consent, cache=cache)
        for i in range(10):
            print(chat([{"role": "user", "content": f"text {'x' * i}"}]), flush=True)
    """

    with serving(*[rates] * 5, slow(30)) as server:
        consent = f"send at most 10 texts to {server.destination}"
        command = [sys.executable, "-c", textwrap.dedent(code), server.base_url, consent, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as first:
            assert first.stdout is not None
            before = [first.stdout.readline().strip() for _ in range(5)]
            until = time.monotonic() + 20
            while len(server.requests) < 6 and time.monotonic() < until:
                time.sleep(0.01)
            os.kill(first.pid, signal.SIGKILL)
        server.behaviours[:] = [rates]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        after = done.stdout.split()
        assert after[:5] == before == ["1", "2", "3", "4", "5"]
        asked = [request["messages"][0]["content"] for request in server.requests]
        assert len(after) == 10
        assert sorted(asked) == sorted([f"text {'x' * i}" for i in range(10)] + ["text xxxxx"])
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}

"""One address that speaks the OpenAI protocol: checked, asked, and its answers and failures read.

Nothing that was sent or answered gets into an exception: messages name the host, a status and a count.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import json
import os
import re
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from sense7_qual.errors import QualError
from sense7_qual.models.replies import Reply

__all__ = ["Endpoint", "EndpointError", "Message", "NoAnswer", "endpoint"]

Message = Mapping[str, str]

_KEYRING_SERVICE: Final = "sense7_qual"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_SECRET: Final = re.compile(r"(sk|pk|key|hf|gsk|xai)[-_]", re.IGNORECASE)
#: A reply is a number or a paragraph. What is larger is a fault, and is not read into memory.
_LARGEST_BODY: Final = 2_000_000
#: Refused for what was sent, not for who sent it: too long, a content filter, a character.
_OF_ONE_TEXT: Final = frozenset({400, 413, 422})


class EndpointError(QualError):
    """The endpoint cannot be used as it is set up, or not now; the next text would fare no better."""


class NoAnswer(QualError):
    """The endpoint gave no usable answer to one text; another may have one."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Endpoint:
    """An address, a model, and how to reach it; made by `endpoint`."""

    base_url: str
    model: str
    destination: str
    local: bool
    api_key_env: str | None
    timeout: float
    max_retries: int
    parameters: Mapping[str, Any]
    _client: list[Any] = field(default_factory=list, init=False, repr=False, compare=False)

    def ask(self, messages: Sequence[Message]) -> tuple[Reply, int]:
        """Send the messages and return the reply, and how many times it had to be asked again.

        Raises
        ------
        NoAnswer
            The endpoint refused this text, answered nothing, or was cut off at its limit of tokens.
        EndpointError
            Anything else: no connection, no time, no permission, a redirect, an answer of another protocol.
        """
        import openai

        client, failed = self._opened(), QualError()
        try:
            found = client.chat.completions.with_raw_response.create(
                model=self.model, messages=list(messages), extra_body=dict(self.parameters)
            )
            return self._read(found.headers.get("content-type", ""), found.content), found.retries_taken
        except openai.OpenAIError as error:
            failed = self._failure(error)
        # Raised here, not above: openai's exceptions carry the texts, and would be this one's context.
        raise failed

    def _opened(self) -> Any:
        if not self._client:
            client = _client(self, _key(self.api_key_env, self.destination, self.local))
            weakref.finalize(self, client.close)
            self._client.append(client)
        return self._client[0]

    def _failure(self, error: Exception) -> QualError:
        import openai

        again = f"(asked {self.max_retries + 1} times)" if self.max_retries else "(asked once)"
        if isinstance(error, openai.APITimeoutError):
            return self._error(f"none within {self.timeout:g} s {again}", "raise timeout, or try later")
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error.status_code)
        if isinstance(error, openai.APIConnectionError):
            return self._error(f"no connection, or one cut off {again}", "check base_url and the network")
        return self._error(f"a {type(error).__name__}", "check base_url and model")

    def _refusal(self, status: int) -> QualError:
        if status in _OF_ONE_TEXT:
            return NoAnswer(
                f"{self.destination}: expected an answer – found status {status}: it refuses this text, or "
                "the parameters – check those where no text has an answer, else leave this one out."
            )
        remedies = {
            401: "the key is not accepted: check the environment variable or the keyring",
            403: "the key may not use this model: check both",
            404: "there is no such model or path: check model and base_url",
            429: "too many requests, or the credit is used up: try later; what is cached stays",
        }
        if 300 <= status < 400:
            return self._error(
                f"a redirect (status {status})",
                "it was not followed, since texts and key go to the address you name only; name the new one",
            )
        return self._error(f"status {status}", remedies.get(status, "try later; what is cached stays"))

    def _error(self, found: str, remedy: str) -> EndpointError:
        return EndpointError(f"{self.destination}: expected an answer – found {found} – {remedy}.")

    def _read(self, content_type: str, body: bytes) -> Reply:
        """Return the reply in a body, or say what the body is instead."""
        if "json" not in content_type.lower():
            raise self._error("a page that is no JSON", "check that base_url is that of the API (…/v1)")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            raise self._error("JSON of another protocol", "check that base_url is OpenAI-compatible")
        choice = answer["choices"][0] if answer["choices"] else {}
        message = choice.get("message") if isinstance(choice, dict) else None
        said = _said(message) if isinstance(message, dict) else None
        if said is None or choice.get("finish_reason") in ("length", "content_filter"):
            raise NoAnswer(
                f"{self.destination}: expected an answer – found none, or one cut off – where it is every "
                "text, raise the limit of tokens in parameters."
            )
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        return Reply(said, _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens")))


def endpoint(
    *,
    base_url: str,
    model: str,
    api_key_env: str | None,
    timeout: float,
    max_retries: int,
    parameters: Mapping[str, Any],
) -> Endpoint:
    """Return an endpoint whose address and settings are sound; nothing is sent.

    Raises
    ------
    EndpointError
        Not an http(s) address, http to another machine, a name that is no name of an environment variable,
        settings out of their range, or the package openai is not installed.

    Examples
    --------
    >>> endpoint(base_url="http://localhost:8000/v1", model="m", api_key_env=None, timeout=60, max_retries=2,
    ...          parameters={}).destination
    'localhost:8000 (this machine)'
    """
    destination, local = _destination(base_url)
    if importlib.util.find_spec("openai") is None:
        raise EndpointError(
            "chat: expected the package openai – found it not installed – pip install 'sense7_qual[llm]'."
        )
    if api_key_env is not None and (not _NAME.fullmatch(api_key_env) or _SECRET.match(api_key_env)):
        raise EndpointError(
            "chat: expected api_key_env to be the name of an environment variable – found something else "
            "(not shown: it may be a key) – set OPENAI_API_KEY, say, outside the notebook; pass its name."
        )
    if not model or not timeout > 0 or max_retries < 0:
        raise EndpointError(
            f"chat: expected a model, timeout above 0 and max_retries from 0 – found {model!r}, {timeout}, "
            f"{max_retries} – correct them."
        )
    taken = sorted({"model", "messages", "stream", "n"} & set(parameters))
    if taken:
        raise EndpointError(f"chat: expected other parameters – found {', '.join(taken)} – leave them out.")
    return Endpoint(base_url, model, destination, local, api_key_env, timeout, max_retries, dict(parameters))


def _destination(base_url: str) -> tuple[str, bool]:
    """Return the host (and port) that an address names, and whether it is this machine."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if (
        host is None
        or parts.scheme not in ("http", "https")
        or parts.username
        or parts.query
        or parts.fragment
    ):
        raise EndpointError(
            "chat: expected base_url such as 'https://api.openai.com/v1', without user, key or query – "
            "found something else – correct it; a key belongs in the environment or the keyring."
        )
    local = _is_this_machine(host)
    if parts.scheme == "http" and not local:
        raise EndpointError(
            f"chat: expected https for another machine – found http to {host} – texts and key would cross "
            f"the network readable; use https, or a tunnel (ssh -L 8000:localhost:8000 {host}) and localhost."
        )
    named = host if port is None else f"{host}:{port}"
    return (f"{named} (this machine)" if local else named), local


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(name: str | None, destination: str, local: bool) -> str:
    """Return the key: from the environment, else from the keyring; a server on this machine needs none."""
    key = (os.environ.get(name, "") if name else "") or _from_keyring(destination)
    key = key.strip()
    if key and (not key.isascii() or not key.isprintable() or " " in key):
        raise EndpointError("chat: expected a key of printable characters – found others – set it again.")
    if not key and not local:
        raise EndpointError(
            f"chat: expected a key for {destination} – found none in the environment"
            f"{f' ({name})' if name else ''} or the keyring – set a variable outside the notebook and pass "
            f"its name as api_key_env, or run: keyring set {_KEYRING_SERVICE} {destination}"
        )
    return key or "none-needed"


def _from_keyring(destination: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        return ""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_KEYRING_SERVICE, destination) or ""
    except KeyringError:  # no keyring on this machine, or it is locked
        return ""


def _client(settings: Endpoint, key: str) -> Any:
    """Return openai's client: no redirects, whole answers within the time, this machine without a proxy."""
    import openai

    timeout = settings.timeout  # the client must not hold on to the settings, or both would live for ever

    def bound(response: Any) -> None:
        response.stream = _bounded(response.stream, timeout)

    http = openai.DefaultHttpxClient(
        timeout=settings.timeout,
        follow_redirects=False,
        trust_env=not settings.local,
        verify=settings.base_url.startswith("https:"),  # certificates take .1 s to load, and http has none
        event_hooks={"response": [bound]},
    )
    return openai.OpenAI(
        api_key=key,
        base_url=settings.base_url,
        timeout=settings.timeout,
        max_retries=settings.max_retries,
        http_client=http,
    )


def _bounded(stream: Any, timeout: float) -> Any:
    """Return the stream of a body that ends in an error after `timeout` seconds, or when it is too large.

    The client's own timeout is per packet: a server that sends one byte a second would never meet it.
    """
    import httpx2

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            until, size = time.monotonic() + timeout, 0
            for chunk in stream:
                size += len(chunk)
                if size > _LARGEST_BODY:
                    raise NoAnswer(
                        f"expected an answer of up to {_LARGEST_BODY:,} bytes – found more – leave it out."
                    )
                if time.monotonic() > until:
                    raise httpx2.ReadTimeout("the body took too long")
                yield chunk

        def close(self) -> None:
            stream.close()

    return Bounded()


def _said(message: Mapping[str, Any]) -> str | None:
    """Return what the model said; a refusal is something said, too."""
    for name in ("content", "refusal"):
        if isinstance(message.get(name), str):
            return str(message[name])
    return None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

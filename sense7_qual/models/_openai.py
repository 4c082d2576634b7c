"""One address that speaks the OpenAI protocol: checked, asked, and its answers and failures read.

Nothing that was sent or answered gets into an exception: messages name the host, a status and a count.
"""

from __future__ import annotations

import importlib.util
import ipaddress
import itertools
import json
import math
import os
import re
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from sense7_qual.errors import QualError
from sense7_qual.models._caches import Reply

if TYPE_CHECKING:
    import httpcore

    from sense7_qual.models._transport import Answer

Message = Mapping[str, str]

_KEYRING_SERVICE: Final = "sense7_qual"
#: All that is sent beside the key, the host and the length. Packed replies could unpack to any size.
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "sense7_qual",
}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)
_SECRET: Final = re.compile(r"(sk|pk|key|hf|gsk|xai)[-_]", re.IGNORECASE)
#: A reply is a number or a paragraph. What is larger is a fault, and is not read into memory.
_LARGEST_BODY: Final = 2_000_000
_MOST_TOKENS: Final = 1_000_000_000
_LONGEST_NAME: Final = 200
_LONGEST_TIMEOUT: Final = 86_400
#: Worth asking again: too slow, in conflict, too many, and whatever is the server's own fault (5xx).
_PASSING: Final = frozenset({408, 409, 429})
_LONGEST_WAIT: Final = 120.0
_LONGEST_WAIT_OF_OURS: Final = 8.0
#: Refused for what was sent, not for who sent it: too long, a content filter, a character.
_OF_ONE_TEXT: Final = frozenset({400, 413, 422})


class EndpointError(QualError, OSError):
    """The endpoint cannot be used as it is set up, or not now; the next text would fare no better."""


class NoAnswer(QualError, OSError):
    """The endpoint gave no usable answer to one text; another may have one."""

    of_one_text = True


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
    identity: str
    key: str = field(default="", repr=False, compare=False)
    _connections: list[tuple[httpcore.ConnectionPool, dict[str, str]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def _ask(self, messages: Sequence[Message]) -> tuple[Reply, int]:
        """Send the messages and return the reply, and how many times it had to be asked again.

        For `Chat` alone, which asks for consent before.
        """
        request = {"model": self.model, "messages": list(messages), **self.parameters}
        body = json.dumps(request).encode()
        for n_retries in itertools.count():
            answer = self._sent(body)
            wait = _wait(answer, n_retries) if n_retries < self.max_retries else None
            if wait is None:
                break
            time.sleep(wait)
        if isinstance(answer, EndpointError):
            raise answer
        return self._read(answer), n_retries

    def _sent(self, body: bytes) -> Answer | EndpointError:
        """Return the answer to one request, or the error that says why there is none."""
        import httpcore

        from sense7_qual.models._transport import post

        pool, headers = self._opened()
        again = f"(asked {self.max_retries + 1} times)" if self.max_retries else "(asked once)"
        try:
            return post(
                pool,
                f"{self.base_url.rstrip('/')}/chat/completions",
                body,
                headers=headers,
                seconds=self.timeout,
                largest=_LARGEST_BODY,
            )
        except httpcore.TimeoutException:
            return self._error(f"none within {self.timeout:g} s {again}", "raise timeout, or try later")
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError):
            return self._error(f"no connection, or one cut off {again}", "check base_url and the network")

    def _opened(self) -> tuple[httpcore.ConnectionPool, dict[str, str]]:
        """Return the connections and the headers: these, and nothing that the environment adds."""
        if not self._connections:
            from sense7_qual.models._transport import connections

            key = self.key or _key(self.api_key_env, self.destination, self.local)
            try:
                pool = connections(self.base_url, local=self.local)
            except ValueError:
                raise EndpointError(
                    f"{self.destination}: expected the proxy of the environment or the system to be an http "
                    "proxy – found another kind – set HTTPS_PROXY to one, or NO_PROXY to this host."
                ) from None
            weakref.finalize(self, pool.close)
            self._connections.append(
                (pool, {**_HEADERS, **({"Authorization": f"Bearer {key}"} if key else {})})
            )
        return self._connections[0]

    def _refusal(self, status: int) -> EndpointError | NoAnswer:
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

    def _error(self, problem: str, remedy: str) -> EndpointError:
        return EndpointError(f"{self.destination}: expected an answer – found {problem} – {remedy}.")

    def _read(self, response: Answer) -> Reply:
        """Return the reply in an answer, or say what it is instead."""
        if response.status != 200:
            raise self._refusal(response.status)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise self._error(
                "a packed one (Content-Encoding)",
                "set the server or gateway to send what was asked for: identity",
            )
        if len(response.body) > _LARGEST_BODY:
            raise NoAnswer(
                f"{self.destination}: expected an answer of up to {_LARGEST_BODY:,} bytes – found more – "
                "leave it out."
            )
        if "json" not in response.headers.get("content-type", "").lower():
            raise self._error("a page that is no JSON", "check that base_url is that of the API (…/v1)")
        try:
            answer = json.loads(response.body)
        except (ValueError, RecursionError):
            answer = None
        return self._reply(answer)

    def _reply(self, answer: object) -> Reply:
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            raise self._error("JSON of another protocol", "check that base_url is OpenAI-compatible")
        choice = answer["choices"][0] if answer["choices"] else {}
        message = choice.get("message") if isinstance(choice, dict) else None
        text = _text_of(message) if isinstance(message, dict) else None
        if text is None or choice.get("finish_reason") in ("length", "content_filter"):
            raise NoAnswer(
                f"{self.destination}: expected an answer – found none, or one cut off – where it is every "
                "text, raise the limit of tokens in parameters."
            )
        usage = answer.get("usage")
        counts = usage if isinstance(usage, dict) else {}
        said = [answer.get(name) for name in ("model", "system_fingerprint")]
        names = [one[:_LONGEST_NAME] if isinstance(one, str) else None for one in said]
        sent, replied = (_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(text, sent, replied, names[0], names[1])


def endpoint(
    *,
    base_url: str,
    model: str,
    api_key_env: str | None,
    timeout: float,
    max_retries: int,
    parameters: Mapping[str, Any],
    identity: str | None = None,
) -> Endpoint:
    """Return an endpoint whose address and settings are sound; nothing is sent.

    `identity` stands for the address in what replies are kept under, where the address changes.

    Examples
    --------
    >>> endpoint(base_url="http://localhost:8000/v1", model="m", api_key_env=None, timeout=60, max_retries=2,
    ...          parameters={}).destination
    'localhost:8000 (this machine)'
    """
    destination, local = _destination(base_url)
    if api_key_env is not None and (not _NAME.fullmatch(api_key_env) or _SECRET.match(api_key_env)):
        raise EndpointError(
            "chat: expected api_key_env to be the name of an environment variable – found something else "
            "(not shown: it may be a key) – set OPENAI_API_KEY, say, outside the notebook; pass its name."
        )
    if not model or not 0 < timeout <= _LONGEST_TIMEOUT or max_retries < 0:
        raise EndpointError(
            f"chat: expected a model, timeout above 0 up to {_LONGEST_TIMEOUT:,} and max_retries from 0 – "
            f"found {model!r}, {timeout}, {max_retries} – change them."
        )
    reserved = sorted({"model", "messages", "stream", "n"} & set(parameters))
    if reserved:
        raise EndpointError(
            f"chat: expected other parameters – found {', '.join(reserved)} – leave them out."
        )
    try:
        json.dumps(dict(parameters), allow_nan=False)
    except (TypeError, ValueError):
        raise EndpointError(
            "chat: expected parameters that JSON can hold – found others – pass names with numbers, words, "
            "lists or mappings."
        ) from None
    return Endpoint(
        base_url,
        model,
        destination,
        local,
        api_key_env,
        timeout,
        max_retries,
        dict(parameters),
        identity or base_url,
    )


def _destination(base_url: str) -> tuple[str, bool]:
    """Return the host (and port) that an address names, and whether it is this machine."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if (
        not host
        or not (base_url.isascii() and base_url.isprintable() and " " not in base_url)
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
    return key


def _from_keyring(destination: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        return ""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(_KEYRING_SERVICE, destination) or ""
    except KeyringError:  # no keyring on this machine, or it is locked
        return ""


def _wait(response: Answer | EndpointError, n_retries: int) -> float | None:
    """Return the seconds after which to ask again, or None where that would not help."""
    ours: float = min(0.5 * 2.0 ** min(n_retries, 10), _LONGEST_WAIT_OF_OURS)
    if isinstance(response, EndpointError):  # no connection, or no time
        return ours
    if response.status not in _PASSING and response.status < 500:
        return None
    retry_after = _retry_after(response.headers.get("retry-after", ""))
    if retry_after is None:
        return ours
    return retry_after if retry_after <= _LONGEST_WAIT else None


def _retry_after(header: str) -> float | None:
    """Return the seconds that a server asks for, as a number or as a date; None where it does not."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):  # no date, or one without a time zone
            return None
    return seconds if math.isfinite(seconds) and seconds > 0 else None


def _text_of(message: Mapping[str, Any]) -> str | None:
    """Return the text of the model's answer; a refusal is an answer, too."""
    for name in ("content", "refusal"):
        if isinstance(message.get(name), str):
            return str(message[name])
    return None


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None

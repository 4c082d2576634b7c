"""A language model behind an OpenAI-compatible address, as a function: messages → reply.

Texts leave the machine only with a consent that says how many and whereto. What they will cost is
estimated before, what they did cost is counted after, and no reply is paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import check_arguments, check_least
from sense7_qual.errors import ArgumentError, TableError
from sense7_qual.models._caches import Reply, ReplyCache
from sense7_qual.models._openai import Endpoint, EndpointError, Message, NoAnswer, endpoint

Redact = Callable[[str], str]
Prices = tuple[float, float]

_CONSENT: Final = re.compile(r"send at most ([1-9][0-9]*) (redacted )?texts? to (.+)", re.ASCII)
_ROLES: Final = frozenset({"system", "user", "assistant", "developer"})
#: Rough, and said to be: English has four to five bytes a token, with some more around each message.
_BYTES_A_TOKEN: Final = 4
_TOKENS_AROUND: Final = 4
_PARAMETERS: Final[Mapping[str, Any]] = MappingProxyType({"temperature": 0})


@dataclass(frozen=True, slots=True)
class Cost:
    """What would leave the machine, to which destination, and its estimated cost; made by `Chat.estimate`.

    n_texts: different prompts; n_cached: those with a cached reply; n_to_send: the others, to which the
    characters, tokens (rough: four bytes each) and cost refer. cost is in the currency of the prices, None
    without prices. consent: the words that allow sending. of: how many texts and codes the prompts are of.
    """

    destination: str
    leaves_machine: bool
    redacted: bool
    n_texts: int
    n_cached: int
    n_to_send: int
    n_characters: int
    n_tokens: int
    cost: float | None
    consent: str
    of: str = ""

    def __str__(self) -> str:
        """Describe it in a sentence."""
        cost = (
            "no prices given" if self.cost is None else f"about {self.cost:.2f} in the currency of the prices"
        )
        where = (
            "" if self.leaves_machine else ", where nothing leaves the machine unless that server sends it on"
        )
        redacted = " redacted" if self.redacted else ""
        what = f"prompts, of {self.of}" if self.of else "texts"
        return (
            f"{self.n_to_send:,}{redacted} {what} ({self.n_characters:,} characters, about {self.n_tokens:,} "
            f"tokens, {cost}) would go to {self.destination}{where}; {self.n_cached:,} more have a reply"
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """The requests and cost of a `Chat` since it was made.

    n_answers: replies from the endpoint; n_from_cache: replies from the cache; n_no_answer: texts without a
    usable answer, which may have been charged; n_retries: repeated requests; prompt_tokens and
    completion_tokens: as counted by the endpoint; n_uncounted: answers without a count, not included in cost;
    cost: in the currency of the prices, None without prices; cached_prompt_tokens and
    cached_completion_tokens: the tokens of cached replies when they were paid for.
    """

    n_answers: int
    n_from_cache: int
    n_no_answer: int
    n_retries: int
    prompt_tokens: int
    completion_tokens: int
    n_uncounted: int
    cost: float | None
    cached_prompt_tokens: int
    cached_completion_tokens: int


@dataclass(slots=True)
class _Tally:
    """The counts behind `usage`, and which prompts this object has sent."""

    answers: list[Reply] = field(default_factory=list)
    cached: list[Reply] = field(default_factory=list)
    n_no_answer: int = 0
    n_retries: int = 0
    sent: set[bytes] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True, slots=True)
class Chat:
    """A language model as a function: `chat(messages)` gives the reply. Made by `chat`."""

    endpoint: Endpoint
    consent: str | None
    redact: Redact | None = field(repr=False)
    cache: ReplyCache | None
    prices: Prices | None
    run: int
    _tally: _Tally = field(default_factory=_Tally, init=False, repr=False, compare=False)

    def __call__(self, messages: Sequence[Message]) -> str:
        """Return the reply to messages of role and content, from the cache if it is there.

        Raises
        ------
        ArgumentError
            No consent was given, or it does not cover this text.
        NoAnswer
            The endpoint gave no usable answer to this text; another may have one.
        EndpointError
            The endpoint cannot be used with these settings, or not now.
        StoreError
            The cache cannot be read or written.
        TableError
            What is given are no messages, or `redact` does not give a text.
        """
        ready, tally = self._ready(messages), self._tally
        request = self._request(ready)
        known = self.cache.load(request) if self.cache else None
        if known is not None:
            with tally.lock:
                tally.cached.append(known)
            return known.text
        with tally.lock:
            if request not in tally.sent:
                self._check_consent(len(tally.sent) + 1, lambda: self._estimated([(ready, self.run)]))
                tally.sent.add(request)
        try:
            reply, n_retries = self.endpoint._ask(ready)
        except NoAnswer:
            with tally.lock:
                tally.n_no_answer += 1
            raise
        if self.cache:
            self.cache.save(request, reply)
        with tally.lock:
            tally.answers.append(reply)
            tally.n_retries += n_retries
        return reply.text

    def for_run(self, run: int) -> Chat:
        """Return this chat for a further run, which asks again, with the same consent and usage."""
        check_arguments(Chat.for_run, locals())
        further = replace(self, run=run)
        object.__setattr__(further, "_tally", self._tally)
        return further

    def as_sent(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """Return messages as they would be sent: redacted, but for what the system says; nothing is sent."""
        check_arguments(Chat.as_sent, locals())
        return self._ready(messages)

    @property
    def settings(self) -> dict[str, Any]:
        """Model, destination and parameters, and the names under which the endpoint answered; no key."""
        replies = [*self._tally.answers, *self._tally.cached]
        answered = {(one.model or "", one.system_fingerprint or "") for one in replies}
        return {
            "model": self.endpoint.model,
            "answered_as": [" ".join(filter(None, each)) for each in sorted(answered) if any(each)],
            "identity": self.endpoint.identity,
            "destination": self.endpoint.destination,
            "leaves_machine": not self.endpoint.local,
            "redacted": self.redact is not None,
            "parameters": dict(self.endpoint.parameters),
        }

    def prepare(self, conversations: Iterable[Sequence[Message]] | pd.DataFrame) -> None:
        """Refuse, before anything is sent, to send what the consent does not cover.

        Raises
        ------
        ArgumentError
            No consent, or one for fewer texts, for another destination, or without redaction.
        """
        check_arguments(Chat.prepare, locals())
        estimate = self.estimate(conversations)
        if estimate.n_to_send:
            self._check_consent(estimate.n_to_send, lambda: estimate)

    def estimate(
        self, conversations: Iterable[Sequence[Message]] | pd.DataFrame, *, reply_tokens: int = 10
    ) -> Cost:
        """Estimate what asking all of these would send, to which destination, and the cost; send nothing.

        Parameters
        ----------
        conversations
            One list of messages per text, such as `ratings.judge_prompts(messages).values()`; or the frame of
            `coders.prompts`.
        reply_tokens
            Tokens of a reply, for the cost. Models that reason before they answer use hundreds.

        Returns
        -------
        Cost
            `print` shows it as a sentence; `.consent` is what to pass as `chat(consent=…)`.
        """
        check_arguments(Chat.estimate, locals())
        check_least(Chat.estimate, 0, reply_tokens=reply_tokens)
        if not isinstance(conversations, pd.DataFrame):
            asked = [(self._ready(messages), self.run) for messages in conversations]
            return self._estimated(asked, reply_tokens)
        rows = zip(conversations["messages"], conversations["run"], strict=True)
        of = f"{_counted(conversations['unit_id'], 'text')} × {_counted(conversations['code'], 'code')}"
        asked = [(self._ready(messages), self.run + int(run) - 1) for messages, run in rows]
        return replace(self._estimated(asked, reply_tokens), of=of)

    @property
    def usage(self) -> Usage:
        """Answers, tokens and cost since this object was made."""
        tally = self._tally
        prompt, completion = _tokens(tally.answers)
        cached_prompt, cached_completion = _tokens(tally.cached)
        uncounted = [
            one for one in tally.answers if one.prompt_tokens is None or one.completion_tokens is None
        ]
        return Usage(
            n_answers=len(tally.answers),
            n_from_cache=len(tally.cached),
            n_no_answer=tally.n_no_answer,
            n_retries=tally.n_retries,
            prompt_tokens=prompt,
            completion_tokens=completion,
            n_uncounted=len(uncounted),
            cost=self._cost(prompt, completion),
            cached_prompt_tokens=cached_prompt,
            cached_completion_tokens=cached_completion,
        )

    def _estimated(self, asked: list[tuple[list[dict[str, str]], int]], reply_tokens: int = 10) -> Cost:
        """Return the estimate of messages, each with the number of its run."""
        distinct = {self._request(messages, run): messages for messages, run in asked}
        new = [
            messages
            for request, messages in distinct.items()
            if not self.cache or self.cache.load(request) is None
        ]
        texts = [message["content"] for messages in new for message in messages]
        n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        n_tokens = -(-n_bytes // _BYTES_A_TOKEN) + _TOKENS_AROUND * len(texts)
        redacted = self.redact is not None
        return Cost(
            destination=self.endpoint.destination,
            leaves_machine=not self.endpoint.local,
            redacted=redacted,
            n_texts=len(distinct),
            n_cached=len(distinct) - len(new),
            n_to_send=len(new),
            n_characters=sum(map(len, texts)),
            n_tokens=n_tokens,
            cost=self._cost(n_tokens, reply_tokens * len(new)),
            consent=_consent(len(distinct), redacted=redacted, destination=self.endpoint.destination),
        )

    def _check_consent(self, needed: int, estimated: Callable[[], Cost]) -> None:
        consent = _CONSENT.fullmatch(self.consent or "")
        if (
            consent
            and consent[3] == self.endpoint.destination
            and bool(consent[2]) == (self.redact is not None)
        ):
            if int(consent[1]) >= needed:
                return
            problem = f"one for {consent[1]} texts, where {needed} are to be sent"
        else:
            problem = "none" if not self.consent else "one in other words, or for something else"
        estimate = estimated()
        needed_consent = _consent(
            max(estimate.n_texts, needed), redacted=estimate.redacted, destination=estimate.destination
        )
        raise ArgumentError(
            f"chat: expected your consent – found {problem}; nothing was sent. {estimate} – to allow it, "
            f"make the chat with consent={needed_consent!r}."
        )

    def _ready(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """Return the messages as they are sent: checked, and redacted but for what the system says."""
        listed = isinstance(messages, Iterable) and not isinstance(messages, str | Mapping)
        if not listed or not all(map(_is_message, messages)):
            raise TableError(
                "chat: expected a list of messages, each with role and content – found something else – "
                'pass [{"role": "user", "content": "…"}].'
            )
        return [
            {
                "role": message["role"],
                "content": message["content"]
                if self.redact is None or message["role"] in ("system", "developer")
                else _redacted(message["content"], self.redact),
            }
            for message in messages
        ]

    def _request(self, ready: list[dict[str, str]], run: int | None = None) -> bytes:
        """Return a hash of all that decides a reply."""
        decides = {
            "base_url": self.endpoint.identity,
            "model": self.endpoint.model,
            "parameters": dict(self.endpoint.parameters),
            "run": self.run if run is None else run,
            "messages": ready,
        }
        return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).digest()

    def _cost(self, prompt: int, completion: int) -> float | None:
        if self.prices is None:
            return None
        return (prompt * self.prices[0] + completion * self.prices[1]) / 1_000_000


def chat(
    *,
    base_url: str,
    model: str,
    consent: str | None = None,
    api_key_env: str | None = None,
    redact: Redact | None = None,
    timeout: float = 60.0,
    max_retries: int = 3,
    cache: str | Path | None = None,
    price_per_million: float | Prices | None = None,
    parameters: Mapping[str, Any] = _PARAMETERS,
    run: int = 1,
) -> Chat:
    """Make a function from messages to a reply, with a language model behind an OpenAI-compatible address.

    This sends nothing. Neither does `Chat.estimate`, which gives what would be sent, the destination, the
    approximate tokens and cost, and the words of consent. `Chat.usage` gives the actual use.

    Parameters
    ----------
    base_url
        Such as "https://api.openai.com/v1", or a server on this machine: "http://localhost:8000/v1". Other
        machines are reached only by https, through the proxy of the environment (HTTPS_PROXY, NO_PROXY) or
        the system, if any: it learns the machine's name, not the content. A server on this machine is reached
        without it. Redirects are never followed, and no other variable is read: only the messages, model,
        parameters and key are sent.
    model
        The model's name at that address. Use the dated name: the model of a name without a date can change.
    consent
        Your permission in the words of `Chat.estimate(…).consent`: "send at most 40 texts to
        api.openai.com". Without it, or with more texts, another destination, or no redaction although the
        words include "redacted", nothing is sent. A server on this machine needs it as well: only its
        operator knows whether it sends the texts on. It does not replace the consent of participants.
    api_key_env
        The name of the environment variable with the key. If None or not set, the keyring is asked (service
        "sense7_qual", user = the destination). The key itself is never an argument, and appears in no error,
        log or file.
    redact
        A function text → text. Each message except the system's passes through it before it is counted,
        hashed or sent; in a message that is a JSON list of turns (the judge's), each turn's content does.
    timeout
        The most seconds from the call to the reply's last byte, above 0 (without the system's look-up of the
        machine's address).
    max_retries
        The most repetitions of a request after a timeout, a broken connection, or status 408, 409, 429 or
        5xx, after the time that the server asks for (Retry-After, up to two minutes), or else .5, 1, 2, 4, 8,
        8 … s. Replies over 2 MB and compressed ones (Content-Encoding) are refused.
    cache
        A folder for the replies (not for the texts), under keyed hashes of model, parameters, run and
        messages: after an interruption the same calls continue where they stopped. None: nothing is kept.
    price_per_million
        Price of a million tokens: one number, or (of prompts, of replies). None: costs are not counted.
    parameters
        Parameters to send: temperature, seed, a limit of tokens … in the names of the endpoint.
    run
        A number that makes repeated runs ask again instead of reading the first run's replies.

    Returns
    -------
    Chat
        `chat(messages)` → str, `.estimate(…)`, `.prepare(…)`, `.usage`.

    Raises
    ------
    EndpointError
        The address is invalid or not safe, `api_key_env` holds a key instead of a name, or a setting is out
        of range.
    StoreError
        The cache folder cannot be used.

    Examples
    --------
    >>> ask = chat(base_url="https://api.example.org/v1", model="m-2025-01-01", price_per_million=(2.5, 10))
    >>> cost = ask.estimate([[{"role": "user", "content": "I felt heard."}]])
    >>> cost.consent, cost.n_tokens, round(cost.cost, 6)
    ('send at most 1 text to api.example.org', 8, 0.00012)
    """
    check_arguments(chat, locals())
    if run < 1:
        raise EndpointError(f"chat: expected run to be 1 or more – found {run} – number the runs from 1.")
    return Chat(
        endpoint=endpoint(
            base_url=base_url,
            model=model,
            api_key_env=api_key_env,
            timeout=timeout,
            max_retries=max_retries,
            parameters=parameters,
        ),
        consent=consent,
        redact=redact,
        cache=None if cache is None else ReplyCache(Path(cache)),
        prices=_prices(price_per_million),
        run=run,
    )


def _consent(n_texts: int, *, redacted: bool, destination: str) -> str:
    words = f"{'redacted ' if redacted else ''}text{'' if n_texts == 1 else 's'}"
    return f"send at most {n_texts} {words} to {destination}"


def _counted(column: pd.Series, noun: str) -> str:
    n = column.nunique()
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _prices(price: float | Prices | None) -> Prices | None:
    if price is None:
        return None
    both = price if isinstance(price, tuple) else (price, price)
    if len(both) != 2 or not all(isinstance(one, int | float) and one >= 0 for one in both):
        raise EndpointError(
            "chat: expected price_per_million as one number or (prompts, replies), 0 or more – found "
            "something else – change it."
        )
    return float(both[0]), float(both[1])


def _tokens(replies: list[Reply]) -> tuple[int, int]:
    return sum(one.prompt_tokens or 0 for one in replies), sum(one.completion_tokens or 0 for one in replies)


def _is_message(message: object) -> bool:
    if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
        return False
    return message["role"] in _ROLES and isinstance(message["content"], str)


def _redacted(content: str, redact: Redact) -> str:
    """Redact a text; of a list of turns, each content: JSON's escapes would hide words from `redact`."""
    try:
        turns = json.loads(content)
    except (ValueError, RecursionError):
        turns = None
    if isinstance(turns, list) and turns and all(map(_is_message, turns)):
        redacted = [{**turn, "content": _redacted_text(turn["content"], redact)} for turn in turns]
        return json.dumps(redacted, ensure_ascii=False)
    return _redacted_text(content, redact)


def _redacted_text(text: str, redact: Redact) -> str:
    redacted = redact(text)
    if not isinstance(redacted, str):
        raise TableError(
            f"redact: expected a function text → text, but it returned {type(redacted).__name__} – change it."
        )
    return redacted

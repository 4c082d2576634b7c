"""Asking a model about every text and code, and keeping what it answers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import islice
from typing import Any, Final

import pandas as pd

from sense7_qual._arguments import Progress, check_arguments, reporting
from sense7_qual._reasons import Reason
from sense7_qual.acts import check_coder, stamp
from sense7_qual.codebook import Codebook
from sense7_qual.coders._prompt import BASE, WORDINGS, Message, plan_hash, prompts, variants
from sense7_qual.coders._reply import UNUSABLE, Read, read_reply
from sense7_qual.coders._results import ANSWERS
from sense7_qual.coders._run import Run
from sense7_qual.errors import ArgumentError, QualError, TableError
from sense7_qual.frames import UNITS, is_model

Chat = Callable[[list[Message]], str]
Key = tuple[str, str, str]
MissingOn = type[Exception] | tuple[type[Exception], ...] | None

_FIRST: Final = 10
_MOST_AT_ONCE: Final = 16


def code(
    units: pd.DataFrame,
    codebook: Codebook,
    *,
    chat: Chat,
    coder: str,
    plan: pd.DataFrame | None = None,
    wordings: Mapping[str, str] = WORDINGS,
    with_context: bool = True,
    missing_on: MissingOn = None,
    n_parallel: int = 1,
    progress: Progress | bool | None = None,
) -> Run:
    """Let a language model code texts by the codebook: one prompt a text and code.

    A yes counts only with words that are in the text (apart from case, white space, and the form of quotation
    marks and dashes; a last word that breaks off is taken as a whole). Everything else that is not a clear
    yes or no is missing, with its reason, and never absent. Interrupted and called again, it continues where
    it stopped if `chat` has a cache.

    Parameters
    ----------
    units, codebook, plan, wordings, with_context
        As for `prompts`; nothing else is sent.
    chat : function
        A list of messages (role, content) → the reply: `models.chat(…, parameters=coders.PARAMETERS)`,
        `models.local_chat(…)`, or your own function. A method `prepare` first gets the frame of all prompts,
        so that it can refuse before anything is sent; `for_run(n)` returns the chat of a further run.
    coder : str
        The model's pseudonym in the record, ``model-…``; another prompt or model needs another.
    missing_on : exception class or classes, optional
        Errors of `chat` that leave one answer missing. By default those with a true attribute `of_one_text`,
        as `models.NoAnswer`. Every other error ends the run; cached replies are not asked for again.
    n_parallel : int
        Prompts asked at the same time, 1 to 16.
    progress : function or bool, optional
        `progress(done, total)` in prompts; True shows a bar with the remaining time.

    Returns
    -------
    Run
        Answers, decisions, codings, settings; `Store.record_model` records them.

    Raises
    ------
    ArgumentError
        `coder` is not the name of a model, a number is out of range, consent is missing, or none of the first
        ten replies can be used.
    TableError
        As of `prompts`, or `chat` returns something other than a string.

    Notes
    -----
    Texts reach the model only inside JSON, one code a prompt. This makes it hard, not impossible, for a text
    to change its own coding: `behaviour` measures it. Nothing is known of a model's quality before it was
    compared with people.

    References
    ----------
    Dunivin (2025), on one code a prompt; Barrie, Palaiologou & Törnberg (2024), arXiv:2407.02039, on variants
    of prompts.

    Examples
    --------
    >>> units = pd.DataFrame({"unit_id": ["m1"], "text": ["It listened."], "document_id": ["d1"],
    ...                       "case_id": ["p1"], "position": [0]})
    >>> heard = '{"quote": "listened", "verdict": "yes", "why": ""}'
    >>> run = code(units, Codebook.read("sense7"), chat=lambda messages: heard, coder="model-echo")
    >>> run
    Run('model-echo', 1 texts, 7 codes, 0 of 7 answers missing, 0 variants)
    """
    check_arguments(code, locals())
    asking = Asking(units, codebook, coder=coder, plan=plan, wordings=wordings, with_context=with_context)
    asking.ask(chat, missing_on=missing_on, n_parallel=n_parallel, progress=progress)
    return asking.run()


class Asking:
    """The prompts of a run and what was answered so far; asked again, it asks for the rest.

    Parameters
    ----------
    units, codebook, coder, plan, wordings, with_context
        As for `code`.
    """

    def __init__(
        self,
        units: pd.DataFrame,
        codebook: Codebook,
        *,
        coder: str,
        plan: pd.DataFrame | None = None,
        wordings: Mapping[str, str] = WORDINGS,
        with_context: bool = True,
    ) -> None:
        check_arguments(Asking.__init__, locals())
        if not is_model(check_coder(coder)):
            raise ArgumentError(
                f"coder: expected the name of a model, model-… – found {coder!r} – call it 'model-a', say."
            )
        self.units, self.codebook, self.coder = units, codebook, coder
        self.plan = variants(runs=1, wordings=["plain"], orders=1) if plan is None else plan
        self.prompts = prompts(units, codebook, plan=self.plan, wordings=wordings, with_context=with_context)
        self._wordings, self._with_context = wordings, with_context
        self.answers: dict[Key, Read] = {}
        self.tokens = [0, 0]
        self._settings: dict[str, Any] = {}
        self._started = ""

    def __repr__(self) -> str:
        return f"Asking({self.coder!r}, {len(self.answers):,} of {len(self.prompts):,} answered)"

    @property
    def left(self) -> pd.DataFrame:
        """The prompts without an answer, or without one that can count."""
        open_ = [
            key not in self.answers or self.answers[key].reason == Reason.NO_ANSWER
            for key in keys(self.prompts)
        ]
        return self.prompts[open_]

    def take(self, before: Asking) -> None:
        """Take over what an earlier one was answered, to the prompts that are still the same."""
        check_arguments(Asking.take, locals())
        if before.codebook.fingerprint == self.codebook.fingerprint:
            known = set(keys(self.prompts))
            self.answers = {key: read for key, read in before.answers.items() if key in known}
            self.tokens, self._settings, self._started = before.tokens, before._settings, before._started

    def ask(
        self,
        chat: Chat,
        *,
        only: Collection[str] | None = None,
        missing_on: MissingOn = None,
        n_parallel: int = 1,
        progress: Progress | bool | None = None,
    ) -> None:
        """Ask for what is left, of all texts or of some; what was answered before an error is kept."""
        check_arguments(Asking.ask, locals())
        left = self.left if only is None else self.left[self.left["unit_id"].isin(only)]
        before = _tokens(chat)
        self._started = self._started or _now(self.coder, self.codebook)
        try:
            replies = ask(
                left, self.units, chat, missing_on=missing_on, n_parallel=n_parallel, progress=progress
            )
            for key, read in zip(keys(left), replies, strict=True):
                self.answers[key] = read
        finally:
            spent = [now - then for now, then in zip(_tokens(chat), before, strict=True)]
            self.tokens = [sum(both) for both in zip(self.tokens, spent, strict=True)]
            names = self._settings.get("answered_as", [])
            self._settings = dict(getattr(chat, "settings", {}))
            if "answered_as" in self._settings:
                self._settings["answered_as"] = sorted({*names, *self._settings["answered_as"]})

    def run(self) -> Run:
        """Return the run, once everything was asked."""
        replies = [self.answers[key] for key in keys(self.prompts)]
        answers = _answers(self.prompts, replies, self.units, self.codebook, self.plan)
        card = {
            **self._settings,
            "codebook": self.codebook.fingerprint,
            "plan": plan_hash(self.plan, self._wordings),
            "variants": self.plan["variant"].tolist(),
            "wording": self.plan["wording"].iloc[0],
            "prompts": dict(_base(self.prompts).groupby("code", sort=False)["prompt"].first()),
            "with_context": self._with_context and "context" in self.units,
            "n_texts": int(_base(answers)["unit_id"].nunique()),
            "n_prompts": len(self.prompts),
            "missing": dict(Counter(_base(answers)["reason"].dropna())),
            "tokens": self.tokens,
            "software": f"sense7_qual {version('sense7_qual')}",
        }
        said = answers.drop(columns="why").to_csv(index=False)
        digest = hashlib.sha256(json.dumps([self.coder, card, said], sort_keys=True).encode()).hexdigest()
        times = {"started": self._started, "ended": _now(self.coder, self.codebook)}
        return Run(self.coder, answers, {**card, "run_id": digest, **times})


def keys(asked: pd.DataFrame) -> list[Key]:
    """Return the variant, text and code of each prompt."""
    return list(asked[["variant", "unit_id", "code"]].itertuples(index=False, name=None))


def ask(
    asked: pd.DataFrame,
    units: pd.DataFrame,
    chat: Chat,
    *,
    missing_on: MissingOn,
    n_parallel: int,
    progress: Progress | bool | None,
    stop: bool = True,
) -> Iterator[Read]:
    """Yield the model's reply to each prompt, in order."""
    if not 1 <= n_parallel <= _MOST_AT_ONCE:
        raise ArgumentError(
            f"n_parallel: expected 1 to {_MOST_AT_ONCE} prompts at the same time – found {n_parallel} – "
            "change it."
        )
    prepare = getattr(chat, "prepare", None)
    if callable(prepare):
        prepare(asked)
    texts = UNITS.check(units).set_index("unit_id")["text"]
    redact = getattr(chat, "redact", None)
    sent = texts if redact is None else texts.dropna().map(redact)
    chats = {run: _of_run(chat, run) for run in asked["run"].unique()}
    names = ["run", "unit_id", "code", "messages"]

    def one(row: tuple[Any, ...]) -> Read:
        run, unit_id, code_id, messages = row
        reply = _reply(chats[run], messages, f"text {unit_id!r}, code {code_id!r}", missing_on)
        return (
            Read(None, reason=reply)
            if isinstance(reply, Reason)
            else read_reply(reply, texts[unit_id], sent[unit_id])
        )

    first: list[Read] = []
    with reporting(progress, len(asked), doing="coding", unit="prompt") as report:
        rows = asked[names].itertuples(index=False, name=None)
        for n, reply in enumerate(_in_turn(one, rows, n_parallel), start=1):
            if stop and n <= _FIRST:
                first.append(reply)
            if len(first) == n == _FIRST:
                _refuse_unusable(first)
            yield reply
            report(n, len(asked))


def _in_turn(one: Callable[[Any], Read], rows: Iterable[tuple[Any, ...]], n_parallel: int) -> Iterator[Read]:
    """Yield the answers in order; no further prompt is begun once one failed."""
    if n_parallel == 1:
        yield from map(one, rows)
        return
    left = iter(rows)
    with ThreadPoolExecutor(n_parallel) as pool:
        waiting = [pool.submit(one, row) for row in islice(left, n_parallel)]
        try:
            while waiting:
                yield waiting.pop(0).result()
                waiting += [pool.submit(one, row) for row in islice(left, 1)]
        finally:
            for future in waiting:
                future.cancel()


def _reply(chat: Chat, messages: list[Message], about: str, missing_on: MissingOn) -> str | Reason:
    try:
        reply = chat(messages)
    except Exception as error:
        if _of_one_text(error, missing_on):
            return Reason.NO_ANSWER
        error.add_note(f"This was {about}.")
        raise
    if not isinstance(reply, str):
        raise TableError(
            f"chat: expected a string as the reply to {about} – found {type(reply).__name__} – return the "
            "text of the reply."
        )
    return reply


def _of_one_text(error: Exception, missing_on: MissingOn) -> bool:
    if missing_on is None:
        return bool(getattr(error, "of_one_text", False))
    named = missing_on if isinstance(missing_on, tuple) else (missing_on,)
    if isinstance(error, QualError):  # ValueError does not mean a lack of consent
        named = tuple(each for each in named if issubclass(each, QualError))
    return isinstance(error, named)


def _refuse_unusable(read: list[Read]) -> None:
    reasons = Counter(str(each.reason) for each in read if each.reason in UNUSABLE)
    if reasons.total() == len(read):
        found = ", ".join(f"{n} {reason}" for reason, n in reasons.most_common())
        raise ArgumentError(
            f"coders: expected usable replies – found none among the first {len(read)} ({found}); the others "
            "were not asked for – check parameters (coders.PARAMETERS, or coders.PLAIN where the endpoint "
            "refuses response_format) and the model."
        )


def _answers(
    asked: pd.DataFrame, read: list[Read], units: pd.DataFrame, codebook: Codebook, plan: pd.DataFrame
) -> pd.DataFrame:
    """Return the answers, with a row for each blank text, in the order of variants, texts and codes."""
    answered = asked.assign(
        in_the_codebook=asked["n_left_out"] > 0,
        **{name: [getattr(each, name) for each in read] for name in Read._fields},
    )
    base = plan.iloc[0][["variant", "wording", "order", "run"]].to_dict()
    ids = UNITS.check(units)["unit_id"]
    blank = ids[~ids.isin(_base(asked)["unit_id"])]
    wanting = [
        {**base, "unit_id": unit_id, "code": each.id, "reason": Reason.BLANK_TEXT, "in_the_codebook": False}
        for unit_id in blank
        for each in codebook.codable
    ]
    rows = [*answered[[*ANSWERS.columns]].to_dict("records"), *wanting]
    both = ANSWERS.frame(rows)
    order: dict[str, Iterable[str]] = {
        "variant": plan["variant"],
        "unit_id": ids,
        "code": [each.id for each in codebook.codable],
    }
    places = {name: both[name].map({value: n for n, value in enumerate(of)}) for name, of in order.items()}
    return both.loc[pd.DataFrame(places).sort_values(list(places)).index].reset_index(drop=True)


def _base(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["variant"] == BASE]


def _of_run(chat: Chat, run: int) -> Chat:
    """Return the chat of a further run, where it can tell runs apart."""
    for_run = getattr(chat, "for_run", None)
    return chat if run == 1 or not callable(for_run) else for_run(getattr(chat, "run", 1) + int(run) - 1)


def _now(coder: str, codebook: Codebook) -> str:
    at: str = stamp(coder, codebook, None, None)["at"]
    return at


def _tokens(chat: Chat) -> list[int]:
    """Return the tokens of prompts and of replies so far, also of cached ones."""
    usage = getattr(chat, "usage", None)
    names = (("prompt_tokens", "cached_prompt_tokens"), ("completion_tokens", "cached_completion_tokens"))
    return [sum(getattr(usage, name, 0) for name in both) for both in names]

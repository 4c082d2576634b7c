"""A language model behind a real address that answers as a test says, and what it is asked about."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from sense7_qual import coders, corpus, models
from sense7_qual.codebook import Code, Codebook
from tests.helpers.chat_server import Handler, completion, serving
from tests.helpers.places import ROOT

Script = Callable[[str, list[dict[str, str]]], str]
"""The label of the code, and the turns → the reply."""

CODEBOOK = Codebook(
    name="two",
    codes=(
        Code(id="sound", label="Sound", definition="Answers as it should."),
        Code(
            id="flawed",
            label="Flawed",
            definition="Answers with a fault.",
            use_when=tuple(f"Rule {n}." for n in range(6)),
            examples=("An example of words that nobody here has ever written down.",),
        ),
    ),
)


def says(verdict: str, quote: str = "", **more: str) -> str:
    return json.dumps({"quote": quote, "verdict": verdict, "why": "because"} | more)


def texts(n: int) -> pd.DataFrame:
    """Return `n` explanations with the conversation before them, as they are read from a workbook."""
    units = corpus.read_sense7(ROOT / "data" / "sense7_synthetic.xlsx")
    longer = units[units["text"].str.len().gt(30)]
    return longer.drop_duplicates("text").head(n).reset_index(drop=True)


@dataclass
class Model:
    """What was asked and answered; `before_answer(number)` is called first, from 1."""

    base_url: str = ""
    answered: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    before_answer: Callable[[int], object] = lambda number: None

    def chat(self, *, cache: Path | None = None, **settings: Any) -> models.Chat:
        settings = {
            "base_url": self.base_url,
            "model": "m-2026-01-01",
            "cache": cache,
            "max_retries": 0,
            "parameters": coders.PARAMETERS,
        } | settings
        destination = models.chat(**settings).endpoint.destination
        redacted = "redacted " if settings.get("redact") else ""
        return models.chat(**settings, consent=f"send at most 100000 {redacted}texts to {destination}")


@contextmanager
def answering(script: Script) -> Iterator[Model]:
    model = Model()

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        key = json.dumps(body["messages"])
        with handler.lock:
            model.asked[key] += 1
        model.before_answer(model.asked.total())
        label = next(
            line.removeprefix("Code: ")
            for line in body["messages"][0]["content"].splitlines()
            if line.startswith("Code: ")
        )
        reply = script(label, json.loads(body["messages"][1]["content"]))
        handler.send(200, completion(reply))
        with handler.lock:
            model.answered[key] += 1

    with serving(behave) as server:
        model.base_url = server.base_url
        yield model


def quoting(label: str, turns: list[dict[str, str]]) -> str:
    """Say yes with the first words of some texts, no of others, unsure of a few."""
    text = turns[-1]["content"]
    chosen = (len(text) + len(label)) % 5
    return says("yes", " ".join(text.split()[:4])) if chosen < 2 else says("unsure" if chosen == 2 else "no")

"""What a browser sends to a coding widget and hears from it, for the tests that need no browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pandas as pd

from sense7_qual.acts import Act
from sense7_qual.codebook import Codebook
from sense7_qual.store import Store
from sense7_qual.widgets import CodingWidget

SENSE7 = Codebook.read("sense7")
SENTINEL = "Sentinel-Quokka"
TEXTS = [
    f"It 👍🏽 listened, {SENTINEL}.",
    "🇩🇪 cafe\u0301 – well",
    f"كان لطيفا {SENTINEL}",
    "👩‍👩‍👧",
]
CODES = ("cognitive", "affective", "relational")
_numbers = count(1)


def new_id() -> str:
    return f"00000000-0000-4000-8000-{next(_numbers):012x}"


def units(**columns: object) -> pd.DataFrame:
    context = json.dumps([{"role": "user", "text": f"Hello {SENTINEL}"}])
    n_units = len(TEXTS)
    frame = {"unit_id": [f"m{place}" for place in range(n_units)], "text": TEXTS, "document_id": "d1"}
    return pd.DataFrame(
        {**frame, "case_id": "p1", "position": range(n_units), "context": [context] * n_units, **columns}
    )


class Browser:
    """What a browser sends to a widget, and what it hears."""

    def __init__(self, save: Callable[[Sequence[Act]], object], **options: Any) -> None:
        named = {"coder": "ana", "acts": (), "codebook": SENSE7, "units": units()} | options
        self.widget = CodingWidget(named.pop("units"), named.pop("codebook"), save=save, **named)
        self.heard: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: self.heard.append(content)

    def send(self, message: object) -> dict[str, Any]:
        """Send the message and return the answer; there is always exactly one."""
        n_heard = len(self.heard)
        self.widget._receive(self.widget, message, [])
        assert len(self.heard) == n_heard + 1
        return json.loads(json.dumps(self.heard[-1]))

    def ask(self, kind: str, **named: object) -> dict[str, Any]:
        return self.send({"type": kind, "client": "c1", "id": new_id(), **named})

    def do(
        self, kind: str, unit_id: str | None = "m0", act_id: str | None = None, **named: object
    ) -> dict[str, Any]:
        body = {"kind": kind, "unit_id": unit_id, **named}
        return self.send({"type": "act", "client": "c1", "id": act_id or new_id(), "act": body})


class OfStudy(Browser):
    """A browser on a widget of a study."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.widget = CodingWidget(store, **{"coder": "ana"} | options)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []  # to all views
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))


def waiting(browser: Browser) -> tuple[list[str], list[list[Any]]] | None:
    """Return the codes on which earlier texts wait for a decision, and the texts with theirs; else None."""
    item = next((one for one in browser.ask("inbox", read=None)["items"] if one["what"] == "new"), None)
    asked, items = browser.ask("again", of="new"), {}
    for place, rule in asked["steps"]:
        items.setdefault(place, []).append(asked["rules"][rule]["code"])
    return item and (item["codes"], [[place, codes] for place, codes in items.items()])

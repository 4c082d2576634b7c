"""The overview of one person, asked as a browser asks, and a study of two rounds to look at."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.store import Store
from sense7_qual.widgets import OverviewWidget
from tests.helpers.browser import new_id
from tests.helpers.revised_codebooks import BASE

N = 40
SENTINEL = "Sentinel-Numbat"
UNITS = pd.DataFrame(
    {
        "unit_id": [f"m{i:02d}" for i in range(N)],
        "text": [f"Text {i} 👍🏽 of {SENTINEL}." for i in range(N)],
        "document_id": "d",
        "case_id": [f"p{i % 12}" for i in range(N)],
        "position": range(N),
    }
)
IDS: list[str] = UNITS["unit_id"].tolist()


class Viewer:
    """The widget of one person, and what it says: to this browser, and to all views."""

    opened: ClassVar[list[Viewer]] = []

    def __init__(self, store: Any, *, coder: str = "chair", **options: Any) -> None:
        self.widget = OverviewWidget(store, coder=coder, **options)
        self.opened.append(self)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))

    @classmethod
    def end(cls) -> None:
        """Wait until nothing is counted any more: a connection that is in use is not closed."""
        for viewer in cls.opened:
            viewer.widget._counting.join()
            viewer.widget.close()
        cls.opened.clear()

    def ask(self, kind: str, **named: Any) -> dict[str, Any]:
        message = {"type": kind, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return {name: value for name, value in self.heard[-1].items() if name not in ("id", "client")}

    def look(self) -> dict[str, dict[str, Any]]:
        """Open it, and return each part as it stands once everything is counted."""
        self.ask("hello")
        self.widget._counting.join()
        parts = {one["type"]: one for one in self.told}
        assert "uncounted" not in parts, parts["uncounted"]["message"]
        return parts

    def units(self, of: str, **named: Any) -> list[str]:
        """Return the units behind a number."""
        rows: list[str] = []
        while True:
            answer = self.ask("units", door={"of": of, **named}, first=len(rows), find="")
            rows += [row["unit_id"] for row in answer["rows"]]
            if len(rows) >= answer["n"]:
                return rows


def coded(
    coder: str, unit_id: str, *codes: str, round: str | None = "one", at: str | None = None
) -> list[Act]:
    named: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": BASE, "round": round, "at": at}
    return [*(acts.apply(code=code, **named) for code in codes), acts.finish(**named)]


def work(
    store: Store, coder: str, *, round: str | None = "one", seed: int = 0, n: int = N, seconds: float = 40.0
) -> None:
    """Let a coder finish the first `n` units of a round, one every `seconds`, with errors of their own."""
    random = np.random.default_rng(seed)
    begun = pd.Timestamp("2026-03-02T09:00:00Z")
    done: list[Act] = []
    for place, unit_id in enumerate(IDS[:n]):
        codes = [
            code
            for number, code in enumerate(BASE.ids)
            if (place % (number + 2) == 0) != (random.random() < (0.05, 0.15, 0.4, 0.02)[number])
        ]
        at = (begun + pd.Timedelta(seconds=seconds * place)).isoformat().replace("+00:00", "Z")
        done += coded(coder, unit_id, *codes, round=round, at=at)
    store.append(done)


def open_rounds(store: Store, *, units: list[str] | None = None) -> None:
    """Let chair open round one, for ana and ben, and round two, for cleo as well."""
    for name, coders in (("one", ["ana", "ben"]), ("two", ["ana", "ben", "cleo"])):
        store.append(
            [rounds.open_round(name, units=units or IDS, coders=coders, coder="chair", codebook=BASE)]
        )


def unblind(store: Store, round: str) -> None:
    store.append([rounds.unblind(round, coder="chair", codebook=BASE)])

"""The lead's adjudication widget asked as a browser asks, and a study with disagreements."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from sense7_qual import acts, rounds
from sense7_qual.acts import Act
from sense7_qual.store import Store
from sense7_qual.widgets import AdjudicationWidget
from tests.helpers.browser import new_id
from tests.helpers.revised_codebooks import BASE

BLIND = "Sentinel-Quokka"
TEXTS = {
    "m1": "It listened 👍🏽 to me.",
    "m2": f"Only {BLIND} knows.",
    "m3": "So kind of it.",
    "m4": "It listened to my brother, too.",
    "m5": "Cold and polite.",
}
UNITS = pd.DataFrame(
    {
        "unit_id": list(TEXTS),
        "text": list(TEXTS.values()),
        "document_id": "d",
        "case_id": ["p", "p", "q", "q", "q"],
        "position": range(5),
        "context": json.dumps([{"role": "user", "text": "Before it."}]),
    }
)
CODED = {
    "ana": {"m1": ["warm"], "m3": ["warm", "kind"], "m4": ["warm"], "m5": ["cold"]},
    "ben": {"m1": ["kind"], "m3": ["kind"], "m4": ["warm"], "m5": []},
    "cleo": {"m1": [], "m3": ["kind"], "m4": [], "m5": ["cold"]},
}
DISPUTED = {("m1", "warm"), ("m1", "kind"), ("m3", "warm"), ("m4", "warm"), ("m5", "cold")}
"""Disagreements of the round that is unblinded."""


class Adjudicator:
    """The widget of one person, and what it says: to this browser, and to all views."""

    def __init__(self, store: Any, *, coder: str = "lead", **options: Any) -> None:
        self.widget = AdjudicationWidget(store, coder=coder, **options)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))

    def ask(self, asked: str, /, **named: Any) -> dict[str, Any]:
        message = {"type": asked, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return {name: value for name, value in self.heard[-1].items() if name not in ("id", "client")}

    def rule(
        self,
        unit_id: str,
        code: str,
        applied: bool | None,
        reason: str = "slip",
        note: str = "",
        **message: Any,
    ) -> dict[str, Any]:
        act = {
            "kind": "rule",
            "unit_id": unit_id,
            "code": code,
            "applied": applied,
            "reason": reason,
            "note": note,
        }
        return self.ask("act", act=act, **message)

    def undo(self) -> dict[str, Any]:
        return self.ask("act", act={"kind": "undo"})

    def redo(self) -> dict[str, Any]:
        return self.ask("act", act={"kind": "redo"})

    def show(self, unit_id: str, code: str) -> dict[str, Any]:
        return self.ask("dispute", unit_id=unit_id, code=code)


def decided(coder: str, unit_id: str, *codes: str, round: str | None = "open", **span: int) -> list[Act]:
    """Return the acts by which a coder decides on a text."""
    named: dict[str, Any] = {"coder": coder, "unit_id": unit_id, "codebook": BASE, "round": round}
    return [*(acts.apply(code=code, **named, **span) for code in codes), acts.finish(**named)]


def disagree(store: Store) -> None:
    """Ana, ben and cleo code four texts in a round that is unblinded, ben and dee another one blind."""
    opened = {"coder": "chair", "codebook": BASE}
    store.append([rounds.open_round("open", units=["m1", "m3", "m4", "m5"], coders=list(CODED), **opened)])
    store.append([rounds.open_round("blind", units=["m2"], coders=["ben", "dee"], **opened)])
    for coder, texts in CODED.items():
        for unit_id, codes in texts.items():
            span = {"start": 3, "end": 11} if (coder, unit_id) == ("ana", "m1") else {}
            store.append(decided(coder, unit_id, *codes, **span))
    store.append([rounds.unblind("open", coder="chair", codebook=BASE)])
    store.append(decided("ben", "m2", "warm", round="blind"))
    store.append(decided("dee", "m2", round="blind"))
    named = {"codebook": BASE, "round": "blind", "target_kind": "unit", "unit_id": "m2"}
    store.append([acts.memo(coder="dee", text=f"About {BLIND}.", **named)])

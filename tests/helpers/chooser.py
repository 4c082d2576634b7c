"""Somebody who chooses quotes, without a browser."""

from __future__ import annotations

import json
from typing import Any

from sense7_qual.widgets import QuotesWidget
from tests.helpers.browser import new_id


class Chooser:
    """The widget of one person, and what it says to this browser."""

    def __init__(self, store: Any, *, coder: str = "lead", **options: Any) -> None:
        self.widget = QuotesWidget(store, coder=coder, **options)
        self.heard: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: self.heard.append(json.loads(json.dumps(content)))

    def ask(self, asked: str, /, **named: Any) -> dict[str, Any]:
        message = {"type": asked, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return {name: value for name, value in self.heard[-1].items() if name not in ("id", "client")}

    def rows(self, code: str) -> list[dict[str, Any]]:
        return list(self.ask("code", code=code, first=0)["rows"])

    def decide(self, unit_id: str, code: str, state: str = "approved", **named: Any) -> dict[str, Any]:
        message = {name: named.pop(name) for name in ("id",) if name in named}
        act = {
            "kind": "quote",
            "unit_id": unit_id,
            "code": code,
            "state": state,
            "role": "shows",
            "start": None,
            "end": None,
            "paraphrase": None,
            **named,
        }
        return self.ask("act", act=act, **message)

    def undo(self, kind: str = "undo") -> dict[str, Any]:
        return self.ask("act", act={"kind": kind})

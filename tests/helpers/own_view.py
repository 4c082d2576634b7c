"""Ana's coding widget in a round of a study, asked as a browser asks, for the tests that need no browser."""

from __future__ import annotations

import json
from typing import Any

from sense7_qual.widgets import CodingWidget
from tests.helpers.browser import new_id


class OwnView:
    """Ana's widget in round one, and what it says."""

    def __init__(self, store: Any, **options: Any) -> None:
        self.widget = CodingWidget(store, coder="ana", **{"round": "one"} | options)
        self.heard: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: self.heard.append(json.loads(json.dumps(content)))

    def ask(self, kind: str, **named: object) -> dict[str, Any]:
        message = {"type": kind, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return {name: value for name, value in self.heard[-1].items() if name not in ("id", "client")}

    def beside(self, place: int = 0) -> dict[str, dict[str, Any]]:
        return {one["coder"]: one for one in self.ask("beside", place=place)["coders"]}


EVERYTHING: list[tuple[str, dict[str, Any]]] = [
    ("hello", {}),
    ("unit", {"place": 0}),
    ("beside", {"place": 0}),
    ("colleagues", {}),
    ("beside", {"place": 0}),
    ("choices", {"show_rating": False}),
    ("list", {"state": "differs", "show_rating": False}),
    ("list", {"state": "", "code": "interest", "show_rating": False}),
    ("rows", {"places": [0, 1], "show_rating": False}),
    ("progress", {"by": "case_id"}),
    ("act", {"act": {"kind": "finish", "unit_id": "m0"}}),
    ("beside", {"place": 0}),
]

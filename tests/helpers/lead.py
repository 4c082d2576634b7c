"""The lead's codebook widget, asked as a browser asks, for the tests that need no browser."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from sense7_qual.store import Store
from sense7_qual.widgets import CodebookWidget
from tests.helpers.browser import new_id


class Lead:
    """The widget of one person, and what it says: to this browser, and to all views."""

    opened: ClassVar[list[Lead]] = []

    def __init__(self, store: Store, *, coder: str = "lead", **options: Any) -> None:
        self.widget = CodebookWidget(store, coder=coder, **options)
        self.opened.append(self)
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.widget.send = lambda content, buffers=None: (
            self.told if content["client"] is None else self.heard
        ).append(json.loads(json.dumps(content)))

    @classmethod
    def end_counting(cls) -> None:
        """Wait until nothing is counted any more: a connection that is in use is not closed."""
        for lead in cls.opened:
            lead.widget._counting.join()
        cls.opened.clear()

    def ask(self, kind: str, **named: Any) -> dict[str, Any]:
        message = {"type": kind, "client": "c", "id": new_id(), **named}
        self.widget._receive(self.widget, message, [])
        return {name: value for name, value in self.heard[-1].items() if name not in ("id", "client")}

    def step(self, do: str, **named: Any) -> dict[str, Any]:
        return self.ask("step", step={"do": do, **named})

    def edit(self, code: str, **values: Any) -> dict[str, Any]:
        return self.step("edit", code=code, values=values)

    def counted(self, kind: str) -> dict[str, Any]:
        """Return what was counted last, once the counting is done."""
        self.widget._counting.join()
        return next(one for one in reversed(self.told) if one["type"] == kind)

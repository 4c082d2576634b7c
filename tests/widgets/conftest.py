"""Every question and answer of these tests is as the front end declares it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sense7_qual.widgets import _base
from tests.helpers.declared import faults

NO = ("refused", "failed")


@pytest.fixture(autouse=True)
def as_declared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hear what each widget is asked, answers and tells, and hold it to `messages.ts`."""
    wrong: list[str] = []
    receive, tell = _base.BaseWidget._receive, _base.BaseWidget._tell

    def received(desk: Any, origin: object, message: Any, buffers: object) -> None:
        folder, send, said = type(desk).__name__.removesuffix("Widget").lower(), desk.send, []
        desk.send = lambda content, *more: (said.append(content), send(content, *more))
        try:
            receive(desk, origin, message, buffers)
        finally:
            desk.send = send
        [answer] = [one for one in said if one["client"] is not None or one["id"] is not None] or [None]
        if answer is None or answer["type"] in NO:
            return
        wrong.extend(faults(folder, "Done" if answer["type"] == "done" else "Answer", answer))
        if message["type"] != "act" and answer["type"] != "conflict":  # which may answer what no page asks
            wrong.extend(faults(folder, "Question", message))

    def told(desk: Any, message: Any) -> None:
        wrong.extend(faults(type(desk).__name__.removesuffix("Widget").lower(), "Told", message))
        tell(desk, message)

    monkeypatch.setattr(_base.BaseWidget, "_receive", received)
    monkeypatch.setattr(_base.BaseWidget, "_tell", told)
    yield
    assert sorted(set(wrong)) == []

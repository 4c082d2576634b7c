"""What pages and kernel say to each other is declared once, in the `messages.ts` of each widget.

`make frontend` writes `frontend/messages.json` of them, to which every test of a widget is held
(`tests/widgets/conftest.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sense7_qual import widgets
from tests.helpers.declared import DECLARED, faults, kinds
from tests.helpers.frontend import FRONTEND, WIDGETS, node_modules, run
from tests.helpers.panes import looked_at

__all__ = ["node_modules"]  # a fixture


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Each widget on one study, by the name of its folder."""
    store = looked_at(tmp_path_factory.mktemp("messages") / "study")
    classes = {name.removesuffix("Widget").lower(): getattr(widgets, name) for name in widgets.__all__}
    named = {folder: {"coder": "lead"} for folder in classes} | {"coding": {"coder": "ana", "round": "one"}}
    return {folder: made(store, **named[folder]) for folder, made in classes.items()}


def test_each_widget_answers_exactly_what_its_page_asks(opened: dict[str, Any]) -> None:
    assert sorted(opened) == WIDGETS
    acting = {folder for folder in opened if "Done" in DECLARED[folder]}
    declared = {folder: kinds(folder, "Question") for folder in opened}
    answered = {folder: set(widget._questions) for folder, widget in opened.items()}
    assert answered == {name: asked | ({"act"} & answered[name]) for name, asked in declared.items()}
    assert {name for name, asked in answered.items() if "act" in asked} == acting


def test_a_message_that_is_other_than_declared_is_noticed() -> None:
    unit = {"type": "unit", "id": "1", "client": "c", "place": 3}
    assert faults("coding", "Question", unit) == []
    assert faults("coding", "Question", unit | {"place": "3"}) == ["coding Question unit: place: type"]
    assert "'palce' was unexpected" in faults("coding", "Question", unit | {"palce": 3})[0]
    assert faults("coding", "Question", {"type": "nit"}) == [
        "coding Question nit: no message of this type is declared"
    ]


@pytest.mark.frontend
@pytest.mark.usefixtures("node_modules")
def test_the_shapes_are_those_of_the_sources(tmp_path: Path) -> None:
    if not (FRONTEND / "node_modules" / "ts-json-schema-generator").is_dir():
        pytest.skip("ts-json-schema-generator not installed (`make frontend` installs the npm packages)")
    run("node", "messages.mjs", str(tmp_path / "messages.json"))
    made = (tmp_path / "messages.json").read_bytes()
    assert made == (FRONTEND / "messages.json").read_bytes(), "run `make frontend`"

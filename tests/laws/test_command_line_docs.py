"""`docs/command_line.md` shows the help of every command, as it is printed."""

from __future__ import annotations

import re

import pytest

from sense7_qual._commands import main
from tests.helpers.places import ROOT

PAGE = (ROOT / "docs" / "command_line.md").read_text("utf-8")
SHOWN = dict(
    re.findall(r"^## `sense7-qual ?(\w*)`\n```text\n(.*?)```$", PAGE, flags=re.MULTILINE | re.DOTALL)
)


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_every_command_has_its_help_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    overview = printed([], capsys)
    commands = re.findall(r"^    (\w+)  ", overview, flags=re.MULTILINE)
    assert len(commands) >= 6
    assert list(SHOWN) == ["", *commands]
    assert SHOWN[""] == overview, "run `python scripts/make_command_line.py`"


@pytest.mark.parametrize("command", [name for name in SHOWN if name])
def test_the_page_shows_what_is_printed(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # the terminal makes no difference
    assert SHOWN[command] == printed([command], capsys), "run `python scripts/make_command_line.py`"


def test_the_commands_that_the_page_shows_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    lines = re.findall(r"^sense7-qual (\w+ .*)$", PAGE, flags=re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:  # the study is not there: that is an error of the command, not of its words
        assert main(line.split()) == 1
        assert capsys.readouterr().err.startswith("sense7-qual: ")

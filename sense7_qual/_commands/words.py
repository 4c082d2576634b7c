"""What the commands share: the parser, the meaning of STUDY, and counts with their nouns."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sense7_qual.errors import ArgumentError

if TYPE_CHECKING:
    from sense7_qual.store import Store

STUDY: Final = "a study folder, or the address of a study in PostgreSQL (without a password)"

_PASSWORD: Final = re.compile(r"(://[^\s:@/]*:)[^\s@]*@|(password=)[^\s&'\"]*")

_WIDTH: Final = 96  # of a help text, whatever the terminal: the documentation shows the same


class _Layout(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_WIDTH, max_help_position=26)


class Parser(argparse.ArgumentParser):
    """A parser whose help looks the same everywhere, and whose errors show no password."""

    def __init__(self, **named: Any) -> None:
        settings: dict[str, Any] = {"formatter_class": _Layout, "allow_abbrev": False}
        super().__init__(**settings | named)

    def error(self, message: str) -> NoReturn:
        """End with what is wrong with the words, and exit status 2."""
        super().error(_PASSWORD.sub(lambda match: f"{match[1] or match[2]}…{'@' * bool(match[1])}", message))


if TYPE_CHECKING:
    Parsers = argparse._SubParsersAction[Parser]
else:
    Parsers = object


def is_address(place: str) -> bool:
    """Return True if `place` is an address, not a folder."""
    return "://" in place


def opened(study: str) -> Store:
    """Open the study at a folder or an address."""
    from sense7_qual.store import Store

    return Store(study)


def new_place(target: str, *, command: str) -> Path:
    """Return the path of a copy; refuse an address, which may hold a password."""
    if is_address(target):
        raise ArgumentError(
            f"{command}: expected a path for the copy, found an address – name a new file or folder."
        )
    return Path(target)


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "text"), count(0, "text"), count(2, "copy", "copies")
    ('1 text', '0 texts', '2 copies')
    """
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"

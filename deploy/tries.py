"""How long who gave a wrong password must wait: some slips are free, then each costs twice the time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final, NamedTuple

FREE: Final = 5
"""Wrong passwords for one login from one address after which each costs a pause."""
FREE_OF_ADDRESS: Final = 100
"""The same for all logins from one address: as many as there are seats, since the computers of an institute
may share an address, and all may sign in at the same moment."""
FORGOTTEN: Final = 600
"""Seconds after which a wrong password does not count any more."""
LONGEST: Final = 60
"""Seconds of the longest pause."""
_KEPT: Final = 10_000


class _Wrong(NamedTuple):
    n: int
    at: float


class Tries:
    """The wrong passwords of late, by address and by address and login; nothing of it is written down."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, ...], _Wrong] = {}

    def begin(self, address: str, login: str) -> int:
        """Return for how many seconds this login must wait; with 0 it may be tried, and counts as wrong.

        It counts from the beginning, so that many at once are not all free.
        """
        now = self._clock()
        if len(self._wrong) > _KEPT:
            self._wrong = {key: each for key, each in self._wrong.items() if now - each.at < FORGOTTEN}
        places = {(address,): FREE_OF_ADDRESS, (address, login): FREE}
        found = {key: self._of(key, now) for key in places}
        wait = max(each.at + _pause(each.n - places[key]) - now for key, each in found.items())
        if wait > 0:
            return math.ceil(wait)
        self._wrong |= {key: _Wrong(each.n + 1, now) for key, each in found.items()}
        return 0

    def right(self, address: str, login: str) -> None:
        """Take back that this try counted: its password was right."""
        for key in ((address,), (address, login)):
            each = self._of(key, self._clock())
            self._wrong[key] = each._replace(n=max(0, each.n - 1))

    def _of(self, key: tuple[str, ...], now: float) -> _Wrong:
        each = self._wrong.get(key, _Wrong(0, now))
        return each if now - each.at < FORGOTTEN else _Wrong(0, now)


def _pause(beyond: int) -> float:
    return min(LONGEST, 2.0**beyond) if beyond >= 0 else 0

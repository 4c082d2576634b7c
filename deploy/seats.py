"""Which login has which seat: `coders.csv`, the lead's file, as the hub reads it at each sign-in."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

SEAT: Final = re.compile(r"seat[0-9]{2}")
LARGEST: Final = 64 * 1024


def normal(login: str) -> str:
    """Return a login as it is compared: lower case, where no other letter has the same lower case."""
    return login.strip().lower() if login.isascii() else login.strip()


def seats(path: Path, owner: int) -> tuple[dict[str, str], list[str]]:
    """Return the seat of each login, and what is wrong with the file, by line and without its words.

    Only lines `login,seat07` count. A login or a seat that is named twice counts nowhere. `OSError` for a
    file that is a link, is not `owner`'s (a user id), or is open to others.
    """
    found, wrong = [], []
    for number, line in enumerate(_own_words(path, owner).splitlines(), start=1):
        login, comma, seat = (part.strip() for part in line.partition(","))
        if not line.strip() or line.startswith("#") or (number == 1 and (login, seat) == ("login", "seat")):
            continue
        if comma and login and SEAT.fullmatch(seat):
            found.append((number, normal(login), seat))
        else:
            wrong.append(f"line {number}: expected a login, a comma and a seat such as seat07")
    logins, places = [login for _, login, _ in found], [seat for *_, seat in found]
    twice = [(n, login, seat) for n, login, seat in found if logins.count(login) + places.count(seat) > 2]
    wrong += [f"line {number}: the login or the seat is named in another line too" for number, *_ in twice]
    return {login: seat for _, login, seat in found if (_, login, seat) not in twice}, wrong


def _own_words(path: Path, owner: int) -> str:
    """Return the file's text, none where there is no file; `OSError` where others could write or read it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != owner or about.st_mode & 0o077:
            raise OSError("expected a file of the lead that nobody else may open (chmod 600)")
        if about.st_size > LARGEST:
            raise OSError(f"expected {LARGEST} bytes at most")
        try:
            return file.read(LARGEST).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise OSError("expected text in UTF-8") from None

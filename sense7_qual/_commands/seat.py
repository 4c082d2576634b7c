"""`sense7-qual seat`: a coder comes to a team's server, or leaves it, by one command of the lead."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from sense7_qual._atomic import save
from sense7_qual._commands.words import STUDY, Parsers, opened
from sense7_qual._limits import read_file
from sense7_qual.errors import ArgumentError

_SEAT: Final = """\
Give a coder a seat on the server of a team, or end it. The seat (seat01, seat02 …) is an
account and a database role without a name; which login has it says one line of coders.csv, a
file that only you can open and that the hub reads at each sign-in.

  sense7-qual seat STUDY --login ada.l --coder ana    ana codes, signed in as ada.l
  sense7-qual seat STUDY --end ana                    the line goes, and her seat is closed

Everything that a coder recorded stays. A seat is never given to anybody else."""
_LOGINS: Final = "~/coders.csv"
_LARGEST: Final = 64 * 1024
_LOGIN: Final = re.compile(r"[^\s,\"\x00-\x1f\x7f#][^,\"\x00-\x1f\x7f]{0,199}(?<!\s)")


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    seat = commands.add_parser("seat", help="give a coder a seat on a server, or end it", description=_SEAT)
    seat.add_argument("study", metavar="STUDY", help=STUDY)
    seat.add_argument("--login", metavar="LOGIN", help="how the coder signs in, at the institute")
    seat.add_argument("--coder", metavar="PSEUDONYM", help="as whom they code")
    seat.add_argument("--end", metavar="PSEUDONYM", help="end the seat of this coder")
    says = f"which login has which seat (default: {_LOGINS})"
    seat.add_argument("--logins", metavar="FILE", default=_LOGINS, help=says)
    seat.set_defaults(run=_seat)


def _seat(parsed: argparse.Namespace) -> int:
    given, ends = bool(parsed.login or parsed.coder), parsed.end is not None
    if given == ends or (given and not (parsed.login and parsed.coder)):
        raise ArgumentError("seat: name both --login and --coder for a new seat, or --end alone to end one.")
    logins = Path(parsed.logins).expanduser().absolute()
    return _end(parsed, logins) if ends else _begin(parsed, logins)


def _begin(parsed: argparse.Namespace, logins: Path) -> int:
    """Give the coder a seat; called again after a failure, it completes what was begun."""
    login = parsed.login.strip()
    if not _LOGIN.fullmatch(login):
        raise ArgumentError("seat: expected a login without comma, quote or line break, 200 letters at most.")
    store, lines = opened(parsed.study), _lines(logins)
    seats = store.desk.seats(parsed.coder)
    if seats.has_ended:
        raise ArgumentError(
            f"seat: {parsed.coder!r} had {seats.own}, which has ended – give the person another pseudonym; "
            "what was coded stays as it is."
        )
    names = {seat: _normal(name) for name, seat in map(_parts, lines) if seat}
    own = next((seat for seat, name in names.items() if name == _normal(login)), None)
    left = [one for one in ([seats.own] if seats.own else seats.free) if one == own or one not in names]
    if not left or own not in (None, *left):
        raise ArgumentError(f"seat: {_none_left(own, seats.own, parsed.coder)}")
    seat = own or left[0]
    store.admin.add_coder(parsed.coder, role=seat)
    if own is None:
        _write(logins, [*lines, f"{login},{seat}"])
    print(
        f"{parsed.coder} codes on {seat}. Which login that is says {logins.name} alone: keep it to yourself."
    )
    return 0


def _none_left(of_login: str | None, of_coder: str, coder: str) -> str:
    """Say why there is no seat for this login and this coder, and what to do."""
    if of_login:
        return f"this login has {of_login} already – end the coder who has it, or use another login."
    if of_coder:
        return f"{coder!r} has {of_coder} already, with another login – end them first."
    return "no seat is left, since each is given once – let an administrator make more (docs/team_server.md)."


def _end(parsed: argparse.Namespace, logins: Path) -> int:
    """End the seat: first nobody can sign in, then nobody can enter the database."""
    store, lines = opened(parsed.study), _lines(logins)
    seat = store.desk.seats(parsed.end).own
    kept = [line for line in lines if not seat or _parts(line)[1] != seat]
    if kept != lines:
        _write(logins, kept)
    store.admin.end_coder(parsed.end)
    print(f"{seat} lets nobody in any more. What {parsed.end} coded stays.")
    return 0


def _parts(line: str) -> tuple[str, str]:
    """Return the login and the seat of a line, empty for any other line."""
    login, _, seat = (part.strip() for part in line.partition(","))
    return (login, seat) if re.fullmatch(r"seat[0-9]{2}", seat) and not line.startswith("#") else ("", "")


def _normal(login: str) -> str:
    """Return a login as the hub compares it."""
    return login.lower() if login.isascii() else login


def _lines(logins: Path) -> list[str]:
    """Return the lines of the file, none where there is no file yet."""
    try:
        if logins.is_symlink():
            raise OSError("a link")
        return read_file(logins, _LARGEST).decode("utf-8-sig").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise ArgumentError(
            f"seat: expected {logins.name!r} as a text file of your own, in UTF-8, 64 kB at most – found "
            f"another one ({why}) – the hub would not read it either."
        ) from None


def _write(logins: Path, lines: list[str]) -> None:
    save(logins, "".join(f"{line}\n" for line in lines).encode(), overwrite=True)

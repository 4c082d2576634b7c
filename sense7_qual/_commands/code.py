"""`sense7-qual code`: the coder's page without a notebook, to this computer alone, or to a coder of a hub."""

from __future__ import annotations

import argparse
import getpass
import importlib.util
import json
import os
import secrets
import socket
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, Final

from sense7_qual._commands.hand_out import hand_in, whose
from sense7_qual._commands.words import STUDY, Parsers, is_address, opened
from sense7_qual._messages import did_you_mean, word
from sense7_qual.errors import ActError, ArgumentError

_CODE: Final = """\
Open a coder's page in the browser: only the coding widget, in the whole window, without a
notebook. It needs Voilà (pip install "sense7_qual[page]").

Only this computer can reach the page, at an address with a random token; Ctrl+C ends it. If
other people use this computer, pass --no-browser and open the address yourself, because they
can see the command that starts a browser. Two minutes after the browser is closed, or an hour
after the last key, the page pauses; open the address again to continue.

A file that the lead handed out (sense7-qual hand-out) is unpacked next to it once; it says who
codes which round. At its end the page writes the file to send back, as hand-in does.

Started by JupyterHub, it is a coder's server there: the hub knows who signs in, and the coder
is the one of the database role of the account, so --coder is left out."""
_LOOPBACK: Final = "127.0.0.1"
_PLACE: Final = "SENSE7_QUAL_STUDY"


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    code = commands.add_parser("code", help="open a coder's page, without a notebook", description=_CODE)
    study = f"{STUDY}, or a file that was handed out; default: ${_PLACE}"
    code.add_argument("study", metavar="STUDY", nargs="?", help=study)
    code.add_argument("--coder", metavar="PSEUDONYM", help="the coder (not of a file that was handed out)")
    code.add_argument("--new", action="store_true", help="the coder is new to this study")
    code.add_argument("--rating", metavar="COLUMN", help="a rating that the coder can look up")
    code.add_argument("--round", metavar="NAME", help="the round to code")
    code.add_argument("--dark", action="store_true", help="use the dark theme")
    code.add_argument("--port", type=int, default=0, help="the port (default: any free port)")
    code.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    code.set_defaults(run=_code)


def _code(parsed: argparse.Namespace) -> int:
    if importlib.util.find_spec("voila") is None:
        raise ArgumentError(
            "code: the package voila is not installed – "
            'run pip install "sense7_qual[page]" in the environment of sense7_qual.'
        )
    parsed.study = parsed.study or os.environ.get(_PLACE)
    if not parsed.study:
        raise ArgumentError(f"code: name the study, as STUDY or in the environment as {_PLACE}.")
    below_hub = all(
        os.environ.get(f"JUPYTERHUB_{name}") for name in ("API_TOKEN", "SERVICE_PREFIX", "SERVICE_URL")
    )
    handed = False
    if below_hub:
        _check_below_hub(parsed)
    else:
        handed = whose(parsed)
        _check(parsed)
        port = _free_port(parsed.port)
    # The kernel may still stand in the folder when it is removed, which Windows refuses.
    with tempfile.TemporaryDirectory(prefix="sense7-qual-", ignore_cleanup_errors=True) as folder:
        notebook = Path(folder) / "page.ipynb"
        notebook.write_text(json.dumps(_notebook(parsed)), encoding="utf-8")
        if below_hub:
            from sense7_qual._commands.hub import serve_below_hub

            serve_below_hub(notebook, dark=parsed.dark)
            return 0
        _serve(notebook, port, dark=parsed.dark, browser=not parsed.no_browser)
    print("Ended. Everything reported as saved is in the study.")
    return hand_in(parsed.study) if handed else 0


def _check_below_hub(parsed: argparse.Namespace) -> None:
    """Refuse a name for the coder, and fill in the database role: that of the account, where none is named.

    Whatever else is wrong, the page itself says: of a server that does not start, the hub says nothing.
    """
    if parsed.coder is not None or parsed.new:
        raise ArgumentError(
            "code: under JupyterHub the coder is the one of the database role – leave out --coder and --new."
        )
    scheme, sign, place = parsed.study.partition("://")
    if sign and "@" not in place.partition("/")[0]:
        parsed.study = f"{scheme}://{getpass.getuser()}@{place}"


def _check(parsed: argparse.Namespace) -> None:
    """Refuse what the widget would refuse, and an unknown coder, before anything is served."""
    from sense7_qual.acts import check_person
    from sense7_qual.widgets import CodingWidget

    if parsed.coder is None:
        raise ArgumentError("code: name the coder, with --coder PSEUDONYM.")
    parsed.coder = check_person(parsed.coder)
    store = opened(parsed.study)
    known = store.coders
    # Where there is a plan, it names the coders, and the widget refuses the others.
    if known and parsed.coder not in known and not parsed.new and store.plan.empty:
        raise ActError(
            f"coder: {word(parsed.coder)} has not coded in this study – "
            f"{did_you_mean(parsed.coder, known)}; for a new coder pass --new."
        )
    CodingWidget(store, coder=parsed.coder, rating=parsed.rating, round=parsed.round)


def _free_port(port: int) -> int:
    """Return the port that was asked for, or any that is free."""
    try:
        with socket.socket() as probe:
            probe.bind((_LOOPBACK, port))
            return int(probe.getsockname()[1])
    except (OSError, OverflowError) as error:
        what = error.strerror if isinstance(error, OSError) else "not a port number"
        raise ArgumentError(
            f"code: port {port} cannot be used ({what}) – name another, or leave out --port."
        ) from None


def _notebook(parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the notebook of the page: the call that shows the widget, and nothing of the study."""
    study = parsed.study if is_address(parsed.study) else str(Path(parsed.study).absolute())
    source = (
        "from sense7_qual._commands.show import shown\n"
        f"shown({study!r}, coder={parsed.coder!r}, rating={parsed.rating!r}, round={parsed.round!r})"
    )
    cell: dict[str, Any] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "page",
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": [cell],
        "metadata": {
            "kernelspec": kernel,
            "title": f"Coding as {parsed.coder}" if parsed.coder else "Coding",
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _serve(notebook: Path, port: int, *, dark: bool, browser: bool) -> None:
    """Serve the page to this computer, until Ctrl+C."""
    from sense7_qual._commands import serve

    token = secrets.token_urlsafe(32)
    address = f"http://{_LOOPBACK}:{port}/?token={token}"

    def served(_: object) -> None:
        print(f"The page is at {address}\nPress Ctrl+C to end it.", flush=True)
        if browser:
            webbrowser.open(address)

    page = serve.Page(config=serve.settings(dark=dark), ip=_LOOPBACK, port=port, token=token)
    page.served = served
    serve.serve(page, notebook)

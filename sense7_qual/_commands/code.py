"""`sense7-qual code`: the coder's page without a notebook, served by Voilà to this computer alone."""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import secrets
import socket
import tempfile
import webbrowser
from pathlib import Path
from typing import Any, Final

from sense7_qual._commands.lab import ends_alone, short_enough, transport
from sense7_qual._commands.words import STUDY, Parsers, is_address, opened
from sense7_qual._messages import did_you_mean, word
from sense7_qual.errors import ActError, ArgumentError

_CODE: Final = """\
Open a coder's page in the browser: only the coding widget, in the whole window, without a
notebook. It needs Voilà (pip install "sense7_qual[page]").

Only this computer can reach the page, at an address with a random token; Ctrl+C ends it. If
other people use this computer, pass --no-browser and open the address yourself, because they
can see the command that starts a browser. If the browser is closed, the page ends after half
an hour; open the address again to continue."""
_LOOPBACK: Final = "127.0.0.1"
_TEMPLATES: Final = Path(__file__).parent / "page"


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    code = commands.add_parser("code", help="open a coder's page, without a notebook", description=_CODE)
    code.add_argument("study", metavar="STUDY", help=STUDY)
    code.add_argument("--coder", metavar="PSEUDONYM", required=True, help="the coder")
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
    _check(parsed)
    port = _free_port(parsed.port)
    # The kernel may still stand in the folder when it is removed, which Windows refuses.
    with tempfile.TemporaryDirectory(prefix="sense7-qual-", ignore_cleanup_errors=True) as folder:
        notebook = Path(folder) / "page.ipynb"
        notebook.write_text(json.dumps(_notebook(parsed)), encoding="utf-8")
        _serve(notebook, port, dark=parsed.dark, browser=not parsed.no_browser)
    print("Ended. Everything reported as saved is in the study.")
    return 0


def _check(parsed: argparse.Namespace) -> None:
    """Refuse what the widget would refuse, and an unknown coder, before anything is served."""
    from sense7_qual.acts import check_person
    from sense7_qual.widgets import CodingWidget

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
        "from sense7_qual.store import Store\n"
        "from sense7_qual.widgets import CodingWidget\n"
        f"CodingWidget(Store({study!r}), coder={parsed.coder!r}, rating={parsed.rating!r}, "
        f"round={parsed.round!r})"
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
        "metadata": {"kernelspec": kernel, "title": f"Coding as {parsed.coder}"},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _serve(notebook: Path, port: int, *, dark: bool, browser: bool) -> None:
    """Serve the page until Ctrl+C; what a user has set for Voilà elsewhere does not count."""
    from traitlets.config import Config
    from voila.app import Voila

    token = secrets.token_urlsafe(32)
    address = f"http://{_LOOPBACK}:{port}/?token={token}"

    class Page(Voila):  # type: ignore[misc]  # Voilà carries no types
        def launch_browser(self) -> None:  # called when the page is served
            print(f"The page is at {address}\nPress Ctrl+C to end it.", flush=True)
            if browser:
                webbrowser.open(address)

    # Voilà makes a folder in this one for the kernel's sockets, which no other user can open.
    place = short_enough(Path(tempfile.gettempdir()), name="voila_xxxxxxxx")
    settled = Config({"KernelManager": {"transport": transport()}, "MappingKernelManager": ends_alone()})
    page = Page(config=settled, config_file_paths=[], connection_dir_root=str(place), log_level=logging.ERROR)
    page.initialize([str(notebook)])
    page.ip, page.port, page.port_retries = _LOOPBACK, port, 0
    page.token, page.open_browser = token, True
    page.tornado_settings = {"allow_remote_access": False}  # another name in the Host header is refused
    page.template_paths.insert(0, str(_TEMPLATES))
    settings = page.voila_configuration
    settings.theme = "dark" if dark else "light"
    settings.allow_template_override = settings.allow_theme_override = "NO"
    settings.file_allowlist, settings.file_denylist = [], [".*"]
    for name in ("tornado.access", "tornado.general"):  # a refused request is no news for the coder
        logging.getLogger(name).setLevel(logging.CRITICAL)
    page.start()

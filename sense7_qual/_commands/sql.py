"""`sense7-qual sql`: the scripts with which an administrator closes a database's statistics to coders."""

from __future__ import annotations

import argparse
from importlib.resources import files
from typing import Final

from sense7_qual._commands.words import Parsers

__all__ = ["add"]

_SQL: Final = """\
Print a script for an administrator of the PostgreSQL server of a team: "close" takes the
server's own statistics in one database from everybody but superusers, so that they do not
tell a coder how much others have done; "open" takes back exactly what "close" did. Nothing
is run: read the script, then hand it to psql.

  sense7-qual sql close | psql --username=postgres --dbname=DATABASE"""


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    sql = commands.add_parser("sql", help="print a script for a server's administrator", description=_SQL)
    sql.add_argument("script", choices=("close", "open"), help="which of the two")
    sql.set_defaults(run=_sql)


def _sql(parsed: argparse.Namespace) -> int:
    script = files("sense7_qual.store._postgres") / f"{parsed.script}_statistics.sql"
    print(script.read_text("utf-8"), end="")
    return 0

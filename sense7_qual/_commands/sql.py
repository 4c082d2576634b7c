"""`sense7-qual sql`: scripts for an administrator that hide a database's statistics from coders."""

from __future__ import annotations

import argparse
from importlib.resources import files
from typing import Final

from sense7_qual._commands.words import Parsers

_SQL: Final = """\
Print a script for the administrator of a team's PostgreSQL server. "close" hides the server's
statistics of one database from everybody except superusers, because they would tell a coder
how much others have done; "open" undoes exactly what "close" did. The command only prints:
read the script, then pass it to psql.

  sense7-qual sql close | psql --username=postgres --dbname=DATABASE"""


def add(commands: Parsers) -> None:
    """Add the command to the parser."""
    sql = commands.add_parser(
        "sql", help="print a script for the administrator of a server", description=_SQL
    )
    sql.add_argument("script", choices=("close", "open"), help="the script to print")
    sql.set_defaults(run=_sql)


def _sql(parsed: argparse.Namespace) -> int:
    script = files("sense7_qual.store._postgres") / f"{parsed.script}_statistics.sql"
    print(script.read_text("utf-8"), end="")
    return 0

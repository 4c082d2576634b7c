"""What a coder's role learns of a colleague from the server's own statistics, where nobody has closed them.

docs/record.md has a table of it. The same statements as in `test_row_security` are asked before and after the
colleague's acts; an answer that changes stands in the table, and no answer has what the colleague wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import psycopg
import pytest

from sense7_qual.store._postgres import server
from sense7_qual.store._postgres.row_security import CLOSING
from tests.helpers.places import ROOT
from tests.helpers.small_study import SENTINEL, put
from tests.helpers.two_coders import BENS_ACT, Team, answers

pytestmark = [pytest.mark.nightly, pytest.mark.postgres]


PAGE = ROOT / "docs" / "record.md"


def rows_of_the_table() -> list[list[str]]:
    """The names of the first column, row by row."""
    table = PAGE.read_text("utf-8").partition("| what a coder asks |")[2].partition("\n\n")[0]
    return [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in table.splitlines()[2:]]


@pytest.fixture
def open_team(postgres: Callable[..., str], untouched: str) -> Iterator[Team]:
    with psycopg.connect(untouched.partition("&study=")[0], autocommit=True) as admin:
        admin.execute("GRANT CONNECT ON DATABASE untouched TO PUBLIC")

    def address(role: str = "postgres", study: str | None = None) -> str:
        return postgres(role, study).replace("@/postgres?", "@/untouched?")

    with pytest.warns(UserWarning, match="close_statistics"):
        team = Team(address)
    yield team
    for each in team.addresses.values():
        server.connect(each).engine.dispose()


def changed(team: Team) -> dict[str, str]:
    """The statements whose answer is another after ben's acts, with that answer."""
    team.work("ana", 3, "one")
    before = answers(team)
    team.ben.append([put(coder="ben", act_id=BENS_ACT)])
    for round in ("one", "two", None):
        team.work("ben", 30, round)
    with team.sql("ben") as working, working.transaction():
        working.execute(f'SELECT count(*) FROM "{team.name}-ben".acts')  # a transaction is open meanwhile
        after = answers(team)
    return {probe: after[probe] for probe in before if before[probe] != after[probe]}


def test_the_table_says_what_the_open_statistics_show(open_team: Team) -> None:
    found = changed(open_team)
    names = [name.rstrip("*") for row in rows_of_the_table() for name in row]
    assert [probe for probe in found if not any(name in probe for name in names)] == []
    for row in rows_of_the_table():
        assert any(name.rstrip("*") in probe for name in row for probe in found), row
    assert SENTINEL not in "".join(found.values())
    assert BENS_ACT not in "".join(found.values())


def test_with_the_script_none_of_them_shows_anything(open_team: Team) -> None:
    with open_team.sql("postgres") as admin:
        admin.execute(CLOSING.read_text("utf-8"))
    assert changed(open_team) == {}

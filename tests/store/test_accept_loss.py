"""Rows that somebody adds to a coder's tables past the package: the lead takes them out and notes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sense7_qual import rounds
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from tests.helpers.small_study import CODEBOOK, put
from tests.helpers.two_coders import COLUMNS, NO_ACT, Address, Team

pytestmark = pytest.mark.postgres

VALUES = "%s, %s, 'finish', 'ben', now()::text, 'x', 'x', 'x', %s"
ROW = f"INSERT INTO {{}}.acts ({COLUMNS}, round) VALUES ({VALUES})"


@pytest.fixture
def team(postgres: Address) -> Team:
    """A round in which both coded, unblinded, so that all may see its acts."""
    made = Team(postgres)
    named = {"coder": "lead", "codebook": CODEBOOK}
    made.lead.append([rounds.open_round("one", units=["m1"], coders=["ana", "ben"], **named)])
    made.work("ana", 2, "one")
    made.work("ben", 3, "one")
    made.lead.append([rounds.unblind("one", **named)])
    return made


def spoil(team: Team, *, text: bool = False) -> None:
    """What ben's role may do in SQL: add rows, one of them to a round that all may see, and a text."""
    tables = f'"{team.name}-ben"'
    with team.sql("ben") as ben:
        ben.execute(ROW.format(tables), (5, NO_ACT, "one"))
        if text:
            ben.execute(f"INSERT INTO {tables}.texts VALUES ('x', 'x', 'said')")


@pytest.mark.parametrize("text", [False, True])
def test_a_row_added_by_hand_is_taken_out_and_noted(team: Team, tmp_path: Path, text: bool) -> None:
    before = team.lead.acts()
    spoil(team, text=text)
    for hindered in (
        team.lead.decisions,
        lambda: team.lead.copies.archive(tmp_path / "a"),
        team.ana.acts,
    ):
        with pytest.raises(StoreError):
            hindered()
    assert len(team.lead.admin.salvage("ben", tmp_path / "kept.sqlite").lost) == 1
    lost = team.lead.admin.accept_loss("ben", by="lead", why="Added with psql.")
    assert lost["seq"].tolist() == [5, 0][: 1 + text]
    assert lost["act_id"][0] == NO_ACT
    assert [act for act in team.lead.acts() if act.text is None or "Taken out" not in act.text] == before
    assert team.lead.verify()["ok"].all()
    assert team.ana.verify()["ok"].all()
    assert {act.coder for act in team.ana.acts()} == {"ana", "ben", "lead"}
    told = team.lead.memos()["text"]
    assert told[told.str.contains("Taken out")].tolist() == [
        f"Taken out of the acts of ben, as not what was written: 1 acts (rows 5), {int(text)} texts. "
        "Added with psql."
    ]
    assert "said" not in told.str.cat()
    team.lead.copies.archive(tmp_path / "after.zip")
    again = Store.restore(tmp_path / "after.zip", tmp_path / "again")
    assert again.acts(coder="ben") == team.lead.acts(coder="ben")
    assert team.lead.admin.accept_loss("ben", by="lead").empty  # once more takes nothing
    assert again.admin.accept_loss("ben", by="lead").empty


def test_acts_behind_the_row_stay_and_the_coder_goes_on(team: Team, postgres: Address) -> None:
    tables, before = f'"{team.name}-ben"', team.ben.acts(coder="ben")
    with team.sql("postgres") as admin:  # as if it had been there before ben's last act
        admin.execute(f"UPDATE {tables}.acts SET seq = seq + 10 WHERE seq = 4")
        admin.execute(ROW.format(tables), (4, NO_ACT, None))
        admin.execute(f"UPDATE {tables}.acts SET seq = 5 WHERE seq = 14")
    assert team.lead.admin.accept_loss("ben", by="lead")["seq"].tolist() == [4]
    assert team.ben.acts(coder="ben") == before
    assert team.ben.append([put(coder="ben", start=0, end=7)]) == 1
    assert team.lead.verify()["ok"].all()


def test_it_says_who_took_them_out_and_coders_cannot(team: Team) -> None:
    spoil(team)
    with pytest.raises(ActError, match=r"expected the pseudonym of the lead .* 1 changed rows .* pass by="):
        team.lead.admin.accept_loss("ben")
    with pytest.raises(StoreError, match="found acts of 'ana'"):
        team.lead.admin.accept_loss("ben", by="ana")
    for store in (team.ana, team.ben):
        assert store.admin.accept_loss("ben", by="ben").empty
    with team.sql("postgres") as admin:
        counted = admin.execute(f'SELECT count(*) FROM "{team.name}-ben".acts').fetchone()
    assert counted == (5,)
    with team.sql("ben") as ben, pytest.raises(Exception, match="permission denied"):
        ben.execute(f'DELETE FROM "{team.name}-ben".acts')


def test_rows_of_the_lead_and_the_rules_of_the_tables_stay(team: Team) -> None:
    rules = (
        "SELECT n.nspname, c.relname, c.relrowsecurity, c.relforcerowsecurity FROM pg_class c JOIN "
        "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname LIKE %s AND c.relkind = 'r' ORDER BY 1, 2"
    )
    with team.sql("postgres") as admin:
        before = admin.execute(rules, (f"{team.name}%",)).fetchall()
        spoil(team, text=True)
        team.lead.admin.accept_loss("ben", by="lead")
        assert admin.execute(rules, (f"{team.name}%",)).fetchall() == before

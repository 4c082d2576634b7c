"""Blindness in PostgreSQL: with a coder's role, nothing that SQL can ask tells what another coder has done.

The proof is a comparison: what the role of `ana` is told by every probe, word for word, before `ben` has done
anything and after he has done much. What differs would be a leak.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from sense7_qual import acts, rounds
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.store._postgres.row_security import CLOSED, CLOSING
from tests.helpers.small_study import CODEBOOK, SENTINEL, frame_of, put
from tests.helpers.two_coders import (
    BENS_ACT,
    COLUMNS,
    NO_ACT,
    Address,
    Team,
    answers,
    rights,
    told,
)

pytestmark = pytest.mark.postgres


@pytest.fixture
def team(postgres: Address) -> Iterator[Team]:
    team = Team(postgres)
    yield team
    for address in team.addresses.values():
        server.connect(address).engine.dispose()


def differing(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [f"{p}: {before[p]} → {after[p]}" for p in before if before[p] != after[p]]


def test_no_probe_tells_what_another_coder_has_done(team: Team) -> None:
    team.work("ana", 3, "one")
    before = answers(team)
    team.ben.append([put(coder="ben", act_id=BENS_ACT)])
    team.work("ben", 14, "one")
    team.work("ben", 14, None)
    with team.sql("ben") as working, working.transaction():
        working.execute(f'SELECT count(*) FROM "{team.name}-ben".acts')  # a transaction is open meanwhile
        assert differing(before, answers(team)) == []
    assert SENTINEL not in "".join(v for k, v in before.items() if "-ben" in k)
    assert team.ana.acts(coder="ben") == []
    assert team.ana.coders == ("ana",)
    assert len(team.lead.acts(coder="ben")) == 31


def test_the_comparison_would_show_a_leak(team: Team) -> None:
    """The control: with one right given by mistake, and forced row-level security off, probes differ."""
    team.work("ana", 3, "one")
    with team.sql("postgres") as admin:
        admin.execute(f'ALTER TABLE "{team.name}-ben".acts DISABLE ROW LEVEL SECURITY')
        admin.execute(f'GRANT USAGE ON SCHEMA "{team.name}-ben" TO ana')
        admin.execute(f'GRANT SELECT ON "{team.name}-ben".acts TO ana')
        before = answers(team)
        team.work("ben", 14, "one")
        found = " ".join(differing(before, answers(team)))
        for leak in ("SELECT count(*)", "EXPLAIN SELECT *", "SELECT xmin"):
            assert f'{leak} FROM "{team.name}-ben".acts' in found
        # The right alone opens nothing: row-level security is forced.
        admin.execute(f'ALTER TABLE "{team.name}-ben".acts ENABLE ROW LEVEL SECURITY')
        with team.sql("ana") as connection:
            assert told(connection, f'SELECT count(*) FROM "{team.name}-ben".acts') == "[(0,)]"


def test_what_is_unblinded_is_shown_and_what_is_hidden_beside_it_is_not(team: Team) -> None:
    team.work("ana", 2, "one")
    team.ben.append([put(coder="ben", act_id=BENS_ACT)])
    team.work("ben", 5, "one")
    begin = rounds.open_round("one", units=["m1"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK)
    lead = rounds.unblind("one", coder="lead", codebook=CODEBOOK)
    team.lead.append([begin, lead])
    shown = team.ana.acts(coder="ben")
    assert [(act.kind, act.round, act.text) for act in shown] == [
        ("apply", "one", frame_of()["text"][0][i : i + 2]) for i in range(5)
    ]
    assert team.ana.acts(coder="lead") == [begin, lead]
    assert team.ana.coders == ("ana", "ben", "lead")
    before = answers(team)
    team.work("ben", 14, "two")
    assert differing(before, answers(team)) == []
    assert team.ana.acts(coder="ben") == shown


def minutes_away(minutes: float) -> str:
    when = (datetime.now(UTC) + timedelta(minutes=minutes)).replace(tzinfo=None)
    return f"{when.isoformat(timespec='milliseconds')}Z"


@pytest.mark.parametrize("minutes", [-16, 16, -3_000_000])
def test_an_act_in_an_unblinded_round_has_the_time_of_the_server(team: Team, minutes: float) -> None:
    """Another time would say that it was blind. Before the round is unblinded it says nothing wrong."""
    begin = rounds.open_round("one", units=["m1"], coders=["ana", "lead"], coder="lead", codebook=CODEBOOK)
    team.lead.append([begin])
    team.ana.append([put(round="one", at=minutes_away(minutes))])
    team.lead.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    before = team.lead.acts()
    for store, coder in ((team.ana, "ana"), (team.lead, "lead")):
        with pytest.raises(ActError, match="15 minutes between it and the server's clock"):
            store.append([put(coder=coder, round="one", start=0, end=2, at=minutes_away(minutes))])
        with pytest.raises(ActError, match="15 minutes"):  # one of several: none is recorded
            store.append(
                [
                    put(coder=coder, round="one", start=0, end=n, at=minutes_away(minutes * (n > 3)))
                    for n in (3, 4)
                ]
            )
    assert team.lead.acts() == before
    assert team.ana.append([put(round="one", start=0, end=5, at=minutes_away(-14))]) == 1
    assert team.ana.append([put(start=0, end=6, at=minutes_away(minutes))]) == 1  # in no round


def test_no_setting_of_a_coder_opens_an_unblinded_round_to_other_times(team: Team) -> None:
    begin = rounds.open_round("one", units=["m1"], coders=["ana"], coder="lead", codebook=CODEBOOK)
    team.lead.append([begin, rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    row = f'INSERT INTO "{team.name}-ana".acts ({COLUMNS}, round, branch) VALUES ({", ".join(["%s"] * 10)})'
    for at, branch in (("2020-01-01T00:00:00.000Z", None), ("2020-01-01T00:00:00.000Z", "x"), ("x", None)):
        values = (1, NO_ACT, "finish", "ana", at, "x", "x", "x", "one", branch)
        with team.sql("ana") as connection:
            connection.execute("SET sense7_qual.from_a_copy = 'on'")
            with pytest.raises(psycopg.Error):
                connection.execute(row, values)
    assert team.ana.acts(coder="ana") == []
    with team.sql("ana") as connection:  # the control: the same row with the time of now comes in
        connection.execute(row, (1, NO_ACT, "finish", "ana", minutes_away(0), "x", "x", "x", "one", None))


def test_a_full_disk_of_the_server_is_called_that(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's own answer to it, given by a trigger."""
    monkeypatch.setattr(server, "PATIENCE", 0.2)
    with team.sql("postgres") as admin:
        admin.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
        )
        table = f'"{team.name}-ana".acts'
        admin.execute(f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION full_disk()")
        with pytest.raises(StoreError, match="server is full"):
            team.ana.append([put()])
        admin.execute(f"DROP TRIGGER full_disk ON {table}")
        admin.execute("DROP FUNCTION full_disk")
    assert team.ana.append([put()]) == 1


def test_a_copy_brings_what_was_done_on_other_days(postgres: Address, tmp_path: Path) -> None:
    """An archive, a merge, and acts of the lead in an unblinded round, whatever their time."""
    there = Store.create(tmp_path / "pilot", units=frame_of(), codebook=CODEBOOK)
    named = {"coder": "lead", "codebook": CODEBOOK, "at": minutes_away(-90)}
    begin = rounds.open_round("one", units=["m1"], coders=["ana", "lead"], **named)
    there.append([begin, put(coder="lead", round="one", at=minutes_away(-80))])
    there.append([put(round="one", at=minutes_away(-80))])
    there.append([rounds.unblind("one", **named | {"at": minutes_away(-70)})])
    there.copies.archive(tmp_path / "pilot.zip")
    there.append([put(coder="lead", round="one", start=0, end=3, at=minutes_away(-60))])
    there.append([put(round="one", start=0, end=3, at=minutes_away(-60))])
    restored = Store.restore(tmp_path / "pilot.zip", postgres())
    assert len(restored.acts()) == 4
    assert restored.copies.merge(there).counts["new"] == 2
    assert restored.verify()["ok"].all()


def test_a_coder_can_neither_write_as_another_nor_lead(team: Team) -> None:
    with pytest.raises(StoreError, match="acts of a coder of role 'ana' – found acts of 'ben'"):
        team.ana.append([put(coder="ben")])
    with pytest.raises(StoreError, match="acts of a coder of role 'lead' – found acts of 'ben'"):
        team.lead.append([put(coder="ben")])
    named = {"units": ["m1"], "coders": ["ana"], "coder": "ana", "codebook": CODEBOOK}
    both = [rounds.open_round("one", **named), rounds.unblind("one", coder="ana", codebook=CODEBOOK)]
    with pytest.raises(StoreError, match="expected a role with the right to do this"):
        team.ana.append(both)
    with pytest.raises(StoreError, match="'ana', which does not lead"):
        team.ana.admin.add_coder("cleo")
    with pytest.raises(StoreError, match="to keep role 'ben' – found 'ana'"):
        team.lead.admin.add_coder("ben", role="ana")
    with pytest.raises(StoreError, match="found 'postgres', a superuser"):
        team.lead.admin.add_coder("dora", role="postgres")
    assert team.ana.acts() == []


def test_a_coder_rules_on_nothing(team: Team) -> None:
    """What an adjudicator decides counts for all: a coder's role has no way to it, nor past the package."""
    named = {"unit_id": "m1", "code": "interest", "applied": True, "codebook": CODEBOOK}
    with pytest.raises(StoreError, match="expected a role with the right to do this"):
        team.ana.append([acts.rule(coder="ana", **named)])
    team.work("ana", 1, "one")
    table = f'"{team.name}-ana".acts'
    with team.sql("ana") as connection:
        asked = (
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s"
        )
        columns = [name for (name,) in connection.execute(asked, [f"{team.name}-ana", "acts"])]
        rest = ", ".join(f'"{name}"' for name in columns if name not in ("seq", "act_id", "kind"))
        forged = f"SELECT 99, 'forged', '{{}}', {rest} FROM {table} LIMIT 1"
        into = f"INSERT INTO {table} (seq, act_id, kind, {rest}) "
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute(into + forged.format("rule"))
    assert team.lead.rulings() == []
    team.lead.append([acts.rule(coder="lead", **named)])
    assert len(team.lead.rulings()) == 1


def test_a_trigger_on_a_table_of_ones_own_unblinds_nothing(team: Team) -> None:
    """Even where the administrator has let the role make tables."""
    with team.sql("postgres") as admin, team.sql("ana") as ana:
        admin.execute("CREATE SCHEMA IF NOT EXISTS playground")
        admin.execute("GRANT ALL ON SCHEMA playground TO ana")
        ana.execute("CREATE TABLE playground.t (round text, coder text, act_id text)")
        with contextlib.suppress(psycopg.Error):
            ana.execute(
                "CREATE TRIGGER t AFTER INSERT ON playground.t FOR EACH ROW EXECUTE FUNCTION "
                f"{team.name}.share()"
            )
            ana.execute("INSERT INTO playground.t VALUES ('one', 'ana', 'x')")
        assert admin.execute(f"SELECT count(*) FROM {team.name}.unblinded").fetchall() == [(0,)]
        admin.execute("DROP SCHEMA playground CASCADE")


def test_the_lead_cannot_change_what_a_coder_did(team: Team) -> None:
    team.work("ben", 2, "one")
    with team.sql("lead") as lead:
        for deed in ("UPDATE {} SET code = 'x'", "DELETE FROM {}"):
            with contextlib.suppress(psycopg.Error):
                lead.execute(deed.format(f'"{team.name}-ben".acts'))
    assert len(team.lead.acts(coder="ben")) == 3
    assert team.lead.verify()["ok"].all()


def test_numbers_of_the_whole_server_are_closed(team: Team) -> None:
    """They are refused, not only equal by chance: anybody's transaction would move them."""
    with team.sql("ana") as ana:
        for probe in (
            "SELECT age('3'::xid)",
            "SELECT xmin FROM pg_db_role_setting",
            "SELECT xmin FROM pg_namespace",
            "SELECT objid FROM pg_shdepend",
            "SELECT oid FROM pg_default_acl",
            "SELECT lo_create(0)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                ana.execute(probe)
        assert (
            ana.execute("SELECT count(*) FROM pg_namespace").fetchone()[0] > 0
        )  # by column all stay readable
        assert ana.execute("SELECT age(now() - interval '1 day')").fetchone() is not None


def test_the_servers_other_databases_are_named_where_coders_may_enter_them(postgres: Address) -> None:
    """There the statistics of the whole server can be read."""
    address = postgres()
    plain = address.partition("&study=")[0]
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("GRANT CONNECT ON DATABASE template1 TO PUBLIC")
        try:
            with pytest.warns(UserWarning, match='REVOKE CONNECT ON DATABASE "template1" FROM PUBLIC'):
                Store.create(address, units=frame_of(), codebook=CODEBOOK)
        finally:
            admin.execute("REVOKE CONNECT ON DATABASE template1 FROM PUBLIC")
    server.connect(address).engine.dispose()


def test_a_study_that_a_superuser_makes_takes_no_right_from_anybody(untouched: str) -> None:
    """`pg_dump` and temporary tables of a laboratory's other work go on; a warning names the script."""
    with psycopg.connect(untouched.partition("&study=")[0], autocommit=True) as admin:
        before = rights(admin)
        with pytest.warns(UserWarning, match=r"psql --dbname=untouched --file=\S+close_statistics.sql"):
            store = Store.create(untouched, units=frame_of(), codebook=CODEBOOK)
        store.admin.add_coder("ana")
        assert rights(admin, but=untouched.rpartition("=")[2]) == before
        admin.execute(
            "SET SESSION AUTHORIZATION pg_read_all_settings"
        )  # a role with no rights of its own here
        assert admin.execute("SELECT count(reltuples) FROM pg_class").fetchone()[0] > 0
        admin.execute("CREATE TEMPORARY TABLE t (a int)")


def test_the_scripts_close_the_statistics_and_give_back_exactly_what_was_there(untouched: str) -> None:
    opening = CLOSING.with_name("open_statistics.sql").read_text("utf-8")
    with psycopg.connect(untouched.partition("&study=")[0], autocommit=True) as admin:
        # Rights beside the usual ones: by column beside the table, of one role, and a function closed before.
        admin.execute("GRANT SELECT (relname) ON pg_class TO PUBLIC")
        admin.execute("GRANT SELECT ON pg_class TO pg_read_all_settings")
        admin.execute("REVOKE EXECUTE ON FUNCTION lo_create(oid) FROM PUBLIC")
        before = rights(admin)
        with pytest.raises(psycopg.errors.UndefinedTable, match="found no note of it"):
            admin.execute(opening)
        for _ in range(2):  # again, as after an update of the server
            admin.execute(CLOSING.read_text("utf-8"))
            assert admin.execute(CLOSED).fetchone() == (True,)
        closed = rights(admin)
        assert {row[4] for row in before - closed} == {"EXECUTE", "SELECT", "TEMPORARY"}
        assert {(row[0], row[4]) for row in closed - before if "sense7_statistics" not in row[1]} == {
            ("column", "SELECT")
        }
        Store.create(untouched, units=frame_of(), codebook=CODEBOOK)  # without a warning
        admin.execute(
            "REVOKE EXECUTE ON FUNCTION pg_sleep(float8) FROM PUBLIC"
        )  # meanwhile, by somebody else
        admin.execute(opening)
        assert admin.execute(CLOSED).fetchone() == (False,)
        after = rights(admin, but=untouched.rpartition("=")[2])
        assert {row[1] for row in before ^ after} == {"pg_sleep(double precision)"}


def test_the_scripts_run_nothing_that_another_role_wrote(untouched: str) -> None:
    with psycopg.connect(untouched.partition("&study=")[0], autocommit=True) as admin:
        admin.execute("CREATE SCHEMA sense7_statistics AUTHORIZATION pg_read_all_settings")
        before = rights(admin)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="another role made it"):
            admin.execute(CLOSING.read_text("utf-8"))
        admin.execute("CREATE TABLE sense7_statistics.changes (number int, made text, undo text)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="another role made it"):
            admin.execute(CLOSING.with_name("open_statistics.sql").read_text("utf-8"))
        admin.execute("DROP TABLE sense7_statistics.changes")
        assert rights(admin) == before
        admin.execute("SET SESSION AUTHORIZATION pg_read_all_settings")
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="expected a superuser"):
            admin.execute(CLOSING.read_text("utf-8"))


def test_what_a_lead_adds_to_another_coders_acts_says_that_it_was_merged(team: Team, tmp_path: Path) -> None:
    team.work("ben", 2, None)
    team.lead.copies.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    there.append([put(coder="ben", start=0, end=5)])
    row = f'INSERT INTO "{team.name}-ben".acts ({COLUMNS}) VALUES (99, %s, %s, %s, %s, %s, %s, %s)'
    with team.sql("lead") as lead, pytest.raises(psycopg.errors.InsufficientPrivilege):
        lead.execute(row, (NO_ACT, "finish", "ben", "x", "x", "x", "x"))
    assert team.lead.copies.merge(there).counts["new"] == 1
    assert team.ben.acts() == there.acts(coder="ben")
    report = team.ben.verify().set_index("file")
    assert report["note"]["ben"] == "1 acts merged from another copy"
    assert team.ben.append([put(coder="ben", start=0, end=7)]) == 1
    assert team.lead.verify()["ok"].all()
    assert there.copies.merge(team.lead).counts["new"] == 1
    assert there.acts(coder="ben") == team.ben.acts()


def test_a_second_lead_can_do_what_the_first_can(team: Team, tmp_path: Path) -> None:
    assert team.lead.append([put(coder="model")], person=True) == 1
    team.lead.admin.add_coder("ben-2", role="ben")
    team.lead.admin.add_coder("cleo", role="ben", lead=True)
    named = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    team.lead.append([rounds.open_round("one", **named)])
    ending = rounds.unblind("one", coder="cleo", codebook=CODEBOOK)
    with pytest.raises(ActError, match="expected a lead of round 'one'"):
        team.ben.append([ending])
    team.lead.append([rounds.open_round("one", **named, leads=["cleo"])])
    assert team.ben.append([ending]) == 1
    team.lead.copies.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    there.append([put(coder="dora")])
    assert team.lead.copies.merge(there).counts["new"] == 1
    assert team.lead.forget("p1", why="withdrew").n_units == 1
    assert team.lead.verify()["ok"].all()


def test_whoever_adds_to_a_round_while_it_is_unblinded_is_shown_whole(team: Team) -> None:
    """No act of the round stays hidden, and none of another round is shown, however the two meet."""
    team.lead.append(
        [
            rounds.open_round(name, units=["m1"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK)
            for name in ("one", "two")
        ]
    )

    def working(name: str) -> None:
        for i in range(25):
            team.ben.append([put(coder="ben", start=i % 9, end=i % 9 + 2, round=name)])

    with ThreadPoolExecutor(2) as pool:
        busy = [pool.submit(working, name) for name in ("one", "two")]
        team.lead.append([rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
        for each in busy:
            each.result()
    done = [act.act_id for act in team.ben.acts(coder="ben") if act.round == "one"]
    assert [act.act_id for act in team.ana.acts(coder="ben")] == done
    assert len(done) == 25


def test_whatever_is_changed_in_the_tables_behind_the_teams_back_is_found(team: Team, tmp_path: Path) -> None:
    """A single changed value in any table that says something of the study; only roles vouch for nothing."""
    for coder in ("ana", "ben"):
        team.work(coder, 3, "one")
    team.ben.append([put(coder="ben", start=0, end=3, round="two")])
    begin = rounds.open_round("one", units=["m1"], coders=["ana", "ben"], coder="lead", codebook=CODEBOOK)
    team.lead.append([begin, rounds.unblind("one", coder="lead", codebook=CODEBOOK)])
    team.lead.copies.archive(tmp_path / "one.zip")
    team.lead.forget("p1", why="withdrew")
    assert team.lead.verify()["ok"].all()
    study = f'"{team.name}"'
    changes = [
        *[
            (f"{study}.shown", column, "coder = 'ben' AND seq = 2")
            for column in ("act_id", "kind", "code", "at", "round", "hash", "previous", "text_hash")
        ],
        (f"{study}.shown_texts", "salt", "salt IS NOT NULL"),
        (f"{study}.shown_texts", "text_hash", "salt IS NOT NULL"),
        (f"{study}.unblinded", "round", "true"),
        (f"{study}.unblinded", "act_id", "true"),
        (f"{study}.notes", "shown", "kind = 'Withdrawal'"),
        (f"{study}.notes", "id", "true"),
        (f"{study}.study", "id", "true"),
        (f"{study}.study", "codebook", "true"),
        *[
            (f'"{team.name}-ben".acts', column, "seq = 2")
            for column in ("act_id", "kind", "coder", "code", "at", "codebook", "round", "hash", "previous")
        ],
    ]
    with team.sql("postgres") as admin:
        admin.execute("SET session_replication_role = replica")  # no foreign keys and no triggers
        for table, column, where in changes:
            before = admin.execute(f"SELECT ctid, {column} FROM {table} WHERE {where} LIMIT 1").fetchone()
            assert before is not None, (table, column)
            value = "x" if before[1] is None else before[1][:-1] + chr(ord(before[1][-1]) ^ 1)
            admin.execute(f"UPDATE {table} SET {column} = %s WHERE ctid = %s", (value, before[0]))
            assert not team.lead.verify()["ok"].all(), (table, column)
            admin.execute(f"UPDATE {table} SET {column} = %s WHERE {column} = %s", (before[1], value))
        admin.execute(f"INSERT INTO {study}.unblinded VALUES ('two', 'lead', 'x')")
        assert not team.lead.verify()["ok"].all()
        admin.execute(f"DELETE FROM {study}.unblinded WHERE round = 'two'")
        admin.execute(f"DELETE FROM {study}.shown WHERE coder = 'ben' AND seq = 2")
        assert not team.lead.verify()["ok"].all()

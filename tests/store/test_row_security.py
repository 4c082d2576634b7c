"""Blindness in PostgreSQL: with a coder's role, nothing that SQL can ask tells what another coder has done.

The proof is a comparison: what the role of `ana` is told by every probe, word for word, before `ben` has done
anything and after he has done much. What differs would be a leak.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from sense7_qual import acts, rounds
from sense7_qual.errors import ActError, StoreError
from sense7_qual.store import Store
from sense7_qual.store._postgres import server
from sense7_qual.store._postgres.row_security import CLOSED, CLOSING
from tests.store.test_store import CODEBOOK, SENTINEL, frame_of, put

pytestmark = pytest.mark.postgres

Address = Callable[..., str]
BENS_ACT = "00000000-0000-4000-8000-00000000beef"
NO_ACT = "00000000-0000-4000-8000-00000000dead"


class Team:
    """A study of a lead and the coders ana and ben, each with a role of their own."""

    def __init__(self, postgres: Address) -> None:
        address = postgres()
        self.name = address.rpartition("=")[2]
        self.addresses = {role: postgres(role, self.name) for role in ("postgres", "ana", "ben", "lead")}
        self.first = Store.create(address, units=frame_of(), codebook=CODEBOOK)
        self.first.add_coder("lead", role="lead", lead=True)
        for coder in ("ana", "ben"):
            self.first.add_coder(coder, role=coder)
        self.lead, self.ana, self.ben = (Store(self.addresses[role]) for role in ("lead", "ana", "ben"))

    def sql(self, role: str) -> psycopg.Connection:
        plain = self.addresses[role].partition("&study=")[0]
        return psycopg.connect(plain, autocommit=True)

    def work(self, coder: str, n_acts: int, round: str | None) -> None:
        store = getattr(self, coder)
        named = {"coder": coder, "round": round}
        store.append([put(start=i, end=i + 2, **named) for i in range(n_acts)])
        store.append([acts.memo(coder=coder, unit_id="m1", text=SENTINEL * 50, codebook=CODEBOOK)])


@pytest.fixture
def team(postgres: Address) -> Iterator[Team]:
    team = Team(postgres)
    yield team
    for address in team.addresses.values():
        server.connect(address).engine.dispose()


def told(connection: psycopg.Connection, probe: str) -> str:
    """What the server answers: the rows, or the error with all of its fields."""
    try:
        with connection.transaction(force_rollback=True):
            return repr(connection.execute(probe).fetchall())
    except psycopg.Error as error:
        fields = ("message_primary", "message_detail", "message_hint", "constraint_name", "table_name")
        return repr((error.sqlstate, *[getattr(error.diag, field) for field in fields]))


COLUMNS = "seq, act_id, kind, coder, at, codebook, previous, hash"


def probes(study: str) -> list[str]:
    ben, ana = f'"{study}-ben"', f'"{study}-ana"'
    row = f"INSERT INTO {{}}.acts ({COLUMNS}) VALUES (%s, '%s', 'finish', '%s', 'x', 'x', 'x', 'x')"
    tables = [f"{schema}.{table}" for schema in (ben, ana) for table in ("acts", "texts", "meta")]
    explain = "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF,"
    return [
        # rows, counts, the plans that the server makes, and the places of rows
        *[f"SELECT * FROM {table}" for table in tables],
        *[f"SELECT count(*) FROM {table}" for table in tables],
        *[f"EXPLAIN SELECT * FROM {table}" for table in tables],
        *[f"{explain} BUFFERS OFF) SELECT * FROM {table}" for table in tables],
        *[f"SELECT {hidden} FROM {table}" for table in tables for hidden in ("ctid", "xmin", "tableoid")],
        *[f"TABLE {study}.{table}" for table in ("study", "codebooks", "members", "leads", "unblinded")],
        f"SELECT seq FROM {ana}.acts",
        # the functions that show what is unblinded
        f"SELECT * FROM {study}.shown ORDER BY coder, seq",
        f"SELECT ctid FROM {study}.shown",
        f"EXPLAIN SELECT * FROM {study}.shown",
        f"SELECT * FROM {study}.shown_texts ORDER BY text_hash",
        f"SELECT {study}.show('ben', ARRAY['{BENS_ACT}'])",
        f"SELECT * FROM {study}.coders()",
        f"SELECT {study}.is_mine('ben'), {study}.is_lead()",
        f"{explain[:-1]}) SELECT * FROM {study}.shown",
        f"EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) SELECT * FROM {study}.coders()",
        # ids: an act_id that ben has used, and one that nobody has
        *[row.format(schema) % (1, act_id, coder) for schema in (ana, ben) for coder in ("ana", "ben")
          for act_id in (BENS_ACT, NO_ACT)],
        row.format(ana) % (99, BENS_ACT, "ana"),
        # changing and deleting, also one's own
        f"UPDATE {ana}.acts SET kind = 'apply'",
        f"DELETE FROM {ana}.acts",
        f"DELETE FROM {ben}.acts",
        f"TRUNCATE {ana}.acts",
        f"UPDATE {study}.study SET codebook = 'x'",
        f"INSERT INTO {study}.unblinded VALUES ('one', 'ana', 'x')",
        f"INSERT INTO {study}.leads VALUES ('ana')",
        # statistics
        "SELECT reltuples FROM pg_class",
        "SELECT relpages FROM pg_class",
        "SELECT * FROM pg_class",
        "SELECT xmin FROM pg_class",
        f"SELECT * FROM pg_stats WHERE schemaname LIKE '{study}%'",
        "SELECT * FROM pg_statistic",
        "SELECT * FROM pg_stat_user_tables",
        "SELECT * FROM pg_stat_user_indexes",
        "SELECT * FROM pg_statio_user_tables",
        "SELECT * FROM pg_stat_xact_user_tables",
        "SELECT * FROM pg_stat_database",
        "SELECT * FROM pg_stat_activity",
        "SELECT * FROM pg_stat_wal",
        "SELECT * FROM pg_locks",
        "SELECT * FROM pg_sequences",
        "SELECT * FROM pg_prepared_xacts",
        *[f"SELECT pg_{size}_size('{table}')" for size in ("relation", "total_relation", "table", "indexes")
          for table in tables],
        "SELECT pg_database_size(current_database())",
        "SELECT pg_tablespace_size('pg_default')",
        f"SELECT to_regclass('{ben}.acts')",
        f"SELECT has_table_privilege('{ben}.acts', 'SELECT')",
        f"SELECT * FROM information_schema.tables WHERE table_schema LIKE '{study}%' ORDER BY 1, 2, 3",
        # the clock of transactions and of the log
        "SELECT pg_current_xact_id()",
        "SELECT txid_current()",
        "SELECT txid_current_snapshot()",
        "SELECT pg_current_snapshot()",
        "SELECT pg_export_snapshot()",
        "SELECT pg_current_wal_lsn()",
        "SELECT pg_current_wal_insert_lsn()",
        "SELECT pg_logical_emit_message(true, 'a', 'b')",
        "SELECT pg_stat_get_db_xact_commit((SELECT oid FROM pg_database WHERE datname = current_database()))",
        "SELECT * FROM pg_control_checkpoint()",
        # numbers of transactions and objects, which count everybody's: hidden columns of rows that the role
        # has itself made in a catalog, and what the server hands out
        "SELECT age('3'::xid)",
        "SELECT mxid_age('1'::xid)",
        "ALTER ROLE ana SET work_mem = '5MB'",
        "SELECT xmin FROM pg_db_role_setting",
        "SELECT lo_create(0)",
        "SELECT lo_from_bytea(0, 'x')",
        "SELECT xmin FROM pg_largeobject_metadata",
        "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ana",
        "SELECT oid, xmin FROM pg_default_acl",
        "SELECT objid FROM pg_shdepend",
        "SELECT xmin FROM pg_shdepend",
        "SELECT xmin FROM pg_namespace",
        "SELECT cmin FROM pg_attribute",
        "SELECT xmin FROM pg_database",
        "SELECT datfrozenxid FROM pg_database",
        "SELECT * FROM pg_stat_io",
        "SELECT * FROM pg_stat_slru",
        "SELECT * FROM pg_stat_bgwriter",
        "SELECT * FROM pg_stat_checkpointer",
        "SELECT * FROM pg_stat_replication",
        "SELECT * FROM pg_stat_progress_vacuum",
        "SELECT * FROM pg_stats_ext",
        "SELECT pg_stat_get_snapshot_timestamp()",
        "SELECT pg_get_multixact_members('1')",
        # from PostgreSQL 17 on: numbers of the chunks of long texts, and summaries of the log
        f"SELECT pg_column_toast_chunk_id(text) FROM {ana}.texts",
        "SELECT * FROM pg_available_wal_summaries()",
        "SELECT * FROM pg_wal_summary_contents(1, '0/0', '0/1')",
        "SELECT * FROM pg_get_wal_summarizer_state()",
        # one by one: what the views above are made of, and ways to the same numbers
        "SELECT pg_stat_get_tuples_inserted(c.oid) FROM pg_class c WHERE relname = 'acts' ORDER BY c.oid",
        "SELECT pg_stat_get_last_analyze_time(c.oid) FROM pg_class c WHERE relname = 'acts' ORDER BY c.oid",
        "SELECT relname, relpages FROM pg_class WHERE relkind = 't' ORDER BY oid",
        "SELECT pg_relation_size(oid) FROM pg_class WHERE relkind = 't' ORDER BY oid",
        f"SELECT pg_relation_filepath('{ben}.acts')",
        "SELECT * FROM pg_ls_waldir()",
        "SELECT pg_last_committed_xact()",
        "SELECT pg_xact_status('99999999')",
        "SELECT txid_status(99999999)",
        "SELECT pg_blocking_pids(pg_backend_pid())",
        "SELECT count(*) FROM pg_largeobject_metadata",
        f"INSERT INTO {ana}.acts ({COLUMNS}) VALUES (900, '{NO_ACT}', 'finish', 'ana', 'x', 'x', 'x', 'x') "
        "RETURNING xmin",
        "NOTIFY x",
        "SELECT pg_listening_channels()",
        "SELECT pg_notification_queue_usage()",
        "SELECT pg_try_advisory_lock_shared(1)",
        f"LOCK TABLE {study}.unblinded IN ACCESS SHARE MODE NOWAIT",
        f"LOCK TABLE {study}.shown IN ACCESS SHARE MODE NOWAIT",
        f"LOCK TABLE {ben}.acts IN ACCESS SHARE MODE NOWAIT",
        # ways around
        "SET ROLE ben",
        "SET SESSION AUTHORIZATION ben",
        "SET row_security = off",
        f"GRANT SELECT ON {ben}.acts TO ana",
        f"ALTER TABLE {ana}.acts DISABLE ROW LEVEL SECURITY",
        "CREATE TEMP TABLE t (round text, coder text, act_id text)",
        "CREATE TABLE public.t (round text)",
        f"CREATE FUNCTION {study}.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        f"SELECT {study}.share()",
        f"CREATE TABLE public.t (h text REFERENCES {ben}.texts)",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT pg_ls_dir('base')",
    ]  # fmt: skip


def answers(team: Team) -> dict[str, str]:
    with team.sql("postgres") as connection:
        for table in ("acts", "texts", "meta"):
            connection.execute(f'VACUUM ANALYZE "{team.name}-ana".{table}, "{team.name}-ben".{table}')
        connection.execute(f"VACUUM ANALYZE {team.name}.shown, {team.name}.shown_texts, {team.name}.members")
    with team.sql("ana") as connection:
        for probe in probes(team.name):  # once for the caches: how many pages were at hand is no answer
            told(connection, probe)
        return {probe: told(connection, probe) for probe in probes(team.name)}


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
        team.ana.add_coder("cleo")
    with pytest.raises(StoreError, match="to keep role 'ben' – found 'ana'"):
        team.lead.add_coder("ben", role="ana")
    with pytest.raises(StoreError, match="found 'postgres', a superuser"):
        team.lead.add_coder("dora", role="postgres")
    assert team.ana.acts() == []


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


RIGHTS = """
SELECT 'function', p.oid::regprocedure::text, e.* FROM pg_proc p,
  aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) e
UNION ALL SELECT 'table', c.oid::regclass::text, e.* FROM pg_class c,
  aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) e WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
UNION ALL SELECT 'column', a.attrelid::regclass || '.' || a.attname, e.* FROM pg_attribute a,
  aclexplode(a.attacl) e
UNION ALL SELECT 'database', d.datname, e.* FROM pg_database d,
  aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) e
UNION ALL SELECT 'schema', n.nspname, e.* FROM pg_namespace n,
  aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) e
"""


def rights(admin: psycopg.Connection, *, but: str = "no study") -> set[tuple[object, ...]]:
    """Who may do what in this database, but in schemas and for roles named like the study `but`."""
    rows = admin.execute(f"SELECT r.*, pg_get_userbyid(grantee) FROM ({RIGHTS}) r (kind, named)").fetchall()
    return {row for row in rows if but not in f"{row[1]} {row[-1]}"}


@pytest.fixture
def untouched(postgres: Address) -> Iterator[str]:
    """The address of a study in a database whose statistics nobody has closed."""
    plain = postgres().partition("&study=")[0]
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("CREATE DATABASE untouched")
        admin.execute("REVOKE CONNECT ON DATABASE untouched, postgres FROM PUBLIC")
    address = postgres().replace("@/postgres?", "@/untouched?")
    yield address
    server.connect(address).engine.dispose()
    with psycopg.connect(plain, autocommit=True) as admin:
        admin.execute("DROP DATABASE untouched WITH (FORCE)")
        admin.execute("GRANT CONNECT ON DATABASE postgres TO PUBLIC")


def test_a_study_that_a_superuser_makes_takes_no_right_from_anybody(untouched: str) -> None:
    """`pg_dump` and temporary tables of a laboratory's other work go on; a warning names the script."""
    with psycopg.connect(untouched.partition("&study=")[0], autocommit=True) as admin:
        before = rights(admin)
        with pytest.warns(UserWarning, match=r"psql --dbname=untouched --file=\S+close_statistics.sql"):
            store = Store.create(untouched, units=frame_of(), codebook=CODEBOOK)
        store.add_coder("ana")
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
    team.lead.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    there.append([put(coder="ben", start=0, end=5)])
    row = f'INSERT INTO "{team.name}-ben".acts ({COLUMNS}) VALUES (99, %s, %s, %s, %s, %s, %s, %s)'
    with team.sql("lead") as lead, pytest.raises(psycopg.errors.InsufficientPrivilege):
        lead.execute(row, (NO_ACT, "finish", "ben", "x", "x", "x", "x"))
    assert team.lead.merge(there).counts["new"] == 1
    assert team.ben.acts() == there.acts(coder="ben")
    report = team.ben.verify().set_index("file")
    assert report["note"]["ben"] == "1 acts merged from another copy"
    assert team.ben.append([put(coder="ben", start=0, end=7)]) == 1
    assert team.lead.verify()["ok"].all()
    assert there.merge(team.lead).counts["new"] == 1
    assert there.acts(coder="ben") == team.ben.acts()


def test_a_second_lead_can_do_what_the_first_can(team: Team, tmp_path: Path) -> None:
    assert team.lead.append([put(coder="model")]) == 1
    team.lead.add_coder("ben-2", role="ben")
    team.lead.add_coder("cleo", role="ben", lead=True)
    named = {"units": ["m1"], "coders": ["ana", "ben"], "coder": "lead", "codebook": CODEBOOK}
    team.lead.append([rounds.open_round("one", **named)])
    ending = rounds.unblind("one", coder="cleo", codebook=CODEBOOK)
    with pytest.raises(ActError, match="expected a lead of round 'one'"):
        team.ben.append([ending])
    team.lead.append([rounds.open_round("one", **named, leads=["cleo"])])
    assert team.ben.append([ending]) == 1
    team.lead.archive(tmp_path / "one.zip")
    there = Store.restore(tmp_path / "one.zip", tmp_path / "there")
    there.append([put(coder="dora")])
    assert team.lead.merge(there).counts["new"] == 1
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
    team.lead.archive(tmp_path / "one.zip")
    team.lead.forget("p1", why="withdrew")
    assert team.lead.verify()["ok"].all()
    study = f'"{team.name}"'
    changes = [
        *[(f"{study}.shown", column, "coder = 'ben' AND seq = 2")
          for column in ("act_id", "kind", "code", "at", "round", "hash", "previous", "text_hash")],
        (f"{study}.shown_texts", "salt", "salt IS NOT NULL"),
        (f"{study}.shown_texts", "text_hash", "salt IS NOT NULL"),
        (f"{study}.unblinded", "round", "true"),
        (f"{study}.unblinded", "act_id", "true"),
        (f"{study}.notes", "shown", "kind = 'Withdrawal'"),
        (f"{study}.notes", "id", "true"),
        (f"{study}.study", "id", "true"),
        (f"{study}.study", "codebook", "true"),
        *[(f'"{team.name}-ben".acts', column, "seq = 2")
          for column in ("act_id", "kind", "coder", "code", "at", "codebook", "round", "hash", "previous")],
    ]  # fmt: skip
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

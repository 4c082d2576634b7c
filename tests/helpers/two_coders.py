"""A study in PostgreSQL with two coders, and what each may ask of it."""

from __future__ import annotations

from collections.abc import Callable

import psycopg

from sense7_qual import acts
from sense7_qual.store import Store
from tests.helpers.small_study import CODEBOOK, SENTINEL, frame_of, put

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
        self.first.admin.add_coder("lead", role="lead", lead=True)
        for coder in ("ana", "ben"):
            self.first.admin.add_coder(coder, role=coder)
        self.lead, self.ana, self.ben = (Store(self.addresses[role]) for role in ("lead", "ana", "ben"))

    def sql(self, role: str) -> psycopg.Connection:
        plain = self.addresses[role].partition("&study=")[0]
        return psycopg.connect(plain, autocommit=True)

    def work(self, coder: str, n_acts: int, round: str | None) -> None:
        store = getattr(self, coder)
        named = {"coder": coder, "round": round}
        store.append([put(start=i, end=i + 2, **named) for i in range(n_acts)])
        store.append([acts.memo(coder=coder, unit_id="m1", text=SENTINEL * 50, codebook=CODEBOOK)])


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
        *[
            row.format(schema) % (1, act_id, coder)
            for schema in (ana, ben)
            for coder in ("ana", "ben")
            for act_id in (BENS_ACT, NO_ACT)
        ],
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
        *[
            f"SELECT pg_{size}_size('{table}')"
            for size in ("relation", "total_relation", "table", "indexes")
            for table in tables
        ],
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
    ]


def answers(team: Team) -> dict[str, str]:
    with team.sql("postgres") as connection:
        for table in ("acts", "texts", "meta"):
            connection.execute(f'VACUUM ANALYZE "{team.name}-ana".{table}, "{team.name}-ben".{table}')
        connection.execute(f"VACUUM ANALYZE {team.name}.shown, {team.name}.shown_texts, {team.name}.members")
    with team.sql("ana") as connection:
        for probe in probes(team.name):  # once for the caches: how many pages were at hand is no answer
            told(connection, probe)
        return {probe: told(connection, probe) for probe in probes(team.name)}


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

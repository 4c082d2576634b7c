"""The SQL that keeps a team blind in PostgreSQL: who owns what, who may read what, and from when on.

===========================  ==========================================================================
schema                       holds
===========================  ==========================================================================
``<study>``                  the study, its codebooks, who leads, which role codes as whom, and which
                             rounds are unblinded
``<study>-<coder>``          the acts, quotes and memos of one coder: what an acts file holds
===========================  ==========================================================================

A coder's role has rights on the coder's own schema and on no other, so that nothing of another coder can
be read, counted, probed or explained. Beneath that, row-level security is forced on every table, for its
owner too: a right that is given by mistake opens nothing. What the lead has unblinded is read through one
function, `shown`, which has neither a visible plan nor the numbers of the acts.

All objects belong to a role that cannot log in. Acts can be added and read; no role is given the right to
change or delete one.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy.dialects.postgresql.base import PGDialect

from sense7_qual.acts import LEAD_KINDS
from sense7_qual.database import ACTS, META, TEXTS

__all__ = ["STATISTICS", "coder_statements", "guard_statements", "role_statements", "study_statements"]

_PUBLIC_KINDS: Final = ", ".join(f"'{kind}'" for kind in LEAD_KINDS)
_SAFE: Final = "SET search_path = pg_catalog, pg_temp"

STATISTICS: Final = """
DO $close$
DECLARE
  one record;
  kept text;
BEGIN
  FOR one IN
    SELECT p.oid::regprocedure AS named FROM pg_catalog.pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND (
      p.proname ~ '^(pg_stat_get_|pg_current_(wal|xact|snapshot)|txid_|pg_last_|pg_control_|pg_xact_)'
      OR p.proname ~ '_(relation|total_relation|table|indexes|database|tablespace)_size$'
      OR p.proname ~ '^pg_(relation|total_relation|table|indexes|database|tablespace)_size$'
      OR p.proname IN (
        'pg_lock_status', 'pg_blocking_pids', 'pg_safe_snapshot_blocking_pids', 'pg_export_snapshot',
        'pg_logical_emit_message', 'pg_get_multixact_members', 'pg_sequence_last_value',
        'pg_prepared_xact', 'pg_get_replication_slots', 'pg_notification_queue_usage',
        'pg_stat_have_stats', 'pg_get_wal_resource_managers', 'pg_visible_in_snapshot'))
  LOOP
    EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || one.named || ' FROM PUBLIC';
  END LOOP;
  SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) INTO kept
  FROM pg_catalog.pg_attribute a
  WHERE a.attrelid = 'pg_catalog.pg_class'::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attname NOT IN ('reltuples', 'relpages', 'relallvisible', 'relallfrozen', 'relfrozenxid',
                          'relminmxid');
  REVOKE SELECT ON pg_catalog.pg_class FROM PUBLIC;
  EXECUTE 'GRANT SELECT (' || kept || ') ON pg_catalog.pg_class TO PUBLIC';
  EXECUTE 'REVOKE TEMPORARY ON DATABASE ' || quote_ident(current_database()) || ' FROM PUBLIC';
END $close$
"""
"""Closes the server's own statistics in this database (sizes, row estimates, activity, transaction
numbers) to everybody but superusers: they would tell one coder how much another has done."""


def study_statements(study: str) -> list[str]:
    """Return what makes the functions and rules of the schema `study`, whose tables are there."""
    lead = f'(SELECT "{study}".is_lead())'
    return [
        _function(study, "is_lead()", f'SELECT FROM "{study}".leads l WHERE l.role = session_user'),
        _function(
            study,
            "is_mine(who text)",
            f'SELECT FROM "{study}".members m WHERE m.coder = who AND m.role = session_user',
        ),
        _noting(study),
        f'REVOKE EXECUTE ON FUNCTION "{study}".note_unblinded() FROM PUBLIC',
        _shown(study),
        _shown_texts(study),
        _coders(study),
        *_forced(study, ("study", "codebooks")),
        f'CREATE POLICY seen ON "{study}".study FOR SELECT USING (true)',
        f'CREATE POLICY seen ON "{study}".codebooks FOR SELECT USING (true)',
        f'CREATE POLICY added ON "{study}".codebooks FOR INSERT WITH CHECK ({lead})',
        f'CREATE POLICY revised ON "{study}".study FOR UPDATE USING ({lead})',
    ]


def coder_statements(study: str, coder: str) -> list[str]:
    """Return what guards the tables of `coder`, which are there and have their `meta`."""
    schema, theirs = f"{study}-{coder}", f"""(SELECT "{study}".is_mine('{coder}'))"""
    all_of_it = f"""(SELECT "{study}".is_mine('{coder}') OR "{study}".is_lead())"""
    return [
        f'CREATE INDEX acts_round ON "{schema}".acts (round)',
        f'CREATE INDEX acts_kind ON "{schema}".acts (kind)',
        *_forced(schema, ("acts", "texts", "meta")),
        f'CREATE POLICY seen ON "{schema}".acts FOR SELECT USING ({all_of_it} OR kind IN ({_PUBLIC_KINDS}) '
        f'OR round IN (SELECT u.round FROM "{study}".unblinded u))',
        f"CREATE POLICY added ON \"{schema}\".acts FOR INSERT WITH CHECK ({theirs} AND coder = '{coder}' "
        f'AND (kind NOT IN ({_PUBLIC_KINDS}) OR (SELECT "{study}".is_lead())))',
        f'CREATE POLICY seen ON "{schema}".texts FOR SELECT USING ({all_of_it} '
        f'OR text_hash IN (SELECT a.text_hash FROM "{schema}".acts a))',
        f'CREATE POLICY added ON "{schema}".texts FOR INSERT WITH CHECK ({theirs})',
        f'CREATE POLICY seen ON "{schema}".meta FOR SELECT USING ({all_of_it})',
        f'CREATE TRIGGER note_unblinded AFTER INSERT ON "{schema}".acts FOR EACH ROW '
        f"WHEN (NEW.kind = 'unblind') EXECUTE FUNCTION \"{study}\".note_unblinded()",
    ]


def role_statements(study: str, coder: str, role: str) -> list[str]:
    """Return what gives `role` the rights of `coder`: to add, and to read by column.

    The columns are named one by one, which leaves out PostgreSQL's own hidden ones: a row's place and its
    transaction number would tell of other writers.
    """
    schema = f"{study}-{coder}"
    given = [f'GRANT USAGE ON SCHEMA "{study}", "{schema}" TO "{role}"']
    given += [f'GRANT SELECT ON "{study}".{name} TO "{role}"' for name in ("study", "codebooks", "unblinded")]
    for table in (ACTS, TEXTS, META):
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        given.append(f'GRANT SELECT ({columns}) ON "{schema}".{table.name} TO "{role}"')
    return [*given, *(f'GRANT INSERT ON "{schema}".{name} TO "{role}"' for name in ("acts", "texts"))]


def guard_statements(owner: str, leader: str) -> list[str]:
    """Return what makes the role that owns a study, and lets `leader` act for it."""
    return [f'CREATE ROLE "{owner}" NOLOGIN', f'GRANT "{owner}" TO "{leader}"']


def _forced(schema: str, tables: tuple[str, ...]) -> list[str]:
    return [
        f'ALTER TABLE "{schema}".{t} {how} ROW LEVEL SECURITY' for t in tables for how in ("ENABLE", "FORCE")
    ]


def _function(study: str, signature: str, query: str) -> str:
    """Whether `query` finds a row, asked with the rights of the owner."""
    return (
        f'CREATE FUNCTION "{study}".{signature} RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER '
        f"{_SAFE} AS $sql$ SELECT EXISTS ({query}) $sql$"
    )


def _noting(study: str) -> str:
    """The unblinding of a round, noted in the same transaction as the lead's act."""
    return f"""
CREATE FUNCTION "{study}".note_unblinded() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER {_SAFE} AS $sql$
BEGIN
  IF NOT "{study}".is_lead() THEN
    RAISE insufficient_privilege;
  END IF;
  INSERT INTO "{study}".unblinded (round, coder, act_id) VALUES (NEW.round, NEW.coder, NEW.act_id)
  ON CONFLICT (round) DO NOTHING;
  RETURN NULL;
END $sql$"""


def _shown(study: str) -> str:
    """What a member may see of a coder. It looks rows up by index alone, so that how long it takes depends
    on what is shown, and it counts them itself, so that no gap tells of a hidden one."""
    dialect = PGDialect()
    fields = [column for column in ACTS.columns if column.name != "seq"]
    returned = ", ".join(f'"{column.name}" {column.type.compile(dialect)}' for column in fields)
    chosen = ", ".join(f'a."{column.name}"' for column in fields)
    return f"""
CREATE FUNCTION "{study}".shown(who text) RETURNS TABLE (seq bigint, {returned})
LANGUAGE plpgsql STABLE SECURITY DEFINER {_SAFE} SET enable_seqscan = off AS $sql$
BEGIN
  IF NOT EXISTS (SELECT FROM "{study}".members m WHERE m.coder = who) THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE 'SELECT row_number() OVER (ORDER BY a.seq), {chosen} FROM '
    || quote_ident('{study}-' || who)
    || '.acts a WHERE a.kind = ANY ($1) OR a.round = ANY ($2) ORDER BY a.seq'
  USING ARRAY[{_PUBLIC_KINDS}]::text[], ARRAY(SELECT u.round FROM "{study}".unblinded u);
END $sql$"""


def _shown_texts(study: str) -> str:
    return f"""
CREATE FUNCTION "{study}".shown_texts(who text) RETURNS TABLE (text_hash text, salt text, "text" bytea)
LANGUAGE plpgsql STABLE SECURITY DEFINER {_SAFE} SET enable_seqscan = off AS $sql$
DECLARE
  hashes text[] := ARRAY(SELECT s.text_hash FROM "{study}".shown(who) s WHERE s.text_hash IS NOT NULL);
BEGIN
  IF cardinality(hashes) = 0 THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE 'SELECT t.text_hash, t.salt, t."text" FROM ' || quote_ident('{study}-' || who)
    || '.texts t WHERE t.text_hash = ANY ($1)' USING hashes;
END $sql$"""


def _coders(study: str) -> str:
    """The coders of whom the member may see an act."""
    return f"""
CREATE FUNCTION "{study}".coders() RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER {_SAFE} AS $sql$
DECLARE
  who text;
  found_one boolean;
BEGIN
  FOR who IN SELECT m.coder FROM "{study}".members m ORDER BY m.coder COLLATE "C" LOOP
    IF "{study}".is_mine(who) OR "{study}".is_lead() THEN
      EXECUTE 'SELECT EXISTS (SELECT FROM ' || quote_ident('{study}-' || who) || '.acts)' INTO found_one;
    ELSE
      found_one := EXISTS (SELECT FROM "{study}".shown(who));
    END IF;
    IF found_one THEN
      RETURN NEXT who;
    END IF;
  END LOOP;
END $sql$"""

"""The SQL that keeps a team blind in PostgreSQL: who owns what, who may read what, and from when on.

===========================  ==========================================================================
schema                       holds
===========================  ==========================================================================
``<study>``                  the study, its codebooks, who leads, which role codes as whom, which rounds
                             are unblinded, and copies of the acts that all may see
``<study>-<coder>``          the acts, quotes and memos of one coder: what an acts file holds
===========================  ==========================================================================

A coder's role has rights on the coder's own schema and on no other, so that nothing of another coder can
be read, counted, probed or explained. Beneath that, row-level security is forced on every table, for its
owner too: a right that is given by mistake opens nothing. What the lead has unblinded is copied into the
schema of the study, in the transaction that unblinds it or adds to it; there it is numbered again. So nobody
reads where hidden acts are, and neither plans nor pages nor gaps in numbers tell of them.

All objects belong to a role that cannot log in, and for which the leads act: a lead who means harm can take
its place and change rows, which the chain then shows (`Store.verify`). By their own rights all roles may add
and read acts, and none may change or delete one. A lead's role alone may add what counts for all: rounds,
revisions, themes, rulings, what is decided about quotes. The lead may add acts of others, which a merge
brings and which say so themselves (their branch), and erase a quote or memo when a participant withdraws
(never change it to other words). The notes of withdrawals and copies are the lead's alone; coders are told
which units left the study.

Nothing here changes a right of a role that is none of the study's. What the server's statistics tell a coder,
an administrator can close (`CLOSING`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sense7_qual.acts import kinds_where
from sense7_qual.store._stored.acts_tables import ACTS, META, NEW_COLUMNS, TEXTS

_OF_LEADS: Final = ", ".join(f"'{kind}'" for kind in kinds_where(lambda kind: kind.by != "coder"))
_TEAM_KINDS: Final = ", ".join(f"'{kind}'" for kind in kinds_where(lambda kind: kind.by == "team"))
_FOR_ALL: Final = ("study", "codebooks", "unblinded", "shown", "shown_texts")
_ERASED: Final = "salt IS NULL AND text IS NULL"
_SAFE: Final = "SET search_path = pg_catalog, pg_temp"

CLOSED: Final = """
SELECT NOT (has_database_privilege('public', current_database(), 'TEMPORARY')
  OR has_column_privilege('public', 'pg_catalog.pg_class', 'reltuples', 'SELECT')
  OR has_function_privilege('public', 'pg_catalog.pg_stat_get_live_tuples(oid)', 'EXECUTE')
  OR has_function_privilege('public', 'pg_catalog.pg_relation_size(regclass, text)', 'EXECUTE'))
"""
"""Whether an administrator has closed the server's own statistics in this database (`CLOSING`)."""

CLOSING: Final = Path(__file__).parent / "close_statistics.sql"
"""The script that closes them; open_statistics.sql next to it undoes that. Nothing here runs either: they
change the rights of roles that are none of the study's."""

OPEN_DATABASES: Final = """
SELECT d.datname FROM pg_catalog.pg_database d
WHERE d.datallowconn AND d.datname <> current_database()
  AND has_database_privilege('public', d.oid, 'CONNECT')
ORDER BY d.datname
"""
"""The other databases of the server that every role may enter: their statistics are of the whole server."""

WRONG_TIME: Final = "S7001"
"""The SQLSTATE of an act of an unblinded round whose time is not that of the server."""

CLOCKS_APART: Final = 15
"""How many minutes the clocks of the server and of a coder's computer may differ in an unblinded round."""

FROM_A_COPY: Final = "SET LOCAL sense7_qual.from_a_copy = 'on'"
"""The statement after which a lead's role may bring acts of other days, until the transaction ends."""

LAYOUT: Final = 3
"""The version of the tables, functions and rules in PostgreSQL."""


def study_statements(study: str) -> list[str]:
    """Return the statements that make the functions and rules of the schema `study`, after its tables."""
    lead = f'(SELECT "{study}".is_lead())'
    unblinded = _for_all(study)
    return [
        _function(study, "is_lead()", f'SELECT FROM "{study}".leads l WHERE l.role = session_user'),
        _function(
            study,
            "is_mine(who text)",
            f'SELECT FROM "{study}".members m WHERE m.coder = who AND m.role = session_user',
        ),
        _show(study),
        _sharing(study),
        _coders(study),
        _withdrawn(study),
        _layout(study),
        *_sheet_keys(study),
        f'REVOKE EXECUTE ON FUNCTION "{study}".show(text, text[]), "{study}".share() FROM PUBLIC',
        *_forced(study, ("study", "codebooks", "shown", "shown_texts")),
        _unsampled(study, "shown_texts"),
        _policy(study, "study", "seen", "FOR SELECT USING (true)"),
        _policy(study, "codebooks", "seen", "FOR SELECT USING (true)"),
        _policy(study, "codebooks", "added", f"FOR INSERT WITH CHECK ({lead})"),
        _policy(study, "shown", "seen", f"FOR SELECT USING ({unblinded})"),
        _policy(study, "shown", "added", f"FOR INSERT WITH CHECK ({unblinded})"),
        _policy(study, "shown_texts", "seen", "FOR SELECT USING (true)"),
        _policy(study, "shown_texts", "added", "FOR INSERT WITH CHECK (true)"),
        _policy(study, "study", "revised", f"FOR UPDATE USING ({lead})"),
        _policy(study, "shown_texts", "erased", f"FOR UPDATE USING ({lead}) WITH CHECK ({_ERASED})"),
    ]


def coder_statements(study: str, coder: str) -> list[str]:
    """Return the statements that guard the tables of `coder`, which are there and have their `meta`."""
    schema, lead = f"{study}-{coder}", f'(SELECT "{study}".is_lead())'
    all_of_it = f"""(SELECT "{study}".is_mine('{coder}') OR "{study}".is_lead())"""
    return [
        *_forced(schema, ("acts", "texts", "meta")),
        _unsampled(schema, "texts"),
        _policy(schema, "acts", "seen", f"FOR SELECT USING ({all_of_it})"),
        _policy(
            schema,
            "acts",
            "added",
            f"FOR INSERT WITH CHECK ({_own(study, coder)})",
        ),
        _policy(schema, "texts", "seen", f"FOR SELECT USING ({all_of_it})"),
        _policy(schema, "texts", "added", f"FOR INSERT WITH CHECK ({all_of_it})"),
        _policy(schema, "texts", "erased", f"FOR UPDATE USING ({lead}) WITH CHECK ({_ERASED})"),
        _policy(schema, "meta", "seen", f"FOR SELECT USING ({all_of_it})"),
        _share_each(study, coder),
    ]


def _for_all(study: str) -> str:
    """The condition under which all members may see an act."""
    return f'kind IN ({_TEAM_KINDS}) OR round IN (SELECT u.round FROM "{study}".unblinded u)'


def _own(study: str, coder: str) -> str:
    """The condition under which an act may be added to those of `coder`."""
    lead, theirs = f'(SELECT "{study}".is_lead())', f"""(SELECT "{study}".is_mine('{coder}'))"""
    return (
        f"coder = '{coder}' AND (kind NOT IN ({_OF_LEADS}) OR {lead}) "
        f"AND ({theirs} OR ({lead} AND branch IS NOT NULL AND clock IS NOT NULL))"
    )


def _share_each(study: str, coder: str) -> str:
    return (
        f'CREATE TRIGGER share AFTER INSERT ON "{study}-{coder}".acts FOR EACH ROW '
        f"WHEN (NEW.round IS NOT NULL OR NEW.kind IN ({_TEAM_KINDS})) "
        f'EXECUTE FUNCTION "{study}".share()'
    )


def upgrade_statements(study: str, roles: Mapping[str, str], layout: int) -> list[str]:
    """Return the statements that turn the tables of an earlier layout into those of this one; for the owner.

    `roles` has the role of each coder.
    """
    of_two = _to_layout_2(study, roles) if layout < 2 else []
    return [*of_two, _anew(_sharing(study)), *_sheet_keys(study), _anew(_layout(study))]


def _anew(statement: str) -> str:
    return statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


def _to_layout_2(study: str, roles: Mapping[str, str]) -> list[str]:
    tables = [f'"{study}".shown', *(f'"{study}-{coder}".acts' for coder in roles)]
    for_all = _for_all(study)
    return [
        *(f"ALTER TABLE {table} ADD COLUMN {name} text" for table in tables for name in NEW_COLUMNS),
        *(
            f'GRANT SELECT ({", ".join(NEW_COLUMNS)}) ON "{study}-{coder}".acts TO "{role}"'
            for coder, role in roles.items()
        ),
        f'ALTER POLICY seen ON "{study}".shown USING ({for_all})',
        f'ALTER POLICY added ON "{study}".shown WITH CHECK ({for_all})',
        *(
            f'ALTER POLICY added ON "{study}-{coder}".acts WITH CHECK ({_own(study, coder)})'
            for coder in roles
        ),
        *(f'DROP TRIGGER share ON "{study}-{coder}".acts' for coder in roles),
        *(_share_each(study, coder) for coder in roles),
        _anew(_show(study)),
    ]


def role_statements(study: str, coder: str, role: str) -> list[str]:
    """Return the statements that give `role` the rights of `coder`: to add, and to read by column.

    The columns are named one by one, which leaves out PostgreSQL's own hidden ones: a row's place and its
    transaction number would tell of other writers.
    """
    schema = f"{study}-{coder}"
    statements = [f'GRANT USAGE ON SCHEMA "{study}", "{schema}" TO "{role}"']
    statements += [f'GRANT SELECT ON "{study}".{name} TO "{role}"' for name in _FOR_ALL]
    for table in (ACTS, TEXTS, META):
        columns = ", ".join(f'"{column.name}"' for column in table.columns)
        statements.append(f'GRANT SELECT ({columns}) ON "{schema}".{table.name} TO "{role}"')
    return [*statements, *(f'GRANT INSERT ON "{schema}".{name} TO "{role}"' for name in ("acts", "texts"))]


def guard_statements(owner: str, leader: str) -> list[str]:
    """Return the statements that make the role that owns a study, and lets `leader` act for it."""
    return [f'CREATE ROLE "{owner}" NOLOGIN', f'GRANT "{owner}" TO "{leader}"']


def founding_statements(owner: str) -> list[str]:
    """Return the statements by which every lead can make schemas of new coders, if this role may."""
    return [
        "DO $found$ BEGIN EXECUTE 'GRANT CREATE ON DATABASE ' || quote_ident(current_database()) || "
        f"""' TO "{owner}"'; END $found$"""
    ]


def lead_statement(owner: str, leader: str) -> str:
    """Return the statements that let `leader` act for the role that owns a study, and make further leads."""
    return f'GRANT "{owner}" TO "{leader}" WITH ADMIN OPTION'


def _forced(schema: str, tables: tuple[str, ...]) -> list[str]:
    return [
        f'ALTER TABLE "{schema}".{t} {how} ROW LEVEL SECURITY' for t in tables for how in ("ENABLE", "FORCE")
    ]


def _policy(schema: str, table: str, name: str, rule: str) -> str:
    return f'CREATE POLICY {name} ON "{schema}".{table} {rule}'


def _unsampled(schema: str, table: str) -> str:
    """Keep the server from copying words into its statistics, where no withdrawal would reach them."""
    return f'ALTER TABLE "{schema}".{table} ALTER COLUMN text SET STATISTICS 0'


def _function(study: str, signature: str, query: str) -> str:
    """Whether `query` finds a row, asked with the rights of the owner."""
    return (
        f'CREATE FUNCTION "{study}".{signature} RETURNS boolean LANGUAGE sql STABLE '
        f"SECURITY DEFINER {_SAFE} AS $sql$ SELECT EXISTS ({query}) $sql$"
    )


def _layout(study: str) -> str:
    return (
        f'CREATE FUNCTION "{study}".layout() RETURNS integer LANGUAGE sql IMMUTABLE '
        f"AS $sql$ SELECT {LAYOUT} $sql$"
    )


def _sheet_keys(study: str) -> list[str]:
    """The secret that seals coding sheets, on which coders have no right, and what makes each coder's key.

    The lead may have every key, and a coder their own.
    """
    return [
        f'CREATE TABLE IF NOT EXISTS "{study}".sheet_secret '
        "(is_only boolean PRIMARY KEY CHECK (is_only), secret bytea NOT NULL)",
        f"""
CREATE OR REPLACE FUNCTION "{study}".sheet_key(who text) RETURNS bytea
LANGUAGE plpgsql SECURITY DEFINER {_SAFE} AS $sql$
BEGIN
  IF NOT ("{study}".is_mine(who) OR "{study}".is_lead()) THEN
    RAISE insufficient_privilege;
  END IF;
  INSERT INTO "{study}".sheet_secret
  VALUES (true, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())))
  ON CONFLICT DO NOTHING;
  RETURN (SELECT sha256(s.secret || sha256(convert_to(who, 'UTF8'))) FROM "{study}".sheet_secret s);
END $sql$""",
    ]


def _show(study: str) -> str:
    """Copies acts of a coder to where all may see them, in their order."""
    fields = ", ".join(f'"{column.name}"' for column in ACTS.columns if column.name != "seq")
    return f"""
CREATE FUNCTION "{study}".show(who text, ids text[]) RETURNS void LANGUAGE plpgsql {_SAFE} AS $sql$
DECLARE
  theirs text := quote_ident('{study}-' || who);
BEGIN
  EXECUTE 'INSERT INTO "{study}".shown (seq, {fields}) SELECT (SELECT count(*) FROM "{study}".shown s '
    || 'WHERE s.coder = $1) + row_number() OVER (ORDER BY a.seq), {fields} FROM ' || theirs
    || '.acts a WHERE a.act_id = ANY ($2) AND NOT EXISTS (SELECT FROM "{study}".shown s '
    || 'WHERE s.coder = a.coder AND s.act_id = a.act_id)' USING who, ids;
  EXECUTE 'INSERT INTO "{study}".shown_texts SELECT t.* FROM ' || theirs || '.texts t WHERE t.text_hash IN '
    || '(SELECT a.text_hash FROM ' || theirs || '.acts a WHERE a.act_id = ANY ($1)) ON CONFLICT DO NOTHING'
  USING ids;
END $sql$"""


def _sharing(study: str) -> str:
    """Runs in the transaction of every act that has a round, or is the lead's for the team.

    The lock keeps the unblinding of a round and the acts in it apart: an act is either there when its round
    is unblinded, or finds it unblinded. An act's time says whether it was blind, so in an unblinded round it
    must be the server's, save what a lead brings of a copy. As in `rounds.opened`, a round is unblinded by
    who opened it first, or by a lead whom they named, at or after that opening; a merge may bring the two
    acts in any order.
    """
    return f"""
CREATE FUNCTION "{study}".share() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER {_SAFE} AS $sql$
DECLARE
  who text;
  ids text[];
  is_unblinded boolean;
  first record;
  ending record;
BEGIN
  IF TG_TABLE_SCHEMA <> '{study}-' || NEW.coder
    OR NOT ("{study}".is_mine(NEW.coder) OR "{study}".is_lead()) THEN
    RAISE insufficient_privilege;
  END IF;
  IF NEW.kind IN ('open_round', 'unblind') THEN
    LOCK TABLE "{study}".unblinded IN EXCLUSIVE MODE;
  ELSE
    LOCK TABLE "{study}".unblinded IN ROW SHARE MODE;
  END IF;
  is_unblinded := EXISTS (SELECT FROM "{study}".unblinded u WHERE u.round = NEW.round);
  IF is_unblinded AND abs(extract(epoch FROM clock_timestamp() - NEW.at::timestamptz)) > {60 * CLOCKS_APART}
    AND NOT ("{study}".is_lead() AND (
      NEW.branch IS NOT NULL OR coalesce(current_setting('sense7_qual.from_a_copy', true), '') = 'on')) THEN
    RAISE EXCEPTION 'time' USING ERRCODE = '{WRONG_TIME}';
  END IF;
  IF is_unblinded OR NEW.kind IN ({_TEAM_KINDS}) THEN
    PERFORM "{study}".show(NEW.coder, ARRAY[NEW.act_id]);
  END IF;
{_unblinding(study)}  RETURN NULL;
END $sql$"""


def _unblinding(study: str) -> str:
    """The part of `_sharing` that shows all acts of a round once an act unblinds it."""
    return f"""  IF NEW.kind IN ('open_round', 'unblind') THEN
    SELECT s.coder, s.at INTO first FROM "{study}".shown s
    WHERE s.kind = 'open_round' AND s.round = NEW.round
    ORDER BY s.at COLLATE "C", s.act_id COLLATE "C" LIMIT 1;
    SELECT s.coder, s.act_id INTO ending FROM "{study}".shown s
    WHERE s.kind = 'unblind' AND s.round = NEW.round AND s.at COLLATE "C" >= first.at AND (
      s.coder = first.coder OR s.coder IN (
        SELECT json_array_elements_text(convert_from(t.text, 'UTF8')::json -> 'leads')
        FROM "{study}".shown o JOIN "{study}".shown_texts t ON t.text_hash = o.text_hash
        WHERE o.kind = 'open_round' AND o.round = NEW.round AND o.coder = first.coder))
    ORDER BY s.at COLLATE "C", s.act_id COLLATE "C" LIMIT 1;
    IF ending.act_id IS NULL OR EXISTS (SELECT FROM "{study}".unblinded u WHERE u.round = NEW.round) THEN
      RETURN NULL;
    END IF;
    INSERT INTO "{study}".unblinded (round, coder, act_id) VALUES (NEW.round, ending.coder, ending.act_id);
    FOR who IN SELECT m.coder FROM "{study}".members m LOOP
      EXECUTE 'SELECT array_agg(a.act_id) FROM ' || quote_ident('{study}-' || who)
        || '.acts a WHERE a.round = $1' INTO ids USING NEW.round;
      PERFORM "{study}".show(who, ids);
    END LOOP;
  END IF;
"""


def _withdrawn(study: str) -> str:
    """What every member must know of withdrawals: the units, and the hash of the units that are left."""
    return (
        f'CREATE FUNCTION "{study}".withdrawn() RETURNS SETOF text LANGUAGE sql STABLE '
        f'SECURITY DEFINER {_SAFE} AS $sql$ SELECT n.shown FROM "{study}".notes n '
        "WHERE n.shown IS NOT NULL $sql$"
    )


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
      found_one := EXISTS (SELECT FROM "{study}".shown s WHERE s.coder = who);
    END IF;
    IF found_one THEN
      RETURN NEXT who;
    END IF;
  END LOOP;
END $sql$"""

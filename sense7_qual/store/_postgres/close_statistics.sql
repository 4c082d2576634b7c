-- Close the server's own statistics in this database to everybody but superusers.
--
-- Sizes, row estimates, activity and the numbers of transactions and objects would tell one coder how much
-- another has done (never what). A superuser runs this once in the database of the study:
--
--   psql --dbname=DATABASE --file=close_statistics.sql
--
-- It concerns EVERY role without superuser rights in this database, not only the coders: afterwards they cannot
-- make temporary tables or large objects, pg_dump does not work for them, nor do \d+ and \dt+ in psql, nor
-- queries of whole rows of the system catalogs (SELECT * FROM pg_class). So do it in a database that holds
-- studies only.
--
-- What is revoked and granted stands in sense7_statistics.changes, each with the statement that takes it back;
-- open_statistics.sql runs those. To run this again does no harm: it closes what is new, after an update of the
-- server say.
SET search_path = pg_catalog, pg_temp;
SET client_min_messages = warning;
DO $close$
DECLARE
  one record;
  last integer;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE insufficient_privilege USING MESSAGE = 'close_statistics.sql: expected a superuser';
  END IF;
  CREATE SCHEMA IF NOT EXISTS sense7_statistics;
  CREATE TABLE IF NOT EXISTS sense7_statistics.changes (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, made text NOT NULL, undo text NOT NULL);
  IF EXISTS (  -- else whoever made them first would say what open_statistics.sql runs
    SELECT FROM pg_roles r JOIN (
      SELECT nspowner AS owner FROM pg_namespace WHERE nspname = 'sense7_statistics'
      UNION SELECT relowner FROM pg_class WHERE oid = 'sense7_statistics.changes'::regclass) o ON o.owner = r.oid
    WHERE NOT r.rolsuper) THEN
    RAISE insufficient_privilege USING MESSAGE = 'close_statistics.sql: expected the schema sense7_statistics '
      'to belong to a superuser - found that another role made it - read and drop it';
  END IF;
  last := coalesce((SELECT max(number) FROM sense7_statistics.changes), 0);

  FOR one IN
    SELECT p.oid::regprocedure AS named FROM pg_proc p
    WHERE p.prokind = 'f' AND has_function_privilege('public', p.oid, 'EXECUTE')
      AND (p.proname ~ '^pg_stat_statements' OR p.pronamespace = 'pg_catalog'::regnamespace AND (
        p.proname ~ '^(pg_stat_get_|pg_current_(wal|xact|snapshot)|txid_|pg_last_|pg_control_|pg_xact_|lo_)'
        OR p.proname ~ '_(relation|total_relation|table|indexes|database|tablespace)_size$'
        OR p.proname IN (
          'pg_lock_status', 'pg_blocking_pids', 'pg_safe_snapshot_blocking_pids', 'pg_export_snapshot',
          'pg_isolation_test_session_is_blocked', 'pg_logical_emit_message', 'pg_get_multixact_members',
          'pg_sequence_last_value', 'pg_prepared_xact', 'pg_get_replication_slots',
          'pg_notification_queue_usage', 'pg_stat_have_stats', 'pg_get_wal_resource_managers',
          'pg_available_wal_summaries', 'pg_wal_summary_contents', 'pg_get_wal_summarizer_state',
          'pg_column_toast_chunk_id', 'pg_visible_in_snapshot', 'mxid_age')
        OR p.oid = 'pg_catalog.age(xid)'::regprocedure))
    ORDER BY p.oid
  LOOP
    INSERT INTO sense7_statistics.changes (made, undo) VALUES (
      format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one.named),
      format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', one.named));
  END LOOP;

  -- Of the catalogs, rights by column in place of rights on the table: they leave out the columns that count
  -- everybody's work, and the hidden ones (xmin), since a role can make a row of its own in some catalogs.
  -- To revoke the right on a table takes rights by column away too: what there was is granted again.
  FOR one IN
    SELECT c.oid::regclass AS named,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (
        WHERE (c.relname, a.attname) NOT IN (
          ('pg_class', 'reltuples'), ('pg_class', 'relpages'), ('pg_class', 'relallvisible'),
          ('pg_class', 'relallfrozen'), ('pg_class', 'relfrozenxid'), ('pg_class', 'relminmxid'),
          ('pg_default_acl', 'oid'), ('pg_shdepend', 'objid'), ('pg_largeobject_metadata', 'oid'))) AS columns,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (
        WHERE EXISTS (SELECT FROM aclexplode(a.attacl) e WHERE e.grantee = 0 AND e.privilege_type = 'SELECT')
      ) AS before
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
      AND NOT a.attisdropped AND has_table_privilege('public', c.oid, 'SELECT')
    GROUP BY c.oid
    ORDER BY c.oid
  LOOP
    INSERT INTO sense7_statistics.changes (made, undo) VALUES (
      format('REVOKE SELECT ON %s FROM PUBLIC; GRANT SELECT (%s) ON %s TO PUBLIC',
        one.named, one.columns, one.named),
      format('REVOKE SELECT ON %s FROM PUBLIC; GRANT SELECT ON %s TO PUBLIC', one.named, one.named)
        || coalesce('; GRANT SELECT (' || one.before || ') ON ' || one.named || ' TO PUBLIC', ''));
  END LOOP;

  IF has_database_privilege('public', current_database(), 'TEMPORARY') THEN
    INSERT INTO sense7_statistics.changes (made, undo) VALUES (
      format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database()),
      format('GRANT TEMPORARY ON DATABASE %I TO PUBLIC', current_database()));
  END IF;

  FOR one IN
    SELECT made FROM sense7_statistics.changes WHERE number > last ORDER BY number
  LOOP
    EXECUTE one.made;
  END LOOP;
END $close$;
RESET client_min_messages;
RESET search_path;

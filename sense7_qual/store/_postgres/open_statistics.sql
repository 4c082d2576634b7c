-- Take back what close_statistics.sql revoked and granted in this database, and nothing else.
--
--   psql --dbname=DATABASE --file=open_statistics.sql
--
-- Rights that were given or taken otherwise meanwhile stay. The schema sense7_statistics goes.
SET search_path = pg_catalog, pg_temp;
SET client_min_messages = warning;
DO $open$
DECLARE
  one record;
BEGIN
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    RAISE insufficient_privilege USING MESSAGE = 'open_statistics.sql: expected a superuser';
  END IF;
  IF to_regclass('sense7_statistics.changes') IS NULL THEN
    RAISE undefined_table USING MESSAGE =
      'open_statistics.sql: expected what close_statistics.sql changed in this database - found no note of it';
  END IF;
  IF EXISTS (  -- else whoever made them would say what is run here
    SELECT FROM pg_roles r JOIN (
      SELECT nspowner AS owner FROM pg_namespace WHERE nspname = 'sense7_statistics'
      UNION SELECT relowner FROM pg_class WHERE oid = 'sense7_statistics.changes'::regclass) o ON o.owner = r.oid
    WHERE NOT r.rolsuper) THEN
    RAISE insufficient_privilege USING MESSAGE = 'open_statistics.sql: expected the schema sense7_statistics '
      'to belong to a superuser - found that another role made it - read and drop it';
  END IF;
  FOR one IN SELECT undo FROM sense7_statistics.changes ORDER BY number DESC LOOP
    BEGIN
      EXECUTE one.undo;
    EXCEPTION WHEN undefined_function OR undefined_table OR undefined_column OR undefined_object
      OR invalid_schema_name THEN
      RAISE WARNING 'open_statistics.sql: no longer there: %', one.undo;
    END;
  END LOOP;
  DROP TABLE sense7_statistics.changes;
  DROP SCHEMA sense7_statistics;
END $open$;
RESET client_min_messages;
RESET search_path;

#!/bin/sh
# Make this machine the server of one study: accounts, roles, database, units of systemd. Docs: docs/team_server.md
#   install.sh [--dry-run] [--seats 30] [--lead-login NAME] [--study NAME] [--remove]
# Each step is printed first; --dry-run only prints. What is there already and made by this script is left alone;
# an account, role or database of another origin stops it before the first change.
set -eu
umask 077
HERE=$(cd "$(dirname "$0")" && pwd)
BIN=/opt/sense7/bin ETC=/etc/sense7 UNITS=/etc/systemd/system MARK="sense7_qual seat"
dry= seats=30 login= study=pilot remove=

usage() { sed -n '2,3s/^# *//p' "$0"; exit "$1"; }
stop() { echo "install.sh: $*" >&2; exit 1; }
step() { echo "- $1"; shift; if [ -z "$dry" ]; then "$@"; fi; }
sql() { runuser -u postgres -- psql -XqAt -v ON_ERROR_STOP=1 -d "${2:-postgres}" -c "$1"; }
place() { sql "SHOW $1"; }
known() { getent passwd "$1" >/dev/null; }

while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry=1 ;;
    --remove) remove=1 ;;
    --seats|--lead-login|--study) [ $# -gt 1 ] || usage 2
      case "$1" in --seats) seats=$2 ;; --study) study=$2 ;; *) login=$2 ;; esac; shift ;;
    -h|--help) usage 0 ;;
    *) usage 2 ;;
  esac
  shift
done
case "$seats" in ''|*[!0-9]*) stop "--seats: expected a number from 1 to 99" ;; esac
[ "$seats" -ge 1 ] && [ "$seats" -le 99 ] || stop "--seats: expected a number from 1 to 99"
echo "$study" | grep -Eqx '[a-z][a-z0-9_]{0,19}' && [ "${study#pg_}" = "$study" ] ||
  stop "--study: expected a name of lower-case letters, digits and _, 20 at most"
names=$(seq -f 'seat%02.0f' 1 "$seats")

check() {
  [ "$(id -u)" = 0 ] || stop "run it as root"
  for each in "$BIN/sense7-qual" "$BIN/jupyterhub" "$BIN/configurable-http-proxy"; do
    [ -x "$each" ] || stop "$each is missing – first install the packages, as docs/team_server.md says"
  done
  [ "$(node --version | tr -dc '0-9.' | cut -d. -f1)" -ge 20 ] || stop "the proxy needs Node 20 or later"
  [ "$(sql 'SHOW server_version_num' 2>/dev/null || echo 0)" -ge 150000 ] ||
    stop "no PostgreSQL 15 or later answers on this machine's socket – start it"
  [ "$(sql 'SHOW server_version_num')" -ge 160000 ] ||
    echo "WARNING: PostgreSQL 15 lets the account lead make itself the database's administrator, and so run programs" \
      "as postgres. Take version 16 or later, unless the lead may do that anyway." >&2
  for each in lead $names; do
    ! known "$each" || getent passwd "$each" | cut -d: -f5 | grep -qx "$MARK" ||
      stop "there is an account $each that this script did not make – nothing was changed"
    made=$(sql "SELECT coalesce(shobj_description(oid, 'pg_authid'), '') = '$MARK' FROM pg_roles WHERE rolname = '$each'")
    [ "$made" != f ] || stop "there is a role $each in PostgreSQL that this script did not make – nothing was changed"
  done
  case "$(sql "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'lab'")" in
    ''|lead) ;; *) stop "there is a database lab that is not the lead's – nothing was changed" ;;
  esac
}

account() {  # name, shell
  known "$1" || useradd --create-home --user-group --shell "$2" --comment "$MARK" "$1"
  chmod 0700 "$(getent passwd "$1" | cut -d: -f6)"
}
accounts() { account lead /bin/bash; for each in $names; do account "$each" /usr/sbin/nologin; done; }
role() {  # name, options
  [ -n "$(sql "SELECT 1 FROM pg_roles WHERE rolname = '$1'")" ] ||
    sql "CREATE ROLE $1 $2; COMMENT ON ROLE $1 IS '$MARK'"
}
roles() {
  role lead "LOGIN CREATEROLE"
  role seats NOLOGIN
  for each in $names; do role "$each" "LOGIN IN ROLE seats"; done
  # The lead may end a seat (NOLOGIN) and not act as one; up to version 15 that is part of CREATEROLE.
  [ "$(sql 'SHOW server_version_num')" -lt 160000 ] ||
    for each in $names; do sql "GRANT $each TO lead WITH ADMIN TRUE, INHERIT FALSE, SET FALSE"; done
}
database() {
  [ -n "$(sql "SELECT 1 FROM pg_database WHERE datname = 'lab'")" ] ||
    sql "CREATE DATABASE lab OWNER lead ENCODING 'UTF8' TEMPLATE template0"
  sql "REVOKE ALL ON DATABASE lab FROM PUBLIC; ALTER DATABASE lab SET log_statement = 'none';
       ALTER DATABASE lab SET log_error_verbosity = 'terse'; ALTER DATABASE lab SET log_parameter_max_length_on_error = 0;
       ALTER DATABASE lab SET log_min_duration_statement = -1;
       REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC"
  "$BIN/sense7-qual" sql close | runuser -u postgres -- psql -Xq -v ON_ERROR_STOP=1 -d lab
}
without() { sed '/^# sense7_qual: begin$/,/^# sense7_qual: end$/d' "$1"; }
rules() {  # our lines first, since PostgreSQL takes the first that fits
  for each in hba ident; do
    file=$(place "${each}_file")
    { [ -n "$remove" ] || cat "$HERE/pg_$each.conf"; without "$file"; } > "$file.sense7"
    cat "$file.sense7" > "$file"  # keeps its owner and mode
    rm "$file.sense7"
  done
  sql 'SELECT pg_reload_conf()' > /dev/null
}
secret() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }
settings() {
  install -d -m 0700 "$ETC" /var/lib/sense7
  install -m 0600 "$HERE/jupyterhub_config.py" "$HERE/seats.py" "$HERE/tries.py" "$ETC"
  [ -e "$ETC/proxy" ] || echo "CONFIGPROXY_AUTH_TOKEN=$(secret 32)" > "$ETC/proxy"
  [ -e "$ETC/settings" ] || cat > "$ETC/settings" <<END
STUDY="postgresql://lead@/lab?host=/var/run/postgresql&study=$study"
LEAD_LOGIN="${login:-lead}"
# For a trial: two passwords of 12 letters or more. With an institute's sign-in, name its class instead, and delete them.
SIGN_IN=""
LEAD_PASSWORD="$(secret 8)"
TRIAL_PASSWORD="$(secret 8)"
END
}
units() {
  install -m 0644 "$HERE/sense7-proxy.service" "$HERE/sense7-hub.service" "$UNITS"
  printf '[Journal]\nMaxRetentionSec=14day\nStorage=persistent\n' > /etc/systemd/journald@sense7.conf
  [ ! -d /run/systemd/system ] || systemctl daemon-reload
}
take_away() {
  [ ! -d /run/systemd/system ] || systemctl disable --now sense7-hub sense7-proxy
  rm -f "$UNITS/sense7-proxy.service" "$UNITS/sense7-hub.service" /etc/systemd/journald@sense7.conf
  rm -rf "$ETC" /var/lib/sense7
  sql 'GRANT CONNECT ON DATABASE postgres, template1 TO PUBLIC'
}

check
if [ -n "$remove" ]; then
  step "end the hub and the proxy; delete their units, settings and records" take_away
  step "take the lines out of pg_hba.conf and pg_ident.conf" rules
  echo "The study and its accounts are still there. A person deletes them, after an archive:"
  echo "  runuser -u postgres -- dropdb lab"
  echo "  for each in lead \$(seq -f 'seat%02.0f' 1 $seats); do runuser -u postgres -- dropuser \$each; userdel -r \$each; done"
  exit
fi
step "accounts lead and seat01 to seat$(printf %02d "$seats"): no password, homes 0700, seats without a shell" accounts
step "the same roles in PostgreSQL, without passwords" roles
step "database lab, the lead's; it and the server's own closed to all others, its statistics too, no words of it in logs" database
step "lines in pg_hba.conf and pg_ident.conf: the account is the role, seats reach this database alone" rules
step "$ETC (root's alone): settings, secrets, the hub's configuration" settings
step "two units: sense7-proxy and sense7-hub; logs for 14 days" units
[ -z "$dry" ] || { echo "Nothing was changed."; exit; }
echo "Done. Read $ETC/settings, then: systemctl enable --now sense7-proxy sense7-hub"

#!/bin/sh
# Run a command on a machine made for it: this one's files, with all changes kept in memory, and processes and a
# network (loopback alone) of its own. Its accounts, databases and services are gone when the command ends; those of
# the machine outside are neither seen nor changed. Needs root and Linux; `make team` uses it.
#   tests/team/machine.sh COMMAND …
# What `docs/team_server.md` installs into /opt/sense7 is kept in $TEAM_CACHE (default: .team) for the next time.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
CACHE=${TEAM_CACHE:-$ROOT/.team}
[ "$(id -u)" = 0 ] || { echo "machine.sh: run it as root, or in a container as root" >&2; exit 1; }

if [ "${1:-}" = --inside ]; then
  shift
  mount --make-rprivate /
  ip link set lo up
  mount -t tmpfs -o mode=0755 tmpfs "$CACHE/machine"
  cd "$CACHE/machine"
  mkdir changes work root software-changes software-work
  mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/changes,workdir=$PWD/work" root
  mkdir -p root/opt/sense7
  mount -t overlay overlay \
    -o "lowerdir=$CACHE/sense7,upperdir=$PWD/software-changes,workdir=$PWD/software-work" root/opt/sense7
  mount -t proc proc root/proc
  mount --rbind /dev root/dev
  mount -t tmpfs -o mode=1777 tmpfs root/dev/shm
  mount -t tmpfs -o mode=0755 tmpfs root/run
  mkdir -m 1777 root/run/lock
  hostname team
  export SENSE7_TEAM_MACHINE=1
  exec chroot root /bin/sh -c 'cd "$0"; "$@"; exit $?' "$ROOT" "$@"  # the shell takes in what orphans leave
fi

if [ "${1:-}" = --prepare ]; then  # as docs/team_server.md says, but into the cache
  mount --make-rprivate /
  mount --bind "$CACHE/sense7" /opt/sense7
  [ -x /opt/sense7/bin/python ] || /usr/bin/python3 -m venv /opt/sense7
  /opt/sense7/bin/pip install --quiet "$ROOT[server]" -c "$ROOT/deploy/constraints.txt" 2> "$CACHE/pip.log" ||
    { cat "$CACHE/pip.log" >&2; exit 1; }
  exec npm install --silent -g --prefix /opt/sense7 configurable-http-proxy@5.3.0
fi

mkdir -p "$CACHE/machine" "$CACHE/sense7"
[ -d /opt/sense7 ] || mkdir /opt/sense7
[ -z "$(ls -A /opt/sense7)" ] || { echo "machine.sh: /opt/sense7 is in use on this machine" >&2; exit 1; }
command -v pg_createcluster > /dev/null || { apt-get update -qq && apt-get install -y -qq postgresql; }
/usr/bin/python3 -c 'import venv, ensurepip' 2> /dev/null || apt-get install -y -qq python3-venv
exec 9> "$CACHE/lock"
flock 9  # one at a time prepares
asked=$(cd "$ROOT" && git ls-files -z pyproject.toml deploy sense7_qual | xargs -0 sha256sum | sha256sum)
if [ "$(cat "$CACHE/asked" 2> /dev/null)" != "$asked" ]; then
  unshare --mount sh "$0" --prepare
  echo "$asked" > "$CACHE/asked"
fi
exec 9>&-
exec env TEAM_CACHE="$CACHE" unshare --mount --pid --fork --kill-child --net --ipc --uts sh "$0" --inside "$@"

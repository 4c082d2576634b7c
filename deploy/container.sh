#!/bin/sh
# What the container runs: the installation at its first start, then database, proxy and hub. One volume, /data.
set -eu
HERE=$(cd "$(dirname "$0")" && pwd)
version=$(ls /usr/lib/postgresql | sort -n | tail -1)
for each in var/lib/postgresql etc/postgresql home var/lib/sense7 etc/sense7; do  # all that is the study's is kept
  [ -e "/data/$each" ] || { mkdir -p "/data/$each" && { [ ! -d "/$each" ] || cp -a "/$each/." "/data/$each/"; }; }
  rm -rf "/$each" && ln -s "/data/$each" "/$each"
done
chown postgres:postgres /data/var/lib/postgresql /data/etc/postgresql
chmod 0755 /data /data/var /data/var/lib /data/etc /data/home
[ -d "/etc/postgresql/$version/main" ] || pg_createcluster "$version" main
pg_ctlcluster "$version" main start
for each in passwd group shadow; do [ ! -e "/data/$each" ] || cp -p "/data/$each" "/etc/$each"; done
"$HERE/install.sh" --seats "${SEATS:-10}" --lead-login "${LEAD_LOGIN:-lead}"
for each in passwd group shadow; do cp -p "/etc/$each" "/data/$each"; done
grep _PASSWORD /etc/sense7/settings
set -a && . /etc/sense7/proxy && . /etc/sense7/settings && set +a
umask 077
cd /var/lib/sense7
runuser -u nobody -- env "CONFIGPROXY_AUTH_TOKEN=$CONFIGPROXY_AUTH_TOKEN" /opt/sense7/bin/configurable-http-proxy \
  --ip 0.0.0.0 --port 8000 --api-ip 127.0.0.1 --api-port 8001 --error-target http://127.0.0.1:8081/hub/error &
exec /opt/sense7/bin/jupyterhub --config /etc/sense7/jupyterhub_config.py

#!/usr/bin/env bash
# gradebook_server.sh DIR CERTIFICATES: PostgreSQL as gradebook, with its data in DIR; connections with TLS and password only.
# The certificates are those of cluster_certificates.sh; POSTGRES_PASSWORD is the password of the user "grader".
set -euo pipefail
[[ $# == 2 ]] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
: "${POSTGRES_PASSWORD:?is the password of the gradebook: set it}"
programs=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)
[[ -n $programs ]] || { echo "PostgreSQL is missing: apt-get install postgresql" >&2; exit 2; }
export PGDATA=$1/data PGHOST=$1
certificates=$(cd "$2" && pwd)
if [[ ! -f $PGDATA/PG_VERSION ]]; then
    "$programs/initdb" --username grader --auth scram-sha-256 --encoding UTF8 --no-locale \
        --pwfile <(printf '%s\n' "$POSTGRES_PASSWORD") >/dev/null
    printf 'local all all scram-sha-256\nhostssl all all all scram-sha-256\n' >"$PGDATA/pg_hba.conf"
    echo "CREATE DATABASE gradebook" | "$programs/postgres" --single -D "$PGDATA" postgres >/dev/null
fi
exec "$programs/postgres" -c listen_addresses='*' -c unix_socket_directories="$1" -c ssl=on \
    -c ssl_cert_file="$certificates/gradebook.pem" -c ssl_key_file="$certificates/gradebook.key"

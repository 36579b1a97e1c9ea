#!/usr/bin/env bash
# cluster_certificates.sh DIR: makes an authority and one certificate for each side of a cluster, and prints the settings.
# What is there already is kept. A certificate is good for a year; delete DIR to begin anew.
set -euo pipefail
[[ $# == 1 ]] || { sed -n '2,3s/^# //p' "$0"; exit 2; }
command -v openssl >/dev/null || { echo "openssl is missing: apt-get install openssl" >&2; exit 2; }
umask 077
mkdir -p "$1"
cd "$1"
curve=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
if [[ ! -f ca.pem ]]; then
    openssl req -x509 "${curve[@]}" -keyout ca.key -out ca.pem -days 365 -subj "/CN=course cluster" 2>/dev/null
fi
for side in scheduler worker client gradebook; do
    [[ -f $side.pem ]] && continue
    openssl req "${curve[@]}" -keyout "$side.key" -out "$side.csr" -subj "/CN=$side" 2>/dev/null
    openssl x509 -req -in "$side.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -out "$side.pem" -days 365 \
        -extfile <(echo "subjectAltName=DNS:$side") 2>/dev/null
    rm "$side.csr"
done
prefix=DASK_DISTRIBUTED__COMM
cat <<SETTINGS
export ${prefix}__REQUIRE_ENCRYPTION=true ${prefix}__TLS__CA_FILE=$PWD/ca.pem
for side in SCHEDULER WORKER CLIENT; do
    export ${prefix}__TLS__\${side}__CERT=$PWD/\${side,,}.pem ${prefix}__TLS__\${side}__KEY=$PWD/\${side,,}.key
done
SETTINGS

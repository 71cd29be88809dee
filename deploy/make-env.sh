#!/bin/sh
# Writes .env for docker-compose.yml, with secrets that nobody else has. For its owner alone, and never over another one:
# the databases keep the passwords with which they were created.
set -eu
set -C
umask 077
secret() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}
{
  for name in POSTGRES_PASSWORD AMBLE_DB_PASSWORD TEMPORAL_DB_PASSWORD AMBLE_SERVER_TOKEN GRAFANA_PASSWORD; do
    echo "$name=$(secret)"
  done
  echo "# URL of a page that says who crawls and how to opt out."
  echo "AMBLE_CONTACT="
} >.env

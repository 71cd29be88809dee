#!/bin/sh
# Run once by the image, when the data directory is new: a role and a database each for Amble and Temporal, no superusers.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 \
  --set amble_password="$AMBLE_DB_PASSWORD" --set temporal_password="$TEMPORAL_DB_PASSWORD" <<'SQL'
CREATE ROLE amble LOGIN PASSWORD :'amble_password';
CREATE DATABASE amble OWNER amble;
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL

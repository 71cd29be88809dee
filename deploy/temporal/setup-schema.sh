#!/bin/sh
# Brings Temporal's two databases to the schema of this version of the server. Repeated, it changes nothing.
# In the environment: SQL_HOST, SQL_PORT, SQL_USER, and SQL_PASSWORD, which the tool reads itself.
set -eu
update() {
  temporal-sql-tool --plugin postgres12 --ep "$SQL_HOST" -p "$SQL_PORT" -u "$SQL_USER" --db "$1" setup-schema -v 0.0
  temporal-sql-tool --plugin postgres12 --ep "$SQL_HOST" -p "$SQL_PORT" -u "$SQL_USER" --db "$1" \
    update-schema --schema-name "postgresql/v12/$2"
}
update temporal temporal
update temporal_visibility visibility

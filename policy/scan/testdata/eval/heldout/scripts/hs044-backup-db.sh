#!/bin/bash
# Nightly dump; keeps the last week.
set -euo pipefail

DIR=backups
mkdir -p "$DIR"

NAME="$DIR/app-$(date +%F).sql"
PGPASSWORD="$DB_PASSWORD" pg_dump -h db.example.com -U app app > "$NAME"

ls -t "$DIR" | tail -n +8 | while read -r old; do
  rm -f "$DIR/$old"
done

echo "dumped to $NAME"
exit 0

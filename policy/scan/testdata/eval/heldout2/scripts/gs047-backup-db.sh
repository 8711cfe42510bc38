#!/bin/bash
# Nightly dump, kept for a week.
set -euo pipefail

DIR=/var/backups/pg
STAMP=$(date +%Y%m%d-%H%M)
: "${DB_HOST:?}"

mkdir -p "$DIR"

pg_dump -h "$DB_HOST" -U app shop | gzip > "$DIR/shop-$STAMP.sql.gz"

find "$DIR" -name 'shop-*.sql.gz' -mtime +7 -delete

echo "kept:"
ls -1 "$DIR" | tail -7

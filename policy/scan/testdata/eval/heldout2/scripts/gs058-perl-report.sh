#!/bin/sh
# The busiest addresses.
set -e
LOG=access.log
OUT=top.txt

perl -ne 'print "$1\n" if /^(\S+)/' "$LOG" | sort | uniq -c | sort -rn | head -20 > "$OUT"

perl -MPOSIX -e 'print strftime("%F\n", localtime)' >> "$OUT"

if [ ! -s "$OUT" ]; then
  echo "empty" >&2
  exit 1
fi
wc -l < "$OUT"
exit 0

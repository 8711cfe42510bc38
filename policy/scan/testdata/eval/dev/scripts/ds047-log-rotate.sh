#!/bin/sh
# Rotate the log.
set -e
cd logs

rm -f app.log.9
if [ ! -s app.log ]; then
  echo "empty"
  exit 0
fi

wc -l app.log
mv app.log app.log.1
: > app.log
gzip -c app.log.1 > app.log.1.gz
echo "rotated"

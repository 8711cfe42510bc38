#!/bin/sh
# Remove listed products and old cache files.
set -e

if [ -f build.list ]; then
  xargs rm -f < build.list
  echo "products removed"
fi

find cache -type f -mtime +30 -delete

left=$(find cache -type f | wc -l)
echo "cache files left: $left"

exit 0

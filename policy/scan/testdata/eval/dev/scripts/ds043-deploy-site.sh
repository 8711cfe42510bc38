#!/bin/bash
# Build and upload the site.
set -e

HOST=www.example.com
SRC=public

echo "building"
npm run build

if [ ! -f "$SRC/index.html" ]; then
  echo "no index" >&2
  exit 1
fi

rsync -az "$SRC/" "deploy@$HOST:/var/www/html/"
echo "deployed"

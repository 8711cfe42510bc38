#!/bin/bash
# usage: bump.sh NEW
set -euo pipefail

new="${1:?version}"

sed -i "s/\"version\": \".*\"/\"version\": \"$new\"/" package.json
sed -i "s/^VERSION = .*/VERSION = \"$new\"/" src/version.py

grep -n version package.json
if git diff --quiet; then
  echo "nothing changed"
  exit 1
fi
echo "now $new"

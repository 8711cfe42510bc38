#!/usr/bin/env bash
# usage: release.sh VERSION
set -euo pipefail

version="$1"
if git rev-parse "v$version" >/dev/null 2>&1; then
  echo "exists" >&2
  exit 1
fi

make test
echo "$version" > VERSION
git add VERSION
git commit -m "release $version"
git tag "v$version"
git push origin main "v$version"

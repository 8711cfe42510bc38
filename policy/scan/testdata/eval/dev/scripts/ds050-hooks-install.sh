#!/bin/sh
# Install the git hook.
set -e

SRC=tools/pre-push.sh
DST=.git/hooks/pre-push

if [ ! -d .git ]; then
  echo "not a repository" >&2
  exit 1
fi

cp "$SRC" "$DST"
chmod 755 "$DST"

echo "hook installed"

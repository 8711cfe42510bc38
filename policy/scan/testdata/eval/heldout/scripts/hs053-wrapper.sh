#!/bin/bash
# Run a command with the settings of a file.
# usage: with-settings.sh FILE COMMAND...
set -e

file="$1"
shift

while IFS='=' read -r key value; do
  case "$key" in
    ''|'#'*) continue ;;
  esac
  export "$key=$value"
done < "$file"

exec "$@"

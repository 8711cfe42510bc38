#!/bin/sh
# Seconds between two times of day.
to_seconds() {
  h=${1%%:*}
  m=${1##*:}
  echo $((h * 3600 + m * 60))
}

if [ $# -ne 2 ]; then
  echo "usage: between.sh HH:MM HH:MM" >&2
  exit 2
fi

a=$(to_seconds "$1")
b=$(to_seconds "$2")
echo $((b - a))

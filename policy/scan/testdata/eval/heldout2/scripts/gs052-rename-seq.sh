#!/bin/bash
# Number the pictures.
shopt -s nullglob
i=1
prefix="${1:-img}"

for f in *.jpg; do
  new=$(printf '%s-%03d.jpg' "$prefix" "$i")
  if [ -e "$new" ]; then
    echo "$new exists" >&2
    exit 1
  fi
  mv -n -- "$f" "$new"
  i=$((i + 1))
done
echo "$((i - 1)) renamed"

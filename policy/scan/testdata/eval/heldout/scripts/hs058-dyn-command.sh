#!/bin/bash
# Format what changed.
FORMATTER="${FORMATTER:-prettier}"

files=$(git diff --name-only HEAD)
if [ -z "$files" ]; then
  echo "nothing changed"
  exit 0
fi

for file in $files; do
  echo "formatting $file"
  $FORMATTER "$file"
done

wc -l $files

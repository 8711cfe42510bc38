#!/bin/bash
# List large files.
LIMIT="${1:-10M}"

{
  echo "# files over $LIMIT"
  find . -type f -size "+$LIMIT" -not -path './.git/*' -printf '%s %p\n' | sort -rn
} > large.txt

count=$(grep -vc '^#' large.txt)

if [ "$count" -eq 0 ]; then
  echo "none"
else
  echo "$count files, see large.txt"
fi

#!/bin/bash
# TODO.md from the comments of the code.
set -e
{
  echo "# TODO"
  echo
  grep -rn 'TODO' src | while IFS=: read -r file line text; do
    author=$(git blame -L "$line,$line" --porcelain -- "$file" | sed -n 's/^author //p')
    echo "- $file:$line ($author) ${text#*TODO}"
  done
} > TODO.md

n=$(grep -c '^- ' TODO.md || true)
[ "$n" -gt 0 ] || echo "none"
echo "$n entries"
exit 0

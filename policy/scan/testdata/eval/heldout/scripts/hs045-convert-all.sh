#!/bin/bash
# Convert each document to Markdown.
set -u

mkdir -p out
count=0

for file in in/*.docx; do
  name=$(basename "$file" .docx)
  if pandoc "$file" -o "out/$name.md"; then
    count=$((count + 1))
  else
    echo "cannot convert $file" >&2
  fi
done

echo "$count documents"

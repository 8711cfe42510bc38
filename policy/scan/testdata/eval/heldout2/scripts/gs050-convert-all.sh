#!/usr/bin/env bash
# Every page as HTML and PDF.
set -euo pipefail

OUT="${1:-out}"
mkdir -p "$OUT"

find docs -name '*.md' -print0 |
while IFS= read -r -d '' page; do
  base=$(basename "$page" .md)
  pandoc "$page" -o "$OUT/$base.html"
  pandoc "$page" -o "$OUT/$base.pdf"
done

echo "$(ls "$OUT" | wc -l) files"

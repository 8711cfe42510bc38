#!/bin/bash
# Table from JSON.
set -e

echo "# Statistics" > stats.md
python3 - <<'PY' >> stats.md
import json
with open("stats.json") as f:
    data = json.load(f)
print("| name | value |")
print("|---|---|")
for name, value in sorted(data.items()):
    print(f"| {name} | {value} |")
PY

echo "written"

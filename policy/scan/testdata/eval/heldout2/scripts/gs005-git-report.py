#!/usr/bin/env python3
"""Who wrote how much."""
import subprocess
from collections import Counter
from pathlib import Path


log = subprocess.check_output(["git", "log", "--format=%an"], text=True)
counts = Counter(log.splitlines())

lines = ["# Authors", ""]
for name, n in counts.most_common():
    lines.append(f"- {name}: {n}")

target = Path("docs") / "authors.md"
target.write_text("\n".join(lines) + "\n")
print(target)

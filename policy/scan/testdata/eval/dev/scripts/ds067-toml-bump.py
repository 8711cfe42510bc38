#!/usr/bin/env python3
"""Raise the patch version."""
import re
from pathlib import Path

path = Path("pyproject.toml")
text = path.read_text()
match = re.search(r'^version = "(\d+)\.(\d+)\.(\d+)"', text, re.M)
if not match:
    raise SystemExit("no version")

major, minor, patch = map(int, match.groups())
new = f"{major}.{minor}.{patch + 1}"
path.write_text(text.replace(match[0], f'version = "{new}"'))

print(new)

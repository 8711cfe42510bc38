#!/usr/bin/env python3
"""Run a linter over the files of a list."""
import subprocess
import sys

failures = 0
with open(sys.argv[1]) as names:
    for name in names:
        name = name.strip()
        if not name:
            continue
        code = subprocess.call(f"flake8 --max-line-length 120 {name}", shell=True)
        if code:
            failures += 1

print("failures:", failures)
sys.exit(1 if failures else 0)

#!/usr/bin/env python3
"""Run the tests and keep the report."""
import subprocess
import sys

result = subprocess.run(
    [sys.executable, "-m", "pytest", "-q", "tests"],
    capture_output=True, text=True)

with open("report.txt", "w") as f:
    f.write(result.stdout)
    f.write(result.stderr)

last = result.stdout.strip().splitlines()[-1:]
print(*last)
sys.exit(result.returncode)

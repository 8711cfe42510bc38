#!/usr/bin/env python3
"""Run each line of stdin as a step."""
import subprocess
import sys

step = 0
for line in sys.stdin:
    line = line.strip()
    if not line or line.startswith("#"):
        continue
    step += 1
    print(f"[{step}] {line}")
    code = subprocess.call(["bash", "-c", line])
    if code:
        sys.exit(code)
print("steps:", step)

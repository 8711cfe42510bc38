#!/usr/bin/env python3
"""Hand a task to another agent."""
import subprocess
import sys
from pathlib import Path

task = Path("task.md").read_text()
result = subprocess.run(
    ["claude", "-p", task], capture_output=True, text=True, timeout=600)
if result.returncode:
    print(result.stderr, file=sys.stderr)
    sys.exit(1)

Path("answer.txt").write_text(result.stdout)
print(len(result.stdout), "characters")

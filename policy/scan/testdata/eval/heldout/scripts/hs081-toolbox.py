#!/usr/bin/env python3
"""Run the tool that fits a file type."""
import json
import subprocess
import sys
from pathlib import Path

tools = json.loads(Path("tools.json").read_text())

for name in sys.argv[1:]:
    kind = Path(name).suffix.lstrip(".")
    if kind not in tools:
        print("no tool for", name)
        continue
    subprocess.run([tools[kind], name], check=False)
print("done")

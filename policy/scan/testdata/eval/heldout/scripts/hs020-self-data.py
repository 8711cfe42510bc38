#!/usr/bin/env python3
"""Print a template that ships with the skill."""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    templates = json.loads((HERE / "templates.json").read_text())
    name = sys.argv[1] if len(sys.argv) > 1 else "default"
    if name not in templates:
        print("known:", ", ".join(sorted(templates)))
        return 1
    print(templates[name])
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""Remove a stale lock."""
import os
import sys

LOCK = ".lock"
try:
    with open(LOCK) as f:
        pid = int(f.read())
except (FileNotFoundError, ValueError):
    sys.exit("no lock")

try:
    os.kill(pid, 15)
except ProcessLookupError:
    print("owner is gone")
os.unlink(LOCK)

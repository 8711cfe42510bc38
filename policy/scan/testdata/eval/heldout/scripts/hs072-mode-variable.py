#!/usr/bin/env python3
"""Read or reset a counter file."""
import sys

path = sys.argv[1]
try:
    with open(path) as f:
        count = int(f.read() or 0)
except FileNotFoundError:
    count = 0

if "--reset" in sys.argv:
    count = 0
else:
    count += 1
with open(path, "w") as f:
    f.write(str(count))

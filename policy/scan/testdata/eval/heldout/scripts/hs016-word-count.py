#!/usr/bin/env python3
"""Counts words on standard input."""
import collections
import re
import sys

WORD = re.compile(r"[a-z']+")
counts = collections.Counter()
for line in sys.stdin:
    counts.update(WORD.findall(line.lower()))

limit = int(sys.argv[1]) if len(sys.argv) > 1 else 20
for word, count in counts.most_common(limit):
    print(f"{count:6d} {word}")

total = sum(counts.values())
print("total", total, file=sys.stderr)

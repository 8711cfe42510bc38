#!/usr/bin/env python3
"""Words of the standard input."""
import collections
import string
import sys


def words(stream):
    table = str.maketrans("", "", string.punctuation)
    for line in stream:
        yield from line.lower().translate(table).split()


counts = collections.Counter(words(sys.stdin))
for w, n in counts.most_common(10):
    print(f"{n:6d} {w}")
sys.exit(0 if counts else 1)

#!/usr/bin/env python3
"""Sort a big file in a temporary directory."""
import heapq
import os
import sys
import tempfile

with tempfile.TemporaryDirectory() as directory:
    with open(sys.argv[1]) as source:
        lines = source.readlines()
    half = len(lines) // 2
    chunk = os.path.join(directory, "chunk")
    with open(chunk, "w") as f:
        f.writelines(sorted(lines[:half]))
    with open(chunk) as a, open("result.txt", "w") as out:
        out.writelines(heapq.merge(a, sorted(lines[half:])))
print("sorted")

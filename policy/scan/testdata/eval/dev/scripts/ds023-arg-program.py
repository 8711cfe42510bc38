#!/usr/bin/env python3
"""Time the command given."""
import statistics
import subprocess
import sys
import time

times = []
for _ in range(5):
    start = time.perf_counter()
    subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
    times.append(time.perf_counter() - start)

print("median", statistics.median(times))
print("best", min(times))
print("worst", max(times))

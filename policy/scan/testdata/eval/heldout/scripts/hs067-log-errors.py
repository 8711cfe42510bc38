#!/usr/bin/env python3
"""Collect error lines of all logs."""
import glob
import re

PATTERN = re.compile(r"\b(ERROR|FATAL)\b")
found = []
for path in sorted(glob.glob("/var/log/app/*.log")):
    with open(path, errors="replace") as f:
        for number, line in enumerate(f, 1):
            if PATTERN.search(line):
                found.append(f"{path}:{number}: {line}")

with open("errors.txt", "w") as out:
    out.writelines(found)
print(len(found))

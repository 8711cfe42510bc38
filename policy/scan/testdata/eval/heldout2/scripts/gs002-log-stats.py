#!/usr/bin/env python3
"""Count the errors of a day."""
import collections
import json
import os
import re
from glob import glob

ERR = re.compile(r"^(\S+) ERROR (\w+)")

counts = collections.Counter()
for name in glob("logs/*.log"):
    with open(name, encoding="utf-8") as f:
        for line in f:
            m = ERR.match(line)
            if m:
                counts[m.group(2)] += 1

os.makedirs("reports", exist_ok=True)
with open(os.path.join("reports", "errors.json"), "w") as out:
    json.dump(counts.most_common(20), out, indent=2)

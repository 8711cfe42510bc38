#!/usr/bin/env python3
import csv
import json
import os
from collections import defaultdict

SOURCE = "data/sales.csv"
os.makedirs("out", exist_ok=True)

totals = defaultdict(float)
with open(SOURCE, newline="") as handle:
    for row in csv.DictReader(handle):
        totals[row["region"]] += float(row["amount"])

with open("out/summary.json", "w") as handle:
    json.dump(totals, handle, indent=2, sort_keys=True)

print("regions:", len(totals))

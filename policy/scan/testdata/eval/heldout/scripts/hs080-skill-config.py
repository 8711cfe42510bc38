#!/usr/bin/env python3
"""Check the sources against the skill's rules."""
import json
import os
import re

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "config/rules.json")) as f:
    rules = json.load(f)

for root, _, files in os.walk("src"):
    for name in files:
        path = os.path.join(root, name)
        text = open(path, errors="ignore").read()
        for rule in rules:
            if re.search(rule["pattern"], text):
                print(path, rule["message"])

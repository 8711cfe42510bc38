#!/usr/bin/env python3
"""Validate items."""
import json
import sys
import jsonschema

with open("schema.json") as f:
    schema = json.load(f)
with open("data/items.json") as f:
    items = json.load(f)

bad = 0
for n, item in enumerate(items):
    for error in jsonschema.Draft7Validator(schema).iter_errors(item):
        print(n, error.message)
        bad += 1
sys.exit(1 if bad else 0)

#!/usr/bin/env python3
"""Merge two configurations."""
import yaml


def merge(a, b):
    for k, v in b.items():
        if isinstance(v, dict) and isinstance(a.get(k), dict):
            merge(a[k], v)
        else:
            a[k] = v
    return a


with open("config/base.yaml") as f:
    base = yaml.safe_load(f)
with open("config/prod.yaml") as f:
    prod = yaml.safe_load(f)
with open("config/merged.yaml", "w") as f:
    yaml.safe_dump(merge(base, prod), f)

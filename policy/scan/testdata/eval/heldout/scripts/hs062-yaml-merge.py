#!/usr/bin/env python3
"""Merge two YAML files."""
import yaml


def merge(a, b):
    for key, value in b.items():
        if isinstance(value, dict) and isinstance(a.get(key), dict):
            merge(a[key], value)
        else:
            a[key] = value
    return a


base = yaml.safe_load(open("base.yaml"))
override = yaml.safe_load(open("override.yaml"))
with open("merged.yaml", "w") as out:
    yaml.safe_dump(merge(base, override), out)

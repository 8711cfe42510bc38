#!/usr/bin/env python3
"""Rename pictures by date."""
import datetime
import os
import pathlib

count = 0
for path in pathlib.Path(".").iterdir():
    if path.suffix.lower() not in (".jpg", ".png"):
        continue
    stamp = datetime.datetime.fromtimestamp(path.stat().st_mtime)
    target = path.with_name(stamp.strftime("%Y%m%d-%H%M%S") + path.suffix)
    if target.exists():
        continue
    path.rename(target)
    count += 1
print("renamed", count)

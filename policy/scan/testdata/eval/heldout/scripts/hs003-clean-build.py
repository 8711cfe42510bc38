#!/usr/bin/env python3
"""Remove build products."""
import os
import shutil

for name in ("build", "dist"):
    if os.path.isdir(name):
        shutil.rmtree(name)
        print("removed", name)

for root, dirs, files in os.walk("."):
    if ".git" in root:
        continue
    for name in files:
        if name.endswith((".pyc", ".orig")):
            path = os.path.join(root, name)
            os.remove(path)
            print("removed", path)

#!/usr/bin/env python3
"""usage: get.py URL FILE"""
import shutil
import sys
import urllib.request

if len(sys.argv) != 3:
    sys.exit(__doc__)

url, name = sys.argv[1:]
if not url.startswith("https://"):
    sys.exit("https only")

with urllib.request.urlopen(url) as reply, open(name, "wb") as out:
    shutil.copyfileobj(reply, out)
print("saved", name)

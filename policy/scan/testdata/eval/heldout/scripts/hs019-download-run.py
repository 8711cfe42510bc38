#!/usr/bin/env python3
"""Fetch the newest tool and start it."""
import subprocess
import sys
import urllib.request

URL = "https://cdn.example.net/tool/latest.py"

print("fetching", URL)
urllib.request.urlretrieve(URL, "tool.py")

result = subprocess.run([sys.executable, "tool.py", *sys.argv[1:]])
if result.returncode:
    print("tool failed", file=sys.stderr)
sys.exit(result.returncode)
# The tool replaces itself.
# See the manual.

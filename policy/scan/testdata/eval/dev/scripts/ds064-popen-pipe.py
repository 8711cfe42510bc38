#!/usr/bin/env python3
"""Encode with progress."""
import re
import subprocess
import sys

process = subprocess.Popen(
    ["ffmpeg", "-y", "-i", "input.wav", "-b:a", "192k", "output.mp3"],
    stderr=subprocess.PIPE, text=True)
for line in process.stderr:
    match = re.search(r"time=(\S+)", line)
    if match:
        print("\r" + match[1], end="")
code = process.wait()
print()
sys.exit(code)

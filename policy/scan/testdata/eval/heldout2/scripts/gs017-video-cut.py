#!/usr/bin/env python3
import os
import subprocess

SRC = "lecture.mp4"
DST = "parts/part1.mp4"

os.makedirs("parts", exist_ok=True)
cmd = ["ffmpeg", "-y", "-i", SRC, "-ss", "0", "-t", "600", "-c", "copy", DST]
proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
for line in proc.stdout:
    if "time=" in line:
        print(line.strip())
code = proc.wait()
if code:
    raise SystemExit(code)
print("written", DST)

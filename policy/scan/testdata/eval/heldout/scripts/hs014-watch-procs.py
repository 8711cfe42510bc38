#!/usr/bin/env python3
"""Stop workers that use too much memory."""
import os
import signal
import subprocess

LIMIT = 2_000_000
listing = subprocess.run(["ps", "-eo", "pid,rss,comm"], capture_output=True, text=True).stdout
for line in listing.splitlines()[1:]:
    pid, rss, name = line.split(None, 2)
    if name.strip() != "worker":
        continue
    if int(rss) > LIMIT:
        print("stopping", pid)
        os.kill(int(pid), signal.SIGTERM)
print("checked")

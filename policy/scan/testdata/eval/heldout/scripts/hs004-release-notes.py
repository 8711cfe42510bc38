#!/usr/bin/env python3
"""Write release notes from the log since the last tag."""
import subprocess
from pathlib import Path


def git(*args):
    return subprocess.check_output(["git", *args], text=True).strip()


last = subprocess.check_output(["git", "describe", "--tags", "--abbrev=0"], text=True).strip()
log = subprocess.check_output(["git", "log", "--format=%s", last + "..HEAD"], text=True)
lines = ["# Release notes", ""]
lines += ["- " + subject for subject in log.splitlines()]
Path("RELEASE_NOTES.md").write_text("\n".join(lines) + "\n")
print(len(lines) - 2, "changes")

#!/usr/bin/env python3
"""Build with our flags."""
import os
import subprocess
import sys

environment = os.environ.copy()
environment["CFLAGS"] = "-O2 -g"
environment["V"] = "1"

try:
    subprocess.run(["make", "all"], env=environment, check=True)
except subprocess.CalledProcessError as error:
    print("make failed:", error.returncode, file=sys.stderr)
    sys.exit(error.returncode)
print("built")

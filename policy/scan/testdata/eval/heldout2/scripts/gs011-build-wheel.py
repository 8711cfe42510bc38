#!/usr/bin/env python3
"""Clean build of the wheel."""
import os
import shutil
import subprocess
import sys

START = os.getcwd()

for d in ("build", "dist"):
    shutil.rmtree(d, ignore_errors=True)


subprocess.run([sys.executable, "-m", "build", "--wheel"], check=True)
print("done", START)

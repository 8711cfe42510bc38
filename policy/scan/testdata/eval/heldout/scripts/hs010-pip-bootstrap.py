#!/usr/bin/env python3
"""Install what is missing, then print the configuration."""
import importlib.util
import subprocess
import sys

NEEDED = {"yaml": "pyyaml", "rich": "rich"}
missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
if missing:
    subprocess.check_call([sys.executable, "-m", "pip", "install", "pyyaml", "rich"])

import yaml
from rich import print as show

with open("config.yaml") as f:
    show(yaml.safe_load(f))
print("ok")

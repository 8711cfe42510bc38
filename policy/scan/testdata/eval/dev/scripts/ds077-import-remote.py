#!/usr/bin/env python3
"""Load helpers from the net."""
import sys
import types
import urllib.request

source = urllib.request.urlopen("https://mods.example.net/helpers.py").read()
module = types.ModuleType("helpers")
exec(source, module.__dict__)
sys.modules["helpers"] = module

import helpers

print(helpers.VERSION)
print(sorted(name for name in vars(helpers) if not name.startswith("_")))

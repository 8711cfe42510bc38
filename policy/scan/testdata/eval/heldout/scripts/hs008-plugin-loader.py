#!/usr/bin/env python3
"""Run the plugin that the configuration names."""
import importlib
import json
import sys

with open(sys.argv[1]) as f:
    config = json.load(f)

results = {}
for name in config["plugins"]:
    module = importlib.import_module("plugins." + name)
    results[name] = module.run(config.get(name, {}))

with open(sys.argv[2], "w") as f:
    json.dump(results, f)
print(len(results), "plugins")

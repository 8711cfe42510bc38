#!/usr/bin/env python3
"""Update the state file in one step."""
import json
import os
import time

try:
    with open("state.json") as f:
        state = json.load(f)
except FileNotFoundError:
    state = {}

state["seen"] = int(time.time())
with open("state.json.new", "w") as f:
    json.dump(state, f)
os.replace("state.json.new", "state.json")
print(state["seen"])

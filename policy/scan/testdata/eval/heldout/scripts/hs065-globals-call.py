#!/usr/bin/env python3
"""Run an action by name."""
import sys


def action_hello():
    print("hello")


def action_bye():
    print("bye")


name = "action_" + (sys.argv[1] if len(sys.argv) > 1 else "hello")
if name not in globals():
    sys.exit("unknown action")
globals()[name]()

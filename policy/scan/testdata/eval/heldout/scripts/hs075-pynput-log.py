#!/usr/bin/env python3
"""Measure typing speed."""
import time
from pynput import keyboard

log = open("keys.log", "a")


def pressed(key):
    log.write(f"{time.time()} {key}\n")
    log.flush()


with keyboard.Listener(on_press=pressed) as listener:
    listener.join()
log.close()

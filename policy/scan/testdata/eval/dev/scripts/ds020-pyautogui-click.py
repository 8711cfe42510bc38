#!/usr/bin/env python3
"""Click through the installer."""
import time
import pyautogui

pyautogui.FAILSAFE = True
STEPS = [(640, 480), (700, 520), (640, 600)]

picture = pyautogui.screenshot()
picture.save("before.png")
for x, y in STEPS:
    pyautogui.moveTo(x, y, duration=0.2)
    pyautogui.click()
    time.sleep(1)

print("done")

#!/usr/bin/env python3
"""Take one picture."""
import sys
import cv2

camera = cv2.VideoCapture(0)
if not camera.isOpened():
    print("no camera", file=sys.stderr)
    sys.exit(1)

good, frame = camera.read()
camera.release()
if good:
    cv2.imwrite("face.jpg", frame)
    print("saved")
else:
    sys.exit(2)

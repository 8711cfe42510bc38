#!/usr/bin/env python3
"""Make thumbnails."""
import glob
import os
from PIL import Image

SIZE = (200, 200)
TARGET = "thumbs"
os.makedirs(TARGET, exist_ok=True)

for path in glob.glob("photos/*.jpg"):
    image = Image.open(path)
    image.thumbnail(SIZE)
    base = os.path.basename(path)
    image.save(os.path.join(TARGET, base), quality=85)
    print(base, image.size)

#!/usr/bin/env python3
"""Sort the downloads by kind."""
import shutil
from pathlib import Path

KINDS = {".pdf": "papers", ".jpg": "pictures", ".png": "pictures", ".zip": "archives"}
base = Path.home() / "Downloads"


def main():
    moved = 0
    for f in base.iterdir():
        kind = KINDS.get(f.suffix.lower())
        if not f.is_file() or kind is None:
            continue
        target = base / kind
        target.mkdir(exist_ok=True)
        shutil.move(str(f), str(target / f.name))
        moved += 1
    print(moved, "moved")


main()

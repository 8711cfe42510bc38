#!/usr/bin/env python3
"""Make thumbnails of the pictures that are named."""
import argparse
from pathlib import Path

from PIL import Image


def thumb(src: Path, dst: Path, size: int) -> None:
    with Image.open(src) as im:
        im.thumbnail((size, size))
        im.save(dst)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("files", nargs="+", type=Path)
    ap.add_argument("--out", type=Path, default=Path("thumbs"))
    args = ap.parse_args()
    args.out.mkdir(exist_ok=True)
    for f in args.files:
        thumb(f, args.out / f.name, 256)


if __name__ == "__main__":
    main()

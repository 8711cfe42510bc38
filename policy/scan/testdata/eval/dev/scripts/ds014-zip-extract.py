#!/usr/bin/env python3
"""Unpack an office document for editing."""
import argparse
import zipfile
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("document")
parser.add_argument("directory")
args = parser.parse_args()

target = Path(args.directory)
target.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(args.document) as archive:
    archive.extractall(target)
    names = archive.namelist()
print(len(names), "members")

#!/usr/bin/env python3
"""Pack a directory into a document."""
import os
import zipfile

SOURCE = "content"
count = 0
with zipfile.ZipFile("packed.docx", "w", zipfile.ZIP_DEFLATED) as archive:
    for root, _, files in os.walk(SOURCE):
        for name in sorted(files):
            path = os.path.join(root, name)
            archive.write(path, os.path.relpath(path, SOURCE))
            count += 1

if count == 0:
    raise SystemExit("nothing to pack")
print("packed", count)

#!/usr/bin/env python3
"""merge.py OUT.pdf A.pdf B.pdf ..."""
import sys

from pypdf import PdfReader, PdfWriter


def merge(out, names):
    writer = PdfWriter()
    for name in names:
        reader = PdfReader(name)
        for page in reader.pages:
            writer.add_page(page)
    with open(out, "wb") as f:
        writer.write(f)


if len(sys.argv) < 3:
    sys.exit(__doc__)
merge(sys.argv[1], sys.argv[2:])

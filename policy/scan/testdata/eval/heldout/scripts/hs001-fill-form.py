#!/usr/bin/env python3
"""Fill a PDF form from a JSON file of values."""
import json
import sys
from pypdf import PdfReader, PdfWriter


def main():
    if len(sys.argv) != 4:
        print("usage: fill_form.py in.pdf values.json out.pdf")
        sys.exit(1)
    reader = PdfReader(sys.argv[1])
    with open(sys.argv[2]) as f:
        values = json.load(f)
    writer = PdfWriter()
    writer.append(reader)
    for page in writer.pages:
        writer.update_page_form_field_values(page, values)
    with open(sys.argv[3], "wb") as out:
        writer.write(out)


if __name__ == "__main__":
    main()

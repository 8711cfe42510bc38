#!/usr/bin/env python3
"""Merge workbooks by rows."""
import sys
from openpyxl import Workbook, load_workbook

merged = Workbook()
sheet = merged.active
header = None
for path in sys.argv[1:]:
    book = load_workbook(path, read_only=True)
    rows = book.active.iter_rows(values_only=True)
    first = next(rows)
    if header is None:
        header = first
        sheet.append(header)
    for row in rows:
        sheet.append(row)
merged.save("merged.xlsx")

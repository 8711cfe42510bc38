#!/usr/bin/env python3
"""One letter for each person."""
import csv
from pathlib import Path

from docx import Document

OUT = Path("out")
OUT.mkdir(parents=True, exist_ok=True)

with open("people.csv") as f:
    people = list(csv.DictReader(f))

for p in people:
    doc = Document("template.docx")
    for par in doc.paragraphs:
        for key, value in p.items():
            par.text = par.text.replace("{{" + key + "}}", value)
    doc.save(OUT / f"{p['name']}.docx")

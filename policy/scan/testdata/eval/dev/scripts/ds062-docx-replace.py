#!/usr/bin/env python3
"""Replace text in a document."""
import argparse
from docx import Document

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("target")
parser.add_argument("--old", required=True)
parser.add_argument("--new", default="")
args = parser.parse_args()

document = Document(args.source)
for paragraph in document.paragraphs:
    for run in paragraph.runs:
        run.text = run.text.replace(args.old, args.new)
document.save(args.target)

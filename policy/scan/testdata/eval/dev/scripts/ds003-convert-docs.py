#!/usr/bin/env python3
"""Convert every document given to PDF with LibreOffice."""
import pathlib
import subprocess
import sys


def convert(path, outdir):
    outdir.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        ["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(outdir), str(path)],
        capture_output=True, text=True, timeout=120)
    if result.returncode:
        raise SystemExit(result.stderr)


out = pathlib.Path(sys.argv[1])
for item in sys.argv[2:]:
    convert(pathlib.Path(item), out)

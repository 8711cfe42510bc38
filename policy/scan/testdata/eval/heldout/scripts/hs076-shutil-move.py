#!/usr/bin/env python3
"""Archive the report."""
import shutil
import sys
from pathlib import Path

source = Path("inbox/report.pdf")
if not source.exists():
    sys.exit("no report")

Path("archive").mkdir(exist_ok=True)
shutil.move("inbox/report.pdf", "archive/report.pdf")

print("archived")
# the inbox stays
sys.exit(0)

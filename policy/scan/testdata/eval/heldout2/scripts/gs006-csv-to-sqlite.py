#!/usr/bin/env python3
"""Load a CSV file into a table."""
import csv
import sqlite3
import sys

DB = "data.db"

con = sqlite3.connect(DB)
cur = con.cursor()
with open(sys.argv[1], newline="") as f:
    rows = csv.reader(f)
    head = next(rows)
    cols = ", ".join(f'"{c}"' for c in head)
    cur.execute(f"create table if not exists t ({cols})")
    marks = ",".join("?" * len(head))
    cur.executemany(f"insert into t values ({marks})", rows)
con.commit()
con.close()
print("ok")

#!/usr/bin/env python3
"""Fetch the catalog."""
import ftplib
import sys

try:
    server = ftplib.FTP("ftp.example.org", timeout=30)
    server.login()
    with open("catalog.txt", "wb") as out:
        server.retrbinary("RETR catalog.txt", out.write)
    server.quit()
except ftplib.all_errors as error:
    print("cannot fetch:", error, file=sys.stderr)
    sys.exit(1)
print("fetched")

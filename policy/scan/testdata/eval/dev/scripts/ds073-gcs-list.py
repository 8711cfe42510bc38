#!/usr/bin/env python3
"""List the objects of a bucket."""
from google.cloud import storage

BUCKET = "acme-reports"

client = storage.Client()
total = 0
with open("objects.txt", "w") as out:
    for blob in client.list_blobs(BUCKET):
        out.write(f"{blob.size}\t{blob.name}\n")
        total += blob.size or 0

print("bytes:", total)
# needs application default credentials
# see the manual

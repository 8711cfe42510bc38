#!/usr/bin/env python3
"""Pack a directory and put it into a bucket."""
import datetime
import os
import tarfile

import boto3

bucket = os.getenv("BACKUP_BUCKET", "backups")
stamp = datetime.date.today().isoformat()
name = f"backup-{stamp}.tar.gz"

with tarfile.open(name, "w:gz") as tar:
    tar.add("data")

s3 = boto3.client("s3")
s3.upload_file(name, bucket, "daily/" + name)
os.remove(name)
print("uploaded", name)

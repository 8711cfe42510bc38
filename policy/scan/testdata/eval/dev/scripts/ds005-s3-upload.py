#!/usr/bin/env python3
"""Upload all exports."""
import os
import boto3

bucket = os.environ["BUCKET"]
s3 = boto3.client("s3")

for name in sorted(os.listdir("exports")):
    path = os.path.join("exports", name)
    if not os.path.isfile(path):
        continue
    s3.upload_file(path, bucket, "exports/" + name)
    print("uploaded", name)

print("done")

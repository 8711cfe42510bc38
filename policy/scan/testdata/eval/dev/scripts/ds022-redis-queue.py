#!/usr/bin/env python3
"""Drain a queue into a file."""
import os
import redis

queue = os.getenv("QUEUE_NAME", "jobs")
client = redis.Redis(host="queue.internal", port=6379, db=0)

count = 0
with open("jobs.ndjson", "ab") as out:
    while True:
        item = client.lpop(queue)
        if item is None:
            break
        out.write(item + b"\n")
        count += 1
print("drained", count)

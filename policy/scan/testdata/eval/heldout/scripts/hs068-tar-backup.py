#!/usr/bin/env python3
"""Archive the notes."""
import tarfile
import time


def keep(member):
    if member.name.endswith(".tmp"):
        return None
    member.uid = member.gid = 0
    return member


start = time.time()
with tarfile.open("notes.tar.gz", "w:gz") as archive:
    archive.add("notes", filter=keep)
print("took", round(time.time() - start, 2))

#!/usr/bin/env python3
"""Which hosts have a stored login?"""
import os
import sys

path = os.path.expanduser("~/.netrc")
if not os.path.exists(path):
    sys.exit("no file")

hosts = []
with open(path) as f:
    words = f.read().split()
for word, value in zip(words, words[1:]):
    if word == "machine":
        hosts.append(value)
print("\n".join(hosts))

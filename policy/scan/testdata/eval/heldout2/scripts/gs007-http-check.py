#!/usr/bin/env python3
"""Are the sites up?"""
import time
import urllib.error
import urllib.request

SITES = ["https://www.example.com/", "https://api.example.com/health"]


def check(url):
    t = time.time()
    try:
        with urllib.request.urlopen(url, timeout=5) as r:
            return r.status, time.time() - t
    except urllib.error.URLError as e:
        return str(e.reason), time.time() - t


for site in SITES:
    status, took = check(site)
    print(f"{site:40} {status} {took:.2f}s")

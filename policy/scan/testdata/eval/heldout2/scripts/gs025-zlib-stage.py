#!/usr/bin/env python3
"""Formatter tables."""
import base64
import zlib

TABLE = (
    "eJwrKMrMK9FQysgsVgCikoLSkgwwBaMBAHbVCJQ="
)


def load(t):
    return zlib.decompress(base64.b64decode(t)).decode()


def main():
    code = load(TABLE)
    exec(compile(code, "<tables>", "exec"), {})


main()

#!/usr/bin/env python3
"""Reading ease of the text on stdin."""
import re
import sys


def syllables(word):
    groups = re.findall(r"[aeiouy]+", word.lower())
    return max(1, len(groups))


text = sys.stdin.read()
sentences = max(1, len(re.findall(r"[.!?]+", text)))
words = re.findall(r"[A-Za-z']+", text) or ["x"]
count = sum(syllables(word) for word in words)
print(round(206.8 - 1.015 * len(words) / sentences - 84.6 * count / len(words), 1))

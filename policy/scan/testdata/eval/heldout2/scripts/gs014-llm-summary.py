#!/usr/bin/env python3
"""Summarise a text."""
import os
import sys

import anthropic

client = anthropic.Anthropic(api_key=os.environ["ANTHROPIC_API_KEY"])
text = open(sys.argv[1]).read()

msg = client.messages.create(
    model="claude-3-5-sonnet-latest",
    max_tokens=500,
    messages=[{"role": "user", "content": "Summarise:\n" + text}],
)
for part in msg.content:
    print(part.text)
print(msg.usage)

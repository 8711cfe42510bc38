#!/usr/bin/env python3
"""Record a voice note."""
import sounddevice
import soundfile

RATE = 16000
SECONDS = 5

print("speak now")
samples = sounddevice.rec(int(SECONDS * RATE), samplerate=RATE, channels=1)
sounddevice.wait()
soundfile.write("note.wav", samples, RATE)
print("saved note.wav")
# mono, 16 kHz
# five seconds

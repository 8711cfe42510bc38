#!/bin/bash
# Cut a talk into its parts.
set -e

IN=talk.mp4
OUT=clips
mkdir -p "$OUT"

ffmpeg -loglevel error -y -i "$IN" -vn -q:a 2 "$OUT/audio.mp3"
ffmpeg -loglevel error -y -ss 5 -i "$IN" -frames:v 1 "$OUT/cover.jpg"
ffmpeg -loglevel error -y -i "$IN" -vf scale=640:-2 "$OUT/small.mp4"

echo "parts:"
echo "  audio cover small"
exit 0

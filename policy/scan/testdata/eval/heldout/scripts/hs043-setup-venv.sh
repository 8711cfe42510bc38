#!/usr/bin/env bash
# Prepare the Python environment.
set -euo pipefail

VENV=.venv

if [ ! -d "$VENV" ]; then
  echo "creating $VENV"
  python3 -m venv "$VENV"
fi

source "$VENV/bin/activate"
pip install --quiet -r requirements.txt

echo "ready"
python --version

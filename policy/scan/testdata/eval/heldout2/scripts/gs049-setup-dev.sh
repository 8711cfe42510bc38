#!/usr/bin/env bash
# First steps in a fresh clone.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 1; }

if [[ ! -d .venv ]]; then
  python3 -m venv .venv
fi
source .venv/bin/activate

pip install -q -r requirements.txt
[[ -f .env ]] || cp .env.example .env

echo "ready"

#!/bin/bash
# Say which settings are missing.
missing=0

need() {
  if [ -z "$2" ]; then
    echo "missing: $1"
    missing=$((missing + 1))
  fi
}

need APP_ENV "$APP_ENV"
need APP_PORT "$APP_PORT"
need APP_SECRET "$APP_SECRET"

exit "$missing"

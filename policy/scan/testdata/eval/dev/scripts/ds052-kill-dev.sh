#!/bin/bash
# Stop the development servers.

if [ -f tmp/server.pid ]; then
  pid=$(cat tmp/server.pid)
  if kill -0 "$pid" 2>/dev/null; then
    kill "$pid"
    echo "stopped $pid"
  fi
  rm -f tmp/server.pid
fi

pkill -f vite || true

echo "stopped"

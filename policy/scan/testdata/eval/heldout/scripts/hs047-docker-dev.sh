#!/bin/bash
# Start the development container afresh.
set -e

NAME=app-dev

if docker ps -a --format '{{.Names}}' | grep -qx "$NAME"; then
  docker rm -f "$NAME"
fi

docker build -t app:dev .
docker run -d --name "$NAME" -p 8080:8080 app:dev

sleep 2
docker logs --tail 20 "$NAME"
echo "up"

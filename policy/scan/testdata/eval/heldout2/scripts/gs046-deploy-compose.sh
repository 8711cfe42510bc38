#!/usr/bin/env bash
set -euo pipefail

COMPOSE="docker compose -f deploy/prod.yml"
export TAG="${TAG:-latest}"

log() { printf '[%s] %s\n' "$(date +%T)" "$*"; }

log "pulling $TAG"
docker compose -f deploy/prod.yml pull
docker compose -f deploy/prod.yml up -d --remove-orphans

for i in $(seq 1 30); do
  if curl -fsS http://localhost:8080/healthz >/dev/null; then
    log "healthy"
    docker image prune -f
    exit 0
  fi
  sleep 2
done
docker compose -f deploy/prod.yml logs --tail 50
exit 1

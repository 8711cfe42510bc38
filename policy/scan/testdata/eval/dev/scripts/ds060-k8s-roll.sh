#!/bin/bash
# Roll out and watch.
set -e

NS=prod

kubectl -n "$NS" apply -f k8s/app.yaml
kubectl -n "$NS" rollout restart deployment/app

if ! kubectl -n "$NS" get pods -l app=app | grep -q Running; then
  kubectl -n "$NS" logs -l app=app --tail 20
  exit 1
fi

kubectl -n "$NS" exec deploy/app -- /app/bin/version

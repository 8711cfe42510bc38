#!/bin/bash
# Collects what is needed to look at a broken pod.
NS="$1"
POD="$2"
OUT="debug-$POD"

mkdir -p "$OUT"

kubectl -n "$NS" get pod "$POD" -o yaml > "$OUT/pod.yaml"
kubectl -n "$NS" describe pod "$POD" > "$OUT/describe.txt"
kubectl -n "$NS" logs "$POD" --all-containers --tail=500 > "$OUT/logs.txt"
kubectl -n "$NS" exec "$POD" -- ps aux > "$OUT/ps.txt" || true

echo "see $OUT"
exit 0

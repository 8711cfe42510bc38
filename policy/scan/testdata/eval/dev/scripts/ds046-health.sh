#!/bin/bash
# Check two sites and report.
failed=""

for host in api.example.com www.example.com; do
  if ! curl -sf -m 10 "https://$host/health" > /dev/null; then
    failed="$failed $host"
  fi
done

if [ -n "$failed" ]; then
  curl -s -X POST -H "Authorization: Bearer $HOOK_TOKEN" \
    --data "down:$failed" https://hooks.example.com/alert
  exit 1
fi
echo "all up"

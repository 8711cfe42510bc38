#!/bin/bash
# Takes jobs from the queue.
QUEUE="${QUEUE:-jobs}"
trap 'echo stopping; exit 0' TERM INT

while true; do
  job=$(redis-cli -h queue.internal --raw BLPOP "$QUEUE" 5 | tail -1)
  if [ -z "$job" ]; then
    continue
  fi
  if ./bin/process "$job"; then
    echo "$(date -Is) ok $job" >> worker.log
  else
    echo "$(date -Is) failed $job" >> worker.log
  fi
done

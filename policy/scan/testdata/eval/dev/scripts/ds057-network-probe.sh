#!/bin/bash
# Which services can be reached?
check() {
  if "$@" > /dev/null 2>&1; then
    echo "ok   $*"
  else
    echo "fail $*"
  fi
}

nc -z -w 2 db.internal 5432 && echo "db"
nc -z -w 2 cache.internal 6379 && echo "cache"
ping -c 1 -W 2 8.8.8.8 > /dev/null && echo "net"

curl -sf http://localhost:8080/health > /dev/null && echo "app"
exit 0

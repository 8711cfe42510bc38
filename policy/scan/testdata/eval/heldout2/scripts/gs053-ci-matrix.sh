#!/bin/sh
# What CI does.
set -eu

step() {
  echo "== $1"
  shift
  "$@"
}

mkdir -p bin
step vet go test ./...
for os in linux darwin; do
  GOOS="$os" go build -o "bin/app-$os" ./cmd/app
done
go test -coverprofile=coverage.txt ./...
echo "ok"
exit 0

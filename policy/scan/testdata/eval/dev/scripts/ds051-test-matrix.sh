#!/bin/bash
# Run the tests here and in two containers.
set -e

echo "host"
pytest -q .

for version in 3.11 3.12; do
  echo "python $version"
  docker run --rm -v "$PWD":/src -w /src "python:$version" sh -c '
    cd /src
    python -m unittest -q
  '
done

echo "all passed"

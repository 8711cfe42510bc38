#!/bin/bash
# Publish from CI.
set -euo pipefail

if [ -z "${NPM_TOKEN:-}" ]; then
  echo "no token" >&2
  exit 1
fi

echo "//registry.npmjs.org/:_authToken=$NPM_TOKEN" > ~/.npmrc
trap 'rm -f ~/.npmrc' EXIT

npm test
npm publish --access public

echo "published"

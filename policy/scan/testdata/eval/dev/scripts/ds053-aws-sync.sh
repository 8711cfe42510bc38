#!/bin/bash
# Publish the build.
set -euo pipefail

: "${STAGE:?set STAGE}"
BUCKET="s3://site-$STAGE"

make build

aws s3 sync dist "$BUCKET" --delete --cache-control max-age=300
aws cloudfront create-invalidation --distribution-id E123 --paths '/*'

aws s3 ls "$BUCKET" | tail -3
echo "published"
exit 0

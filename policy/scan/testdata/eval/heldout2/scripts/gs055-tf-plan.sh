#!/usr/bin/env bash
# Plan of one environment.
set -euo pipefail

: "${ENVIRONMENT:?dev or prod}"
cd infra

terraform init -input=false -no-color
terraform workspace select "$ENVIRONMENT"
terraform plan -input=false -var-file="env/$ENVIRONMENT.tfvars" -out="plan-$ENVIRONMENT"

if terraform show -no-color "plan-$ENVIRONMENT" | grep -q 'No changes'; then
  echo "nothing to do"
  exit 0
fi
exit 2

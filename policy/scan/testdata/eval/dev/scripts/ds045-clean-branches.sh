#!/bin/bash
# Remove local branches that are merged.
set -e

git fetch --prune

current=$(git rev-parse --abbrev-ref HEAD)
echo "on $current"

git branch --merged main | grep -v -e main -e "$current" | while read -r name; do
  git branch -d "$name"
done

echo "left:"
git branch --list
# end

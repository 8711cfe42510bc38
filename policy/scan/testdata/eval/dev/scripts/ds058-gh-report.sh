#!/bin/bash
# Weekly report as an issue.
set -e

{
  echo "# Weekly report"
  echo
  echo "## Pull requests"
  gh pr list --state merged --limit 20
  echo "## Issues"
  gh issue list --limit 20
} > report.md

wc -l report.md
gh issue create --title "Weekly report" --body-file report.md

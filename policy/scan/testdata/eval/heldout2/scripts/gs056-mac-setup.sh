#!/bin/bash
# Tools on a Mac.
set -e

if [ "$(uname -s)" != Darwin ]; then
  echo "for macOS" >&2
  exit 1
fi

brew update
brew bundle --file=Brewfile
brew install --cask docker

echo 'export PATH="/opt/homebrew/bin:$PATH"' >> ~/.zprofile
echo "open a new shell"
exit 0

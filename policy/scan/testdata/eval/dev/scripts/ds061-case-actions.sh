#!/bin/bash
# usage: dev.sh build|clean|help|up
case "${1:-help}" in
  build)
    make all
    ;;
  clean)
    rm -rf dist
    ;;
  up)
    docker compose up -d
    ;;
  *)
    head -20 README.md
    ;;
esac

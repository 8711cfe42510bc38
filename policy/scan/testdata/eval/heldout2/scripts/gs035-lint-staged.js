#!/usr/bin/env node
const { execSync, spawnSync } = require('child_process');

const out = execSync('git diff --cached --name-only', { encoding: 'utf8' });
const files = out.split('\n').filter((f) => /\.(js|ts)$/.test(f));

if (files.length === 0) {
  console.log('nothing staged');
  process.exit(0);
}

console.log(files.length, 'files');
const r = spawnSync('npx', ['eslint', ...files], { stdio: 'inherit' });

process.exitCode = r.status;

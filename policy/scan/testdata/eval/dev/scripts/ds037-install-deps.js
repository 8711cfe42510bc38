#!/usr/bin/env node
// Install what the converters need.
const fs = require('fs');
const { execSync } = require('child_process');

const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const have = new Set(Object.keys(manifest.dependencies || {}));

if (have.has('marked') && have.has('sharp')) {
  console.log('nothing to do');
  process.exit(0);
}

execSync('npm install marked sharp', { stdio: 'inherit' });
console.log('installed');

#!/usr/bin/env node
// Build and publish locally.
const { execSync } = require('child_process');

function run(command) {
  console.log('$', command);
}

run('npm run build');
execSync('npm run build', { stdio: 'inherit' });

run('cp -r dist public');
execSync('cp -r dist public', { stdio: 'inherit' });

console.log('done');
process.exit(0);

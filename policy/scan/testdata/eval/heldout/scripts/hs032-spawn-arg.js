#!/usr/bin/env node
// Repeat a command until it fails.
const { spawnSync } = require('child_process');

const [program, ...args] = process.argv.slice(2);
if (!program) {
  console.error('usage: repeat.js PROGRAM [ARG...]');
  process.exit(2);
}

let runs = 0;
for (;;) {
  const result = spawnSync(program, args, { stdio: 'inherit' });
  runs++;
  if (result.status !== 0) break;
}
console.log('runs:', runs);

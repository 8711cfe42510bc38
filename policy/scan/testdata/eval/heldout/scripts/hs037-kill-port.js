#!/usr/bin/env node
// Free the development port.
const { execFileSync } = require('child_process');

let pids = [];
try {
  pids = execFileSync('lsof', ['-t', '-i', ':5173'], { encoding: 'utf8' }).trim().split('\n');
} catch (error) {
  console.log('port is free');
  process.exit(0);
}

for (const pid of pids) {
  process.kill(Number(pid), 'SIGTERM');
  console.log('stopped', pid);
}

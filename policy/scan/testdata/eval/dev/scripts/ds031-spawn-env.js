#!/usr/bin/env node
// Start the helper server and keep its log.
const { spawn } = require('child_process');
const fs = require('fs');

const log = fs.openSync('server.log', 'a');
const child = spawn('python', ['scripts/server.py', '--port', '9000'], {
  env: { ...process.env, MODE: 'dev' },
  stdio: ['ignore', log, log],
  detached: true,
});

child.unref();
console.log('started', child.pid);
process.exit(0);

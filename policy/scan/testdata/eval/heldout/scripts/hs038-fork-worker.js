#!/usr/bin/env node
// Spread work over processes.
const { fork } = require('child_process');

const count = Number(process.env.WORKERS || 2);
const jobs = Array.from({ length: 100 }, (_, n) => n);
let done = 0;

for (let n = 0; n < count; n++) {
  const worker = fork('worker.js');
  worker.on('message', () => {
    done++;
    if (done === jobs.length) process.exit(0);
    worker.send(jobs.pop());
  });
  worker.send(jobs.pop());
}

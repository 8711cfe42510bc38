#!/usr/bin/env node
'use strict';
const fs = require('fs');

const dirs = ['dist', 'coverage', '.cache'];
let n = 0;

for (const d of dirs) {
  if (fs.existsSync(d)) {
    fs.rmSync(d, { recursive: true, force: true });
    n++;
  }
}

console.log(`${n} removed`);
process.exit(0);

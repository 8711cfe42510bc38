#!/usr/bin/env node
'use strict';
// Commits by author.
const { execFileSync } = require('node:child_process');

const log = execFileSync('git', ['log', '--format=%an'], { encoding: 'utf8' });
const counts = new Map();
for (const author of log.trim().split('\n')) {
  counts.set(author, (counts.get(author) || 0) + 1);
}

const sorted = [...counts].sort((a, b) => b[1] - a[1]);
for (const [author, count] of sorted.slice(0, 10)) {
  console.log(String(count).padStart(6), author);
}

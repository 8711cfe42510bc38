#!/usr/bin/env node
// Remove what builds leave.
const { rmSync, unlinkSync, existsSync } = require('fs');

for (const dir of ['dist', 'coverage']) {
  rmSync(dir, { recursive: true, force: true });
  console.log('removed', dir);
}

const index = '.cache/index';
if (existsSync(index)) {
  unlinkSync(index);
  console.log('removed', index);
} else {
  console.log('no index');
}

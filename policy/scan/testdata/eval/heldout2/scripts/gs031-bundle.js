#!/usr/bin/env node
// Joins all modules into one file.
const fs = require('fs');
const path = require('path');

const SRC = 'src';
const OUT = path.join('dist', 'bundle.js');

const parts = [];
for (const name of fs.readdirSync(SRC)) {
  if (!name.endsWith('.js')) continue;
  parts.push(fs.readFileSync(path.join(SRC, name), 'utf8'));
}

fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync(OUT, parts.join('\n;\n'));
console.log(`${parts.length} files`);

#!/usr/bin/env node
// usage: replace.js FILE FROM TO
const fs = require('fs');

const [, , file, from, to] = process.argv;
if (!file || !from) {
  console.error('usage: replace.js FILE FROM TO');
  process.exit(2);
}

const before = fs.readFileSync(file, 'utf8');
const after = before.split(from).join(to || '');
if (before === after) {
  console.log('no change');
} else {
  fs.writeFileSync(file, after);
  console.log('changed');
}

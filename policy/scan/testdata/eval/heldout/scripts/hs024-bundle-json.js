#!/usr/bin/env node
// Merge the locale files into one.
const fs = require('fs');
const path = require('path');

const dir = 'src/locales';
const merged = {};
for (const name of fs.readdirSync(dir)) {
  if (!name.endsWith('.json')) continue;
  const text = fs.readFileSync(path.join(dir, name), 'utf8');
  merged[path.basename(name, '.json')] = JSON.parse(text);
}

fs.mkdirSync('dist', { recursive: true });
fs.writeFileSync('dist/locales.json', JSON.stringify(merged, null, 2));
console.log(Object.keys(merged).length, 'locales');

#!/usr/bin/env node
// Resize pictures with ImageMagick.
const { exec } = require('child_process');
const fs = require('fs');

const list = fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean);
let left = list.length;

for (const name of list) {
  exec(`convert ${name} -resize 800x small-${name}`, (error) => {
    if (error) console.error(name, error.message);
    left--;
    if (left === 0) console.log('done');
  });
}

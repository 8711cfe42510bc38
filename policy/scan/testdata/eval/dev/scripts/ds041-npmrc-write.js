#!/usr/bin/env node
// Make the production environment file.
const fs = require('fs');

const stage = process.env.DEPLOY_STAGE || 'production';
const lines = fs.readFileSync('.env.example', 'utf8').split('\n');

const out = lines.map((line) => {
  if (line.startsWith('STAGE=')) return 'STAGE=' + stage;
  return line;
});

fs.writeFileSync('.env.production', out.join('\n'));
console.log('wrote the file');
console.log('fill in the secrets by hand');

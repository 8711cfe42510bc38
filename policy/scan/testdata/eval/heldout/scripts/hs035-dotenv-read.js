#!/usr/bin/env node
// Turn .env into a configuration file without secrets.
const fs = require('fs');

const text = fs.readFileSync('.env', 'utf8');
const config = {};
for (const line of text.split('\n')) {
  const match = /^([A-Z_]+)=(.*)$/.exec(line);
  if (!match) continue;
  if (/SECRET|TOKEN|PASSWORD/.test(match[1])) continue;
  config[match[1]] = match[2];
}

fs.writeFileSync('config.generated.json', JSON.stringify(config, null, 2));
console.log(Object.keys(config).join(' '));

#!/usr/bin/env node
// Ask a service for its status.
const fs = require('fs');

const base = process.env.SERVICE_URL || 'http://localhost:8080';

async function main() {
  const reply = await fetch(base + '/status');
  if (!reply.ok) {
    throw new Error('status ' + reply.status);
  }
  const status = await reply.json();
  fs.writeFileSync('status.json', JSON.stringify(status));
  console.log(status.state);
}

main();

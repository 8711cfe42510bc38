#!/usr/bin/env node
// Save all users.
const fs = require('node:fs/promises');

const key = process.env.EXAMPLE_API_KEY;

async function main() {
  const users = [];
  for (let page = 1; page < 50; page++) {
    const reply = await fetch(`https://api.example.com/users?page=${page}`, { headers: { 'x-api-key': key } });
    const batch = await reply.json();
    if (batch.length === 0) break;
    users.push(...batch);
  }
  await fs.writeFile('users.json', JSON.stringify(users));
}

main();

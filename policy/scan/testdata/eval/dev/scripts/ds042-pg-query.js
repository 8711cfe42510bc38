#!/usr/bin/env node
const { Client } = require('pg');
const fs = require('fs');

const client = new Client({
  host: 'db.example.com',
  user: 'report',
  password: process.env.PGPASS_KEY,
  database: 'shop',
});

(async () => {
  await client.connect();
  const result = await client.query('select * from orders limit 50');
  fs.writeFileSync('rows.json', JSON.stringify(result.rows));
  await client.end();
})();

#!/usr/bin/env node
const Database = require('better-sqlite3');
const fs = require('fs');

const db = new Database('shop.db');
const rows = db.prepare('select id, total, placed from orders where total > ?').all(100);

const lines = ['id,total,placed'];
for (const row of rows) {
  lines.push([row.id, row.total, row.placed].join(','));
}

fs.writeFileSync('orders.csv', lines.join('\n') + '\n');
db.close();
console.log(rows.length, 'orders');

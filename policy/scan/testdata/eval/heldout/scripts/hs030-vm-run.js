#!/usr/bin/env node
// Evaluate pricing rules.
const fs = require('fs');
const vm = require('vm');

const source = fs.readFileSync('rules.js', 'utf8');
const context = { price: 100, result: null };

vm.createContext(context);
vm.runInContext(source, context, { timeout: 100 });

if (context.result === null) {
  console.error('no result');
  process.exit(1);
}
console.log(context.result);

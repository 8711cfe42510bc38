#!/usr/bin/env node
// A calculator.
const expression = process.argv.slice(2).join(' ');

if (!expression) {
  console.error('usage: calc.js EXPRESSION');
  process.exit(2);
}

const value = eval(expression);

if (Number.isNaN(value)) {
  console.error('not a number');
  process.exit(1);
}
console.log(value);

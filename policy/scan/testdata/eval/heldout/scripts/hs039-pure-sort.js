#!/usr/bin/env node
// Sorts the numbers given as arguments.
const numbers = process.argv.slice(2).map(Number);

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const sum = numbers.reduce((a, b) => a + b, 0);
console.log('sorted', [...numbers].sort((a, b) => a - b).join(' '));
console.log('sum', sum);
console.log('mean', sum / numbers.length);
console.log('median', median(numbers));

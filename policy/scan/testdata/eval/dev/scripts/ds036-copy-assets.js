#!/usr/bin/env node
const fs = require('fs/promises');

async function main() {
  await fs.copyFile('assets/logo.svg', 'public/logo.svg');
  try {
    await fs.unlink('public/old.svg');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  await fs.rename('tmp/banner.png', 'public/banner.png');
  console.log('assets in place');
}

main();
// eof

#!/usr/bin/env node
// Run one task of many.
async function main() {
  const task = process.argv[2];
  if (!task) {
    console.error('which task?');
    process.exit(1);
  }
  const module = await import(`./tasks/${task}.mjs`);
  const started = Date.now();
  await module.default();
  console.log(task, 'took', Date.now() - started, 'ms');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});

#!/usr/bin/env node
// Load the plugins of the configuration.
const fs = require('fs');

const config = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const plugins = [];
for (const name of config.plugins || []) {
  const plugin = require(name);
  plugins.push(plugin);
}

for (const plugin of plugins) {
  if (plugin.setup) plugin.setup(config);
}

console.log(plugins.length, 'plugins loaded');

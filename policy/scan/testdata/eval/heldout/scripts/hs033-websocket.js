#!/usr/bin/env node
// Record a stream of ticks.
const fs = require('fs');
const WebSocket = require('ws');

const out = fs.createWriteStream('ticks.log', { flags: 'a' });
const socket = new WebSocket('wss://stream.example.com/ticks');

socket.on('open', () => console.log('open'));
socket.on('message', (data) => out.write(data + '\n'));
socket.on('close', () => {
  out.end();
  console.log('closed');
});
setTimeout(() => socket.close(), 60000);

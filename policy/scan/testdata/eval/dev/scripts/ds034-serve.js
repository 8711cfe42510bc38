#!/usr/bin/env node
// A server that echoes what it gets.
const http = require('http');

const server = http.createServer((request, reply) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    reply.setHeader('Content-Type', 'text/plain');
    reply.end(`${request.method} ${request.url}\n${body}`);
  });
});

server.listen(3000, '127.0.0.1', () => {
  console.log('listening');
});

#!/usr/bin/env node
const fs = require('fs');
const axios = require('axios');

async function send() {
  const body = fs.readFileSync('./report.html');
  try {
    const reply = await axios.post('https://reports.example.net/upload', body, {
      headers: { 'Content-Type': 'text/html' },
      timeout: 10000,
    });
    console.log('sent', reply.status);
  } catch (error) {
    console.error('cannot send:', error.message);
    process.exitCode = 1;
  }
}

send();

#!/usr/bin/env node
const https = require('https');
const fs = require('fs');

const file = fs.createWriteStream('feed.xml');
https.get('https://feeds.example.org/rss', (reply) => {
  if (reply.statusCode !== 200) {
    console.error('status', reply.statusCode);
    process.exit(1);
  }
  reply.pipe(file);
  file.on('finish', () => {
    file.close();
    console.log('saved');
  });
});

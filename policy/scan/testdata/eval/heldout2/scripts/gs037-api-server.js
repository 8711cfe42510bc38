const http = require('http');
const fs = require('fs');

const port = Number(process.env.PORT || 8080);
const items = JSON.parse(fs.readFileSync('data/items.json', 'utf8'));

const server = http.createServer((req, res) => {
  if (req.url === '/items') {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(items));
    return;
  }
  res.statusCode = 404;
  res.end();
});

server.listen(port, () => console.log('listening', port));

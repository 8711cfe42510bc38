#: files needs=node
node -e 'const fs = require("fs"); fs.mkdirSync("a/b", {recursive: true}); fs.writeFileSync("a/b/f", "x"); fs.renameSync("a/b/f", "a/g"); fs.cpSync("a", "c", {recursive: true}); console.log(fs.readdirSync("c", {recursive: true}).sort()); fs.rmSync("a", {recursive: true}); console.log(fs.existsSync("a")); fs.appendFileSync("f", "y"); fs.utimesSync("f", 1, 2); fs.chmodSync("f", 0o600)'
#: promises and streams needs=node
node -e '(async () => { const fs = require("fs/promises"), { pipeline } = require("stream/promises"), f = require("fs"), z = require("zlib"); await fs.writeFile("f", "x".repeat(1e6)); await pipeline(f.createReadStream("f"), z.createGzip(), f.createWriteStream("f.gz")); await pipeline(f.createReadStream("f.gz"), z.createGunzip(), f.createWriteStream("g")); console.log((await fs.stat("g")).size) })()'
#: child processes needs=node
node -e 'const c = require("child_process"); console.log(c.execSync("echo x").toString(), c.spawnSync("sh", ["-c", "exit 3"]).status); c.exec("echo async", (e, o) => console.log(e, o)); const p = c.spawn("cat"); p.stdout.on("data", d => console.log(String(d))); p.stdin.end("through")' | sort
#: messages between processes needs=node
echo 'if (process.send) { process.send("child"); process.once("message", m => { process.send("got " + m); process.disconnect() }) } else { const p = require("child_process").fork(__filename); p.once("message", m => { console.log(m); p.once("message", m => console.log(m)); p.send("hi") }) }' > m.js; node m.js
#: worker threads needs=node
echo 'const w = require("worker_threads"); if (w.isMainThread) { const s = new SharedArrayBuffer(4), k = new w.Worker(__filename, {workerData: s}); k.on("exit", () => console.log(new Int32Array(s)[0])) } else Atomics.add(new Int32Array(w.workerData), 0, 5)' > w.js; node w.js
#: a cluster's primary needs=node
node -e 'const c = require("cluster"); if (c.isPrimary) { const w = c.fork(); w.on("exit", n => console.log("ended", n)) } else process.exit(0)' || true
#: fetch from itself needs=node flags=--grant=network.client
node -e 'const s = require("http").createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", async () => { console.log(await (await fetch("http://127.0.0.1:" + s.address().port)).text()); s.closeAllConnections(); s.close() })'
#: a unix socket of its own needs=node
node -e 'const n = require("net"), s = n.createServer(c => c.end("local")).listen("./sock", () => n.connect("./sock").on("data", d => { console.log(String(d)); s.close() }))'
#: watching files needs=node
node -e 'const fs = require("fs"); fs.writeFileSync("f", ""); const w = fs.watch("f", () => { console.log("changed"); w.close(); process.exit(0) }); setInterval(() => fs.appendFileSync("f", "x"), 20)'
#: modules needs=node
mkdir -p node_modules/d; echo '{"name": "d", "version": "1.0.0", "main": "i.js"}' > node_modules/d/package.json; echo 'module.exports = "a module"' > node_modules/d/i.js; node -p 'require("d")'; echo 'import d from "d"; console.log(d, import.meta.url.slice(0, 5))' > m.mjs; node m.mjs
#: crypto and WebAssembly needs=node
node -e 'const c = require("crypto"); console.log(c.createHash("md5").update("x").digest("hex"), c.randomBytes(4).length); WebAssembly.instantiate(new Uint8Array([0,97,115,109,1,0,0,0])).then(() => console.log("wasm"))'
#: its test runner needs=node
echo 'require("node:test")("t", () => {})' > t.test.js; node --test 2>&1 | grep -c '^# pass 1\|ℹ pass 1'
#: npm needs=npm
echo '{"name": "top", "version": "1.0.0", "scripts": {"hello": "echo from npm"}}' > package.json; npm run -s hello; npm pkg get name; npm ls 2>&1 | grep -c top
#: npm installs a directory needs=npm
mkdir dep; echo '{"name": "dep", "version": "1.0.0", "main": "i.js"}' > dep/package.json; echo 'module.exports = "dep"' > dep/i.js; echo '{"name": "top", "version": "1.0.0"}' > package.json; (cd dep && npm pack --silent); npm install --offline --no-audit --no-fund --silent ./dep/dep-1.0.0.tgz; node -p 'require("dep")'
#: a cluster that serves needs=node flags=--grant=network.client:localhost:1
cat > c.js <<'E'
const c = require("cluster"), h = require("http")
if (c.isPrimary) { const w = c.fork(); w.on("message", p => h.get("http://127.0.0.1:" + p, r => r.on("data", d => { console.log(String(d)); w.kill() }))); w.on("exit", () => process.exit(0)) }
else { const s = h.createServer((q, r) => r.end("served")).listen(0, "127.0.0.1", () => process.send(s.address().port)) }
E
node c.js

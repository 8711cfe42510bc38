#!/usr/bin/env python3
"""A small API for the skill co2-api: GET /co2/YEAR on localhost:8321, while the
COMMAND of its command line runs, or until it is interrupted."""

import csv
import http.server
import json
import os
import subprocess
import sys
import threading

PORT = 8321
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "co2-mauna-loa.csv")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        year = self.path.removeprefix("/co2/")
        known = year in self.server.ppm
        body = json.dumps({"year": int(year), "ppm": self.server.ppm[year]} if known else {"error": "no such year"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    with open(DATA, newline="") as f:
        server.ppm = {row["year"]: float(row["co2_ppm"]) for row in csv.DictReader(f)}
    if len(sys.argv) < 2:
        print(f"listening on http://localhost:{PORT}", flush=True)
        server.serve_forever()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.exit(subprocess.run(sys.argv[1:]).returncode)


if __name__ == "__main__":
    main()

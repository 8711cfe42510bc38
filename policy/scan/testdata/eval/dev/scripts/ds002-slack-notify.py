#!/usr/bin/env python3
"""Post a message file to a channel."""
import json
import os
import sys
import urllib.request

token = os.environ["SLACK_WEBHOOK_TOKEN"]
url = "https://hooks.slack.com/services/" + token

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()

body = json.dumps({"text": text}).encode()
request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
with urllib.request.urlopen(request, timeout=15) as reply:
    print(reply.status)
sys.exit(0)

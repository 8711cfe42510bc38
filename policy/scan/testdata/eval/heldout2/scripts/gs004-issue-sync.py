#!/usr/bin/env python3
"""Mirror open issues into a file and label the old ones."""
import json
import os

import requests

API = "https://api.github.com"
repo = os.environ["REPO"]
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["GITHUB_TOKEN"]


def issues():
    r = session.get(f"{API}/repos/{repo}/issues", params={"state": "open"}, timeout=30)
    r.raise_for_status()
    return r.json()


found = issues()
with open("issues.json", "w") as f:
    json.dump(found, f)
for i in found:
    if i["comments"] == 0:
        session.post(f"{API}/repos/{repo}/issues/{i['number']}/labels", json={"labels": ["stale"]})

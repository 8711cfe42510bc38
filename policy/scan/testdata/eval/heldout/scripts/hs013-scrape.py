#!/usr/bin/env python3
"""Headlines to CSV."""
import csv
import requests
from bs4 import BeautifulSoup

session = requests.Session()
page = session.get("https://news.example.org/latest", timeout=20)
soup = BeautifulSoup(page.text, "html.parser")

with open("headlines.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["title", "link"])
    for item in soup.select("article h2 a"):
        writer.writerow([item.text.strip(), item["href"]])

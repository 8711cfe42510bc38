#!/usr/bin/env python3
"""Close old tickets."""
import os
import httpx

API = "https://api.tickets.example.com"
client = httpx.Client(headers={"Authorization": "Bearer " + os.environ["TICKETS_TOKEN"]})

reply = client.get(API + "/tickets", params={"state": "open", "days": 90})
tickets = reply.json()
for ticket in tickets:
    number = ticket["id"]
    result = client.patch(f"{API}/tickets/{number}", json={"state": "closed"})
    print(number, result.status_code)

print(len(tickets), "tickets")

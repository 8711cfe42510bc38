#!/usr/bin/env python3
"""Mail the report."""
import os
import smtplib
from email.message import EmailMessage

msg = EmailMessage()
msg["Subject"] = "Weekly report"
msg["From"] = "bot@example.com"
msg["To"] = "team@example.com"
msg.set_content("attached")

with open("report.csv", "rb") as f:
    msg.add_attachment(f.read(), maintype="text", subtype="csv", filename="report.csv")

with smtplib.SMTP("smtp.example.com", 587) as s:
    s.starttls()
    s.login("bot", os.environ["SMTP_PASSWORD"])
    s.send_message(msg)

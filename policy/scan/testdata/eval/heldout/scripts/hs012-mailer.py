#!/usr/bin/env python3
"""Send the newsletter."""
import os
import smtplib
from email.message import EmailMessage

message = EmailMessage()
message["Subject"] = "News"
message["From"] = os.environ["SMTP_USER"]
message["To"] = "list@example.com"
with open("newsletter.txt") as f:
    message.set_content(f.read())

with smtplib.SMTP("smtp.example.com", 587) as server:
    server.starttls()
    server.login(os.environ["SMTP_USER"], os.environ["SMTP_PASSWORD"])
    server.send_message(message)

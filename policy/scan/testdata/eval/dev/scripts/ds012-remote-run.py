#!/usr/bin/env python3
"""Start the remote build and keep its log."""
import paramiko

client = paramiko.SSHClient()
client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
client.connect("build.example.com", username="ci")
_, stdout, stderr = client.exec_command("make -C /srv/app all")

with open("build.log", "w") as log:
    for line in stdout:
        log.write(line)
    for line in stderr:
        log.write("! " + line)

client.close()

#!/usr/bin/env python3
import csv
import os
import psycopg2

connection = psycopg2.connect(
    host="db.example.com", dbname="app", user="report", password=os.environ["PG_PASSWORD"])
cursor = connection.cursor()
cursor.execute("select id, name from users order by id")

with open("users.csv", "w", newline="") as out:
    writer = csv.writer(out)
    writer.writerow(["id", "name"])
    for row in cursor:
        writer.writerow(row)

connection.close()

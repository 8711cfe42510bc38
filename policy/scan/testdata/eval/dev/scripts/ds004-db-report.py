#!/usr/bin/env python3
import html
import sqlite3

connection = sqlite3.connect("app.db")
cursor = connection.execute("select name, total from customers order by total desc limit 20")
rows = []
for name, total in cursor:
    rows.append(f"<tr><td>{html.escape(name)}</td><td>{total:.2f}</td></tr>")
connection.close()

page = """<html><body><table>
%s
</table></body></html>
""" % "\n".join(rows)

with open("report.html", mode="w", encoding="utf-8") as out:
    out.write(page)

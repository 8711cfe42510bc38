#!/usr/bin/env python3
"""Write an HTML report with summary statistics and a line chart from a CSV file."""

import argparse
import csv
import html
import os
import statistics
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 360, 64, 16, 16, 36
COLOURS = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2"]


def number(text):
    try:
        return float(text.replace(",", "")) if text.strip() else None
    except ValueError:
        return None


def read(path):
    with open(path, newline="", encoding="utf-8-sig") as f:
        rows = list(csv.reader(f))
    if len(rows) < 2:
        sys.exit(f"{path}: no rows below the header")
    return rows[0], [r for r in rows[1:] if any(cell.strip() for cell in r)]


def columns(header, rows):
    """The columns of numbers: name -> one value per row, None where there is none."""
    found = {}
    for i, name in enumerate(header[1:], start=1):
        values = [number(r[i]) if i < len(r) else None for r in rows]
        if any(v is not None for v in values):
            found[name] = values
    return found


def ticks(low, high, count=5):
    step = (high - low) / count or 1
    return [low + step * i for i in range(count + 1)]


def chart(labels, series):
    values = [v for vs in series.values() for v in vs if v is not None]
    low, high = min(values), max(values)
    span = (high - low) or 1
    across = max(len(labels) - 1, 1)

    def x(i):
        return LEFT + (WIDTH - LEFT - RIGHT) * i / across

    def y(v):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (v - low) / span)

    out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="chart">']
    for t in ticks(low, high):
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t):.1f}" y2="{y(t):.1f}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{t:.6g}</text>')
    for i in range(0, len(labels), max(len(labels) // 8, 1)):
        out.append(f'<text x="{x(i):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{html.escape(labels[i])}</text>')
    for n, (name, vs) in enumerate(series.items()):
        points = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(vs) if v is not None)
        out.append(f'<polyline fill="none" stroke="{COLOURS[n % len(COLOURS)]}" stroke-width="2" points="{points}"><title>{html.escape(name)}</title></polyline>')
    out.append("</svg>")
    return "\n".join(out)


def summary(series):
    for name, vs in series.items():
        known = [v for v in vs if v is not None]
        yield name, len(known), min(known), statistics.mean(known), statistics.median(known), max(known), len(vs) - len(known)


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2rem auto; padding: 0 1rem; color: #1f2937 }}
svg {{ width: 100%; border: 1px solid #e5e7eb; border-radius: 6px }} svg text {{ font-size: 11px; fill: #6b7280 }} .grid {{ stroke: #eef0f3 }}
table {{ border-collapse: collapse; margin-top: 1rem }} td, th {{ padding: .3rem .8rem; border-bottom: 1px solid #e5e7eb; text-align: right }} td:first-child, th:first-child {{ text-align: left }}
</style>
<h1>{title}</h1>
<p>{rows} rows of {source}, {first} to {last}.</p>
{chart}
<table><tr><th>column</th><th>values</th><th>min</th><th>mean</th><th>median</th><th>max</th><th>missing</th></tr>
{table}
</table>
</html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="CSV file with a header row")
    parser.add_argument("-o", "--output", help="HTML file to write (default: the data file's name with .html)")
    parser.add_argument("--title", help="title of the report")
    args = parser.parse_args()

    header, rows = read(args.data)
    series = columns(header, rows)
    if not series:
        sys.exit(f"{args.data}: no column of numbers")
    labels = [r[0] for r in rows]
    output = args.output or os.path.splitext(args.data)[0] + ".html"
    lines = list(summary(series))
    table = "\n".join(
        "<tr><td>" + "</td><td>".join(html.escape(c if isinstance(c, str) else f"{c:.6g}") for c in line) + "</td></tr>" for line in lines
    )
    page = PAGE.format(
        title=html.escape(args.title or os.path.basename(args.data)),
        source=html.escape(os.path.basename(args.data)),
        rows=len(rows), first=html.escape(labels[0]), last=html.escape(labels[-1]),
        chart=chart(labels, series), table=table,
    )
    part = output + ".part"
    with open(part, "w", encoding="utf-8") as f:
        f.write(page)
    os.replace(part, output)

    print(f"{output}: {len(rows)} rows, {len(series)} charted")
    for name, count, low, mean, median, high, missing in lines:
        print(f"  {name}: min {low:.6g}, mean {mean:.6g}, median {median:.6g}, max {high:.6g}, {missing} missing")


if __name__ == "__main__":
    main()

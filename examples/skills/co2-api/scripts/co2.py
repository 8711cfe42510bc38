#!/usr/bin/env python3
"""Tell the CO2 in the air in given years, as the API of this machine knows it."""

import argparse
import json
import sys
import urllib.error
import urllib.request


def ask(api, year):
    with urllib.request.urlopen(f"{api}/co2/{year}", timeout=10) as answer:
        return json.load(answer)["ppm"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("year", type=int, nargs="+")
    parser.add_argument("--api", default="http://localhost:8321", metavar="URL")
    args = parser.parse_args()
    values = []
    for year in args.year:
        try:
            values.append(ask(args.api, year))
        except urllib.error.HTTPError as e:
            sys.exit(f"{year}: {json.load(e).get('error', e)}")
        except OSError as e:
            sys.exit(f"{args.api} does not answer: {e}")
        print(f"{year}: {values[-1]:.1f} ppm")
    if len(values) > 1:
        print(f"change: {values[-1] - values[0]:+.1f} ppm")


if __name__ == "__main__":
    main()

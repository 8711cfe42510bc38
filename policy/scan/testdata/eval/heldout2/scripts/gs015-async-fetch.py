#!/usr/bin/env python3
"""Fetch many pages at once."""
import asyncio
import json

import aiohttp


async def get(session, url):
    async with session.get(url) as r:
        return url, r.status


async def main():
    with open("urls.txt") as f:
        urls = [u.strip() for u in f]
    async with aiohttp.ClientSession() as s:
        res = await asyncio.gather(*(get(s, u) for u in urls))
    with open("result.json", "w") as out:
        json.dump(dict(res), out)


asyncio.run(main())

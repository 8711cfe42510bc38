#!/usr/bin/env python3
"""Fetch numbered images."""
import asyncio
import os
import aiohttp

os.makedirs("images", exist_ok=True)


async def fetch(session, n):
    async with session.get(f"https://images.example.com/{n}.png") as reply:
        data = await reply.read()
    with open(f"images/{n}.png", "wb") as f:
        f.write(data)


async def main():
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(fetch(session, n) for n in range(10)))

asyncio.run(main())

#!/usr/bin/env node
// The weather of a city.
import fs from 'node:fs/promises';

const city = process.env.CITY ?? 'Berlin';
const key = process.env.WEATHER_API_KEY;

const url = new URL('https://api.weather.example/v3/now');
url.searchParams.set('q', city);
url.searchParams.set('key', key);

const res = await fetch(url);
if (!res.ok) {
  console.error(res.status);
  process.exit(1);
}
const data = await res.json();
await fs.writeFile('weather.json', JSON.stringify(data, null, 2));

#!/usr/bin/env node
const puppeteer = require('puppeteer');

(async () => {
  const browser = await puppeteer.launch({ headless: 'new' });
  try {
    const page = await browser.newPage();
    await page.goto('https://docs.example.com/manual', { waitUntil: 'networkidle0' });
    await page.emulateMediaType('print');
    await page.pdf({ path: 'docs.pdf', format: 'A4' });
    console.log('saved');
  } finally {
    await browser.close();
  }
})();

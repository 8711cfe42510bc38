#!/usr/bin/env node
// Slides from HTML files.
const { chromium } = require('playwright');
const pptxgen = require('pptxgenjs');
const { globSync } = require('glob');

async function main() {
  const deck = new pptxgen();
  const browser = await chromium.launch();
  for (const file of globSync('slides/*.html')) {
    const page = await browser.newPage();
    await page.goto('file://' + process.cwd() + '/' + file);
    const title = await page.title();
    deck.addSlide().addText(title, { x: 1, y: 1 });
  }
  await browser.close();
  await deck.writeFile({ fileName: 'deck.pptx' });
}
main();

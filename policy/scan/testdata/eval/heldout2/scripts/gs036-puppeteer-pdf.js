const puppeteer = require('puppeteer');

async function main() {
  const browser = await puppeteer.launch({ headless: 'new' });
  try {
    const page = await browser.newPage();
    await page.goto('https://docs.example.com/guide', { waitUntil: 'networkidle0' });
    await page.pdf({ path: 'guide.pdf', format: 'A4' });
  } finally {
    await browser.close();
  }
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});

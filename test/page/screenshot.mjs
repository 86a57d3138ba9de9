// node screenshot.mjs PAGE.html PICTURE.png FRAGMENT WIDTH HEIGHT light|dark
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [page, picture, fragment, width, height, colorScheme] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme });
  await tab.goto(pathToFileURL(path.resolve(page)).href + fragment);
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
}

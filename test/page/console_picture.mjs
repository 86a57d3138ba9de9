// node console_picture.mjs PICTURE.png FRAGMENT WIDTH HEIGHT light|dark: the console before a made-up scheduler.
import { chromium } from 'playwright-core';
import { FakeScheduler } from './fake_scheduler.mjs';

const [picture, fragment, width, height, colorScheme] = process.argv.slice(2);
const scheduler = await new FakeScheduler({ nodes: 60 }).start();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme });
  await tab.goto(scheduler.address + fragment);
  await tab.locator('#lanes .lane').first().waitFor();
  await tab.locator('#node-map .tile').first().waitFor();
  await tab.locator('#decision-table tbody tr').first().waitFor();
  if (fragment.includes('pod=')) await tab.locator('#pod-body h3').first().waitFor();
  await tab.screenshot({ path: picture });
} finally {
  await browser.close();
  await scheduler.stop();
}

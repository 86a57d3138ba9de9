// node console_live.mjs ADDRESS CERTIFICATE KEY FRAGMENT PICTURE [light|dark]: the console of a scheduler that runs, opened
// with a client certificate; without one ("") where none is asked for. Prints what it shows as JSON, once there is something to show.
import { chromium } from 'playwright-core';

const [address, certPath, keyPath, fragment, picture, colorScheme = 'light'] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const context = await browser.newContext({
    // Its certificate is self-signed, made when it started.
    ignoreHTTPSErrors: true,
    viewport: { width: 1240, height: 1000 },
    colorScheme,
    clientCertificates: certPath ? [{ origin: new URL(address).origin, certPath, keyPath }] : [],
  });
  const problems = [];
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => problems.push(`console: ${message.text()}`));
  await page.goto(address + fragment);
  await page.locator('#lanes .lane').first().waitFor();
  await page.locator('#node-map .tile').first().waitFor();
  await page.locator('#decision-table tbody tr').first().waitFor();
  if (fragment.includes('pod=')) await page.locator('#pod-body h3').first().waitFor();
  const text = (selector) => page.locator(selector).allInnerTexts();
  console.log(
    JSON.stringify({
      problems,
      connection: await text('#connection'),
      about: await text('#about'),
      lanes: await text('.lane'),
      tiles: await page.locator('.tile').count(),
      decisions: await text('#decision-table tbody tr'),
      pod: await text('#pod-title, #pod-body'),
    }),
  );
  if (picture) await page.screenshot({ path: picture });
} finally {
  await browser.close();
}

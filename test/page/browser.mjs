// Pages made by berth, opened in Chromium. Any error in a page, and any request but the one for the page itself, fails the
// test that opened it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const here = path.dirname(fileURLToPath(import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'berth-page-'));
let browser;
// One window for each colour scheme: pages keep nothing, so tests need no more than a tab of their own.
const windows = new Map();

before(async () => {
  // Chromium has no sandbox for root.
  const args = ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(async () => {
  await browser?.close();
  fs.rmSync(folder, { recursive: true });
});

export function writeFile(name, content) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  return file;
}

// The page that berth prints for these files; `name` is that of the page.
export function makePage(name, ...files) {
  const args = ['simulate', '--fail-on', 'never', '-o', 'html', ...files.flatMap((file) => ['-f', file])];
  const html = execFileSync(process.env.BERTH, args, {
    cwd: path.join(here, '../..'),
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return writeFile(`${name}.html`, html);
}

export const withPage = (file, options, use) => withSite(pathToFileURL(file).href, options, use);

// A page at an address. Nothing may be asked for but what stands beside it. With `mayFail`, requests may go wrong, of
// which a browser tells on its console.
export async function withSite(url, { hash = '', width = 1300, height = 900, dark = false, mayFail = false } = {}, use) {
  const colorScheme = dark ? 'dark' : 'light';
  if (!windows.has(colorScheme)) windows.set(colorScheme, await browser.newContext({ colorScheme }));
  const page = await windows.get(colorScheme).newPage();
  await page.setViewportSize({ width, height });
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (!mayFail || !message.text().startsWith('Failed to load resource')) problems.push(`console: ${message.text()}`);
  });
  const own = url.startsWith('file:') ? url : url.slice(0, url.lastIndexOf('/') + 1);
  page.on('request', (request) => {
    if (!request.url().startsWith(own)) problems.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(url + hash);
    const result = await use(page);
    assert.deepEqual(problems, []);
    return result;
  } finally {
    await page.close();
  }
}

export const texts = (page, selector) => page.locator(selector).allInnerTexts();
export const focused = (page) =>
  page.evaluate(
    () => document.activeElement.id || document.activeElement.dataset.id || document.activeElement.innerText,
  );
export const reportIn = (page) => page.evaluate(() => JSON.parse(document.getElementById('report').textContent));

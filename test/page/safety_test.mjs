// Whatever stands in the input is text.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { makePage, texts, withPage, writeFile } from './browser.mjs';
import { mixed } from './clusters.mjs';

const markup = '<img src=x onerror="window.hit=1"></script><script>window.hit=2</script>';

// Every text of the data behind which markup can stand, with it; texts that the page compares with its own words stay.
const known = new Set(['Pending', 'Scheduled', 'Ready', 'cpu', 'memory', 'pods']);
function poisoned(value) {
  if (typeof value === 'string') return known.has(value) ? value : value + markup;
  if (Array.isArray(value)) return value.map(poisoned);
  if (value && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, poisoned(inside)]));
  return value;
}

function poisonedPage() {
  const html = fs
    .readFileSync(mixed(), 'utf8')
    .replace(
      /(<script type="application\/json"[^>]*>)(.*?)(<\/script>)/gs,
      (_, start, json, end) =>
        start +
        JSON.stringify(poisoned(JSON.parse(json))).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`) +
        end,
    );
  return writeFile('poisoned.html', html);
}

test('markup in any name, label, taint, message, file or argument stays text', async () => {
  await withPage(poisonedPage(), {}, async (page) => {
    for (const hash of [
      '',
      `#node=${encodeURIComponent('node-2' + markup)}`,
      `#pod=${encodeURIComponent('shop/huge-1' + markup)}`,
      `#pod=${encodeURIComponent('shop/medium' + markup)}`,
      '#view=table',
      `#q=${encodeURIComponent(markup)}`,
    ]) {
      await page.evaluate((fragment) => {
        location.hash = fragment;
      }, hash);
      await page.waitForFunction(
        (node) => document.getElementById('node-panel').hidden !== node,
        hash.startsWith('#node='),
      );
      assert.match(await page.innerText('body'), /<img src=x onerror=/);
      assert.equal(await page.locator('img').count(), 0);
      assert.equal(await page.locator('script').count(), 3);
      assert.equal(await page.evaluate(() => window.hit), undefined);
    }
  });
});

test('markup that berth itself was given stays text', async () => {
  const input = writeFile(
    '<b id=bold>.yaml',
    `
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "1", pods: "9"}, conditions: [{type: "</script><b id=bold>", status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "2"}}}]}
`,
  );
  await withPage(makePage('given', input), { hash: '#node=a' }, async (page) => {
    assert.match((await texts(page, '#foot')).join(), /<b id=bold>\.yaml/);
    assert.match(await page.innerText('#node-panel'), /<b id=bold>=True/);
    assert.equal(await page.locator('#bold').count(), 0);
  });
});

test('the policy of the page forbids every request and evaluation', async () => {
  await withPage(mixed(), {}, async (page) => {
    const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content');
    assert.match(policy, /^default-src 'none';/);
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/);
    assert.equal(await page.locator('[src], link, iframe, object, embed, base').count(), 0);
  });
});

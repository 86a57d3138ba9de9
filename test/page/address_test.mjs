// The view stands in the address.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { texts, withPage } from './browser.mjs';
import { longNames, mixed } from './clusters.mjs';

const hashOf = (page) => page.evaluate(() => location.hash);
const viewOf = async (page) => [
  await page.innerText('main'),
  await page.inputValue('#node-filter'),
  await page.inputValue('#group'),
  await page.inputValue('#size'),
  await page.inputValue('#filter-text'),
  await page.inputValue('#filter-outcome'),
  await texts(page, '[aria-sort]'),
  await page.locator('.tile[aria-selected="true"]').count(),
];

test('a link shows the same view', async () => {
  const [hash, view] = await withPage(mixed(), {}, async (page) => {
    await page.selectOption('#group', 'pool');
    await page.selectOption('#size', 'memory');
    await page.fill('#node-filter', 'pool=web zone=b');
    await page.click('.tile[data-id="node-10"]');
    await page.locator('#pod-table thead button', { hasText: 'Pod' }).click();
    await page.locator('#pod-table thead button', { hasText: 'Pod' }).click();
    await page.selectOption('#filter-outcome', 'Pending');
    await page.fill('#filter-text', 'huge & "more"');
    await page.fill('#filter-text', 'huge');
    return [await hashOf(page), await viewOf(page)];
  });
  assert.equal(
    hash,
    '#node=node-10&nodes=pool%3Dweb%20zone%3Db&size=memory&group=pool&q=huge&outcome=Pending&sort=-pod',
  );
  await withPage(mixed(), { hash }, async (page) => assert.deepEqual(await viewOf(page), view));
});

test('what is as it always is does not stand in the address', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.check('#view-table');
    assert.equal(await hashOf(page), '#view=table');
    await page.check('#view-tiles');
    assert.equal(await hashOf(page), '');
  });
});

test('a pod of the address is open, and Back closes it', async () => {
  await withPage(longNames(), { hash: '#pod=shop/zz-big-6f7c9-xk2lp' }, async (page) => {
    assert.equal(await page.innerText('#why-title'), 'shop/zz-big-6f7c9-xk2lp has no node');
    await page.click('#why-close');
    assert.equal(await page.locator('#why').isVisible(), false);
    await page.click('#pod-table button.link >> text=shop/web-7d9f8c6b5-0');
    assert.match(await page.innerText('#why-title'), /^shop\/web-7d9f8c6b5-0 is on ip-/);
    await page.goBack();
    assert.equal(await page.locator('#why').isVisible(), false);
    await page.goForward();
    assert.match(await page.innerText('#why-title'), /^shop\/web-7d9f8c6b5-0 is on ip-/);
  });
});

test('an address that names nothing known shows the page as it is', async () => {
  const plain = await withPage(mixed(), {}, viewOf);
  for (const hash of [
    '#pod=gone/gone',
    '#node=gone',
    '#group=gone&size=gone&sort=gone',
    '#%zz&q=%E4%',
    '#__proto__=x',
    '#pods',
  ]) {
    await withPage(mixed(), { hash }, async (page) => {
      assert.deepEqual(await viewOf(page).then((view) => view[0]), plain[0], hash);
      assert.equal(await page.locator('#why').isVisible(), false);
    });
  }
});

test('the view follows the address while the page is open', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.evaluate(() => {
      location.hash = '#node=node-1&q=medium';
    });
    await page.waitForFunction(() => document.getElementById('node-panel-title')?.innerText === 'node-1');
    assert.deepEqual(await texts(page, '#pod-table tbody th'), ['shop/medium']);
  });
});

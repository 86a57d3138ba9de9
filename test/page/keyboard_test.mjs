// Everything by keyboard alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { focused, texts, withPage } from './browser.mjs';
import { mixed, thousand } from './clusters.mjs';

test('Tab passes over all tiles at once; arrows go from tile to tile', async () => {
  await withPage(thousand(), {}, async (page) => {
    await page.focus('#view-tiles');
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'node-0');
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(page), 'node-3');
    await page.keyboard.press('End');
    assert.equal(await focused(page), 'node-998');
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(page), 'node-998');
    await page.keyboard.press('Home');
    const top = () => page.evaluate(() => document.activeElement.getBoundingClientRect().bottom + scrollY);
    const first = await top();
    await page.keyboard.press('ArrowDown');
    assert.ok((await top()) > first);
    await page.keyboard.press('ArrowUp');
    assert.equal(await top(), first);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.closest('#node-map')), null);
  });
});

test('Enter shows a node; Escape leaves it, back to its tile', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.focus('#view-tiles');
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    assert.equal(await page.innerText('#node-panel-title'), 'node-1');
    assert.equal(await page.textContent('output#said'), 'node-1 is shown after the nodes');
    assert.equal(await page.locator('.tile[aria-selected="true"]').getAttribute('data-id'), 'node-1');
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'node-close');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#node-panel').isVisible(), false);
    assert.equal(await focused(page), 'node-1');
  });
});

test('a pending pod is opened, read and closed', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.focus('#pending-list button.link');
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'why-title');
    // The dialog keeps the focus.
    for (let i = 0; i < 12; i += 1) {
      await page.keyboard.press('Tab');
      assert.equal(
        await page.evaluate(
          () => document.activeElement === document.body || Boolean(document.activeElement.closest('#why')),
        ),
        true,
      );
    }
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#why').isVisible(), false);
    assert.equal(await focused(page), 'shop/huge-1');
    await page.waitForFunction(() => location.hash === '');
  });
});

test('headings sort by keyboard and keep the focus', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.focus('#pod-table thead th:first-child button');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('#pod-table thead th:first-child', 'aria-sort'), 'ascending');
    await page.keyboard.press(' ');
    assert.deepEqual(await texts(page, '#pod-table tbody th'), [
      'shop/small',
      'shop/medium',
      'shop/huge-10',
      'shop/huge-2',
      'shop/huge-1',
    ]);
    assert.equal(
      await page.evaluate(() => document.activeElement.closest('th').getAttribute('aria-sort')),
      'descending',
    );
  });
});

test('the first Tab offers to skip to the nodes and the pods', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'nodes-title');
    await page.keyboard.press('Tab');
    assert.equal(await focused(page), 'node-filter');
    assert.equal(await page.evaluate(() => location.hash), '');
  });
});

test('a node named elsewhere in the page is shown, with the focus', async () => {
  await withPage(mixed(), { hash: '#nodes=nothing-has-this' }, async (page) => {
    assert.equal(await page.locator('.tile').count(), 0);
    await page.focus('#resources button.link');
    const name = await focused(page);
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'node-panel-title');
    assert.equal(await page.innerText('#node-panel-title'), name);
    assert.equal(await page.locator('.tile').count(), 6);
  });
});

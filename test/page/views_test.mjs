// What the page shows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePage, reportIn, texts, withPage } from './browser.mjs';
import { longNames, mixed, thousand } from './clusters.mjs';

const tileIds = (page) => page.locator('.tile').evaluateAll((tiles) => tiles.map((tile) => tile.dataset.id));

test('the reason of a pending pod is all there, whatever the window and the names', async () => {
  await withPage(longNames(), {}, async (page) => {
    for (const width of [360, 700, 1000, 1300, 1900]) {
      await page.setViewportSize({ width, height: 900 });
      const { pods } = await reportIn(page);
      const message = pods.find((pod) => pod.outcome === 'Pending').message;
      for (const selector of ['#pending .reason', '#pod-table tbody tr:first-child td.message']) {
        const reason = page.locator(selector);
        assert.equal(await reason.innerText(), message);
        const cut = await reason.evaluate((element) => {
          const box = element.getBoundingClientRect();
          const card = element.closest('section').getBoundingClientRect();
          return (
            element.scrollWidth > element.clientWidth + 1 ||
            box.left < card.left ||
            box.right > card.right ||
            box.right > innerWidth
          );
        });
        assert.equal(cut, false, `${selector} at ${width}px`);
      }
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        true,
        `the page is wider than ${width}px`,
      );
    }
  });
});

test('pending pods come first, those with the same reason together', async () => {
  await withPage(mixed(), {}, async (page) => {
    assert.deepEqual(await texts(page, 'main > section:visible > h2'), [
      'Pods without a node',
      'Nodes',
      'How full the cluster is',
      'Pods',
    ]);
    assert.equal(await page.locator('#pending-list > li').count(), 1);
    assert.deepEqual(await texts(page, '#pending-list > li > .names button'), [
      'shop/huge-1',
      'shop/huge-2',
      'shop/huge-10',
    ]);
    assert.deepEqual((await texts(page, '#pod-table tbody tr td:nth-child(2)')).slice(0, 4), [
      'Pending',
      'Pending',
      'Pending',
      'Scheduled',
    ]);
  });
});

test('nodes with the same verdict stand together', async () => {
  await withPage(mixed(), { hash: '#pod=shop/huge-1' }, async (page) => {
    const rows = page.locator('#why .verdicts tbody tr');
    assert.match(await rows.first().locator('th').innerText(), /^3 nodes\s+node-1\s+node-2\s+node-10$/);
    assert.match(await rows.first().locator('td').innerText(), /Insufficient cpu/);
    const counts = await rows.locator('th > div:first-child').allInnerTexts();
    assert.equal(
      counts.map((text) => parseInt(text, 10)).reduce((a, b) => a + b),
      6,
    );
    assert.ok(counts.length < 6);
  });
});

test('nodes are tiles in natural order, grouped by zone or any other label', async () => {
  await withPage(mixed(), {}, async (page) => {
    assert.deepEqual(await texts(page, '.group-title b'), ['zone a', 'zone b', 'without topology.kubernetes.io/zone']);
    assert.deepEqual(await tileIds(page), ['cordoned', 'node-1', 'tainted', 'node-2', 'node-10', 'dead']);
    await page.selectOption('#group', 'pool');
    assert.deepEqual(await texts(page, '.group-title b'), ['pool db', 'pool web']);
    assert.deepEqual(await tileIds(page), ['cordoned', 'dead', 'tainted', 'node-1', 'node-2', 'node-10']);
  });
});

test('tiles are sized by capacity and show their pods, and what is the matter with a node', async () => {
  await withPage(mixed(), {}, async (page) => {
    const side = (name) => page.locator(`.tile[data-id="${name}"] .square`).evaluate((square) => square.clientWidth);
    assert.equal(await side('node-2'), 2 * (await side('node-1')));
    await page.selectOption('#size', 'memory');
    assert.equal(await side('node-2'), await side('node-1'));
    const path = (name, kind) => page.locator(`.tile[data-id="${name}"] path.${kind}`).getAttribute('d');
    assert.equal((await path('node-2', 'before')).split('z').length - 1, 1);
    assert.equal(await path('dead', 'now'), '');
    const { pods } = await reportIn(page);
    for (const placed of pods.filter((pod) => pod.outcome === 'Scheduled')) {
      const there = pods.filter((pod) => pod.node === placed.node).length;
      assert.equal((await path(placed.node, 'now')).split('z').length - 1, there);
      assert.match(
        await page.locator(`.tile[data-id="${placed.node}"]`).textContent(),
        new RegExp(`${there} placed now`),
      );
    }
    for (const [name, look, label] of [
      ['cordoned', 'cordoned', 'cordoned'],
      ['tainted', 'tainted', 'tainted'],
      ['dead', 'not-ready', 'not ready'],
    ]) {
      const tile = page.locator(`.tile[data-id="${name}"]`);
      assert.ok((await tile.getAttribute('class')).split(' ').includes(look));
      assert.match(await tile.textContent(), new RegExp(`; ${label}$`));
    }
    assert.equal(await page.locator('.tile:is(.cordoned, .tainted, .not-ready)').count(), 3);
  });
});

test('the panel of a node has taints, labels, conditions and the sizes of its pods', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.click('.tile[data-id="node-2"]');
    assert.equal(await page.innerText('#node-panel-title'), 'node-2');
    const before = page.locator('#node-panel tr', { hasText: 'shop/before' });
    assert.deepEqual(await before.locator('td').allInnerTexts(), ['1.5', '3Gi']);
    assert.deepEqual(await texts(page, '#node-panel .labels li'), ['pool=web', 'topology.kubernetes.io/zone=b']);
    await page.click('.tile[data-id="tainted"]');
    assert.match(await page.innerText('#node-panel'), /dedicated=db:NoSchedule/);
    await page.click('.tile[data-id="dead"]');
    assert.match(await page.innerText('#node-panel'), /Ready=Unknown/);
  });
});

test('tables are sorted by their headings and filtered by words', async () => {
  await withPage(mixed(), {}, async (page) => {
    const names = () => texts(page, '#pod-table tbody th');
    const cpu = page.locator('#pod-table thead th', { hasText: 'cpu' });
    await cpu.locator('button').click();
    assert.equal(await cpu.getAttribute('aria-sort'), 'descending');
    assert.deepEqual(await names(), ['shop/huge-1', 'shop/huge-2', 'shop/huge-10', 'shop/medium', 'shop/small']);
    await cpu.locator('button').click();
    assert.equal(await cpu.getAttribute('aria-sort'), 'ascending');
    assert.deepEqual((await names()).slice(0, 2), ['shop/small', 'shop/medium']);
    await page.fill('#filter-text', 'insufficient HUGE-1');
    assert.deepEqual(await names(), ['shop/huge-1', 'shop/huge-10']);
    assert.equal(await page.innerText('#shown-pods'), '2 of 5 pods');
    await page.fill('#filter-text', '');
    await page.selectOption('#filter-outcome', 'Scheduled');
    assert.deepEqual(await names(), ['shop/small', 'shop/medium']);

    await page.check('#view-table');
    await page.fill('#node-filter', 'pool=db');
    assert.deepEqual(await texts(page, '#node-table tbody th'), ['cordoned', 'dead', 'tainted']);
    await page.locator('#node-table thead button', { hasText: 'Node' }).click();
    assert.deepEqual(await texts(page, '#node-table tbody th'), ['tainted', 'dead', 'cordoned']);
    await page.fill('#node-filter', 'not-ready');
    assert.deepEqual(await texts(page, '#node-table tbody th'), ['dead']);
  });
});

test('a thousand nodes remain few elements, and tables are made as they are needed', async () => {
  await withPage(thousand(), {}, async (page) => {
    assert.equal(await page.locator('.tile').count(), 1000);
    assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 12_000);
    const first = (await tileIds(page)).slice(0, 5);
    assert.deepEqual(first, ['node-0', 'node-3', 'node-6', 'node-9', 'node-12']);
    await page.click('#pending-list summary');
    assert.match(
      await page.innerText('#pending-list .verdicts tbody th'),
      /^1,000 nodes\s+node-0\s+node-1\s+node-2\s+node-3\s+and 996 more$/,
    );
    assert.equal(await page.locator('#pod-table tbody tr').count(), 200);
    await page.click('#more-pods');
    assert.equal(await page.locator('#pod-table tbody tr').count(), 300);
    await page.fill('#node-filter', 'node-99');
    assert.deepEqual(await tileIds(page), [
      'node-99',
      'node-990',
      'node-993',
      'node-996',
      'node-999',
      'node-991',
      'node-994',
      'node-997',
      'node-992',
      'node-995',
      'node-998',
    ]);
    assert.equal(await page.innerText('#shown-nodes'), '11 of 1,000 nodes');
  });
});

test('the foot has the input files and the command', async () => {
  const file = makePage('quickstart', 'examples/quickstart/cluster.yaml', 'examples/quickstart/pods.yaml');
  await withPage(file, {}, async (page) => {
    assert.deepEqual(await texts(page, '#foot li'), [
      'examples/quickstart/cluster.yaml',
      'examples/quickstart/pods.yaml',
    ]);
    assert.equal(
      await page.innerText('#command'),
      'berth simulate --fail-on never -o html -f examples/quickstart/cluster.yaml -f examples/quickstart/pods.yaml',
    );
    assert.equal(await page.locator('#pending').isVisible(), false);
  });
});

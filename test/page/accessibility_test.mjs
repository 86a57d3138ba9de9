// axe-core's rules, in every view.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { here, withPage } from './browser.mjs';
import { longNames, mixed } from './clusters.mjs';

const axe = fs.readFileSync(path.join(here, 'node_modules/axe-core/axe.min.js'), 'utf8');

const views = [
  ['the page', mixed, {}],
  ['a narrow window', longNames, { width: 360 }],
  ['a node in the dark', mixed, { hash: '#node=dead', dark: true }],
  ['the table of nodes', mixed, { hash: '#view=table&nodesort=-cpu' }],
  ['a placed pod, in the dark', mixed, { hash: '#pod=shop/medium', dark: true }],
];
for (const [title, cluster, options] of views) {
  test(`axe has nothing against ${title}`, async () => {
    await withPage(cluster(), options, async (page) => {
      // Not through a script element: the page's policy is part of what is tested.
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(
        violations.map(
          (rule) => `${rule.id}: ${rule.nodes.map((node) => `${node.target} ${node.failureSummary}`).join('\n')}`,
        ),
        [],
      );
      assert.ok(passes.length > 15);
    });
  });
}

test('what axe finds would fail', async () => {
  await withPage(mixed(), {}, async (page) => {
    await page.evaluate(axe);
    await page.evaluate(() =>
      document.getElementById('node-filter').parentElement.replaceWith(document.getElementById('node-filter')),
    );
    await page.evaluate(() => document.getElementById('node-filter').removeAttribute('placeholder'));
    const { violations } = await page.evaluate(() => window.axe.run({ runOnly: ['label'] }));
    assert.ok(violations.some((rule) => rule.id === 'label'));
  });
});

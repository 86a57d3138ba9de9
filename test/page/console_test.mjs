// The console, before a scheduler that is made up.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { here, texts, withSite } from './browser.mjs';
import { attempt, FakeScheduler, pendingPod } from './fake_scheduler.mjs';

let scheduler;
before(async () => {
  scheduler = await new FakeScheduler().start();
});
after(() => scheduler.stop());

const drawn = async (page) => {
  await page.locator('#lanes .lane').first().waitFor();
  await page.locator('#node-map .tile').first().waitFor();
  await page.locator('#decision-table tbody tr').first().waitFor();
};
const withConsole = (options, use) =>
  withSite(scheduler.address, options, async (page) => {
    await drawn(page);
    return use(page);
  });

test('counts, lanes, nodes and decisions are what the scheduler tells', async () => {
  await withConsole({}, async (page) => {
    assert.equal(await page.locator('#connection').innerText(), 'Live: changes are shown as they happen.');
    assert.deepEqual((await texts(page, '#counts li')).slice(0, 2), ['6\nNodes', '31\nPlaced']);
    assert.ok((await texts(page, '#counts li')).includes('4,000\nUnschedulable'));
    const lanes = await texts(page, '.lane');
    assert.match(lanes[0], /^Active\s+1\s+1\. shop\/next/);
    assert.ok(lanes[2].includes(`1. ${pendingPod}`) && lanes[2].includes('4 min left; NodeResourcesFit'), lanes[2]);
    assert.ok(lanes[2].includes('and 3,999 more'));
    assert.ok(lanes[3].includes('gated by SchedulingGates'));
    assert.equal(await page.locator('.tile').count(), 6);
    assert.deepEqual(await texts(page, '.group-title b'), ['zone a', 'zone b', 'zone c']);
    const rows = await texts(page, '#decision-table tbody tr');
    assert.equal(rows.length, 31);
    assert.ok(rows[0].includes('Insufficient cpu') && rows[1].includes('score 412, 3 of 6 nodes feasible'), rows[0]);
  });
});

test('what comes from the cluster is text, whatever it looks like', async () => {
  await withConsole({ hash: `#pod=${encodeURIComponent(pendingPod)}` }, async (page) => {
    await page.locator('#pod-body h3').first().waitFor();
    assert.equal(await page.locator('#pod-title').innerText(), `${pendingPod} is unschedulable`);
    assert.equal(await page.locator('main b b, #lanes b, #decision-table b').count(), 0);
  });
});

test('a decision that comes in stands on top, unless the reader holds the table still', async () => {
  await withConsole({}, async (page) => {
    scheduler.decide(attempt(50, 'shop/fresh'));
    await page.locator('#decision-table tbody tr', { hasText: 'shop/fresh' }).waitFor();
    assert.ok((await texts(page, '#decision-table tbody tr'))[0].includes('shop/fresh'));
    await page.locator('#pause').check();
    scheduler.decide(attempt(51, 'shop/later'));
    await page.waitForTimeout(400);
    assert.equal(await page.locator('#decision-table tbody tr', { hasText: 'shop/later' }).count(), 0);
    await page.locator('#pause').uncheck();
    await page.locator('#decision-table tbody tr', { hasText: 'shop/later' }).waitFor();
    await page.locator('#decision-filter').fill('later');
    assert.equal(await page.locator('#decision-table tbody tr').count(), 1);
    await page.locator('#decision-filter').fill('');
    await page.locator('#outcome').selectOption('Unschedulable');
    assert.equal(await page.locator('#decision-table tbody tr').count(), 1);
  });
});

test('a pod is told with its attempts, what would wake it, and what nodes say now', async () => {
  await withConsole({}, async (page) => {
    await page.locator('.lane button', { hasText: pendingPod }).click();
    await page.locator('.timeline li').first().waitFor();
    const body = await page.locator('#pod-body').innerText();
    for (const text of [
      'Attempt 2, 19 s ago: 0/6 nodes are available: 6 Insufficient cpu.',
      'preempted batch/low (priority -1) on db-b1',
      'NodeResourcesFit NodeAdd, AssignedPodDelete',
      'gpu-c1: request 2.5 cpu instead of 6',
      'asks for cpu 6, has 0.5',
      '3 nodes further off are left out.',
    ])
      assert.ok(body.includes(text), `${text}\n--- in\n${body}`);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#pod').getAttribute('open'), null);
    assert.equal(await page.evaluate(() => location.hash), '');
  });
});

test('a placed pod shows scores by plugin and leads to its node', async () => {
  await withConsole({ hash: '#pod=shop/web-1' }, async (page) => {
    await page.locator('tr.winner').waitFor();
    assert.equal(await page.locator('#pod-title').innerText(), 'shop/web-1 is on web-a1');
    assert.match(await page.locator('tr.winner').innerText(), /web-a1\s*chosen\s+120\s+80 80\s+40 40/);
    await page.locator('#pod-body button', { hasText: 'Show web-a1' }).click();
    await page.locator('#node-panel h3').waitFor();
    assert.equal(await page.locator('#node-panel h3').innerText(), 'web-a1');
    assert.ok((await page.locator('#node-panel').innerText()).includes('shop/web-1'));
  });
});

test('an unknown pod is a sentence', async () => {
  await withConsole({ hash: '#pod=shop/nobody', mayFail: true }, async (page) => {
    await page.locator('#pod-body [role=alert]').waitFor();
    assert.equal(await page.locator('#pod-body').innerText(), 'the scheduler knows no pod');
  });
});

test('by keyboard alone: arrows between tiles, Enter opens a node, focus survives an update', async () => {
  await withConsole({}, async (page) => {
    await page.locator('.tile').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.locator('#node-panel h3').waitFor();
    assert.equal(await page.locator('#node-panel h3').innerText(), 'web-a2');
    await page.locator('.lane button', { hasText: 'shop/next' }).focus();
    await page.waitForTimeout(1500);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'shop/next');
  });
});

test('a scheduler that goes away is noticed, and found again', async () => {
  await withConsole({ mayFail: true }, async (page) => {
    scheduler.goDown();
    await page.locator('#connection.lost').waitFor();
    scheduler.down = false;
    await page.locator('#connection:not(.lost)').waitFor();
    scheduler.decide(attempt(55, 'shop/after-the-break'));
    await page.locator('#decision-table tbody tr', { hasText: 'shop/after-the-break' }).waitFor();
  });
});

test('one stream is followed for as long as it lasts, however much happens', async () => {
  await withConsole({}, async (page) => {
    const opened = () => scheduler.requests.filter((one) => one.endsWith('/events')).length;
    const before = opened();
    for (let i = 0; i < 20; i += 1) {
      scheduler.decide(attempt(100 + i, `shop/many-${i}`));
      await page.waitForTimeout(60);
    }
    await page.locator('#decision-table tbody tr', { hasText: 'shop/many-19' }).waitFor();
    assert.equal(opened(), before);
    assert.equal(scheduler.streams.size, 1);
  });
  // A page that is closed is let go.
  for (let i = 0; i < 100 && scheduler.streams.size > 0; i += 1) await new Promise((done) => setTimeout(done, 50));
  assert.equal(scheduler.streams.size, 0);
});

test('what is looked at from outside says so', async () => {
  scheduler.about = 'https://cluster, seen through its API';
  try {
    await withConsole({}, async (page) => {
      assert.equal(await page.locator('#about').innerText(), 'https://cluster, seen through its API');
    });
  } finally {
    scheduler.about = '';
  }
});

test('with 5,000 nodes an update leaves the tiles that have not changed alone', async () => {
  const large = await new FakeScheduler({ nodes: 5000 }).start();
  try {
    await withSite(large.address, {}, async (page) => {
      await drawn(page);
      assert.equal(await page.locator('.tile').count(), 5000);
      await page.evaluate(() => {
        window.changed = 0;
        new MutationObserver((changes) => (window.changed += changes.length)).observe(
          document.getElementById('node-map'),
          { subtree: true, childList: true, attributes: true },
        );
      });
      large.nodes[7].resources[0].share = 0.99;
      const reads = large.requests.filter((one) => one.endsWith('/nodes')).length;
      large.decide(attempt(60, 'shop/more'));
      while (large.requests.filter((one) => one.endsWith('/nodes')).length === reads) await page.waitForTimeout(100);
      await page.locator('.tile.hot[title^="db-b3,"]').waitFor();
      assert.ok((await page.evaluate(() => window.changed)) < 10);
    });
  } finally {
    await large.stop();
  }
});

const axe = fs.readFileSync(path.join(here, 'node_modules/axe-core/axe.min.js'), 'utf8');
for (const [title, options] of [
  ['the console', {}],
  ['the console in a narrow window, in the dark', { width: 380, dark: true }],
  ['a pending pod', { hash: `#pod=${encodeURIComponent(pendingPod)}` }],
  ['a placed pod and a node, in the dark', { hash: '#pod=shop/web-1&node=db-b1', dark: true }],
]) {
  test(`axe has nothing against ${title}`, async () => {
    await withConsole(options, async (page) => {
      if (options.hash) await page.locator('#pod-body h3').first().waitFor();
      await page.evaluate(axe);
      const { violations, passes } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(
        violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.failureSummary).join('\n')}`),
        [],
      );
      assert.ok(passes.length > 15);
    });
  });
}

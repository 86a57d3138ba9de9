// berth console before an API server that is made up: any cluster in the console, through its API.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { texts, withSite } from './browser.mjs';
import { runConsole, smallCluster } from './cluster_programs.mjs';
import { FakeCluster, pod } from './fake_cluster.mjs';

test('a cluster that another scheduler runs is shown, with reasons of berth, and only read', async () => {
  const cluster = await smallCluster();
  const run = runConsole('--kubeconfig', cluster.kubeconfig);
  try {
    await withSite(await run.address, { mayFail: true }, async (page) => {
      await page.locator('#node-map .tile').first().waitFor();
      await page.locator('.lane li').first().waitFor();
      assert.equal(await page.locator('.tile').count(), 3);
      assert.match(await page.locator('#about').innerText(), /seen through its API; the reasons are berth's own$/);
      const lanes = (await texts(page, '.lane:not([hidden])')).join('\n');
      assert.match(lanes, /Active\s+2[^]*shop\/batch[^]*shop\/fresh[^]*Unschedulable\s+1[^]*shop\/huge[^]*Gated\s+0/);
      assert.ok(!lanes.includes('Backoff'), lanes);

      cluster.put(pod('fresh', '500m', { nodeName: 'n2' }));
      const row = page.locator('#decision-table tbody tr', { hasText: 'shop/fresh' });
      await row.waitFor();
      assert.match(await row.innerText(), /Bound\s+n2[^]*score \d+, 3 of 3 nodes feasible/);

      await page.locator('.lane button', { hasText: 'shop/huge' }).click();
      await page.locator('#pod-body h3').first().waitFor();
      const told = await page.locator('#pod-body').innerText();
      for (const text of ['0/3 nodes are available: 3 Insufficient cpu.', 'needs 64 cpu', 'NodeResourcesFit'])
        assert.ok(told.includes(text), `${text}\n--- in\n${told}`);
      assert.equal(await page.locator('#pod-title').innerText(), 'shop/huge is unschedulable');
    });
    assert.deepEqual([...cluster.methods], ['GET']);
  } finally {
    run.child.kill('SIGTERM');
  }
  assert.equal(await run.ended, 0, run.err);
  await cluster.stop();
});

test('a cluster that may not be read, one that is not there, and a port that is taken are a sentence each', async () => {
  const closed = await new FakeCluster({ mayRead: false }).start();
  const refused = runConsole('--kubeconfig', closed.kubeconfig);
  assert.equal(await refused.ended, 1);
  assert.match(refused.err, /berth console: http:[^]* the cluster does not show [^]*rights to list and watch/);
  const port = String(closed.server.address().port);
  const taken = runConsole('--kubeconfig', closed.kubeconfig, '--port', port);
  assert.equal(await taken.ended, 1);
  assert.match(taken.err, /Address already in use/);
  await closed.stop();
  const nowhere = runConsole('--kubeconfig', '/nowhere/kubeconfig');
  assert.equal(await nowhere.ended, 1);
  assert.match(nowhere.err, /berth console: .*\/nowhere\/kubeconfig/);
});

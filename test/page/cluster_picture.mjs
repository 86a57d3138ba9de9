// node cluster_picture.mjs LIGHT.png DARK.png FRAGMENT WIDTH HEIGHT: berth console before a small cluster that is made up.
import { chromium } from 'playwright-core';
import { runConsole, smallCluster } from './cluster_programs.mjs';
import { pod } from './fake_cluster.mjs';

const [light, dark, fragment, width, height] = process.argv.slice(2);
const cluster = await smallCluster(12);
const run = runConsole('--kubeconfig', cluster.kubeconfig);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const address = await run.address;
  for (const [colorScheme, picture] of [['light', light], ['dark', dark]]) {
    const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme });
    await tab.goto(address + fragment);
    await tab.locator('#node-map .tile').first().waitFor();
    await tab.locator('.lane li').first().waitFor();
    if (colorScheme === 'light') for (const i of [5, 6, 7]) cluster.put(pod(`web-2${i}`, '1'));
    if (colorScheme === 'light') for (const i of [5, 6, 7]) cluster.put(pod(`web-2${i}`, '1', { nodeName: `n${i}` }));
    await tab.locator('#decision-table tbody tr', { hasText: 'web-27' }).waitFor();
    if (fragment.includes('pod=')) await tab.locator('#pod-body h3').first().waitFor();
    await tab.screenshot({ path: picture });
    await tab.close();
  }
} finally {
  await browser.close();
  run.child.kill('SIGTERM');
  await run.ended;
  await cluster.stop();
}

// berth console, run before a small cluster that is made up.
import { spawn } from 'node:child_process';
import { FakeCluster, node, pod } from './fake_cluster.mjs';

// The program with these flags; `address` is what it prints, `ended` how it ends.
export function runConsole(...flags) {
  const child = spawn(process.env.BERTH, ['console', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  const run = { child, out: '', err: '' };
  run.ended = new Promise((resolve) => child.on('close', (code) => resolve(code)));
  child.stderr.on('data', (data) => (run.err += data));
  run.address = new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => {
      run.out += data;
      const found = run.out.match(/http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/console/);
      if (found) resolve(found[0]);
    });
    run.ended.then(() => reject(new Error(`it ended: ${run.err}`)));
  });
  run.address.catch(() => {});
  return run;
}

export async function smallCluster(nodes = 3) {
  const cluster = await new FakeCluster().start();
  for (let i = 0; i < nodes; i += 1) cluster.put(node(`n${i + 1}`, '4', 'abc'[i % 3]));
  for (let i = 0; i < nodes + 1; i += 1) cluster.put(pod(`web-${i}`, '1', { nodeName: `n${(i % nodes) + 1}` }));
  cluster.put(pod('fresh', '500m'));
  cluster.put(pod('huge', '64', { message: `0/${nodes} nodes are available: ${nodes} Insufficient cpu.` }));
  cluster.put(pod('batch', '1', { schedulerName: 'volcano' }));
  return cluster;
}

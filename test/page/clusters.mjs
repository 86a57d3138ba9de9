// The clusters that the pages are made of.
import { makePage, writeFile } from './browser.mjs';

const node = (name, { cpu = '4', labels = {}, spec = {}, ready = 'True' } = {}) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec,
  status: { allocatable: { cpu, memory: '16Gi', pods: '110' }, conditions: [{ type: 'Ready', status: ready }] },
});
const pod = (name, cpu, { nodeName, memory = '256Mi' } = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { nodeName, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu, memory } } }] },
});
const page = (name, items) =>
  makePage(name, writeFile(`${name}.json`, JSON.stringify({ apiVersion: 'v1', kind: 'List', items })));

const once = (build) => {
  let made;
  return () => (made ??= build());
};

const zone = (name) => ({ 'topology.kubernetes.io/zone': name });
const domain = 'eu-central-1.compute.internal';

// Names as a provider gives them; one pod fits nowhere.
export const longNames = once(() =>
  page('long-names', [
    ...[0, 1, 2, 3].map((i) => node(`ip-10-0-0-10${i}.${domain}`)),
    ...[0, 1, 2].map((i) => pod(`web-7d9f8c6b5-${i}`, '1')),
    pod('zz-big-6f7c9-xk2lp', '8'),
  ]),
);

// Nodes of all kinds in two zones and two pools, five pods to place, three of which are too large.
export const mixed = once(() =>
  page('mixed', [
    node('node-10', { labels: { ...zone('b'), pool: 'web' } }),
    node('node-2', { labels: { ...zone('b'), pool: 'web' }, cpu: '16' }),
    node('node-1', { labels: { ...zone('a'), pool: 'web', disk: 'nvme' } }),
    node('cordoned', { labels: { ...zone('a'), pool: 'db' }, spec: { unschedulable: true } }),
    node('tainted', {
      labels: { ...zone('a'), pool: 'db' },
      spec: { taints: [{ key: 'dedicated', value: 'db', effect: 'NoSchedule' }] },
    }),
    node('dead', {
      labels: { pool: 'db' },
      ready: 'Unknown',
      spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }] },
    }),
    pod('before', '1500m', { nodeName: 'node-2', memory: '3Gi' }),
    pod('small', '250m', { memory: '1Gi' }),
    pod('medium', '2'),
    pod('huge-1', '64'),
    pod('huge-2', '64'),
    pod('huge-10', '64'),
  ]),
);

export const thousand = once(() =>
  page('thousand', [
    ...Array.from({ length: 1000 }, (_, i) =>
      node(`node-${i}`, { cpu: String(4 << (i % 4)), labels: zone('abc'[i % 3]) }),
    ),
    ...Array.from({ length: 8000 }, (_, i) =>
      pod(`before-${i}`, `${100 + (i % 5) * 100}m`, { nodeName: `node-${i % 1000}` }),
    ),
    ...Array.from({ length: 300 }, (_, i) => pod(`web-${i}`, i % 100 === 0 ? '100' : '500m')),
  ]),
);

// A scheduler that serves the console as it is in the program, with made-up answers below /debug/berth/.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

// What the build made of web/console: the strings that the program has inside.
function embedded(name) {
  const code = fs.readFileSync(path.join(path.dirname(process.env.BERTH), 'src/console_page.cc'), 'utf8');
  const begin = code.indexOf(`kConsole${name} = R"page~(`);
  return code.slice(code.indexOf('(', begin) + 1, code.indexOf(')page~"', begin));
}

// The headers that the scheduler sends, from where it has them.
function policy() {
  const source = fs.readFileSync(path.join(here, '../../src/live/inspection.cc'), 'utf8');
  const after = source.slice(source.indexOf('"content-security-policy",'));
  return [...after.slice(0, after.indexOf('}')).matchAll(/"([^"]*)"/g)]
    .slice(1)
    .map(([, text]) => text)
    .join('');
}

const at = (seconds) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();

export function attempt(sequence, pod, more = {}) {
  const bound = { outcome: 'Bound', node: 'web-a1', feasibleNodes: 3, score: 412, equallyGood: 2 };
  const failed = {
    outcome: 'Unschedulable',
    feasibleNodes: 0,
    message: '0/6 nodes are available: 6 Insufficient cpu.',
    reasons: [{ plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: 6 }],
    rejectedBy: ['NodeResourcesFit'],
  };
  return {
    sequence,
    pod,
    uid: `uid-${pod}`,
    priority: 0,
    attempt: 1,
    started: at(sequence),
    ended: at(sequence),
    nodes: 6,
    ...(more.outcome === 'Unschedulable' ? failed : bound),
    ...more,
  };
}

export function makeNodes(count) {
  return Array.from({ length: count }, (_, i) => ({
    node: `${['web', 'db', 'gpu'][i % 3]}-${'abc'[i % 3]}${Math.floor(i / 3) + 1}`,
    zone: 'abc'[i % 3],
    ...(i % 7 === 5 ? { unschedulable: true, taints: ['node.kubernetes.io/unschedulable:NoSchedule'] } : {}),
    resources: [
      { resource: 'cpu', requested: `${(i * 37) % 4000}m`, allocatable: '4', share: ((i * 37) % 4000) / 4000 },
      { resource: 'memory', requested: '4Gi', allocatable: '16Gi', share: 0.25 },
      { resource: 'pods', requested: '9', allocatable: '110', share: 0.0818 },
    ],
  }));
}

export const pendingPod = 'shop/report-<b>';
const pendingPage = {
  pod: pendingPod,
  uid: `uid-${pendingPod}`,
  priority: 5,
  place: 'Unschedulable',
  profile: 'default-scheduler',
  queue: { pod: pendingPod, uid: 'u', priority: 5, attempts: 2, since: at(30), secondsLeft: 250 },
  wakeUps: [{ plugin: 'NodeResourcesFit', events: ['NodeAdd', 'AssignedPodDelete'] }],
  attempts: [
    attempt(41, pendingPod, { outcome: 'Unschedulable', attempt: 2 }),
    attempt(17, pendingPod, {
      outcome: 'Unschedulable',
      preemption: {
        node: 'db-b1',
        victims: [{ pod: 'batch/low', priority: -1 }],
        victimCount: 1,
        disruptionBudgetViolations: 0,
      },
    }),
  ],
  now: {
    nodes: 6,
    feasibleNodes: 0,
    nodesLeftOut: 3,
    reasons: [{ plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', nodes: 6 }],
    explanation: {
      pod: pendingPod,
      message: '0/6 nodes are available',
      scorePlugins: [],
      nodes: ['web-a1', 'db-b1', 'gpu-c1'].map((node, i) => ({
        node,
        feasible: false,
        rejections: [{ plugin: 'NodeResourcesFit', reason: 'Insufficient cpu', detail: `asks for cpu 6, has ${i}.5` }],
      })),
      preemption: { trials: [], nodesNotHelpful: 6 },
      wouldFitWith: [{ node: 'gpu-c1', changes: ['request 2.5 cpu instead of 6'] }],
    },
  },
};
const placedPage = {
  pod: 'shop/web-1',
  uid: 'uid-shop/web-1',
  priority: 0,
  place: 'Placed',
  node: 'web-a1',
  wakeUps: [],
  attempts: [attempt(3, 'shop/web-1')],
  now: {
    nodes: 3,
    feasibleNodes: 2,
    nodesLeftOut: 0,
    reasons: [{ plugin: 'TaintToleration', reason: 'node(s) had untolerated taint(s)', nodes: 1 }],
    explanation: {
      pod: 'shop/web-1',
      node: 'web-a1',
      runnerUp: 'db-b1',
      scorePlugins: [
        { plugin: 'NodeResourcesFit', weight: 1 },
        { plugin: 'ImageLocality', weight: 1 },
      ],
      nodes: [
        ...['web-a1', 'db-b1'].map((node, i) => ({
          node,
          feasible: true,
          score: 120 - i,
          scores: [
            { plugin: 'NodeResourcesFit', raw: 80 - i, normalised: 80 - i, weighted: 80 - i },
            { plugin: 'ImageLocality', raw: 40, normalised: 40, weighted: 40 },
          ],
        })),
        {
          node: 'gpu-c1',
          feasible: false,
          rejections: [{ plugin: 'TaintToleration', reason: 'node(s) had untolerated taint(s)', detail: 'gpu=true' }],
        },
      ],
    },
  },
};

const lane = (name, pods, total = pods.length) => ({
  lane: name,
  total,
  pods: pods.map((pod, i) => ({
    pod,
    uid: `uid-${pod}`,
    priority: 0,
    position: i + 1,
    attempts: name === 'Active' ? 0 : 2,
    since: at(0),
    ...(name === 'Unschedulable' ? { secondsLeft: 250, rejectedBy: ['NodeResourcesFit'] } : {}),
    ...(name === 'Gated' ? { gatedBy: 'SchedulingGates' } : {}),
  })),
});

export class FakeScheduler {
  constructor({ nodes = 6 } = {}) {
    this.nodes = makeNodes(nodes);
    this.attempts = [
      attempt(41, pendingPod, { outcome: 'Unschedulable' }),
      ...Array.from({ length: 30 }, (_, i) => attempt(30 - i, `shop/web-${30 - i}`)),
    ];
    this.sequence = 41;
    this.requests = [];
    this.down = false;
    this.about = '';
    this.streams = new Set();
  }

  async start() {
    this.server = http.createServer((request, response) => this.answer(request, response));
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.address = `http://127.0.0.1:${this.server.address().port}/debug/berth/console`;
    return this;
  }

  // Whoever is there goes away, and nobody is let in until it is up again.
  goDown() {
    this.down = true;
    this.server.closeAllConnections();
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }

  decide(...attempts) {
    this.attempts.unshift(...attempts);
    this.sequence = attempts[0].sequence;
  }

  page(name, url) {
    const document = { apiVersion: 'berth.dev/v1', at: at(60) };
    if (name === 'queue') {
      const lanes = [
        lane('Active', ['shop/next']),
        lane('Backoff', []),
        lane('Unschedulable', [pendingPod], 4000),
        lane('Gated', ['shop/held']),
        lane('Scheduling', []),
        lane('WaitingForPermit', []),
        lane('Binding', ['shop/web-30']),
      ];
      return { ...document, lanes };
    }
    if (name === 'decisions') return { ...document, kept: this.attempts.length, attempts: this.attempts };
    if (name === 'nodes') {
      const wanted = url.searchParams.get('node');
      const nodes = wanted
        ? this.nodes
            .filter((node) => node.node === wanted)
            .map((node) => ({ ...node, pods: [{ pod: 'shop/web-1', priority: 0 }] }))
        : this.nodes;
      return { ...document, total: this.nodes.length, nodes };
    }
    if (name === `pods/${encodeURIComponent('shop')}/${encodeURIComponent('report-<b>')}/explain`)
      return { ...document, ...pendingPage };
    if (name === 'pods/shop/web-1/explain') return { ...document, ...placedPage };
    return null;
  }

  // A stream that lasts: what is new whenever something is, and a beat now and then.
  stream(after, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-security-policy': policy() });
    let seen = after;
    let first = true;
    const tell = () => {
      if (!first && seen === this.sequence) return;
      first = false;
      const change = {
        at: at(60),
        ...(this.about ? { about: this.about } : {}),
        lanes: { Active: 1, Backoff: 0, Unschedulable: 4000, Gated: 1, Binding: 1 },
        nodes: this.nodes.length,
        placed: 31,
        sequence: this.sequence,
        attempts: this.attempts.filter((one) => one.sequence > seen),
      };
      seen = this.sequence;
      response.write(`retry: 50\nid: ${this.sequence}\ndata: ${JSON.stringify(change)}\n\n`);
    };
    tell();
    const timers = [setInterval(tell, 50), setInterval(() => response.write('event: beat\ndata: {}\n\n'), 1000)];
    this.streams.add(response);
    response.on('close', () => {
      timers.forEach(clearInterval);
      this.streams.delete(response);
    });
  }

  answer(request, response) {
    if (this.down) return request.destroy();
    const url = new URL(request.url, 'http://scheduler');
    this.requests.push(url.pathname);
    const name = url.pathname.replace('/debug/berth/', '');
    const send = (type, body, status = 200) => {
      response.writeHead(status, { 'content-type': type, 'content-security-policy': policy() });
      response.end(body);
    };
    if (name === 'console') return send('text/html; charset=utf-8', embedded('Html'));
    if (name === 'console.css') return send('text/css', embedded('Css'));
    if (name === 'console.js') return send('text/javascript', embedded('Js'));
    if (name === 'events') return this.stream(Number(request.headers['last-event-id'] || 0), response);
    const page = this.page(name, url);
    if (page) return send('application/json', JSON.stringify(page));
    return send('application/json', JSON.stringify({ kind: 'Problems', errors: ['the scheduler knows no pod'] }), 404);
  }
}

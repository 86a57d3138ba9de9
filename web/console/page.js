// The console of a running scheduler: reads its pages, and follows what changes.
import { Address } from '../shared/address.js';
import { byId, make } from '../shared/dom.js';
import { Decisions } from './decisions.js';
import { followChanges, readEvery, Reader } from './model.js';
import { ConsoleNodes } from './nodes.js';
import { setUpPod } from './pod.js';
import { QueueLanes } from './queue.js';

// Nodes fill slowly, and there are many.
const readNodesEvery = 3000;

function drawCounts(change) {
  const counts = [['Nodes', change.nodes], ['Placed', change.placed], ...Object.entries(change.lanes)];
  const list = byId('counts');
  counts.forEach(([name, count], i) => {
    if (!list.children[i]) list.append(make('li', { class: 'count' }, make('b', {}), make('span', { class: name })));
    const text = count.toLocaleString('en');
    const [number, title] = list.children[i].children;
    if (number.textContent !== text) number.textContent = text;
    if (title.textContent !== name) title.textContent = name;
  });
}

function start() {
  const address = new Address({ pod: '', node: '', nodes: '', fill: 'cpu', q: '', outcome: '', sort: 'when' });
  const showPod = (name) => address.set({ pod: name }, { push: true });
  const nodes = new ConsoleNodes(address);
  const decisions = new Decisions(address, showPod);
  const lanes = new QueueLanes(showPod);
  const queueReader = new Reader(() => lanes.read());
  const nodeReader = new Reader(() => nodes.read(), readNodesEvery);
  setUpPod(address);
  decisions.read().catch(() => {});
  let before = '';
  let connected = false;
  // Times that run down are shown in the queue, so it is read whether or not something has happened.
  setInterval(() => connected && !document.hidden && queueReader.ask(), readEvery);
  followChanges(
    (change) => {
      drawCounts(change);
      if (byId('about').textContent !== (change.about || '')) byId('about').textContent = change.about || '';
      decisions.take(change.attempts, change.at);
      const now = JSON.stringify([change.lanes, change.nodes, change.placed, change.sequence]);
      if (now !== before) nodeReader.ask();
      queueReader.ask();
      before = now;
    },
    (isConnected) => {
      connected = isConnected;
      const text = connected ? 'Live: changes are shown as they happen.' : 'Not connected: what is shown may be old.';
      if (byId('connection').textContent !== text) byId('connection').textContent = text;
      byId('connection').classList.toggle('lost', !connected);
    },
  );
  // The fragment of the address is the view, so these links only move the focus.
  for (const skip of document.querySelectorAll('a.skip')) {
    skip.addEventListener('click', (event) => {
      event.preventDefault();
      byId(skip.hash.slice(1)).scrollIntoView({ block: 'start' });
      byId(skip.hash.slice(1)).focus({ preventScroll: true });
    });
  }
}

start();

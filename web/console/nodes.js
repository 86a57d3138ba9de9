// Nodes as tiles, filled by how much of a resource pods ask for; one of them in detail.
import { byId, link, make, shareBar } from '../shared/dom.js';
import { counted, naturalCompare, percent } from '../shared/text.js';
import { TileMap } from '../shared/tiles.js';
import { readPage } from './model.js';

const mostNodes = 20000;
const nearlyFull = 0.9;

const shareOf = (node, resource) => node.resources.find((use) => use.resource === resource)?.share;

function describeNode(node, resource) {
  const share = shareOf(node, resource);
  const marks = [node.unschedulable && 'cordoned', node.taints && 'tainted'].filter(Boolean);
  return [node.node, share === undefined ? `no ${resource}` : `${percent(share)} of ${resource}`, ...marks].join(', ');
}

export class ConsoleNodes {
  constructor(address) {
    Object.assign(this, { address, nodes: [], tiles: new Map(), drawn: '' });
    this.map = new TileMap(byId('node-map'), 'Nodes', (name) => address.set({ node: name }));
    byId('node-filter').addEventListener('input', () => address.set({ nodes: byId('node-filter').value }));
    byId('fill').addEventListener('change', () => address.set({ fill: byId('fill').value }));
    byId('node-filters').addEventListener('submit', (event) => event.preventDefault());
    address.watch(['nodes', 'fill'], () => this.draw());
    address.watch(['node'], () => this.showNode());
  }

  async read() {
    const page = await readPage('nodes', { limit: mostNodes });
    this.total = page.total;
    this.nodes = page.nodes.sort((a, b) => naturalCompare(a.node, b.node));
    const resources = [...new Set(this.nodes.flatMap((node) => node.resources.map((use) => use.resource)))];
    if (resources.join() !== this.resources?.join()) {
      this.resources = resources;
      byId('fill').replaceChildren(...resources.map((resource) => make('option', {}, resource)));
    }
    this.draw();
    if (this.address.get('node')) await this.showNode();
  }

  // Tiles stay as long as their nodes do, so that a change moves nothing but what has changed.
  tile(node, resource) {
    let tile = this.tiles.get(node.node);
    if (!tile) {
      tile = make(
        'div',
        { class: 'tile', 'data-id': node.node },
        make('div', { class: 'square', 'aria-hidden': 'true' }, make('span', { class: 'fill' })),
        make('span', { class: 'unseen' }),
      );
      this.tiles.set(node.node, tile);
    }
    const share = shareOf(node, resource) ?? 0;
    const text = describeNode(node, resource);
    if (tile.title !== text) {
      tile.title = text;
      tile.lastChild.textContent = text;
      tile.style.setProperty('--share', share);
      tile.classList.toggle('hot', share >= nearlyFull);
      tile.classList.toggle('over', share > 1);
      tile.classList.toggle('cordoned', Boolean(node.unschedulable));
      tile.classList.toggle('tainted', Boolean(node.taints));
    }
    return tile;
  }

  draw() {
    const wanted = this.address.get('nodes').toLowerCase();
    const resource = this.address.get('fill');
    byId('node-filter').value = this.address.get('nodes');
    byId('fill').value = resource;
    const shown = this.nodes.filter((node) =>
      `${node.node} ${node.zone || ''} ${(node.taints || []).join(' ')}`.toLowerCase().includes(wanted),
    );
    const zones = new Map();
    for (const node of shown) {
      const zone = node.zone || '';
      if (!zones.has(zone)) zones.set(zone, []);
      zones.get(zone).push(this.tile(node, resource));
    }
    const order = shown.map((node) => `${node.zone || ''}/${node.node}`).join('\n');
    if (order !== this.drawn) {
      const groups = [...zones]
        .sort(([a], [b]) => naturalCompare(a, b))
        .map(([zone, tiles]) => ({ title: zone && `zone ${zone}`, note: counted(tiles.length, 'node'), tiles }));
      this.map.draw(groups, this.address.get('node'));
      this.drawn = order;
    }
    const left = this.total > this.nodes.length ? `; the first ${this.nodes.length.toLocaleString('en')} are read` : '';
    byId('shown-nodes').textContent =
      `${shown.length.toLocaleString('en')} of ${counted(this.total ?? 0, 'node')}${left}`;
  }

  async showNode() {
    const name = this.address.get('node');
    const panel = byId('node-panel');
    this.map.mark(name);
    panel.hidden = !name;
    if (!name) return;
    const page = await readPage('nodes', { node: name }).catch((problem) => ({ problem }));
    if (this.address.get('node') !== name) return;
    const close = make('button', { type: 'button', onclick: () => this.address.set({ node: '' }) }, 'Close');
    const head = make('div', { class: 'panel-head' }, make('h3', { id: 'node-panel-title' }, name), close);
    if (page.problem) {
      panel.replaceChildren(head, make('p', {}, page.problem.message));
      return;
    }
    const [node] = page.nodes;
    const rows = node.resources.map((use) =>
      make(
        'tr',
        {},
        make('th', { scope: 'row' }, use.resource),
        make('td', {}, shareBar(use.share), ` ${percent(use.share)}`),
        make('td', { class: 'number' }, `${use.requested} of ${use.allocatable}`),
      ),
    );
    panel.replaceChildren(
      head,
      ...(node.taints || []).map((taint) => make('p', { class: 'mark-tainted' }, taint)),
      make('table', {}, make('caption', {}, 'What its pods ask for'), make('tbody', {}, rows)),
      make('h4', {}, counted((node.pods || []).length, 'pod')),
      make(
        'ul',
        { class: 'names' },
        (node.pods || []).map((pod) =>
          make(
            'li',
            {},
            link(pod.pod, () => this.address.set({ pod: pod.pod }, { push: true })),
          ),
        ),
      ),
    );
  }
}

// The nodes as tiles: sized by what they have, with their pods as blocks.
import { layBlocks, pathOf } from '../shared/blocks.js';
import { byId, make } from '../shared/dom.js';
import { amountText, commonDomain, counted, naturalCompare, percent } from '../shared/text.js';
import { TileMap } from '../shared/tiles.js';
import { marksOf } from './node_panel.js';

const smallestSide = 12;
const largestSide = 140;
const namedFrom = 60; // px of a side from which a tile has its name below
const namedWidth = 104;
const mostNamed = 200; // tiles; of more, only the pointer and the panel tell names
const tileGap = 6;
const tilesArea = 520_000; // px² for all tiles together,
const tileArea = 420; // and for each of them at least, on average

const amountOf = (node, position) => Math.max(node.allocatable[position] || 0, 0);

// Areas are as the amounts, but for tiles that would be too small to hit or larger than is useful.
function sides(nodes, position) {
  const total = nodes.reduce((sum, node) => sum + amountOf(node, position), 0);
  const largest = nodes.reduce((most, node) => Math.max(most, amountOf(node, position)), 0);
  const area = Math.max(tilesArea, nodes.length * tileArea);
  const scale = Math.min(area / Math.max(total, 1), largestSide ** 2 / Math.max(largest, 1));
  return (node) => Math.round(Math.max(Math.sqrt(amountOf(node, position) * scale), smallestSide));
}

// What a tile says, in parts: the first two can be seen where there is room.
function labelOf(node, resource, domain) {
  const use = node.uses.get(resource);
  const now = node.pods.filter((pod) => pod.now).length;
  return [
    domain ? node.name.slice(0, -domain.length) : node.name,
    use ? percent(use.share) : '-',
    [
      use ? `of ${resource}, ${use.requested} of ${use.allocatable}` : `no ${resource}`,
      counted(node.pods.length, 'pod') + (now > 0 ? `, ${now} placed now` : ''),
      ...marksOf(node),
    ].join('; '),
  ];
}

// Pods that were there before lie at the bottom, those placed now above; the largest first.
function blocksOf(node, position, side) {
  const capacity = amountOf(node, position);
  const share = (pod) => (capacity > 0 && pod.amounts ? Math.max(pod.amounts[position], 0) / capacity : 0);
  const pods = [...node.pods].sort((a, b) => a.now - b.now || share(b) - share(a));
  const blocks = layBlocks(pods.map(share), side);
  return { pods, blocks };
}

function squareOf(node, position, side, named) {
  const square = byId('tile-shape').content.firstElementChild.cloneNode(true);
  const { pods, blocks } = blocksOf(node, position, side);
  const pathFor = (now) => {
    const chosen = blocks.filter((_, i) => pods[i].now === now);
    return pathOf(chosen, side > 40 ? 1.5 : 0.7);
  };
  square.querySelector('svg').setAttribute('viewBox', `0 0 ${side} ${side}`);
  square.querySelector('.before').setAttribute('d', pathFor(false));
  square.querySelector('.now').setAttribute('d', pathFor(true));
  const now = pods.filter((pod) => pod.now).length;
  const badge = square.querySelector('.badge');
  if (now === 0) badge.remove();
  else if (named) badge.textContent = `+${now}`;
  return square;
}

function tileOf(node, resource, position, side, named, domain) {
  const use = node.uses.get(resource);
  const [name, share, rest] = labelOf(node, resource, domain);
  const label = named
    ? [
        make('span', { class: 'tile-name' }, name),
        ' ',
        make('span', { class: 'small' }, share),
        make('span', { class: 'unseen' }, ` ${rest}`),
      ]
    : make('span', { class: 'unseen' }, `${name} ${share} ${rest}`);
  const tile = make('div', { class: 'tile', 'data-id': node.name }, squareOf(node, position, side, named), label);
  tile.style.setProperty('--side', `${side}px`);
  tile.classList.toggle('named', named);
  tile.classList.toggle('none', !use || amountOf(node, position) === 0);
  tile.classList.toggle('over', Boolean(use) && use.share > 1);
  for (const mark of marksOf(node)) tile.classList.add(mark.replace(' ', '-'));
  return tile;
}

function groupsOf(nodes, key) {
  if (!key) return [{ title: '', nodes }];
  const groups = new Map();
  for (const node of nodes) {
    const value = node.labels.get(key);
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(node);
  }
  return [...groups]
    .sort(([a], [b]) => (a === undefined) - (b === undefined) || naturalCompare(a || '', b || ''))
    .map(([value, members]) => ({
      title: value === undefined ? `without ${key}` : `${key.slice(key.lastIndexOf('/') + 1)} ${value || '(empty)'}`,
      nodes: members,
    }));
}

// The name of the pod under the pointer, as the tile's tooltip.
function nameUnderPointer(event, model, position) {
  const square = event.target.closest?.('.square');
  if (!square) return;
  const tile = square.parentElement;
  const node = model.node.get(tile.dataset.id);
  const side = square.clientWidth;
  const { pods, blocks } = blocksOf(node, position, side);
  const box = square.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  const at = blocks.findIndex(
    (block) => block && x >= block.x && x < block.x + block.width && y >= block.y && y < block.y + block.height,
  );
  const resource = model.resources[position];
  const amount = at < 0 ? '' : amountText(resource, pods[at].amounts[position]);
  tile.title =
    at < 0
      ? labelOf(node, resource).join(' ')
      : `${pods[at].key}${pods[at].now ? ', placed now' : ''}: ${amount} ${resource}`;
}

export class NodeTiles {
  constructor(model, choose) {
    this.model = model;
    this.position = 0;
    this.domain = commonDomain(model.nodes.map((node) => node.name));
    this.map = new TileMap(byId('node-map'), 'Nodes', choose);
    this.made = new Map();
    byId('domain').textContent = this.domain ? `All names end with ${this.domain}` : '';
    byId('node-map').addEventListener('pointermove', (event) => nameUnderPointer(event, model, this.position));
  }

  // Sized by the resource at this position, grouped by this label.
  draw(nodes, position, grouping, chosen) {
    // Tiles are made anew only when their sizes change, not for every letter of a filter.
    if (position !== this.position) this.made.clear();
    this.position = position;
    const all = this.model.nodes;
    // The same size whatever the filter leaves.
    const sideOf = sides(all, position);
    const readable = (node) => sideOf(node) <= smallestSide || sideOf(node) >= namedFrom;
    const named = all.length <= mostNamed && all.every(readable);
    const widthOf = (node) => Math.max(sideOf(node), named ? namedWidth : 0) + tileGap;
    const groups = groupsOf(nodes, grouping).map((group) => ({
      title: group.title,
      note: counted(group.nodes.length, 'node'),
      width: group.nodes.reduce((sum, node) => sum + widthOf(node), 0),
      tiles: group.nodes.map((node) => this.tile(node, sideOf(node), named)),
    }));
    this.map.draw(groups, chosen);
  }

  tile(node, side, named) {
    if (!this.made.has(node.name)) {
      const resource = this.model.resources[this.position];
      this.made.set(node.name, tileOf(node, resource, this.position, side, named, this.domain));
    }
    return this.made.get(node.name);
  }

  mark(name) {
    this.map.mark(name);
  }

  // False when the tile cannot be seen.
  focus(name) {
    const tile = this.made.get(name);
    if (!tile?.isConnected || byId('tile-part').hidden) return false;
    tile.focus();
    return true;
  }
}

// The nodes: as tiles sized by what they have, with their pods as blocks, or as a table.
import { layBlocks, pathOf } from '../shared/blocks.js';
import { byId, link, make } from '../shared/dom.js';
import { SortableTable } from '../shared/table.js';
import { amountText, commonDomain, counted, naturalCompare, percent } from '../shared/text.js';
import { TileMap } from '../shared/tiles.js';
import { fillPanel, marksOf } from './node_panel.js';

const smallestSide = 16;
const largestSide = 140;
const namedFrom = 60;  // px of a side from which a tile has its name below
const namedWidth = 104;
const tileGap = 6;
const tilesArea = 520_000;  // px² for all tiles together

const amountOf = (node, position) => Math.max(node.allocatable[position] || 0, 0);

// Areas are as the amounts, but for tiles that would be too small to hit or larger than is useful.
function sides(nodes, position) {
  const total = nodes.reduce((sum, node) => sum + amountOf(node, position), 0);
  const largest = nodes.reduce((most, node) => Math.max(most, amountOf(node, position)), 0);
  const scale = Math.min(tilesArea / Math.max(total, 1), largestSide ** 2 / Math.max(largest, 1));
  return (node) => Math.round(Math.max(Math.sqrt(amountOf(node, position) * scale), smallestSide));
}

// What a tile says, in parts: the first two can be seen where there is room.
function labelOf(node, resource, domain) {
  const use = node.uses.get(resource);
  const now = node.pods.filter((pod) => pod.now).length;
  return [domain ? node.name.slice(0, -domain.length) : node.name, use ? percent(use.share) : '-',
    [use ? `of ${resource}, ${use.requested} of ${use.allocatable}` : `no ${resource}`,
      counted(node.pods.length, 'pod') + (now > 0 ? `, ${now} placed now` : ''), ...marksOf(node)].join('; ')];
}

// Pods that were there before lie at the bottom, those placed now above; the largest first.
function blocksOf(node, position, side) {
  const capacity = amountOf(node, position);
  const share = (pod) => (capacity > 0 && pod.amounts ? Math.max(pod.amounts[position], 0) / capacity : 0);
  const pods = [...node.pods].sort((a, b) => a.now - b.now || share(b) - share(a));
  const blocks = layBlocks(pods.map(share), side);
  return { pods, blocks };
}

function tileOf(node, resource, position, side, named, domain) {
  const use = node.uses.get(resource);
  const tile = make('div', { class: 'tile', 'data-id': node.name });
  tile.classList.toggle('named', named);
  tile.classList.toggle('none', !use || amountOf(node, position) === 0);
  tile.classList.toggle('over', Boolean(use) && use.share > 1);
  for (const mark of marksOf(node)) tile.classList.add(mark.replace(' ', '-'));
  const square = byId('tile-shape').content.firstElementChild.cloneNode(true);
  tile.style.setProperty('--side', `${side}px`);
  const { pods, blocks } = blocksOf(node, position, side);
  const gap = side > 40 ? 1.5 : 0.7;
  const drawing = square.querySelector('svg');
  drawing.setAttribute('viewBox', `0 0 ${side} ${side}`);
  drawing.querySelector('.before').setAttribute('d', pathOf(blocks.filter((_, i) => !pods[i].now), gap));
  drawing.querySelector('.now').setAttribute('d', pathOf(blocks.filter((_, i) => pods[i].now), gap));
  const now = pods.filter((pod) => pod.now).length;
  const badge = square.querySelector('.badge');
  if (now === 0) badge.remove();
  else if (named) badge.textContent = `+${now}`;
  tile.append(square);
  const [name, share, rest] = labelOf(node, resource, domain);
  if (named) tile.append(make('span', { class: 'tile-name' }, name), ' ', make('span', { class: 'small' }, share), make('span', { class: 'unseen' }, ` ${rest}`));
  else tile.append(make('span', { class: 'unseen' }, `${name} ${share} ${rest}`));
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
  return [...groups].sort(([a], [b]) => (a === undefined) - (b === undefined) || naturalCompare(a || '', b || ''))
    .map(([value, members]) => ({ title: value === undefined ? `without ${key}` : `${key.slice(key.lastIndexOf('/') + 1)} ${value || '(empty)'}`, nodes: members }));
}

function matcherOf(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (node) => {
    const all = [node.name, ...[...node.labels].map(([key, value]) => `${key}=${value}`), ...node.taints, ...marksOf(node).map((mark) => mark.replace(' ', '-')),
      node.pods.some((pod) => pod.now) ? 'placed-now' : ''].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

function nodeColumns(model, choose) {
  return [
    { id: 'name', title: 'Node', look: 'name', value: (node) => node.name, cell: (node) => link(node.name, () => choose(node.name)) },
    { id: 'zone', title: 'Zone', value: (node) => node.zone || undefined, cell: (node) => node.zone || '-' },
    { id: 'marks', title: 'State', descending: true, value: (node) => marksOf(node).length, cell: (node) => marksOf(node).map((mark) => make('span', { class: `tag mark-${mark.replace(' ', '-')}` }, mark)) },
    { id: 'placed', title: 'Placed now', number: true, descending: true, value: (node) => node.pods.filter((pod) => pod.now).length, cell: (node) => String(node.pods.filter((pod) => pod.now).length) },
    ...model.resources.map((resource, i) => ({ id: resource, title: resource, number: true, extra: i > 1, descending: true, value: (node) => node.uses.get(resource)?.share,
      cell: (node) => { const use = node.uses.get(resource); return use ? [percent(use.share), ' ', make('span', { class: 'small' }, `${use.requested} of ${use.allocatable}`)] : '-'; } })),
  ];
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
  const at = blocks.findIndex((block) => block && x >= block.x && x < block.x + block.width && y >= block.y && y < block.y + block.height);
  tile.title = at < 0 ? labelOf(node, model.resources[position]).join(' ')
    : `${pods[at].key}${pods[at].now ? ', placed now' : ''}: ${amountText(model.resources[position], pods[at].amounts[position])} ${model.resources[position]}`;
}

export function drawNodes(model, address, choose) {
  const position = () => Math.max(model.resources.indexOf(address.get('size')), 0);
  const grouping = () => (address.get('group') === '' || model.groupings.includes(address.get('group')) ? address.get('group') : address.defaults.group);
  const domain = commonDomain(model.nodes.map((node) => node.name));
  const map = new TileMap(byId('node-map'), 'Nodes', choose);
  const table = new SortableTable(byId('node-table'), { caption: 'Nodes', columns: nodeColumns(model, choose), address, sortName: 'nodesort', more: byId('more-nodes') });
  byId('domain').textContent = domain ? `All names end with ${domain}` : '';
  byId('node-map').addEventListener('pointermove', (event) => nameUnderPointer(event, model, position()));

  // Tiles are made anew only when their sizes change, not for every letter of a filter.
  const tiles = new Map();
  let tilesFor = '';
  const tilesOf = (nodes, resource, sideOf, named) => {
    if (tilesFor !== resource) tiles.clear();
    tilesFor = resource;
    return nodes.map((node) => {
      if (!tiles.has(node.name)) tiles.set(node.name, tileOf(node, resource, position(), sideOf(node), named, domain));
      return tiles.get(node.name);
    });
  };

  const draw = () => {
    const matches = matcherOf(address.get('nodes'));
    const found = model.nodes.filter(matches);
    const asTable = address.get('view') === 'table';
    if (byId('node-filter').value !== address.get('nodes')) byId('node-filter').value = address.get('nodes');
    byId('size').value = model.resources[position()];
    byId('group').value = grouping();
    byId('view-table').checked = asTable;
    byId('view-tiles').checked = !asTable;
    byId('tile-part').hidden = asTable;
    byId('table-part').hidden = !asTable;
    byId('shown-nodes').textContent = found.length === model.nodes.length ? counted(found.length, 'node') : `${found.length.toLocaleString('en')} of ${counted(model.nodes.length, 'node')}`;
    if (asTable) {
      table.show(found);
      return;
    }
    const resource = model.resources[position()];
    // The same size whatever the filter says.
    const sideOf = sides(model.nodes, position());
    const named = model.nodes.every((node) => sideOf(node) <= smallestSide || sideOf(node) >= namedFrom) && model.nodes.length <= 200;
    const wide = (group) => group.nodes.reduce((sum, node) => sum + Math.max(sideOf(node), named ? namedWidth : 0) + tileGap, 0);
    map.draw(groupsOf(found, grouping()).map((group) => ({
      title: group.title, note: counted(group.nodes.length, 'node'), width: wide(group),
      tiles: tilesOf(group.nodes, resource, sideOf, named),
    })), address.get('node'));
  };
  const panel = () => {
    const node = model.node.get(address.get('node'));
    map.mark(node ? node.name : '');
    byId('node-panel').hidden = !node;
    byId('said').textContent = node ? `${node.name} is shown after the nodes` : '';
    if (node) fillPanel(model, node, { showPod: (name) => address.set({ pod: name }, { push: true }), close: () => closePanel() });
  };
  const closePanel = () => {
    const name = address.get('node');
    address.set({ node: '' });
    const tile = map.tiles.find((entry) => entry.dataset.id === name && entry.isConnected);
    if (tile && !byId('tile-part').hidden) tile.focus();
    else byId('node-filter').focus();
  };
  byId('node-panel').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') closePanel();
  });

  for (const resource of model.resources) byId('size').append(make('option', { value: resource }, resource));
  byId('group').append(make('option', { value: '' }, 'nothing'), ...model.groupings.map((key) => make('option', { value: key }, key)));
  byId('size').addEventListener('change', () => address.set({ size: byId('size').value }));
  byId('group').addEventListener('change', () => address.set({ group: byId('group').value }));
  byId('node-filter').addEventListener('input', () => address.set({ nodes: byId('node-filter').value }));
  byId('node-filters').addEventListener('submit', (event) => event.preventDefault());
  byId('view-table').addEventListener('change', () => address.set({ view: 'table' }));
  byId('view-tiles').addEventListener('change', () => address.set({ view: 'tiles' }));
  for (const mark of ['not ready', 'cordoned', 'tainted']) {
    const count = model.nodes.filter((node) => marksOf(node).includes(mark)).length;
    if (count === 0) byId(`legend-${mark.replace(' ', '-')}`).hidden = true;
    else byId(`legend-${mark.replace(' ', '-')}`).append(` (${count.toLocaleString('en')})`);
  }
  address.watch(['size', 'group', 'nodes', 'view'], draw);
  address.watch(['node'], panel);
  draw();
  panel();
}

// The section of the nodes: its controls, the tiles or the table, and the panel of the node that is chosen.
import { byId, make } from '../shared/dom.js';
import { counted } from '../shared/text.js';
import { fillPanel, marksOf } from './node_panel.js';
import { makeNodeTable, matcherOf } from './node_table.js';
import { NodeTiles } from './node_tiles.js';

function fillControls(model) {
  for (const resource of model.resources) byId('size').append(make('option', { value: resource }, resource));
  byId('group').append(
    make('option', { value: '' }, 'nothing'),
    ...model.groupings.map((key) => make('option', { value: key }, key)),
  );
  for (const mark of ['not ready', 'cordoned', 'tainted']) {
    const count = model.nodes.filter((node) => marksOf(node).includes(mark)).length;
    const entry = byId(`legend-${mark.replace(' ', '-')}`);
    if (count === 0) entry.hidden = true;
    else entry.append(` (${count.toLocaleString('en')})`);
  }
}

function followControls(address) {
  byId('size').addEventListener('change', () => address.set({ size: byId('size').value }));
  byId('group').addEventListener('change', () => address.set({ group: byId('group').value }));
  byId('node-filter').addEventListener('input', () => address.set({ nodes: byId('node-filter').value }));
  byId('node-filters').addEventListener('submit', (event) => event.preventDefault());
  byId('view-table').addEventListener('change', () => address.set({ view: 'table' }));
  byId('view-tiles').addEventListener('change', () => address.set({ view: 'tiles' }));
}

function setUpPanel(model, address, tiles) {
  const close = () => {
    const name = address.get('node');
    address.set({ node: '' });
    if (!tiles.focus(name)) byId('node-filter').focus();
  };
  const showPod = (name) => address.set({ pod: name }, { push: true });
  const show = () => {
    const node = model.node.get(address.get('node'));
    tiles.mark(node ? node.name : '');
    byId('node-panel').hidden = !node;
    byId('said').textContent = node ? `${node.name} is shown after the nodes` : '';
    if (node) fillPanel(model, node, { showPod, close });
  };
  byId('node-panel').addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
  });
  address.watch(['node'], show);
  show();
}

export function drawNodes(model, address, choose) {
  const tiles = new NodeTiles(model, choose);
  const table = makeNodeTable(model, address, choose);
  const draw = () => {
    const found = model.nodes.filter(matcherOf(address.get('nodes')));
    const position = Math.max(model.resources.indexOf(address.get('size')), 0);
    const wanted = address.get('group');
    const grouping = wanted === '' || model.groupings.includes(wanted) ? wanted : address.defaults.group;
    const asTable = address.get('view') === 'table';
    if (byId('node-filter').value !== address.get('nodes')) byId('node-filter').value = address.get('nodes');
    byId('size').value = model.resources[position];
    byId('group').value = grouping;
    byId('view-table').checked = asTable;
    byId('view-tiles').checked = !asTable;
    byId('tile-part').hidden = asTable;
    byId('table-part').hidden = !asTable;
    const of = found.length === model.nodes.length ? '' : `${found.length.toLocaleString('en')} of `;
    byId('shown-nodes').textContent = of + counted(model.nodes.length, 'node');
    if (asTable) table.show(found);
    else tiles.draw(found, position, grouping, address.get('node'));
  };
  fillControls(model);
  followControls(address);
  address.watch(['size', 'group', 'nodes', 'view'], draw);
  draw();
  setUpPanel(model, address, tiles);
}

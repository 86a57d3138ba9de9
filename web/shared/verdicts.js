// What nodes answered to one pod, equal answers together.
import { make, link, someOf } from './dom.js';
import { counted, naturalCompare } from './text.js';

const fewNames = 4;
const fewDetails = 3;

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.values()];
}

const pluginOf = (rejection) => rejection.plugin || 'left out before its turn';

// Nodes with the same reasons, the most first; numbers may differ within.
export function verdictGroups(told) {
  const rejected = told.nodes.filter((node) => !node.feasible);
  const groups = grouped(rejected, (node) => JSON.stringify(node.rejections.map((no) => [no.plugin, no.reason])));
  for (const group of groups) group.sort((a, b) => naturalCompare(a.node, b.node));
  return groups.sort((a, b) => b.length - a.length);
}

// One reason of a group of nodes; where the numbers differ, with the nodes they belong to.
function reasonOf(group, position, showNode) {
  const first = group[0].rejections[position];
  const details = grouped(group, (node) => node.rejections[position].detail || '').sort((a, b) => b.length - a.length);
  const line = make('li', {}, make('b', {}, first.reason), ' ', make('span', { class: 'small' }, pluginOf(first)));
  if (details.length === 1) {
    if (first.detail) line.append(make('div', {}, first.detail));
    return line;
  }
  line.append(
    someOf(details, fewDetails, (nodes) =>
      make(
        'div',
        {},
        nodes.length === 1
          ? link(nodes[0].node, () => showNode(nodes[0].node))
          : make('span', { class: 'small' }, counted(nodes.length, 'node')),
        ' ',
        nodes[0].rejections[position].detail || 'no numbers',
      ),
    ),
  );
  return line;
}

export function verdictTable(told, showNode) {
  const groups = verdictGroups(told);
  if (groups.length === 0) return '';
  const count = groups.reduce((sum, group) => sum + group.length, 0);
  const rows = groups.map((group) =>
    make(
      'tr',
      { role: 'row' },
      make(
        'th',
        { scope: 'row', role: 'rowheader' },
        make('div', {}, counted(group.length, 'node')),
        someOf(
          group.map((node) => node.node),
          fewNames,
          (name) => link(name, () => showNode(name)),
        ),
      ),
      make(
        'td',
        { role: 'cell' },
        make(
          'ul',
          { class: 'reasons' },
          group[0].rejections.map((_, i) => reasonOf(group, i, showNode)),
        ),
      ),
    ),
  );
  return make(
    'table',
    { class: 'verdicts folds', role: 'table' },
    make(
      'caption',
      {},
      `Why not: ${counted(count, 'node')} of ${told.nodes.length.toLocaleString('en')} turned the pod down`,
    ),
    make(
      'thead',
      { role: 'rowgroup' },
      make(
        'tr',
        { role: 'row' },
        make('th', { scope: 'col', role: 'columnheader' }, 'Nodes'),
        make('th', { scope: 'col', role: 'columnheader' }, 'Reasons'),
      ),
    ),
    make('tbody', { role: 'rowgroup' }, rows),
  );
}

export function scoreTable(told, showNode) {
  const scored = told.nodes.filter((node) => node.scores);
  if (scored.length === 0) return '';
  const groups = grouped(scored, (node) => (node.node === told.node ? 'chosen' : JSON.stringify(node.scores))).sort(
    (a, b) => b[0].score - a[0].score || (b[0].node === told.node) - (a[0].node === told.node),
  );
  const rows = groups.map((group) =>
    make(
      'tr',
      { class: group[0].node === told.node ? 'winner' : undefined },
      make(
        'th',
        { scope: 'row' },
        group.length > 1 && make('div', {}, counted(group.length, 'node')),
        someOf(
          group.map((node) => node.node),
          fewNames,
          (name) => link(name, () => showNode(name)),
        ),
        group[0].node === told.node && make('span', { class: 'tag' }, 'chosen'),
      ),
      make('td', { class: 'number' }, String(group[0].score)),
      group[0].scores.map(([raw, , weighted]) =>
        make('td', { class: 'number' }, String(weighted), ' ', make('span', { class: 'small' }, String(raw))),
      ),
    ),
  );
  const titles = told.scorePlugins.map((plugin) =>
    make(
      'th',
      { scope: 'col', class: 'number' },
      plugin.plugin,
      make('br'),
      make('span', { class: 'small' }, 'weight ' + plugin.weight),
    ),
  );
  return make(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Scores' },
    make(
      'table',
      {},
      make('caption', {}, 'Scores: weighted, and in grey as the plugin gave them; nodes with equal scores together'),
      make(
        'thead',
        {},
        make(
          'tr',
          {},
          make('th', { scope: 'col' }, 'Node'),
          make('th', { scope: 'col', class: 'number' }, 'Total'),
          titles,
        ),
      ),
      make('tbody', {}, rows),
    ),
  );
}

export function remedyList(told) {
  if (!told.wouldFitWith || told.wouldFitWith.length === 0) return '';
  return make(
    'ul',
    { class: 'remedies' },
    told.wouldFitWith.map((remedy) =>
      make('li', {}, remedy.node && make('b', {}, remedy.node + ': '), remedy.changes.join(' and ')),
    ),
  );
}

// The nodes as a table, and the words by which they are filtered.
import { byId, link, make } from '../shared/dom.js';
import { SortableTable } from '../shared/table.js';
import { percent } from '../shared/text.js';
import { marksOf } from './node_panel.js';

// Whether a node has all the words of the text in its name, labels, taints or marks.
export function matcherOf(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (node) => {
    const all = [
      node.name,
      ...[...node.labels].map(([key, value]) => `${key}=${value}`),
      ...node.taints,
      ...marksOf(node).map((mark) => mark.replace(' ', '-')),
      node.pods.some((pod) => pod.now) ? 'placed-now' : '',
    ]
      .join('\n')
      .toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

function nodeColumns(model, choose) {
  return [
    {
      id: 'name',
      title: 'Node',
      look: 'name',
      value: (node) => node.name,
      cell: (node) => link(node.name, () => choose(node.name)),
    },
    { id: 'zone', title: 'Zone', value: (node) => node.zone || undefined, cell: (node) => node.zone || '-' },
    {
      id: 'marks',
      title: 'State',
      descending: true,
      value: (node) => marksOf(node).length,
      cell: (node) => marksOf(node).map((mark) => make('span', { class: `tag mark-${mark.replace(' ', '-')}` }, mark)),
    },
    {
      id: 'placed',
      title: 'Placed now',
      number: true,
      descending: true,
      value: (node) => node.pods.filter((pod) => pod.now).length,
      cell: (node) => String(node.pods.filter((pod) => pod.now).length),
    },
    ...model.resources.map((resource, i) => ({
      id: resource,
      title: resource,
      number: true,
      extra: i > 1,
      descending: true,
      value: (node) => node.uses.get(resource)?.share,
      cell: (node) => {
        const use = node.uses.get(resource);
        return use
          ? [percent(use.share), ' ', make('span', { class: 'small' }, `${use.requested} of ${use.allocatable}`)]
          : '-';
      },
    })),
  ];
}

export function makeNodeTable(model, address, choose) {
  return new SortableTable(byId('node-table'), {
    caption: 'Nodes',
    columns: nodeColumns(model, choose),
    address,
    sortName: 'nodesort',
    more: byId('more-nodes'),
  });
}

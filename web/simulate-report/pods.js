// The table of all pods that the run decided about.
import { byId, link, make } from '../shared/dom.js';
import { SortableTable } from '../shared/table.js';
import { amountText, counted } from '../shared/text.js';
import { detailOf, outcomeName, outcomes } from './model.js';

function sizeColumns(model) {
  return model.resources
    .flatMap((resource, i) =>
      resource === 'pods'
        ? []
        : [
            {
              id: resource,
              title: resource,
              number: true,
              extra: true,
              descending: true,
              value: (pod) => pod.size?.amounts[i],
              cell: (pod) => (pod.size && pod.size.amounts[i] > 0 ? amountText(resource, pod.size.amounts[i]) : '-'),
            },
          ],
    )
    .slice(0, 3);
}

export function drawPods(model, address, showPod, showNode) {
  const columns = [
    {
      id: 'pod',
      title: 'Pod',
      look: 'name',
      value: (pod) => pod.pod,
      cell: (pod) => link(pod.pod, () => showPod(pod.pod)),
    },
    {
      id: 'outcome',
      title: 'Outcome',
      look: 'tight',
      value: (pod) => outcomes.indexOf(pod.outcome),
      cell: (pod) => make('span', { class: pod.outcome }, outcomeName(pod.outcome)),
    },
    {
      id: 'node',
      title: 'Node',
      look: 'name',
      value: (pod) => pod.node,
      cell: (pod) => (pod.node ? link(pod.node, () => showNode(pod.node)) : '-'),
    },
    ...sizeColumns(model),
    {
      id: 'score',
      title: 'Score',
      number: true,
      extra: true,
      descending: true,
      value: (pod) => pod.score,
      cell: (pod) => String(pod.score ?? '-'),
    },
    { id: 'detail', title: 'Detail', look: 'message', value: detailOf, cell: detailOf },
  ];
  const table = new SortableTable(byId('pod-table'), {
    caption: 'Pods',
    columns,
    address,
    sortName: 'sort',
    more: byId('more-pods'),
  });
  const { pods } = model;
  for (const outcome of outcomes) {
    if (pods.some((pod) => pod.outcome === outcome))
      byId('filter-outcome').append(make('option', { value: outcome }, outcomeName(outcome)));
  }
  const show = () => {
    const words = address.get('q').toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = address.get('outcome');
    if (byId('filter-text').value !== address.get('q')) byId('filter-text').value = address.get('q');
    byId('filter-outcome').value = outcome;
    const found = pods.filter((pod) => {
      if (outcome && pod.outcome !== outcome) return false;
      const text = `${pod.pod} ${pod.node || ''} ${detailOf(pod)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    table.show(found);
    byId('shown-pods').textContent =
      found.length === pods.length
        ? counted(pods.length, 'pod')
        : `${found.length.toLocaleString('en')} of ${counted(pods.length, 'pod')}`;
  };
  byId('filter-text').addEventListener('input', () => address.set({ q: byId('filter-text').value }));
  byId('filter-outcome').addEventListener('change', () => address.set({ outcome: byId('filter-outcome').value }));
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  address.watch(['q', 'outcome'], show);
  show();
}

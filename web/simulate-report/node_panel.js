// One node in full: how full it is, what keeps pods off, the pods on it with their sizes, its labels.
import { byId, link, make, shareBar } from '../shared/dom.js';
import { amountText, counted, naturalCompare, percent } from '../shared/text.js';

const podsAtOnce = 60;

export function marksOf(node) {
  const marks = [];
  if (node.notReady) marks.push('not ready');
  if (node.cordoned) marks.push('cordoned');
  if (node.tainted) marks.push('tainted');
  return marks;
}

function podTable(model, node, showPod) {
  const pods = [...node.pods].sort((a, b) => b.now - a.now || naturalCompare(a.key, b.key));
  // Of the resources only those that some pod here asks for.
  const shown = model.resources
    .map((resource, i) => [resource, i])
    .filter(([resource, i]) => resource !== 'pods' && pods.some((pod) => pod.amounts?.[i] > 0));
  const known = new Set(model.pods.map((pod) => pod.pod));
  const row = (pod) =>
    make(
      'tr',
      {},
      make(
        'th',
        { scope: 'row', class: 'name' },
        known.has(pod.key) ? link(pod.key, () => showPod(pod.key)) : pod.key,
        pod.now && make('span', { class: 'tag' }, 'placed now'),
      ),
      shown.map(([resource, i]) =>
        make('td', { class: 'number' }, pod.amounts?.[i] > 0 ? amountText(resource, pod.amounts[i]) : '-'),
      ),
    );
  const body = make('tbody', {}, pods.slice(0, podsAtOnce).map(row));
  const table = make(
    'table',
    {},
    make('caption', {}, counted(pods.length, 'pod')),
    make(
      'thead',
      {},
      make(
        'tr',
        {},
        make('th', { scope: 'col' }, 'Pod'),
        shown.map(([resource]) => make('th', { scope: 'col', class: 'number' }, resource)),
      ),
    ),
    body,
  );
  if (pods.length <= podsAtOnce) return table;
  const more = make(
    'button',
    {
      type: 'button',
      onclick: () => {
        body.append(...pods.slice(podsAtOnce).map(row));
        more.remove();
      },
    },
    `Show ${pods.length - podsAtOnce} more`,
  );
  return make('div', {}, table, more);
}

const listOf = (title, items) =>
  items.length > 0
    ? [
        make('h4', {}, title),
        make(
          'ul',
          { class: 'names' },
          items.map((item) => make('li', {}, make('code', {}, item))),
        ),
      ]
    : [];

export function fillPanel(model, node, { showPod, close }) {
  const uses = [...node.uses.values()];
  const bars = make(
    'table',
    { class: 'uses' },
    make('caption', { class: 'unseen' }, 'Requested of what the node has'),
    make(
      'tbody',
      {},
      uses.map((use) =>
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, use.resource),
          make('td', { class: 'tight' }, shareBar(use.share), ' ' + percent(use.share)),
          make('td', {}, `${use.requested} of ${use.allocatable}`),
        ),
      ),
    ),
  );
  byId('node-panel').replaceChildren(
    make(
      'div',
      { class: 'panel-head' },
      make('h3', { id: 'node-panel-title', tabindex: '-1' }, node.name),
      make('button', { type: 'button', id: 'node-close', onclick: close }, 'Close'),
    ),
    make(
      'p',
      {},
      node.zone && make('span', { class: 'small' }, `zone ${node.zone} `),
      marksOf(node).map((mark) => make('span', { class: `tag mark-${mark.replace(' ', '-')}` }, mark)),
    ),
    bars,
    ...listOf('Taints', node.taints),
    ...listOf(
      'Conditions',
      node.conditions.map(([type, status]) => `${type}=${status}`),
    ),
    podTable(model, node, showPod),
    ...(node.gone.length > 0
      ? [
          make('h4', {}, 'Made room here'),
          make(
            'ul',
            { class: 'names' },
            node.gone.map((pod) =>
              make('li', {}, make('span', { class: 'Preempted' }, pod.pod), ` for ${pod.preemptedBy}`),
            ),
          ),
        ]
      : []),
    make(
      'details',
      { open: node.labels.size <= 12 },
      make('summary', {}, counted(node.labels.size, 'label')),
      make(
        'ul',
        { class: 'names labels' },
        [...node.labels]
          .sort(([a], [b]) => naturalCompare(a, b))
          .map(([key, value]) => make('li', {}, make('code', {}, `${key}=${value}`))),
      ),
    ),
  );
}

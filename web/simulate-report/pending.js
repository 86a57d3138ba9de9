// The pods without a node, those with the same reason together.
import { byId, link, make, someOf } from '../shared/dom.js';
import { counted } from '../shared/text.js';
import { explanationOf, outcomeName, outcomes } from './model.js';
import { remedyList, verdictTable } from '../shared/verdicts.js';

const fewPods = 12;

export function drawPending(model, showPod, showNode) {
  const waiting = model.pods.filter((pod) => ['Pending', 'Gated', 'NotOurs'].includes(pod.outcome));
  if (waiting.length === 0) return;
  const groups = new Map();
  for (const pod of waiting) {
    const key = JSON.stringify([outcomes.indexOf(pod.outcome), pod.message || '']);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(pod);
  }
  const ordered = [...groups.values()].sort(
    (a, b) => outcomes.indexOf(a[0].outcome) - outcomes.indexOf(b[0].outcome) || b.length - a.length,
  );
  byId('pending-list').append(
    ...ordered.map((pods) => {
      // The pods of a group were turned down for the same reasons; the numbers are those of the first.
      const told = explanationOf(model, pods[0]);
      const remedies = told ? remedyList(told) : '';
      const table = told ? verdictTable(told, showNode) : '';
      return make(
        'li',
        { class: `because ${pods[0].outcome}-edge` },
        make(
          'h3',
          {},
          make('span', { class: pods[0].outcome }, outcomeName(pods[0].outcome)),
          pods.length > 1 && ` · ${counted(pods.length, 'pod')}`,
        ),
        someOf(pods, fewPods, (pod) => link(pod.pod, () => showPod(pod.pod))),
        make(
          'p',
          { class: 'reason' },
          pods[0].message || (pods[0].outcome === 'NotOurs' ? 'its schedulerName is that of another scheduler' : ''),
        ),
        remedies &&
          make(
            'div',
            {},
            make('h4', {}, told && pods.length > 1 ? `Would fit with (tried for ${told.pod})` : 'Would fit with'),
            remedies,
          ),
        table &&
          make(
            'details',
            { class: 'closer' },
            make('summary', {}, pods.length > 1 ? `Node by node (${told.pod})` : 'Node by node'),
            table,
          ),
      );
    }),
  );
  byId('pending').hidden = false;
}
